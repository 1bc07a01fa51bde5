"""Performance as it is stored: fitted after each round, and never in the way of the ratings."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from engine.rating.performance import PairResults, fit
from engine.rating.results import pair_results
from league import competitions, play, ratings, tasks
from league.models import (
    Block,
    BlockBot,
    Bot,
    BotVersion,
    Fit,
    Ladder,
    Match,
    MatchSeat,
    PackedResults,
    Performance,
    Round,
)
from league.ratings import packing, performance
from league.ratings.match_results import match_result
from league.ratings.performance import TRY_AGAIN_AFTER
from tests import logs
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


def play_tournament(ladder: Ladder) -> None:
    small.tournament(ladder)
    small.run_all()


def fit_due() -> list[bool]:
    return [ratings.fit_round(round_id) for round_id in ratings.take_fits()]


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played a tournament, and nothing is fitted."""
    ladder = small.ladder()
    small.bots(5)
    play_tournament(ladder)
    return ladder


def fitted_from_records(ladder: Ladder) -> dict[int, tuple[float, float]]:
    """Return performance and error by bot, worked out from the records alone.

    Every version is an entry of the fit, and each block with a current version counts.
    """
    current = dict(Bot.objects.values_list("pk", "current__number"))
    entries: dict[tuple[int, int], int] = {}

    def entry(seat: BlockBot) -> int:
        bot, number = seat.bot_id, seat.version.number
        if number == current[bot]:
            return bot
        return entries.setdefault((bot, number), 1_000_000 + len(entries))

    results = PairResults()
    blocks = Block.objects.filter(round__ladder=ladder, rated=True, state="finished")
    for block in blocks.order_by("pk"):
        of_bot = {seat.bot_id: entry(seat) for seat in block.bots.select_related("version")}
        if current.keys().isdisjoint(of_bot.values()):
            continue
        matches = [match_result(match) for match in block.matches.all()]
        shares = {(of_bot[i], of_bot[j]): share for (i, j), share in pair_results(matches).items()}
        results.add(shares, matches=len(matches))
    fitted = fit(results, anchor=ladder.anchor_id, among=current.keys() & set(results.bots))
    return dict(
        zip(fitted.bots, zip(fitted.elo.tolist(), fitted.errors.tolist(), strict=True), strict=True)
    )


def assert_as_from_records(ladder: Ladder) -> None:
    rows = ladder.standings.filter(performance__isnull=False)
    assert {row.bot_id: (row.performance, row.performance_error) for row in rows} == pytest.approx(
        {bot: pytest.approx(numbers) for bot, numbers in fitted_from_records(ladder).items()}
    )


def test_the_stored_performance_is_the_fit_of_the_records(ladder: Ladder) -> None:
    assert fit_due() == [True]
    assert_as_from_records(ladder)
    assert set(ladder.standings.values_list("performance_blocks", flat=True)) == {6}


def test_tables_of_another_size_are_part_of_the_fit(ladder: Ladder) -> None:
    Ladder.objects.update(seats=4)
    ladder.refresh_from_db()
    play_tournament(ladder)
    assert fit_due() == [True]
    assert set(PackedResults.objects.values_list("seats", flat=True)) == {3, 4}
    assert_as_from_records(ladder)


def test_the_anchor_has_1500(ladder: Ladder) -> None:
    last = ladder.standings.order_by("rating").first()
    Ladder.objects.update(anchor=last.bot)
    ladder.refresh_from_db()
    assert fit_due() == [True]
    assert ladder.standings.get(bot=last.bot).performance == pytest.approx(1500)
    assert_as_from_records(ladder)


def test_results_of_an_older_version_stop_counting_for_its_bot(ladder: Ladder) -> None:
    bot = ladder.standings.first().bot
    bot.current = BotVersion.objects.create(bot=bot, number=2)
    bot.save()
    assert fit_due() == [True]
    assert_as_from_records(ladder)
    assert not Performance.objects.filter(bot=bot).exists()
    play_tournament(ladder)
    assert fit_due() == [True]
    assert_as_from_records(ladder)
    assert Performance.objects.get(bot=bot).blocks == 6
    other = ladder.standings.exclude(bot=bot).first().bot
    assert Performance.objects.filter(bot=other).last().blocks == 12


def test_a_bot_back_on_an_older_version_has_that_versions_performance(
    ladder: Ladder,
) -> None:
    bot = ladder.standings.first().bot
    older = bot.current
    for version, blocks in ((BotVersion.objects.create(bot=bot, number=2), 6), (older, 12)):
        bot.current = version
        bot.save()
        play_tournament(ladder)
        assert fit_due() == [True]
        standing = ladder.standings.get(bot=bot)
        assert (standing.version, standing.performance_blocks) == (version.number, blocks)
        assert_as_from_records(ladder)
    assert ratings.recompute(ladder) == []


