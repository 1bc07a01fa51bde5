"""A comparison goes on after a crash at any point of a step, as if the step had not begun."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from engine.rating import sprt
from engine.referee import Player
from league import bots, competitions, play
from league.competitions import comparisons
from league.models import Bot, BotVersion, Comparison, Match, MatchSeat, SwapBlock
from league.ratings.match_results import match_result
from tests.league import small
from tests.league.bots.uploaded import FIRST, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """A comparison of two versions that promotes the new one, and which few blocks decide."""
    plan = sprt.Plan(seats=3, elo1=100, guard_blocks=40)
    monkeypatch.setattr(comparisons, "plan_of", lambda _: plan)
    ladder = small.ladder()
    for each in small.bots(3):
        competitions.enter_ladder(ladder=ladder, bot=each)
    bot = ready_bot(owner())
    newer = bots.upload(bot=bot, data=FIRST, held=True)
    newer.state = BotVersion.State.READY
    newer.save()
    return competitions.compare(bot=bot, ladder=ladder, new=2, old=1, promote=True)


def players(seating: list[MatchSeat]) -> list[Player]:
    """Return players that move at random; the old version has no legal move."""

    def player(seat: MatchSeat) -> Player:
        rng = Random(f"{seat.match_id} {seat.seat}")
        if seat.bot.kind == Bot.Kind.HOSTED and seat.version.number == 1:
            return lambda _: "none"
        return lambda seen: rng.choice(seen["legal_moves"])

    return [player(seat) for seat in seating]


def stored(comparison: Comparison) -> list[Any]:
    """Return all that the database has of a comparison."""
    return [
        list(Comparison.objects.filter(pk=comparison.pk).values()),
        list(comparison.blocks.order_by("number").values()),
        list(Match.objects.order_by("pk").values_list("pk", "status", "swap_block")),
        Bot.objects.get(pk=comparison.bot_id).current_id,
    ]


@contextmanager
def crash_at(patch: pytest.MonkeyPatch, where: str) -> Iterator[Callable[[], int]]:
    """Raise from a function while the context lasts; yield the number of calls of it."""
    calls = 0

    def crash(*_args: object, **_kwargs: object) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("the machine is gone")

    with patch.context() as patched:
        patched.setattr(where, crash)
        yield lambda: calls


@pytest.mark.parametrize(
    "where",
    [
        "league.competitions.comparisons.play.open_swap_match",
        "league.competitions.comparisons.sprt.latest_point",
        "league.competitions.comparisons.bots.promote",
        "league.models.Comparison.save",
    ],
    ids=["new blocks", "results", "promotion", "end"],
)
def test_a_step_that_crashes_leaves_nothing_and_the_next_step_does_it_once(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    crashes = 0
    while comparison.state == Comparison.State.RUNNING:
        before = stored(comparison)
        with crash_at(monkeypatch, where) as calls:
            try:
                competitions.advance_comparison(comparison.pk)
            except RuntimeError:
                assert stored(comparison) == before
            crashes += calls()
        competitions.advance_comparison(comparison.pk)
        comparison.refresh_from_db()
        for match_id in play.claim_due_hosted():
            play.play_match(match_id, players=players)
    assert crashes
    assert (comparison.verdict, comparison.promoted) == ("better", True)
    assert Bot.objects.get(pk=comparison.bot_id).current_id == comparison.new_id
    blocks = list(comparison.blocks.order_by("number"))
    assert [block.number for block in blocks] == list(range(len(blocks)))
    for block in blocks:
        matches = list(block.matches.order_by("number"))
        assert [match.number for match in matches] == [0, 1]
        check_result(comparison, block, matches)


def check_result(comparison: Comparison, block: SwapBlock, matches: list[Match]) -> None:
    if block.difference is not None and block.same_moves is not None:
        played = [(match_result(each, of_versions=True), each.record) for each in matches]
        again = sprt.swap_result(played, comparison.new_id, comparison.old_id)
        assert again == sprt.SwapResult(block.difference, block.same_moves)
