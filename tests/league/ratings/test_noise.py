"""Luck: equal bots of a played ladder, and the page that shows them."""

import math
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from engine.rating import sprt
from engine.rating.results import pair_results, win_shares
from league import competitions, ratings, tasks
from league.models import Block, BlockBot, Fit, Ladder, MatchSeat, Performance, Round, Standing
from league.ratings import luck_counts, noise
from league.ratings.match_results import stored_results
from league.ratings.twins import Twins, twins_on
from tests.league import small
from tests.web.pages import page
from web.selectors.luck import NOISE_AFTER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ladder() -> Ladder:
    """A played ladder with house-random and its twin, and two other bots."""
    ladder, bots = small.ladder(), small.bots(4)
    for bot, name in zip(bots, ("house-random", "house-random-2"), strict=False):
        bot.name = name
        bot.save()
    small.tournament(ladder)
    small.run_all()
    return ladder


@pytest.fixture
def twins(ladder: Ladder) -> Twins:
    [twins] = twins_on(ladder)
    return twins


def both_in(twins: Twins) -> set[int]:
    """Return the ids of the blocks in which both twins sat."""
    seats = BlockBot.objects.filter(bot__in=[twins.bot, twins.twin]).values_list("block", flat=True)
    return {block for block in seats if list(seats).count(block) == 2}


def test_tests_of_twins_run_over_the_blocks_of_both(ladder: Ladder, twins: Twins) -> None:
    blocks = both_in(twins)
    assert 0 < len(blocks) < Block.objects.count()
    assert noise.tests_of_twins(ladder, twins.bot, twins.twin).blocks == len(blocks)
    Block.objects.filter(pk__in=blocks).update(rated=False)
    assert noise.tests_of_twins(ladder, twins.bot, twins.twin).blocks == 0


def test_the_difference_of_a_block_is_that_of_a_swap_block(ladder: Ladder, twins: Twins) -> None:
    [block, *_] = sorted(both_in(twins))
    results = [one.result for one in stored_results(MatchSeat.objects.filter(match__block=block))]
    bots = twins.bot.pk, twins.twin.pk
    shares = win_shares(pair_results(results))
    expected = float(shares[bots[0]] - shares[bots[1]])
    assert noise._differences([block], *bots) == {block: pytest.approx(expected)}


def test_a_test_begins_where_the_one_before_ended() -> None:
    plan = sprt.Plan(seats=4)
    found = list(noise._decisions(plan, [0.05, 0.03] * 100))
    assert len(found) > 1
    assert set(found) == {sprt.Decision.BETTER}
    assert set(noise._decisions(plan, [-0.05, -0.03] * 100)) == {sprt.Decision.NOT_BETTER}


@pytest.mark.parametrize("difference", [-0.04, 0.04])
def test_a_mistake_in_either_direction_counts(
    ladder: Ladder, twins: Twins, monkeypatch: pytest.MonkeyPatch, difference: float
) -> None:
    blocks = both_in(twins)
    monkeypatch.setattr(noise, "_differences", lambda *_: dict.fromkeys(blocks, difference))
    monkeypatch.setattr(
        sprt, "Plan", partial(sprt.Plan, min_differing=1, guard_blocks=1, alpha=0.49, beta=0.49)
    )
    found = noise.tests_of_twins(ladder, twins.bot, twins.twin)
    assert found.better > 0
    assert found.not_better > 0


def fitted(ladder: Ladder, bands: tuple[int | None, int | None], twins: Twins) -> Round:
    """Store a fit after the ladder's last round, with these bands for the twins."""
    round_ = ladder.rounds.applied().latest("applied_number")
    for bot, band in zip((twins.bot, twins.twin), bands, strict=True):
        Performance.objects.update_or_create(
            round=round_,
            bot=bot,
            defaults={
                "elo": 1500,
                "band": band,
                "blocks": 20,
                "matches": 80,
                "win_share": 0.5,
                "mean_points": 0,
            },
        )
    return round_


@pytest.mark.parametrize(
    ("bands", "found"), [((1, 1), (1, 0)), ((1, 2), (1, 1)), ((1, None), (0, 0))]
)
def test_bands_are_counted_where_both_twins_have_one(
    ladder: Ladder, twins: Twins, bands: tuple[int | None, int | None], found: tuple[int, int]
) -> None:
    fitted(ladder, bands, twins)
    assert noise.band_splits(ladder, twins.bot, twins.twin) == found


def ranked(ladder: Ladder) -> None:
    Standing.objects.filter(ladder=ladder).update(
        blocks=small.RANKED_FROM, performance_blocks=small.RANKED_FROM, performance_error=20.0
    )