def test_a_performance_row_has_the_totals_of_the_bots_version(ladder: Ladder) -> None:
    fit_due()
    for row in Performance.objects.all():
        standing = ladder.standings.get(bot=row.bot)
        assert (row.matches, row.blocks) == (standing.matches, standing.blocks)
        assert row.win_share == pytest.approx(standing.half_wins / 2 / standing.pairs)
        assert row.mean_points == pytest.approx(standing.points / standing.matches)
    assert Performance.objects.count() == 5


def test_with_few_blocks_there_is_an_estimate_without_an_error_bar(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 7)
    fit_due()
    for rows in (ladder.standings.all(), Performance.objects.all()):
        assert rows.exists()
    blocks = dict(ladder.standings.values_list("bot", "performance_blocks"))
    assert set(blocks.values()) == {6}
    assert not ladder.standings.exclude(performance_error=None).exists()
    assert not ladder.standings.filter(performance=None).exists()
    assert not Performance.objects.exclude(error=None).exists()


def test_a_void_block_is_not_fitted(ladder: Ladder) -> None:
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    play.void_unfinished_block(Block.objects.filter(state="playing").first().pk)
    small.run_all()
    fit_due()
    assert_as_from_records(ladder)
    assert sum(ladder.standings.values_list("performance_blocks", flat=True)) == 3 * (10 + 9)


def test_fitting_again_changes_nothing(ladder: Ladder) -> None:
    [round_id] = ratings.take_fits()
    assert ratings.fit_round(round_id)
    before = list(Performance.objects.values_list())
    assert not ratings.fit_round(round_id)
    assert ratings.take_fits() == []
    assert list(Performance.objects.values_list()) == before


def test_of_four_parallel_fits_one_is_stored(ladder: Ladder) -> None:
    [round_id] = ratings.take_fits()

    def work(_: int) -> bool:
        try:
            return ratings.fit_round(round_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(work, range(4))) == [False, False, False, True]
    assert_as_from_records(ladder)


def test_a_late_fit_of_an_earlier_round_leaves_the_standings(
    ladder: Ladder,
) -> None:
    first = ladder.rounds.order_by("number").first()
    play_tournament(ladder)
    fit_due()
    before = list(ladder.standings.order_by("pk").values_list("performance", flat=True))
    assert ratings.fit_round(first.pk)
    assert list(ladder.standings.order_by("pk").values_list("performance", flat=True)) == before


