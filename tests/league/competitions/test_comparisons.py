"""A/B tests of versions: swap blocks at low priority until the SPRT speaks, and what follows."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from engine.rating import sprt
from engine.record import verify
from engine.referee import Player
from league import bots, competitions, play, ratings
from league.competitions import comparisons
from league.models import (
    Bot,
    BotVersion,
    Comparison,
    Ladder,
    Match,
    MatchSeat,
    QualifyingMatch,
    SwapBlock,
)
from league.play import spectating
from tests.league import small
from tests.league.bots.uploaded import FIRST, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)

MakePlayers = Callable[[list[MatchSeat]], list[Player]]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test for a gain so large that few blocks decide."""
    plan = sprt.Plan(seats=3, elo1=100, guard_blocks=40)
    monkeypatch.setattr(comparisons, "plan_of", lambda _: plan)


@pytest.fixture
def ladder() -> Ladder:
    made = small.ladder()
    for bot in small.bots(3):
        competitions.enter_ladder(ladder=made, bot=bot)
    return made


@pytest.fixture
def bot(ladder: Ladder) -> Bot:
    made = ready_bot(owner())
    newer = bots.upload(bot=made, data=FIRST, held=True)
    newer.state = BotVersion.State.READY
    newer.save()
    return made


def players(strong: int) -> MakePlayers:
    """Return a maker of players that move at random; all versions but one know no legal move."""

    def make(seating: Sequence[MatchSeat]) -> list[Player]:
        def player(seat: MatchSeat) -> Player:
            rng = Random(f"{seat.match_id} {seat.seat}")
            if seat.bot.kind == Bot.Kind.HOSTED and seat.version.number != strong:
                return lambda _: "none"
            return lambda seen: rng.choice(seen["legal_moves"])

        return [player(seat) for seat in seating]

    return make


def play_on(comparison: Comparison, make: MakePlayers, most: int = 400) -> None:
    for _ in range(most):
        competitions.advance_comparison(comparison.pk)
        comparison.refresh_from_db()
        if comparison.state != Comparison.State.RUNNING:
            return
        for match_id in play.claim_due_hosted():
            play.play_match(match_id, players=make)


def compared(bot: Bot, ladder: Ladder, **how: Any) -> Comparison:
    return competitions.compare(bot=bot, ladder=ladder, new=2, old=1, **how)


def test_a_swapped_deal_is_secret_until_both_its_matches_are_finished(
    bot: Bot, ladder: Ladder, client: Client
) -> None:
    competitions.advance_comparison(compared(bot, ladder).pk)
    first, second = Match.objects.exclude(swap_block=None).order_by("pk")[:2]
    assert first.swap_block == second.swap_block

    def shown() -> tuple[bool, int, int, bool]:
        listed = client.get("/api/v1/matches").json()["results"]
        seed = next(match["deal_seed"] for match in listed if match["id"] == first.pk)
        record = client.get(f"/api/v1/matches/{first.pk}/record")
        page = client.get(f"/matches/{first.pk}/record.json")
        return (seed is not None, record.status_code, page.status_code, seen())

    def seen() -> bool:
        first.refresh_from_db()
        return spectating.public_view(first) is not None and bool(
            spectating.MatchFeed(first.pk).new_events()
        )

    assert play.play_match(first.pk, players=players(strong=1))
    assert shown() == (False, 409, 404, False)
    assert play.play_match(second.pk, players=players(strong=1))
    assert shown() == (True, 200, 200, True)


def test_a_list_of_compared_matches_takes_as_many_queries_however_many_there_are(
    bot: Bot, ladder: Ladder, client: Client
) -> None:
    competitions.advance_comparison(compared(bot, ladder).pk)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/api/v1/matches")
        return len(captured)

    played = Match.objects.exclude(swap_block=None).order_by("pk")
    play.play_match(played[0].pk, players=players(strong=1))
    before = queries()
    for match in played[1:5]:
        play.play_match(match.pk, players=players(strong=1))
    assert queries() == before


def test_a_swap_block_is_one_deal_twice_with_the_versions_exchanged(
    bot: Bot, ladder: Ladder
) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    assert comparison.blocks.count() == comparisons.OPEN_BLOCKS
    for block in comparison.blocks.all():
        first, second = block.matches.order_by("number")
        assert bytes(first.deal_seed) == bytes(second.deal_seed)
        seats = [
            [(seat.bot_id, seat.version.number) for seat in match.seating.order_by("seat")]
            for match in (first, second)
        ]
        swapped = {(bot.pk, 1): (bot.pk, 2), (bot.pk, 2): (bot.pk, 1)}
        assert seats[1] == [swapped.get(seat, seat) for seat in seats[0]]
        assert seats[0] != seats[1]


