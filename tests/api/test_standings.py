"""How a bot stands on a ladder, over the API: what its page shows too."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engine.rating.intervals import half_width
from league import competitions, ratings
from league.models import HeadToHead, Ladder, Performance
from league.ratings.habits import habits_on
from league.ratings.last_matches import best_and_worst, last_rated
from tests.api.conftest import Api, assert_problem
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)

STANDING = "bots/bot-0/ladders/quick"
HISTORY = f"{STANDING}/performance"
TABLE = "ladders/quick/cross-table"


@pytest.fixture
def ladder(db: None, monkeypatch: pytest.MonkeyPatch) -> Ladder:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    ladder = small.ladder()
    for bot in small.bots(4):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    play_on(ladder)
    return ladder


def play_on(ladder: Ladder) -> None:
    """Play a tournament, fitted after each round."""
    small.tournament(ladder)
    small.run_all()
    for round_id in ratings.take_fits():
        ratings.fit_round(round_id)


def listed(api: Api, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while path:
        answer = api.get(path).json()
        found += answer["results"]
        path = answer["next"]
    return found


def queries(api: Api, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert api.get(path).status_code == 200
    return len(captured)


def test_a_bots_standing_describes_its_next_block_and_what_halves_its_error(
    api: Api, ladder: Ladder
) -> None:
    shown = api.get(STANDING).json()
    [row] = [
        row for row in api.get("ladders/quick/standings").json()["results"] if row["bot"] == "bot-0"
    ]
    assert shown.items() >= row.items()
    assert shown["ladder"] == "quick"
    assert shown["next_block"] == "Its next block comes now."
    assert shown["blocks_to_halve_error"] == 9
    assert_problem(api.get("bots/bot-9/ladders/quick"), 404, "not-found")
    assert_problem(api.get("bots/bot-0/ladders/slow"), 404, "not-found")
    small.bots(1, prefix="new")
    problem = assert_problem(api.get("bots/new-0/ladders/quick"), 404, "not-found")
    assert "has no rating" in problem["detail"]


def test_a_bots_standing_has_its_best_and_worst_match_and_its_habits(
    api: Api, ladder: Ladder
) -> None:
    standing = ladder.standings.select_related("ladder", "bot").get(bot__name="bot-0")
    shown = api.get(STANDING).json()
    for name, found in zip(
        ("best_match", "worst_match"), best_and_worst(last_rated(standing)), strict=True
    ):
        assert shown[name] == (
            found
            and {
                "match": found.match,
                "place": found.place,
                "win_share": found.share,
                "expected": found.expected,
            }
        )
    habits = habits_on(standing)
    assert habits is not None
    assert [habit["name"] for habit in shown["habits"]] == [rate.name for rate in habits.rates]
    for habit, rate in zip(shown["habits"], habits.rates, strict=True):
        assert (habit["did"], habit["times"]) == (rate.did, rate.times)
        assert (habit["share"], habit["field_share"]) == (rate.share, rate.field)


def test_performance_is_listed_by_round_the_newest_first(api: Api, ladder: Ladder) -> None:
    play_on(ladder)
    found = listed(api, f"{HISTORY}?limit=1")
    stored = list(Performance.objects.filter(bot__name="bot-0").order_by("-round__number"))
    assert len(found) == len(stored) == 2
    assert [row["round"] for row in found] == [row.round.number for row in stored]
    latest = api.get(STANDING).json()
    for name in (
        "performance",
        "performance_error",
        "band",
        "best_chance",
        "win_share",
        "mean_points",
    ):
        assert found[0][name] == pytest.approx(latest[name])
    for row in found:
        width = half_width(row["performance_error"], row["blocks"])
        assert row["performance_margin"] == pytest.approx(width)
    assert latest["performance_margin"] == found[0]["performance_margin"]
    assert (found[0]["blocks"], found[0]["matches"]) == (6, 18)
    assert found[1]["blocks"] == 3


def test_the_cross_table_has_both_sides_of_every_pair(api: Api, ladder: Ladder) -> None:
    found = listed(api, f"{TABLE}?limit=5")
    assert len(found) == HeadToHead.objects.count() == 12
    shares = {(row["bot"], row["opponent"]): row["win_share"] for row in found}
    for (bot, opponent), share in shares.items():
        assert share + shares[opponent, bot] == pytest.approx(1)
    assert {row["matches"] for row in found} == {6}
    of_one = listed(api, f"{TABLE}?bot=bot-1&limit=2")
    assert of_one == [row for row in found if row["bot"] == "bot-1"] != []
    assert api.get(f"{TABLE}?bot=%00").status_code == 400


def test_the_number_of_queries_does_not_grow_with_the_data(api: Api, ladder: Ladder) -> None:
    paths = [STANDING, HISTORY, TABLE]
    api.get(STANDING)  # from now on, the bot's habits are kept
    before = {path: queries(api, path) for path in paths}
    small.bots(2, prefix="more")
    play_on(ladder)
    assert {path: queries(api, path) for path in paths} == before
    assert max(before.values()) <= 20


def test_a_frozen_ladder_shows_nothing_newer(api: Api, ladder: Ladder) -> None:
    before = api.get(STANDING).json(), api.get(HISTORY).json()
    ladder.standings.update(points=0)
    ratings.check_ladder(ladder.pk)
    ladder.refresh_from_db()
    assert ladder.alarm
    play_on(ladder)
    frozen = api.get(STANDING).json()
    assert {**frozen, "next_block": "", "mean_points": 0} == {
        **before[0],
        "next_block": "",
        "mean_points": 0,
    }
    assert api.get(HISTORY).json() == before[1]