def test_a_failed_fit_is_logged_and_tried_again_and_ratings_stay(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(ladder.standings.order_by("pk").values())
    [round_id] = ratings.take_fits()

    def crash(*_args: object, **_kwargs: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("league.ratings.performance._write_rows", crash)
        with logs.captured() as events:
            tasks.fit_performance(round_id)
    assert "no room" in events[0]["exception"]
    assert events[0]["round_id"] == round_id
    assert list(ladder.standings.order_by("pk").values()) == before
    assert not Performance.objects.exists()
    assert ratings.recompute(ladder) == []
    assert ratings.take_fits() == []  # not at every tick
    Fit.objects.update(tried_at=timezone.now() - TRY_AGAIN_AFTER - timedelta(seconds=1))
    assert fit_due() == [True]
    assert_as_from_records(ladder)


def test_a_round_is_applied_while_another_is_fitted(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [round_id] = ratings.take_fits()
    reading: Callable[..., Any] = packing.read_packed

    def read_slowly(*args: object, **kwargs: object) -> object:
        play_tournament(ladder)
        monkeypatch.setattr(performance, "read_packed", reading)
        return reading(*args, **kwargs)

    monkeypatch.setattr(performance, "read_packed", read_slowly)
    assert ratings.fit_round(round_id)
    assert Round.objects.filter(applied_at__isnull=True).count() == 0
    assert fit_due() == [True]
    assert_as_from_records(ladder)


def test_a_fit_that_a_correction_overtakes_stores_nothing(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Block.objects.filter(state="finished").first()
    reading: Callable[..., Any] = packing.read_packed

    def and_correct(*args: object, **kwargs: object) -> object:
        packs = list(reading(*args, **kwargs))
        monkeypatch.setattr(performance, "read_packed", reading)
        ratings.mark_void(block_id=block.pk, reason="test")
        assert ratings.correct(ladder.pk) is not None
        return iter(packs)

    [round_id] = ratings.take_fits()
    monkeypatch.setattr(performance, "read_packed", and_correct)
    assert not ratings.fit_round(round_id)
    assert not Performance.objects.exists()
    assert fit_due() == [True]
    assert_as_from_records(ladder)
    assert sum(ladder.standings.values_list("performance_blocks", flat=True)) == 3 * 9


def test_web_processes_import_no_numpy_and_numpy_uses_one_thread() -> None:
    code = (
        "import sys, os, config.wsgi; from django.test import Client; "
        "Client().get('/healthz'); assert 'numpy' not in sys.modules; "
        "assert os.environ['OPENBLAS_NUM_THREADS'] == '1'"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=50)


def test_a_repair_writes_the_packs_again(ladder: Ladder) -> None:
    packs = PackedResults.objects.order_by("round", "seats").values_list("packed", flat=True)
    before = [bytes(packed) for packed in packs.all()]
    assert before
    PackedResults.objects.all().delete()
    ratings.correct(ladder.pk, reason="a lost table")
    assert [bytes(packed) for packed in packs.all()] == before


def fit_of_all(ladder: Ladder, *, with_luck: bool) -> dict[int, float]:
    """Return the performance by bot from all records, with or without luck taken off."""
    results = PairResults()
    for block in Block.objects.filter(round__ladder=ladder, rated=True, state="finished"):
        records = [match_result(match, with_luck=True) for match in block.matches.all()]
        shares = pair_results(records)
        bots = sorted({bot for pair in shares for bot in pair})
        luck = dict.fromkeys(bots, 0.0)
        for one in records:
            for bot, own in zip(one.seating, one.luck, strict=True):
                luck[bot] += own
        results.extend(
            [bots],
            [[float(shares[pair]) for pair in combinations(bots, 2)]],
            [len(records)],
            [[luck[bot] for bot in bots]] if with_luck else None,
        )
    fitted = fit(results, anchor=ladder.anchor_id)
    return dict(zip(fitted.bots, fitted.elo.tolist(), strict=True))


def test_luck_is_taken_off_only_if_each_match_has_its_own_deal() -> None:
    ladder = small.ladder(seats=4)
    Ladder.objects.update(rules="calliope")
    small.bots(4)
    play_tournament(ladder)
    assert fit_due() == [True]

    def stored() -> dict[int, float | None]:
        return dict(ladder.standings.values_list("bot", "performance"))

    assert stored() == pytest.approx(fit_of_all(ladder, with_luck=False))
    # A correction stores the pair results again, as if each match had its own deal.
    for match in Match.objects.all():
        Match.objects.filter(pk=match.pk).update(stored_seed=match.deal_seed)
    Block.objects.update(duplicate=False)
    ratings.correct(ladder.pk, reason="a test")
    assert fit_due() == [True]
    assert stored() == pytest.approx(fit_of_all(ladder, with_luck=True), abs=1e-3)
    # One deal cancels most of the luck, so the difference is small here.
    assert stored() != pytest.approx(fit_of_all(ladder, with_luck=False), abs=2e-3)


def test_a_ladder_without_a_rated_block_is_fitted_to_nothing() -> None:
    ladder = small.ladder()
    small.bots(3)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    for block in Block.objects.all():
        play.void_unfinished_block(block.pk)
    small.run_all()
    assert fit_due() == [True]
    assert not Performance.objects.exists()


def test_bots_beyond_the_limit_of_a_fit_have_no_performance(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance_data.MAX_BOTS", 3)
    fit_due()
    assert ladder.standings.filter(performance__isnull=False).count() == 3
    assert MatchSeat.objects.exists()


def test_a_ladder_rests_after_a_fit_for_a_multiple_of_its_time(ladder: Ladder) -> None:
    [first] = ratings.take_fits(rest=4)
    play_tournament(ladder)
    assert ratings.take_fits(rest=4) == []  # the first is still under way
    assert ratings.fit_round(first)
    now = timezone.now()
    for ended, rests in ((timedelta(seconds=39), True), (timedelta(seconds=41), False)):
        Fit.objects.filter(round=first).update(
            tried_at=now - ended - timedelta(seconds=10), finished_at=now - ended
        )
        assert (ratings.take_fits(rest=4) == []) is rests


def test_an_unfinished_fit_delays_later_fits_only_for_a_while(ladder: Ladder) -> None:
    [first] = ratings.take_fits(rest=4)
    play_tournament(ladder)
    Fit.objects.filter(round=first).update(tried_at=timezone.now() - TRY_AGAIN_AFTER)
    [second] = ratings.take_fits(rest=4)
    assert second != first
