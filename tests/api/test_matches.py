"""Matches: looking, records, unrated ones on request."""

import json

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from engine.record import read, verify
from league.models import Block, Bot, Match, MatchSeat, Tournament
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.kept import kept
from tests.league.play.live import match_of, play_on, remote_bots

pytestmark = pytest.mark.django_db


@pytest.fixture
@kept
def played(db: None) -> Tournament:
    """A tournament of four house bots, played to its end."""
    small.bots(4)
    tournament = small.tournament(small.ladder())
    small.run_all()
    return tournament


def test_a_finished_match_shows_all_its_cards_and_its_record(api: Api, played: Tournament) -> None:
    match = Match.objects.filter(status="finished").first()
    shown = api.get(f"matches/{match.pk}").json()
    assert shown["deal_seed"] == bytes(match.deal_seed).hex()
    assert shown["view"]["phase"] == "over"
    assert shown["tournament"] == played.pk
    assert shown["ladder"] == "quick"
    record = read(json.dumps(api.get(f"matches/{match.pk}/record").json()).encode())
    verify(record)
    assert [seat["score"] for seat in shown["seating"]] == list(record.scores)


def test_matches_of_a_duplicate_block_are_secret_until_all_are_played(
    api: Api, played: Tournament
) -> None:
    match = Match.objects.filter(status="finished", block__duplicate=True).earliest("pk")
    assert match.block is not None
    Block.objects.filter(pk=match.block.pk).update(state="playing")
    shown = api.get(f"matches/{match.pk}").json()
    assert shown["view"] is None
    assert shown["deal_seed"] is None
    result = ("score", "place", "forfeited", "faults")
    for each in (shown, api.get("matches").json()["results"][-1]):
        seats = [[seat[name] for name in result] for seat in each["seating"]]
        assert seats == [[None, None, False, 0]] * match.seats
    assert bytes(match.deal_seed).hex() not in api.get("matches").content.decode()
    assert_problem(api.get(f"matches/{match.pk}/record"), 409, "block-not-finished")


def test_an_export_of_a_tournament_shows_no_result_before_its_matches_do(
    api: Api, played: Tournament
) -> None:
    match = Match.objects.filter(status="finished", block__duplicate=True).earliest("pk")
    Block.objects.filter(matches=match).update(state="playing")
    exported = api.get(f"tournaments/{played.pk}/export").getvalue()
    lines = [json.loads(line) for line in exported.splitlines()]
    seating = {line["id"]: line["seating"] for line in lines if line["type"] == "match"}
    assert seating[match.pk] == api.get(f"matches/{match.pk}").json()["seating"]
    assert [seat["score"] for seat in seating[match.pk]] == [None] * match.seats


def test_a_match_in_play_shows_no_hidden_card(api: Api) -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    shown = api.get(f"matches/{match.pk}").json()
    assert shown["status"] == "playing"
    assert shown["deal_seed"] is None
    assert shown["view"]["phase"] == "give"
    assert bytes(match.deal_seed).hex() not in json.dumps(shown)
    assert shown["view"].get("hands") is None
    assert_problem(api.get(f"matches/{match.pk}/record"), 409, "not-finished")


def test_a_live_match_has_its_record_when_it_is_over(api: Api) -> None:
    bots = remote_bots(3)
    match = match_of(bots)
    play_on(bots)
    assert api.get(f"matches/{match.pk}").json()["view"]["phase"] == "over"
    assert api.get(f"matches/{match.pk}/record").status_code == 200


def test_a_void_match_shows_nothing(api: Api, played: Tournament) -> None:
    Match.objects.update(status="void", packed_record=None, stored_seed=bytes(32))
    match = Match.objects.first()
    assert api.get(f"matches/{match.pk}").json()["view"] is None
    assert_problem(api.get(f"matches/{match.pk}/record"), 404, "not-found")


@pytest.mark.parametrize("what", ["bot=bot-1", "ladder=quick", "status=finished", "tournament={}"])
def test_a_filter_finds_matches(api: Api, played: Tournament, what: str) -> None:
    found = api.get(f"matches?limit=200&{what.format(played.pk)}").json()["results"]
    expected = Match.objects.all()
    if what == "bot=bot-1":
        seats = MatchSeat.objects.filter(bot__name="bot-1")
        expected = expected.filter(pk__in=seats.values("match"))
    assert [row["id"] for row in found] == list(expected.values_list("pk", flat=True))


@pytest.mark.parametrize("what", ["bot=nobody", "ladder=none", "status=void", "tournament=999999"])
def test_a_filter_without_a_match_gives_an_empty_list(
    api: Api, played: Tournament, what: str
) -> None:
    assert api.get(f"matches?{what}").json()["results"] == []


@pytest.mark.parametrize(
    "what",
    ["status=odd", "tournament=one", "tournament=1.5", "bot=%00", "tournament=" + "9" * 9999],
)
def test_an_invalid_filter_is_a_problem_by_field(api: Api, what: str) -> None:
    problem = assert_problem(api.get(f"matches?{what}"), 400, "invalid")
    assert what.partition("=")[0] in fields_of(problem)


@pytest.mark.parametrize("limit", [1, 12])
def test_a_list_of_matches_costs_two_queries(
    api: Api, played: Tournament, limit: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        assert len(api.get(f"matches?limit={limit}").json()["results"]) == limit


def test_filters_go_on_from_page_to_page(api: Api, played: Tournament) -> None:
    path, found = "matches?bot=bot-1&limit=4", []
    while path:
        page = api.get(path).json()
        found += [row["id"] for row in page["results"]]
        path = page["next"]
    assert found == [row["id"] for row in api.get("matches?bot=bot-1").json()["results"]]


NEW = {"game": "partridge", "rules": "eagle-short", "bots": ["ada-bot", "house-0", "house-1"]}


def test_an_owner_starts_an_unrated_match_with_house_bots(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    small.bots(2, prefix="house")
    made = api.post("matches", NEW, token=ada[1])
    assert made.status_code == 201
    match = made.json()
    assert (match["status"], match["ladder"], match["block"]) == ("waiting", None, None)
    assert [seat["bot"] for seat in match["seating"]] == NEW["bots"]
    assert match["deal_seed"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("game", "chess"),
        ("rules", "none"),
        ("bots", ["ada-bot"]),
        ("bots", ["ada-bot", "nobody"]),
        ("bots", ["house-0", "house-1"]),
        ("bots", ["ada-bot", "ada-bot"]),
        ("bots", "ada-bot"),
    ],
)
def test_an_invalid_match_is_a_problem_by_field(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], field: str, value: object
) -> None:
    small.bots(2, prefix="house")
    answer = api.post("matches", {**NEW, field: value}, token=ada[1])
    assert field in fields_of(assert_problem(answer, 400, "invalid"))


def test_only_the_owner_starts_a_match_with_a_bot(
    api: Api, bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    small.bots(2, prefix="house")
    assert_problem(api.post("matches", NEW, token=eve[1]), 403, "not-your-bot")
    assert_problem(api.post("matches", NEW, token=bot[1]), 403, "owner-token-needed")
    assert_problem(api.post("matches", NEW), 401, "not-authenticated")


def test_the_number_of_unfinished_unrated_matches_is_limited(
    api: Api, ada: tuple[User, str], bot: tuple[Bot, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small.bots(2, prefix="house")
    monkeypatch.setattr("league.play.unrated_matches.MAX_OPEN", 1)
    assert api.post("matches", NEW, token=ada[1]).status_code == 201
    assert_problem(api.post("matches", NEW, token=ada[1]), 409, "too-many-matches")