def test_the_noise_follows_from_the_error_bars_of_ranked_bots(ladder: Ladder) -> None:
    assert noise.block_error(ladder) is None
    ranked(ladder)
    assert noise.block_error(ladder) == pytest.approx(20.0 * math.sqrt(small.RANKED_FROM))


def fit_due() -> int:
    return sum(ratings.fit_round(round_id) for round_id in ratings.take_fits())


def test_the_page_shows_gap_bands_tests_and_noise_of_the_last_count(
    client: Client, ladder: Ladder, twins: Twins
) -> None:
    text = page(client, "/ladders/quick/luck/")
    assert "is not measured yet" in text
    assert text.count("not counted yet") == 2
    ratings.count_luck(ladder.pk)
    text = page(client, "/ladders/quick/luck/")
    assert "No bot had a rank when" in text
    assert "not ranked yet" in text
    fitted(ladder, (1, 2), twins)
    ranked(ladder)
    assert page(client, "/ladders/quick/luck/") == text
    ratings.count_luck(ladder.pk)
    text = page(client, "/ladders/quick/luck/")
    assert "after 1 of 1 rating rounds" in text
    assert f"so far the twins played {len(both_in(twins))} block" in text
    assert f"{twins.gap / 1000:.0f} Elo" in text
    assert 'aria-label="Gap between the twins’ ratings' in text
    assert text.count("<tr>") == 1 + len(NOISE_AFTER)
    assert 'href="/ladders/quick/luck/"' in page(client, "/ladders/quick/?view=statistics")


def test_a_request_for_the_page_reads_no_result_of_a_match(
    client: Client, ladder: Ladder, django_assert_max_num_queries: Any
) -> None:
    ratings.count_luck(ladder.pk)
    with django_assert_max_num_queries(12) as queries:
        page(client, "/ladders/quick/luck/")
    read = " ".join(query["sql"] for query in queries)
    assert "league_luckcount" in read
    assert not any(table in read for table in ("league_matchseat", "league_performance"))


def test_luck_is_counted_after_a_fit_and_then_again_after_ten_minutes(ladder: Ladder) -> None:
    now = timezone.now()
    assert ratings.take_luck_counts(now) == []
    assert fit_due() == 1
    assert ratings.take_luck_counts(now) == [ladder.pk]
    assert ratings.take_luck_counts(now) == []
    later = now + luck_counts.EVERY
    assert ratings.take_luck_counts(later) == [ladder.pk]  # the first one was lost
    tasks.count_luck(ladder.pk)
    assert ratings.take_luck_counts(later + luck_counts.EVERY) == []  # nothing is new
    Fit.objects.update(finished_at=timezone.now())
    assert ratings.take_luck_counts(later) == []
    assert ratings.take_luck_counts(later + luck_counts.EVERY) == [ladder.pk]


def test_a_fit_that_ends_during_a_count_is_counted_by_the_next_one(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(of: Ladder) -> float | None:
        found = noise.block_error(of)
        assert fit_due() == 1
        return found

    monkeypatch.setattr(luck_counts, "block_error", late)
    ratings.count_luck(ladder.pk)
    assert ratings.take_luck_counts(timezone.now()) == [ladder.pk]


def test_a_corrected_ladder_is_counted_again_before_the_page_shows_its_luck(
    client: Client, ladder: Ladder
) -> None:
    ratings.count_luck(ladder.pk)
    assert ratings.correct(ladder.pk, reason="a row was lost") is not None
    assert "is not measured yet" in page(client, "/ladders/quick/luck/")
    assert ratings.take_luck_counts(timezone.now()) == [ladder.pk]
    ratings.count_luck(ladder.pk)
    assert "is not measured yet" not in page(client, "/ladders/quick/luck/")


def test_a_ladder_without_twins_has_a_page_too(client: Client) -> None:
    small.ladder()
    text = page(client, "/ladders/quick/luck/")
    assert "No house bot plays here together with its twin" in text
    assert client.get("/ladders/none/luck/").status_code == 404


def test_an_invalid_k_schedule_does_not_break_the_page(client: Client, ladder: Ladder) -> None:
    ranked(ladder)
    ratings.count_luck(ladder.pk)
    Ladder.objects.update(k_schedule={"steps": "many"})
    assert "No bot had a rank when" in page(client, "/ladders/quick/luck/")


def test_rounds_in_play_do_not_count(ladder: Ladder, twins: Twins) -> None:
    before = noise.tests_of_twins(ladder, twins.bot, twins.twin)
    for bot in (twins.bot, twins.twin):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    small.tournament(ladder)
    assert noise.tests_of_twins(ladder, twins.bot, twins.twin) == before
