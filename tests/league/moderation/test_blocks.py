"""Void, play again and restore: ratings, standings and who goes on follow, and find back."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef

from engine.rating import elo
from league import competitions, moderation, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import bracket_of, tournament_standings
from league.models import Block, BlockEntry, Bot, Ladder, ModerationEntry, Round, Tournament
from league.models.ledger import VoidMark
from league.moderation import LaterStages
from league.ratings import assuming
from league.visibility import public_seed
from tests.league import small
from tests.league.competitions.events import again, pause
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def cup() -> Tournament:
    """A knockout of nine bots at tables of three, played to its end."""
    ladder = small.ladder()
    small.bots(9)
    cup = small.tournament(ladder, format="knockout")
    small.run_all()
    return cup


@pytest.fixture
@kept
def swiss() -> Tournament:
    """A Swiss of six bots, played to its end."""
    ladder = small.ladder()
    small.bots(6)
    swiss = small.tournament(ladder, format="swiss", swiss_rounds=3)
    small.run_all()
    return swiss


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", is_staff=True)


def correct(ladder: Ladder) -> None:
    for pk in ratings.ladders_to_correct():
        assert ratings.correct(pk) is not None
    ladder.refresh_from_db()
    assert ratings.recompute(ladder) == []


def numbers(ladder: Ladder) -> list[Any]:
    fields = ("bot", "rating", "blocks", "version", "matches", "pairs", "half_wins", "points")
    return list(ladder.standings.order_by("bot").values_list(*fields))


def places(tournament: Tournament) -> list[tuple[int, int | None, Any]]:
    rows = tournament_standings(again(tournament))
    return [(row.bot.pk, row.row.rank, row.row.score) for row in rows]


def block_in(tournament: Tournament, stage: int) -> Block:
    """Return a block of a stage that changed ratings, if the stage has one."""
    rated = BlockEntry.objects.filter(block=OuterRef("pk")).exclude(delta=0)
    found = Block.objects.filter(round__tournament=tournament, round__stage=stage)
    rows = found.select_related("round__ladder", "round__tournament__ladder")
    block = rows.annotate(changes=Exists(rated)).order_by("-changes", "pk").first()
    assert block is not None
    return block


def previewed(preview: moderation.previews.Preview) -> dict[int, int | None]:
    return {row.bot.pk: row.rating_then for row in preview.ratings}


def test_a_void_that_is_taken_back_gives_the_same_integers_again(
    swiss: Tournament, olga: User
) -> None:
    ladder, block = swiss.ladder, block_in(swiss, 2)
    before, placed = numbers(ladder), places(swiss)
    moderation.void_block(block=block, reason="a power cut", made_by=olga)
    correct(ladder)
    assert numbers(ladder) != before
    block.refresh_from_db()
    assert (block.state, block.void_reason) == ("void", "a power cut")
    moderation.restore_block(block=block, reason="the records are whole", made_by=olga)
    correct(ladder)
    assert numbers(ladder) == before
    assert places(swiss) == placed
    block.refresh_from_db()
    assert (block.state, block.void_reason) == ("finished", "")
    assert ladder.revision == 3
    assert [row.action for row in ModerationEntry.objects.order_by("pk")] == [
        "void-block",
        "restore-block",
    ]
    assert {row.made_by for row in ModerationEntry.objects.all()} == {olga}


def test_a_preview_equals_the_result_and_stores_nothing(swiss: Tournament, olga: User) -> None:
    ladder, block = swiss.ladder, block_in(swiss, 1)
    before = numbers(ladder)
    preview = moderation.preview_void(block)
    assert (numbers(ladder), VoidMark.objects.count()) == (before, 0)
    moderation.void_block(block=block, reason="a power cut", made_by=olga)
    correct(ladder)
    after = dict(ladder.standings.values_list("bot", "rating"))
    changed = {row[0]: after[row[0]] for row in before if after[row[0]] != row[1]}
    assert previewed(preview) == changed != {}
    then = {row.bot.pk: (row.rank_then, row.score_then) for row in preview.places}
    assert then
    assert then.items() <= {bot: (rank, score) for bot, rank, score in places(swiss)}.items()
    back = moderation.preview_restore(Block.objects.get(pk=block.pk))
    assert previewed(back).items() <= {row[0]: row[1] for row in before}.items()
    assert {row.bot.pk: row.rating_now for row in back.ratings} == changed


def test_a_round_that_is_applied_during_a_preview_is_no_part_of_it(
    swiss: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = assuming._fold
    bots = list(swiss.ladder.standings.values_list("bot", flat=True)[:3])

    def late(*args: Any) -> Any:
        found = fold(*args)
        small.play_round(swiss.ladder, bots)
        return found

    monkeypatch.setattr(assuming, "_fold", late)
    assert assuming.changes(swiss.ladder) == []


def test_the_assumed_fold_equals_the_stored_ratings(swiss: Tournament) -> None:
    assert assuming.changes(swiss.ladder) == []


def test_a_block_played_again_counts_in_place_of_the_void_one(
    swiss: Tournament, olga: User
) -> None:
    ladder, block = swiss.ladder, block_in(swiss, 2)
    score = {bot: score for bot, _, score in places(swiss)}
    made = moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    assert again(swiss).state == "running"
    assert made.round.number == ladder.rounds.count()
    assert set(made.bots.values_list("bot")) == set(block.bots.values_list("bot"))
    assert made.matches.count() == block.matches.count() == 3
    old_seeds = {bytes(match.deal_seed) for match in block.matches.all()}
    assert not old_seeds & {bytes(match.deal_seed) for match in made.matches.all()}
    assert public_seed(made.round) is None
    small.run_all()
    correct(ladder)
    assert again(swiss).state == "finished"
    assert public_seed(Round.objects.get(pk=made.round_id)) is not None
    now = {bot: score for bot, _, score in places(swiss)}
    result = history_of(again(swiss)).rounds[1].blocks
    assert len(result) == len(history_of(again(swiss)).rounds[0].blocks)
    assert sum(now.values()) == sum(score.values())
    assert not any(each.void for each in result)
    assert sum(dict(ladder.standings.values_list("bot", "rating")).values()) == 6 * elo.START


def test_taking_a_replay_back_makes_the_new_block_void(swiss: Tournament, olga: User) -> None:
    ladder, block = swiss.ladder, block_in(swiss, 3)
    before, placed = numbers(ladder), places(swiss)
    made = moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    small.run_all()
    correct(ladder)
    moderation.restore_block(block=block, reason="it was right", made_by=olga)
    small.run_all()
    correct(ladder)
    made.refresh_from_db()
    assert (made.state, made.void_reason) == ("void", "it was right")
    assert (numbers(ladder), places(swiss)) == (before, placed)
    assert again(swiss).state == "finished"


def test_a_knockout_keeps_what_was_played_after_the_block(cup: Tournament, olga: User) -> None:
    block = block_in(cup, 1)
    later = list(cup.rounds.filter(stage__gt=1).values_list("pk", flat=True))
    bracket = bracket_of(history_of(again(cup)))
    moderation.play_again(block=block, reason="wrong clock", made_by=olga)
    small.run_all()
    correct(cup.ladder)
    assert list(cup.rounds.filter(stage__gt=1).values_list("pk", flat=True)) == later
    now = bracket_of(history_of(again(cup)))
    assert [[s.bot for t in stage.tables for s in t.seats] for stage in now[1:]] == [
        [s.bot for t in stage.tables for s in t.seats] for stage in bracket[1:]
    ]
    assert again(cup).state == "finished"


def test_a_knockout_is_played_again_from_the_stage_and_finds_back(
    cup: Tournament, olga: User
) -> None:
    ladder, block = cup.ladder, block_in(cup, 1)
    before, placed, rounds = numbers(ladder), places(cup), cup.rounds.count()
    preview = moderation.preview_replay(block, LaterStages.AGAIN)
    later = sorted({round_.stage or 0 for round_ in cup.rounds.filter(stage__gt=1)})
    assert preview.superseded == later != []
    assert cup.rounds.count() == rounds
    moderation.play_again(
        block=block, reason="wrong clock", made_by=olga, later_stages=LaterStages.AGAIN
    )
    small.run_all()
    correct(ladder)
    assert again(cup).state == "finished"
    history = history_of(again(cup))
    assert [round_.number for round_ in history.rounds if not round_.extra] == [1, *later]
    assert len(history.set_aside) > len(later)
    new = [round_ for round_ in history.opened if round_.stage != 1]
    assert all(bytes(round_.seed) != bytes(cup.seed) for round_ in new)
    moderation.restore_block(block=block, reason="it was right", made_by=olga)
    small.run_all()
    correct(ladder)
    assert again(cup).state == "finished"
    assert (numbers(ladder), places(cup)) == (before, placed)
    assert not any(block.state == "playing" for block in Block.objects.all())


def test_only_a_knockout_has_later_stages_to_play_again(swiss: Tournament, olga: User) -> None:
    with pytest.raises(ValidationError, match="is not part of a knockout"):
        moderation.play_again(
            block=block_in(swiss, 1), reason="x", made_by=olga, later_stages=LaterStages.AGAIN
        )
    assert not ModerationEntry.objects.exists()


def test_a_block_is_not_played_again_without_one_of_its_bots(swiss: Tournament, olga: User) -> None:
    block = block_in(swiss, 1)
    bot = Bot.objects.filter(blocks__block=block).order_by("name").first()
    assert bot is not None
    pause(bot)
    with pytest.raises(ValidationError, match=f"{bot.name} can't play now"):
        moderation.play_again(block=block, reason="x", made_by=olga)
    pause(bot, paused=False)
    moderation.play_again(block=block, reason="x", made_by=olga)
    with pytest.raises(ValidationError, match="already replaces it"):
        moderation.play_again(block=block, reason="x", made_by=olga)


def test_a_block_that_became_void_in_play_cannot_count_again(olga: User) -> None:
    ladder = small.ladder()
    small.bots(3)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    block = block_in(tournament, 1)
    assert "it can't count again" in " ".join(moderation.preview_void(block).notes)
    moderation.void_block(block=block, reason="wrong clock", made_by=olga)
    with pytest.raises(ValidationError, match="have it played again instead"):
        moderation.restore_block(block=block, reason="", made_by=olga)
    made = moderation.play_again(block=block, reason="now right", made_by=olga)
    small.run_all()
    made.refresh_from_db()
    assert made.state == "finished"
    assert ladder.standings.count() == 3
    assert ratings.recompute(ladder) == []


def test_only_a_void_of_an_organiser_is_taken_back(swiss: Tournament, olga: User) -> None:
    block = block_in(swiss, 1)
    with pytest.raises(ValidationError, match="nothing to take back"):
        moderation.restore_block(block=block, reason="", made_by=olga)


def test_a_refused_decision_leaves_no_row_in_the_log(swiss: Tournament, olga: User) -> None:
    block = block_in(swiss, 1)
    with pytest.raises(ValidationError, match="Give a reason"):
        moderation.void_block(block=block, reason=" ", made_by=olga)
    with pytest.raises(ValidationError, match="Give a reason"):
        moderation.play_again(block=block, reason=" ", made_by=olga)
    assert not ModerationEntry.objects.exists()


def test_the_preview_of_a_disqualification_shows_who_goes_on(olga: User) -> None:
    ladder = small.ladder()
    small.bots(9)
    cup = small.tournament(ladder, format="knockout")
    competitions.advance_tournament(cup.pk)
    small.play_due()
    entered = [entry.bot for entry in cup.entries.select_related("bot")]
    previews = [moderation.preview_disqualification(cup, bot) for bot in entered]
    for bot, preview in zip(entered, previews, strict=True):
        assert preview.advancing is not None
        assert preview.advancing.stage == 1
        assert bot not in preview.advancing.then
        assert len(preview.advancing.then) == len(preview.advancing.now)
        assert preview.advancing.differs == (bot in preview.advancing.now)
    assert any(preview.advancing and preview.advancing.differs for preview in previews)


def test_the_preview_of_a_final_names_no_bot_that_is_disqualified(olga: User) -> None:
    small.bots(8)
    cup = small.tournament(small.ladder(seats=4), format="knockout")
    small.run_all()
    cup.refresh_from_db()
    first, second, third, *_ = (placed.bot for placed in tournament_standings(cup))
    moderation.disqualify(tournament=cup, bot=first, reason="Cheats.", made_by=olga)
    final = Block.objects.filter(round__tournament=cup).latest("round__stage", "pk")
    for preview in (
        moderation.preview_void(final),
        moderation.preview_disqualification(cup, third),
    ):
        assert preview.advancing is not None
        assert preview.advancing.now == [second]
