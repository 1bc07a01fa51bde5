"""A tournament goes on by what organisers decided, also while the ratings do not follow it yet."""

import pytest
from django.contrib.auth.models import User

from engine.pairing import advancing_bots, seeding, stages
from league import competitions, moderation, ratings
from league.competitions.history import history_of
from league.models import Block, Tournament
from league.moderation import LaterStages
from tests.league import small
from tests.league.competitions.events import again

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", is_staff=True)


@pytest.fixture
def cup(db: None) -> Tournament:
    """A knockout of nine bots at tables of three, whose second stage is drawn."""
    ladder = small.ladder()
    small.bots(9)
    cup = small.tournament(ladder, format="knockout")
    while not cup.rounds.filter(stage=2).exists():
        run_without_corrections(cup)
    return cup


def run_without_corrections(cup: Tournament) -> None:
    """Do what the tasks do at a tick while the worker of the corrections is busy."""
    small.play_due()
    for round_id in ratings.rounds_to_apply():
        assert ratings.apply_round(round_id)
    competitions.advance_tournament(cup.pk)


def correct() -> None:
    for pk in ratings.ladders_to_correct():
        assert ratings.correct(pk) is not None


def going_on(cup: Tournament) -> set[int]:
    """Return the bots that advance from the first stage."""
    history = history_of(again(cup))
    seeds = seeding(history.event_settings, history.entrants)
    return set(advancing_bots(stages(history.rounds, seeds)[0], history.entrants, seeds))


def in_second_stage(cup: Tournament) -> set[int]:
    drawn = cup.rounds.get(stage=2, extra=0, superseded_by=None)
    byes = drawn.byes.values_list("bot", flat=True)
    return {*drawn.blocks.values_list("bots__bot", flat=True), *byes}


@pytest.mark.parametrize("table", range(3))
def test_a_stage_is_drawn_from_the_replay_while_the_correction_waits(
    cup: Tournament, table: int, olga: User
) -> None:
    block = Block.objects.filter(round__stage=1, round__extra=0).order_by("number")[table]
    moderation.play_again(
        block=block, reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
    )
    while not cup.rounds.filter(stage=2, superseded_by=None).exists():
        run_without_corrections(cup)
    assert ratings.ladders_to_correct()
    drawn = in_second_stage(cup)
    assert drawn == going_on(cup)
    correct()
    assert drawn == going_on(cup)


def test_a_block_that_counts_again_does_so_before_the_correction(
    cup: Tournament, olga: User
) -> None:
    before = history_of(cup).rounds
    block = Block.objects.filter(round__stage=1).order_by("number")[0]
    moderation.void_block(block=block, reason="a power cut", made_by=olga)
    correct()
    assert history_of(cup).rounds != before
    block = Block.objects.get(pk=block.pk)
    moderation.restore_block(block=block, reason="the records are whole", made_by=olga)
    assert ratings.ladders_to_correct()
    assert history_of(cup).rounds == before


def test_a_preview_counts_the_decisions_that_the_ratings_do_not_follow_yet(
    cup: Tournament, olga: User
) -> None:
    run_without_corrections(cup)
    first = Block.objects.filter(round__stage=1).order_by("number")[0]
    second = Block.objects.filter(round__stage=2, state="finished").order_by("number")[0]
    moderation.void_block(block=first, reason="a power cut", made_by=olga)
    changes = moderation.preview_void(second).ratings
    moderation.void_block(block=second, reason="a power cut", made_by=olga)
    correct()
    stored = dict(cup.ladder.standings.values_list("bot", "rating"))
    assert {each.bot.pk: each.rating_then for each in changes} == {
        each.bot.pk: stored.get(each.bot.pk) for each in changes
    }
