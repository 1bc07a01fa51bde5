"""Of all blocks that were played at one table in place of each other, one counts at most."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from engine.pairing import seeding, stages
from league import competitions, moderation, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import tournament_standings
from league.models import Block, Ladder, Tournament
from league.moderation import LaterStages
from tests.league import small
from tests.league.competitions.events import again

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", is_staff=True)


def cup_of_nine() -> Tournament:
    """Return a knockout at tables of three that is not begun."""
    ladder = small.ladder()
    small.bots(9)
    return small.tournament(ladder, format="knockout")


def swiss_of_six() -> Tournament:
    """Return a Swiss of three rounds, played to its end."""
    ladder = small.ladder()
    small.bots(6)
    swiss = small.tournament(ladder, format="swiss", swiss_rounds=3)
    small.run_all()
    return swiss


def play_on() -> None:
    """Do what the tasks do until nothing is left to do, corrections included."""
    small.run_all()
    for pk in ratings.ladders_to_correct():
        assert ratings.correct(pk) is not None
    small.run_all()


def now(block: Block) -> Block:
    return Block.objects.get(pk=block.pk)


def first_block(tournament: Tournament, stage: int) -> Block:
    blocks = Block.objects.filter(round__tournament=tournament, round__stage=stage)
    return blocks.order_by("number")[0]


def block_without_extra(cup: Tournament) -> Block:
    """Return a block of the first stage at a table without extra blocks: these would decide."""

    def bots_of(block: Block) -> frozenset[int]:
        return frozenset(block.bots.values_list("bot", flat=True))

    blocks = Block.objects.filter(round__tournament=cup, round__stage=1)
    with_extra = {bots_of(block) for block in blocks.filter(round__extra__gt=0)}
    regular = blocks.filter(round__extra=0).order_by("number")
    return next(block for block in regular if bots_of(block) not in with_extra)


def numbers(ladder: Ladder) -> list[Any]:
    return list(ladder.standings.order_by("bot").values_list("bot", "rating", "blocks"))


def later_rounds(cup: Tournament) -> list[int]:
    counting = cup.rounds.filter(stage__gt=1, superseded_by=None).order_by("pk")
    return list(counting.values_list("pk", flat=True))


def test_a_cup_that_is_taken_back_after_its_end_gets_its_final(olga: User) -> None:
    cup = cup_of_nine()
    while not cup.rounds.filter(stage=2).exists():
        small.run_once()
        competitions.advance_tournament(cup.pk)
    small.play_due()
    block = first_block(cup, 1)
    moderation.play_again(
        block=block, reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
    )
    play_on()
    assert again(cup).state == "finished"
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    history = history_of(again(cup))
    played = stages(history.rounds, seeding(history.event_settings, history.entrants))
    assert again(cup).state == "finished"
    assert played[-1].final


def test_a_void_block_that_is_played_again_with_later_stages_finds_back(olga: User) -> None:
    cup = cup_of_nine()
    small.run_all()
    before = later_rounds(cup)
    block = first_block(cup, 1)
    moderation.void_block(block=block, reason="a power cut", made_by=olga)
    play_on()
    moderation.play_again(
        block=now(block), reason="all are back", made_by=olga, later_stages=LaterStages.AGAIN
    )
    play_on()
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    assert later_rounds(cup) == before


def test_a_block_that_counts_again_makes_the_replay_of_its_replay_void(olga: User) -> None:
    ladder = swiss_of_six().ladder
    before = numbers(ladder)
    block = first_block(Tournament.objects.get(), 3)
    first = moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    play_on()
    second = moderation.play_again(block=now(first), reason="again", made_by=olga)
    play_on()
    with pytest.raises(ValidationError, match="already replaces it"):
        moderation.play_again(block=now(block), reason="x", made_by=olga)
    preview = moderation.preview_restore(now(block))
    assert any("becomes void" in note for note in preview.notes)
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    assert [now(each).state for each in (block, first, second)] == ["finished", "void", "void"]
    assert numbers(ladder) == before


def test_a_replay_does_not_count_again_beside_the_block_that_it_replaces(olga: User) -> None:
    block = first_block(swiss_of_six(), 3)
    made = moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    play_on()
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    with pytest.raises(ValidationError, match="only one of them can count"):
        moderation.restore_block(block=now(made), reason="no", made_by=olga)
    with pytest.raises(ValidationError, match="counts in its place"):
        moderation.play_again(block=now(made), reason="no", made_by=olga)


def test_an_older_replay_that_counts_again_counts_for_the_tournament_too(olga: User) -> None:
    swiss = swiss_of_six()
    block = first_block(swiss, 3)
    older = moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    play_on()
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    newer = moderation.play_again(block=now(block), reason="it was wrong", made_by=olga)
    play_on()
    moderation.void_block(block=now(newer), reason="a power cut", made_by=olga)
    moderation.restore_block(block=now(older), reason="this one was right", made_by=olga)
    play_on()
    standings = {each.bot: each.row.blocks for each in tournament_standings(again(swiss))}
    assert len(set(standings.values())) == 1
    [counting] = [each for each in (block, older, newer) if now(each).state == "finished"]
    assert counting == older
    last = history_of(again(swiss)).rounds[-1].blocks
    assert [each.void for each in last] == [False] * len(last)


def test_an_extra_block_that_was_drawn_after_a_replay_becomes_void_with_it(olga: User) -> None:
    cup = cup_of_nine()
    small.run_all()
    seen = list(cup.rounds.values_list("pk", flat=True))
    before = numbers(cup.ladder)
    block = block_without_extra(cup)
    made = moderation.play_again(
        block=block, reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
    )
    small.play_due()
    for round_id in ratings.rounds_to_apply():
        ratings.apply_round(round_id)
    small.set_places(made.matches.all(), lambda _: 1)
    competitions.advance_tournament(cup.pk)
    extra = cup.rounds.exclude(pk__in=seen).get(extra__gt=0)
    play_on()
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    play_on()
    assert [each.state for each in extra.blocks.all()] == ["void"]
    assert numbers(cup.ladder) == before


def test_two_replays_with_later_stages_are_taken_back_in_any_order(olga: User) -> None:
    cup = cup_of_nine()
    small.run_all()
    before = later_rounds(cup)
    first, second = Block.objects.filter(round__stage=1).order_by("number")[:2]
    for block in (first, second):
        moderation.play_again(
            block=now(block), reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
        )
        play_on()
    for block in (first, second):
        preview = moderation.preview_restore(now(block))
        moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
        play_on()
        assert later_rounds(cup) == before
    assert "Later stages stay as they were drawn and played." in preview.notes
    counting = history_of(again(cup)).rounds
    assert not any(block.void for round_ in counting for block in round_.blocks)


def test_a_replay_that_counts_again_keeps_the_stages_that_came_back_before(olga: User) -> None:
    cup = cup_of_nine()
    small.run_all()
    before = later_rounds(cup)
    block = first_block(cup, 1)
    made = moderation.play_again(
        block=block, reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
    )
    play_on()
    moderation.restore_block(block=now(block), reason="it was right", made_by=olga)
    moderation.void_block(block=now(block), reason="it was wrong", made_by=olga)
    play_on()
    moderation.restore_block(block=now(made), reason="this one was right", made_by=olga)
    play_on()
    assert [now(each).state for each in (block, made)] == ["void", "finished"]
    assert later_rounds(cup) == before