def test_a_comparison_tests_for_20_elo_at_the_ladders_number_of_seats(
    bot: Bot, ladder: Ladder
) -> None:
    assert comparisons.plan_of(compared(bot, ladder)) == sprt.Plan(seats=3, elo0=0, elo1=20)


def test_a_better_version_is_found_and_promoted_and_rates_nobody(
    bot: Bot, ladder: Ladder, soon: None
) -> None:
    comparison = compared(bot, ladder, promote=True)
    play_on(comparison, players(strong=2))
    assert (comparison.state, comparison.verdict) == ("finished", "better")
    bot.refresh_from_db()
    assert bot.current.number == 2
    assert comparison.promoted
    assert ratings.rounds_to_apply() == []
    assert not ladder.standings.exists()
    assert not Match.objects.filter(status__in=["waiting", "playing"]).exists()
    match = Match.objects.filter(status="finished").first()
    assert match is not None
    verify(match.record)
    assert match.record is not None
    assert {f"{bot.name} v1", f"{bot.name} v2"} <= set(match.record.players or ())


def test_a_worse_version_is_not_better_and_takes_nothing_over(
    bot: Bot, ladder: Ladder, soon: None
) -> None:
    comparison = compared(bot, ladder, promote=True)
    play_on(comparison, players(strong=1))
    assert comparison.verdict == "not better"
    bot.refresh_from_db()
    assert (bot.current.number, comparison.promoted) == (1, False)


def test_versions_that_never_differ_get_that_verdict(
    bot: Bot, ladder: Ladder, soon: None, client: Client
) -> None:
    def same(seating: Sequence[MatchSeat]) -> list[Player]:
        return [lambda observation: observation["legal_moves"][0] for _ in seating]

    comparison = compared(bot, ladder, promote=True)
    play_on(comparison, same)
    assert comparison.verdict == "no difference in behaviour"
    assert not comparison.promoted
    progress = comparisons.progress(comparison)
    assert (len(progress.steps), progress.differing) == (40, 0)
    page = client.get(f"/comparisons/{comparison.pk}/").content.decode()
    assert "In 40 swap blocks, both versions made the same moves." in page
    assert "A verdict needs 16 swap blocks in which the results differ, or 40 in all" in " ".join(
        page.split()
    )


def test_versions_with_other_moves_and_the_same_results_are_not_said_to_play_alike(
    bot: Bot, ladder: Ladder, soon: None
) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    block = SwapBlock.objects.filter(comparison=comparison).earliest("number")

    def make(seating: Sequence[MatchSeat]) -> list[Player]:
        """Return players of whom version 2 moves otherwise, in the first block only."""
        other = seating[0].match.swap_block_id == block.pk

        def player(seat: MatchSeat) -> Player:
            is_new = seat.bot_id == bot.pk and seat.version.number == 2
            place = -1 if other and is_new else 0
            return lambda seen: seen["legal_moves"][place]

        return [player(seat) for seat in seating]

    play_on(comparison, make)
    block.refresh_from_db()
    assert block.same_moves is False
    assert set(comparison.blocks.filter(number__gt=0, void=False).values_list("same_moves")) <= {
        (True,),
        (None,),
    }
    assert comparison.verdict == "not better"


def test_a_version_uploaded_in_the_meantime_stays_current_and_the_page_shows_it(
    bot: Bot, ladder: Ladder, soon: None, client: Client
) -> None:
    comparison = compared(bot, ladder, promote=True)
    third = bots.upload(bot=bot, data=FIRST)
    third.state = BotVersion.State.READY
    third.save()
    bots.promote(third)
    play_on(comparison, players(strong=2))
    bot.refresh_from_db()
    assert (comparison.verdict, comparison.promoted) == ("better", False)
    assert bot.current == third
    text = (
        "Version 2 was not promoted, because version 1 was no longer the current version when the "
        "comparison ended, or because the bot had entered a game that version 2 does not play."
    )
    assert comparison.not_promoted == text
    assert text in client.get(f"/comparisons/{comparison.pk}/").content.decode()


