"""The number of blocks that a rank needs: a setting of the ladder that its standings follow."""

import pytest
from django.test import Client

from league import ratings, tasks
from league.models import Ladder, Standing
from league.ratings.performance import fit_round, take_fits
from league.ratings.standings import find_bots, standings_in_order
from tests.league import small
from tests.league.kept import kept
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    """A ladder on which five bots have played six blocks each."""
    ladder = small.ladder()
    small.bots(5)
    small.tournament(ladder)
    small.run_all()
    for round_id in take_fits():
        fit_round(round_id)
    return ladder


def fit_due() -> int:
    return sum(fit_round(round_id) for round_id in take_fits())


def test_ranks_and_bands_follow_the_setting_within_an_upkeep_and_a_fit(ladder: Ladder) -> None:
    assert all(row.is_provisional for row in standings_in_order(ladder))
    Ladder.objects.update(ranked_from=6)
    tasks.upkeep()
    assert fit_due() == 1
    rows = list(standings_in_order(ladder))
    assert {row.is_provisional for row in rows} == {False}
    assert None not in {row.band for row in rows}
    assert {found.rank is None for found in find_bots(ladder, "bot")} == {False}

    Ladder.objects.update(ranked_from=7)
    tasks.upkeep()
    rows = list(standings_in_order(ladder))
    assert {(row.is_provisional, row.band, row.best_chance) for row in rows} == {(True, None, None)}
    assert {found.rank for found in find_bots(ladder, "bot")} == {None}
    assert fit_due() == 1
    assert not ladder.standings.exclude(band=None).exists()


def test_a_setting_that_has_not_changed_costs_no_fit(ladder: Ladder) -> None:
    assert ratings.ladders_with_other_ranked_from() == []
    assert ratings.copy_ranked_from(ladder.pk) == 0
    assert fit_due() == 0


def test_a_setting_that_changes_during_a_fit_counts(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.tournament(ladder)
    small.run_all()
    [round_id] = take_fits()
    rank = ratings.performance._rank

    def then_change(*args: object) -> object:
        found = rank(*args)  # type: ignore[arg-type]
        small.rank_from(ladder, 1)
        return found

    monkeypatch.setattr(ratings.performance, "_rank", then_change)
    assert fit_round(round_id)
    assert not ladder.standings.filter(band=None).exists()


def test_new_standings_and_a_repair_keep_the_setting(ladder: Ladder) -> None:
    Ladder.objects.update(ranked_from=3)
    small.bots(1, prefix="late")
    small.tournament(ladder)
    small.run_all()
    assert Standing.objects.get(bot__name="late-0").ranked_from == 3
    ladder.standings.filter(bot__name="bot-1").delete()
    assert ratings.correct(ladder.pk, reason="a row was lost") is not None
    assert Standing.objects.get(bot__name="bot-1").ranked_from == 3


def test_pages_and_the_api_show_the_setting(client: Client, ladder: Ladder) -> None:
    small.rank_from(ladder, 9)
    text = page(client, "/ladders/quick/?view=statistics")
    assert "until its current version has played 9 rated blocks" in text
    assert "6/9" in text
    assert "a rank needs 9" in page(client, "/bots/bot-1/statistics/")
    assert client.get("/api/v1/ladders/quick").json()["ranked_from"] == 9
