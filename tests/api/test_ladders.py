"""Ladders: standings, rounds, entries."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from league import ratings
from league.models import Bot, Ladder, Standing, Tournament
from tests.api.conftest import Api, assert_problem
from tests.league import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(db: None) -> Ladder:
    return small.ladder()


def stand(ladder: Ladder, *ratings_and_blocks: tuple[int, int]) -> None:
    bots = small.bots(len(ratings_and_blocks), prefix="standing")
    Standing.objects.bulk_create(
        Standing(ladder=ladder, bot=bot, rating=rating, blocks=blocks, version=1)
        for bot, (rating, blocks) in zip(bots, ratings_and_blocks, strict=True)
    )


def test_a_ladder_is_listed_and_shown(api: Api, ladder: Ladder) -> None:
    shown = api.get("ladders/quick").json()
    assert (shown["game"], shown["rules"], shown["seats"]) == ("twelve-days", "eight-nights", 3)
    assert shown.pop("twins") == []
    assert api.get("ladders").json()["results"] == [shown]


def test_a_ladder_shows_the_gap_between_twins(api: Api, ladder: Ladder) -> None:
    stand(ladder, (1_512_345, 20), (1_500_001, 3), (1_400_000, 20))
    for old, name in enumerate(["house-thumb-2", "house-thumb", "house-random-2"]):
        Bot.objects.filter(name=f"standing-{old}").update(name=name)
    gap = {"bot": "house-thumb", "twin": "house-thumb-2", "gap": 12_344}
    assert api.get("ladders/quick").json()["twins"] == [gap]
    schema = api.get("schema/").json()["components"]["schemas"]
    assert schema["LadderDetail"]["properties"]["twins"]["items"] == {
        "$ref": "#/components/schemas/Twins"
    }
    assert set(schema["Twins"]["required"]) == gap.keys()


def test_ranked_bots_stand_by_rating_before_provisional_ones(api: Api, ladder: Ladder) -> None:
    stand(ladder, (1_400_000, 20), (1_600_000, 19), (1_500_000, 25), (1_500_000, 30))
    rows = api.get("ladders/quick/standings").json()["results"]
    assert [(row["bot"], row["rank"], row["provisional"]) for row in rows] == [
        ("standing-2", 1, False),
        ("standing-3", 1, False),
        ("standing-0", 3, False),
        ("standing-1", None, True),
    ]


def test_ranks_go_on_from_page_to_page(api: Api, ladder: Ladder) -> None:
    stand(ladder, *[(1_500_000 - 1000 * (number // 2), 20) for number in range(9)])
    path, ranks = "ladders/quick/standings?limit=2", []
    while path:
        page = api.get(path).json()
        ranks += [row["rank"] for row in page["results"]]
        path = page["next"]
    assert ranks == [1, 1, 3, 3, 5, 5, 7, 7, 9]


def test_hidden_bots_are_listed_last_and_on_request_alone(api: Api, ladder: Ladder) -> None:
    stand(ladder, *[(1_500_000 - 1000 * number, 20) for number in range(5)])
    now = timezone.now()
    Standing.objects.filter(bot__name="standing-0").update(hidden="withdrawn", hidden_at=now)
    Standing.objects.filter(bot__name="standing-2").update(hidden="idle", hidden_at=now)

    def listed(path: str) -> list[Any]:
        rows = []
        while path:
            page = api.get(path).json()
            rows += [
                (r["bot"], r["rank"], r["hidden"], bool(r["hidden_at"])) for r in page["results"]
            ]
            path = page["next"]
        return rows

    shown = [
        ("standing-1", 1, None, False),
        ("standing-3", 2, None, False),
        ("standing-4", 3, None, False),
    ]
    hidden = [("standing-2", None, "idle", True), ("standing-0", None, "withdrawn", True)]
    assert listed("ladders/quick/standings?limit=2") == shown
    assert listed("ladders/quick/standings?limit=2&hidden=false") == shown
    assert listed("ladders/quick/standings?limit=2&hidden=true") == shown + hidden
    assert_problem(api.get("ladders/quick/standings?hidden=1"), 400, "invalid")


@pytest.mark.parametrize("count", [2, 40])
def test_standings_cost_four_queries(
    api: Api, ladder: Ladder, count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    stand(ladder, *[(1_500_000, 20)] * count)
    with django_assert_num_queries(4):
        assert len(api.get("ladders/quick/standings").json()["results"]) == count


def test_standings_show_performance_and_trend(
    api: Api, ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    small.bots(4)
    small.tournament(ladder)
    small.run_all()
    rows = api.get("ladders/quick/standings").json()["results"]
    assert {row["performance"] for row in rows} == {None}
    for row in rows:
        assert row["trend"] == row["rating"] - 1_500_000
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    stored = {row.bot.name: row for row in ladder.standings.select_related("bot")}
    for row in api.get("ladders/quick/standings").json()["results"]:
        assert row["performance"] == stored[row["bot"]].performance
        assert row["performance_error"] > 0
        assert (row["performance_blocks"], row["band"], row["best_chance"]) == (3, None, None)
    Standing.objects.filter(bot__name="bot-1").update(best_chance=0.25)
    chances = {
        row["bot"]: row["best_chance"]
        for row in api.get("ladders/quick/standings").json()["results"]
    }
    assert chances.pop("bot-1") == 0.25
    assert set(chances.values()) == {None}


def test_a_bot_that_sat_out_the_last_rounds_has_no_trend(api: Api, ladder: Ladder) -> None:
    stand(ladder, (1_500_000, 20))
    [row] = api.get("ladders/quick/standings").json()["results"]
    assert row["trend"] is None


def test_an_owner_enters_and_takes_out_a_bot(
    api: Api, ladder: Ladder, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    for _ in range(2):
        entered = api.call("PUT", "ladders/quick/entries/ada-bot", token=ada[1])
        assert entered.status_code == 200
        assert entered.json().items() >= {"ladder": "quick", "bot": "ada-bot"}.items()
    assert ladder.entries.count() == 1
    for _ in range(2):
        left = api.call("DELETE", "ladders/quick/entries/ada-bot", token=ada[1])
        assert left.status_code == 204
    assert not ladder.entries.exists()


def test_a_bot_enters_by_its_own_token_and_no_other(
    api: Api, ladder: Ladder, bot: tuple[Bot, str], ada: tuple[User, str]
) -> None:
    path = "ladders/quick/entries/ada-bot"
    assert api.call("PUT", path, token=bot[1]).status_code == 200
    small.bots(1, ada[0], prefix="other")
    answer = api.call("PUT", "ladders/quick/entries/other-0", token=bot[1])
    assert_problem(answer, 403, "not-your-bot")
    assert answer.json()["detail"] == (
        "This token belongs to another bot. Use the token of other-0, or the owner token."
    )


def test_only_the_owner_enters_a_bot(
    api: Api, ladder: Ladder, bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    path = "ladders/quick/entries/ada-bot"
    assert_problem(api.call("PUT", path), 401, "not-authenticated")
    assert_problem(api.call("PUT", path, token=eve[1]), 403, "not-your-bot")
    refused = assert_problem(api.call("DELETE", path, token=eve[1]), 403, "not-your-bot")
    assert refused["detail"] == "The bot ada-bot belongs to another account."
    Bot.objects.filter(pk=bot[0].pk).update(kind=Bot.Kind.HOUSE, owner=None)
    refused = assert_problem(api.call("PUT", path, token=eve[1]), 403, "not-your-bot")
    assert refused["detail"] == "The bot ada-bot belongs to the league: it is a house bot."


def test_a_tournaments_seed_shows_when_all_its_rounds_are_over(api: Api, ladder: Ladder) -> None:
    small.bots(3)
    tournament = small.tournament(ladder)
    small.run_all()
    rounds = api.get("ladders/quick/rounds").json()["results"]
    assert rounds[0]["seed"] == bytes(tournament.seed).hex()
    assert rounds[0]["blocks"] == rounds[0]["blocks_finished"] > 0
    Tournament.objects.update(state="running", finished_at=None)
    for path in ("ladders/quick/rounds", f"tournaments/{tournament.pk}/rounds"):
        rounds = api.get(path).json()["results"]
        assert all(row["applied_at"] and row["seed"] is None for row in rounds)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_list_of_rounds_costs_two_queries(
    api: Api, ladder: Ladder, rounds: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small.bots(3)
    for _ in range(rounds):
        small.tournament(ladder)
        small.run_all()
    with django_assert_num_queries(2):
        assert len(api.get("ladders/quick/rounds").json()["results"]) == rounds


def test_fair_play_is_for_organisers_alone(
    api: Api, ladder: Ladder, ada: tuple[User, str], organiser: str
) -> None:
    path = f"ladders/{ladder.slug}/fair-play"
    assert_problem(api.get(path, token=ada[1]), 403, "organiser-needed")
    nothing = {"pairs": 0, "smallest_gain": None, "smallest_gain_elo": None}
    assert api.get(path, token=organiser).json() == {
        "results": [],
        "next": None,
        "previous": None,
        "power": [{"question": question, **nothing} for question in ("fed", "with")],
        "blocks": 0,
    }