def test_a_version_promoted_while_a_comparison_ends_is_not_overwritten(
    bot: Bot, ladder: Ladder, soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = compared(bot, ladder, promote=True)
    third = bots.upload(bot=bot, data=FIRST, held=True)
    third.state = BotVersion.State.READY
    third.save()
    promote = bots.promote

    def after_another(version: BotVersion, **how: Any) -> bool:
        promote(third)  # by the owner, when the comparison has read its bot
        return promote(version, **how)

    monkeypatch.setattr(bots, "promote", after_another)
    play_on(comparison, players(strong=2))
    bot.refresh_from_db()
    assert (comparison.verdict, comparison.promoted) == ("better", False)
    assert bot.current == third


def test_only_the_current_version_can_be_replaced_by_a_comparison(bot: Bot, ladder: Ladder) -> None:
    bots.promote(bot.versions.get(number=2))
    bot.refresh_from_db()
    with pytest.raises(ValidationError, match="the current version, which is 2, not 1"):
        compared(bot, ladder, promote=True)
    assert not compared(bot, ladder).promote


def test_no_two_bots_of_one_owner_sit_with_the_versions(bot: Bot) -> None:
    ladder = small.ladder("four", seats=4)
    rich, other = owner(), owner()
    entered = [*small.bots(5, rich, "rich"), *small.bots(1, other, "other")]
    for one in entered:
        competitions.enter_ladder(ladder=ladder, bot=one)
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    assert comparison.blocks.count() == comparisons.OPEN_BLOCKS
    drawn = set()
    for match in Match.objects.exclude(swap_block=None):
        names = {seat.bot.name for seat in match.seating.select_related("bot")} - {bot.name}
        assert len(names) == 2
        assert "other-0" in names
        drawn |= names
    assert len(drawn) > 2  # not always the same of an owner's
    competitions.leave_ladder(ladder=ladder, bot=entered[-1])
    competitions.cancel_comparison(comparison)
    with pytest.raises(ValidationError) as caught:
        compared(bot, ladder)
    assert caught.value.code == "too-few-opponents"


def test_a_version_that_did_not_qualify_for_the_game_is_not_compared(
    bot: Bot, ladder: Ladder
) -> None:
    QualifyingMatch.objects.create(
        version=bot.versions.get(number=2), game=ladder.game, passed=False, reason="timeout"
    )
    with pytest.raises(ValidationError, match="v2 failed its check for twelve-days") as caught:
        compared(bot, ladder)
    assert caught.value.code == "not-qualified"


def test_storing_results_takes_the_same_queries_however_many_blocks_are_open(
    bot: Bot, ladder: Ladder, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    for match_id in play.claim_due_hosted():
        play.play_match(match_id, players=players(strong=2))
    assert comparisons.OPEN_BLOCKS > 6
    with django_assert_max_num_queries(6):
        comparisons._store_results(comparison)
    assert len(comparisons.results(comparison)) > 3


def test_league_matches_come_first_but_a_few_comparison_matches_always_go_on(
    bot: Bot, ladder: Ladder
) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    small.tournament(ladder)
    for tournament_id in competitions.tournaments_to_advance():
        competitions.advance_tournament(tournament_id)
    taken = Match.objects.filter(pk__in=play.claim_due_hosted())
    assert taken.filter(swap_block=None).count() == 3
    assert taken.exclude(swap_block=None).count() == 2


def test_a_void_match_voids_its_swap_block_only(bot: Bot, ladder: Ladder) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    [first, *_] = comparison.blocks.all()
    play.void_match(first.matches.earliest("pk"))
    competitions.advance_comparison(comparison.pk)
    first.refresh_from_db()
    assert (first.void, first.difference) == (True, None)
    assert comparison.blocks.count() == comparisons.OPEN_BLOCKS + 1


def test_a_cancelled_comparison_leaves_no_match_waiting(bot: Bot, ladder: Ladder) -> None:
    comparison = compared(bot, ladder)
    competitions.advance_comparison(comparison.pk)
    competitions.cancel_comparison(comparison)
    comparison.refresh_from_db()
    assert (comparison.state, comparison.verdict) == ("cancelled", "")
    assert set(Match.objects.values_list("status", flat=True)) == {"void"}


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"new": 7, "old": 1}, "no version 7"),
        ({"new": 1, "old": 1}, "two different versions"),
        ({"new": 3, "old": 1}, "being checked"),
    ],
)
def test_versions_that_cannot_be_compared_are_refused_with_a_reason(
    bot: Bot, ladder: Ladder, how: Any, word: str
) -> None:
    bots.upload(bot=bot, data=FIRST)
    with pytest.raises(ValidationError, match=word):
        competitions.compare(bot=bot, ladder=ladder, **how)


def test_one_comparison_of_a_bot_runs_at_a_time_and_needs_a_field(bot: Bot, ladder: Ladder) -> None:
    compared(bot, ladder)
    with pytest.raises(ValidationError, match="Another") as caught:
        compared(bot, ladder)
    assert caught.value.code == "comparison-running"
    with pytest.raises(ValidationError) as caught:
        compared(bot, small.ladder("empty"))
    assert caught.value.code == "too-few-opponents"


def test_a_held_version_is_ready_and_does_not_become_current(bot: Bot) -> None:
    version = bots.upload(bot=bot, data=FIRST, held=True)
    assert bots.check_version(version.pk)
    bot.refresh_from_db()
    version.refresh_from_db()
    assert (version.state, bot.current.number) == ("ready", 1)
    bots.promote(version)
    bot.refresh_from_db()
    assert bot.current == version
