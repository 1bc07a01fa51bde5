"""Tournaments: looking, entering, organising."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from league import competitions
from league.models import Bot, Ladder, Token, Tournament
from tests.api.conftest import Api, assert_problem, fields_of
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(db: None) -> Ladder:
    return small.ladder()


@pytest.fixture
def tournament(ladder: Ladder) -> Tournament:
    """One that starts in an hour, its entries open."""
    made = competitions.announce_tournament(
        title="Cup", ladder=ladder, starts_at=timezone.now() + timedelta(hours=1)
    )
    competitions.advance_tournament(made.pk)
    made.refresh_from_db()
    assert made.state == "open"
    return made


def new(**changes: object) -> dict[str, Any]:
    starts_at = (timezone.now() + timedelta(days=1)).isoformat()
    return {"title": "Cup", "ladder": "quick", "starts_at": starts_at, **changes}


def test_an_organiser_announces_a_tournament(api: Api, ladder: Ladder, organiser: str) -> None:
    made = api.post("tournaments", new(house_bots=False), token=organiser)
    assert made.status_code == 201
    shown = made.json()
    assert shown.items() >= {"title": "Cup", "ladder": "quick", "seed": None, "entries": 0}.items()
    assert len(shown["commitment"]) == 64
    assert api.get(f"tournaments/{shown['id']}").json() == shown
    assert api.get("tournaments").json()["results"] == [shown]


def test_members_of_the_group_of_organisers_announce_tournaments(
    api: Api, ladder: Ladder, ada: tuple[User, str]
) -> None:
    ada[0].groups.add(Group.objects.create(name="organisers"))
    assert api.post("tournaments", new(), token=ada[1]).status_code == 201


def test_only_organisers_announce_tournaments(
    api: Api, tournament: Tournament, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    path = f"tournaments/{tournament.pk}"
    assert_problem(api.post("tournaments", new()), 401, "not-authenticated")
    assert_problem(api.post("tournaments", new(), token=ada[1]), 403, "organiser-needed")
    assert_problem(api.post("tournaments", new(), token=bot[1]), 403, "owner-token-needed")
    assert_problem(api.call("PATCH", path, {}, token=ada[1]), 403, "organiser-needed")
    assert_problem(api.post(f"{path}/cancel", token=ada[1]), 403, "organiser-needed")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("starts_at", "2001-01-01T00:00:00Z"),
        ("starts_at", "9999-12-31T23:59:59Z"),
        ("starts_at", "tomorrow"),
        ("entries_open_at", "9999-12-31T23:59:59Z"),
        ("ladder", "none"),
        ("ladder", {"a": 1}),
        ("title", ""),
        ("house_bots", "perhaps"),
    ],
)
def test_an_invalid_tournament_is_a_problem_by_field(
    api: Api, ladder: Ladder, organiser: str, field: str, value: object
) -> None:
    answer = api.post("tournaments", new(**{field: value}), token=organiser)
    assert field in fields_of(assert_problem(answer, 400, "invalid"))


def test_a_tournament_can_change_until_its_start(
    api: Api, tournament: Tournament, organiser: str
) -> None:
    path = f"tournaments/{tournament.pk}"
    assert api.call("PATCH", path, {"title": "Bowl"}, token=organiser).json()["title"] == "Bowl"
    late = {"entries_open_at": timezone.now().isoformat()}
    assert_problem(api.call("PATCH", path, late, token=organiser), 400, "invalid")
    Tournament.objects.update(state="running")
    answer = api.call("PATCH", path, {"title": "Vase"}, token=organiser)
    assert_problem(answer, 409, "tournament-begun")
    Tournament.objects.update(state="finished")
    refused = assert_problem(api.post(f"{path}/cancel", token=organiser), 409, "tournament-begun")
    assert "you can cancel it only before its end" in refused["detail"]


def test_a_cancelled_tournament_stays_cancelled(
    api: Api, tournament: Tournament, organiser: str
) -> None:
    for _ in range(2):
        answer = api.post(f"tournaments/{tournament.pk}/cancel", token=organiser)
        assert answer.status_code == 200
        assert answer.json()["state"] == "cancelled"


def test_a_bot_enters_and_withdraws_while_entries_are_open(
    api: Api, tournament: Tournament, ada: tuple[User, str], bot: tuple[Bot, str]
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    for token in (ada[1], bot[1]):
        assert api.call("PUT", path, token=token).status_code == 200
    assert api.get(f"tournaments/{tournament.pk}").json()["entries"] == 1
    assert api.call("DELETE", path, token=bot[1]).status_code == 204
    Tournament.objects.update(state="finished")
    assert_problem(api.call("PUT", path, token=bot[1]), 409, "entries-not-open")
    assert_problem(api.call("DELETE", path, token=bot[1]), 409, "entries-not-open")


def test_a_bot_that_withdraws_during_the_tournament_cannot_enter_again(
    api: Api, tournament: Tournament, bot: tuple[Bot, str]
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    api.call("PUT", path, token=bot[1])
    Tournament.objects.update(state="running", late_entry=True)
    for _ in range(2):
        assert api.call("DELETE", path, token=bot[1]).status_code == 204
    assert_problem(api.call("PUT", path, token=bot[1]), 409, "bot-has-left")
    [entry] = api.get(f"tournaments/{tournament.pk}/entries").json()["results"]
    assert (entry["bot"], entry["owner"], entry["state"]) == ("ada-bot", "ada", "withdrawn")
    assert entry["left_after"] == 0


def test_a_bot_enters_late_if_the_settings_allow_it(
    api: Api, tournament: Tournament, bot: tuple[Bot, str]
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    Tournament.objects.update(state="running")
    assert_problem(api.call("PUT", path, token=bot[1]), 409, "entries-not-open")
    Tournament.objects.update(late_entry=True)
    entered = api.call("PUT", path, token=bot[1]).json()
    assert (entered["first_round"], entered["rating"]) == (1, 1_500_000)


def test_an_organiser_disqualifies_a_bot_with_a_reason(
    api: Api, tournament: Tournament, ada: tuple[User, str], bot: tuple[Bot, str], organiser: str
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    why = {"reason": "Asked for hidden cards."}
    answer = api.post(f"{path}/disqualify", why, token=organiser)
    assert_problem(answer, 404, "not-found")
    api.call("PUT", path, token=bot[1])
    answer = api.post(f"{path}/disqualify", why, token=ada[1])
    assert_problem(answer, 403, "organiser-needed")
    answer = api.post(f"{path}/disqualify", {"reason": " "}, token=organiser)
    assert "reason" in fields_of(assert_problem(answer, 400, "invalid"))
    answer = api.post(f"{path}/disqualify", why, token=organiser)
    assert answer.json().items() >= {"state": "disqualified", **why}.items()
    assert_problem(api.call("PUT", path, token=bot[1]), 409, "bot-has-left")
    [row] = api.get(f"tournaments/{tournament.pk}/standings").json()["results"]
    assert (row["rank"], row["state"], row["reason"]) == (None, "disqualified", why["reason"])


def test_a_bot_without_a_version_does_not_enter(
    api: Api, tournament: Tournament, ada: tuple[User, str]
) -> None:
    api.post("bots", {"name": "hosted-bot", "kind": "hosted"}, token=ada[1])
    answer = api.call("PUT", f"tournaments/{tournament.pk}/entries/hosted-bot", token=ada[1])
    assert_problem(answer, 409, "no-version")


def test_only_the_owner_enters_a_bot(
    api: Api, tournament: Tournament, bot: tuple[Bot, str], eve: tuple[User, str]
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    assert_problem(api.call("PUT", path, token=eve[1]), 403, "not-your-bot")
    assert_problem(api.call("DELETE", path, token=eve[1]), 403, "not-your-bot")


def test_a_finished_tournament_shows_standings_rounds_and_its_seed(
    api: Api, ladder: Ladder
) -> None:
    small.bots(4)
    played = small.tournament(ladder)
    small.run_all()
    path = f"tournaments/{played.pk}"
    assert api.get(path).json()["seed"] == bytes(played.seed).hex()
    rows = api.get(f"{path}/standings").json()["results"]
    lots = {row["lot"] for row in rows}
    assert len(lots) == len(rows)
    assert all(len(lot) == 16 and int(lot, 16) >= 0 for lot in lots)
    assert rows[0]["rank"] == 1
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert len(api.get(f"{path}/rounds").json()["results"]) > 0


def test_event_settings_can_change_until_the_start(
    api: Api, ladder: Ladder, organiser: str
) -> None:
    swiss = {"format": "swiss", "swiss_rounds": 4, "house_bots": False, "fill_in": True}
    made = api.post("tournaments", new(**swiss), token=organiser).json()
    assert (
        made.items()
        >= {**swiss, "blocks_per_table": 2, "late_entry": False, "max_tables": 500}.items()
    )
    path = f"tournaments/{made['id']}"
    changed = {"format": "knockout", "swiss_rounds": None}
    shown = api.call("PATCH", path, changed, token=organiser).json()
    assert shown.items() >= {**changed, "blocks_per_table": 1}.items()


@pytest.mark.parametrize(
    ("field", "event_settings"),
    [
        ("format", {"format": "ladder"}),
        ("late_entry", {"format": "knockout", "late_entry": True}),
        ("swiss_rounds", {"swiss_rounds": 3}),
        ("swiss_rounds", {"format": "swiss", "swiss_rounds": 0}),
        ("blocks_per_table", {"blocks_per_table": 5}),
        ("fill_in", {"fill_in": True, "house_bots": True}),
    ],
)
def test_invalid_event_settings_are_a_problem_by_field(
    api: Api,
    ladder: Ladder,
    organiser: str,
    tournament: Tournament,
    field: str,
    event_settings: dict[str, Any],
) -> None:
    answer = api.post("tournaments", new(**event_settings), token=organiser)
    assert field in fields_of(assert_problem(answer, 400, "invalid"))
    answer = api.call("PATCH", f"tournaments/{tournament.pk}", event_settings, token=organiser)
    assert field in fields_of(assert_problem(answer, 400, "invalid"))


def test_a_knockout_has_rounds_a_bracket_and_standings(api: Api) -> None:
    small.bots(6)
    played = small.tournament(small.ladder(seats=4), format="knockout")
    small.run_all()
    path = f"tournaments/{played.pk}"
    bracket = api.get(f"{path}/bracket").json()["results"]
    assert [round_["stage"] for round_ in bracket] == list(range(1, len(bracket) + 1))
    assert bracket[-1]["final"]
    [final] = bracket[-1]["tables"]
    [winner] = [seat["bot"] for seat in final["seats"] if seat["advances"]]
    rows = api.get(f"{path}/standings").json()["results"]
    assert rows[0].items() >= {"bot": winner, "table_place": 1}.items()
    assert rows[0]["round_reached"] == len(bracket)
    seats = [seat for table in bracket[0]["tables"] for seat in table["seats"]]
    assert sorted(seat["seed"] for seat in seats) == [1, 2, 3, 4, 5, 6]
    rounds = api.get(f"{path}/rounds").json()["results"]
    assert {round_["stage"] for round_ in rounds} == set(range(1, len(bracket) + 1))
    first = rounds[-1]
    assert {bot for table in first["tables"] for bot in table["bots"]} == {
        seat["bot"] for seat in seats
    }


def test_a_swiss_has_a_cross_table_and_byes(api: Api) -> None:
    small.bots(5)
    played = small.tournament(small.ladder(seats=2), format="swiss", swiss_rounds=2)
    small.run_all()
    path = f"tournaments/{played.pk}"
    rows = api.get(f"{path}/cross-table").json()["results"]
    scores = {(row["bot"], one["opponent"]): one for row in rows for one in row["opponents"]}
    for (bot, other), one in scores.items():
        assert one["score"] + scores[other, bot]["score"] == one["blocks"] == 2
    rounds = api.get(f"{path}/rounds").json()["results"]
    assert [len(round_["byes"]) for round_ in rounds] == [1, 1]
    assert len({round_["byes"][0]["bot"] for round_ in rounds}) == 2
    standings = api.get(f"{path}/standings").json()["results"]
    assert sorted(row["byes"] for row in standings) == [0, 0, 0, 2, 2]
    assert api.get(f"{path}/bracket").json()["results"] == []


@pytest.fixture
@kept
def cup(db: None) -> Tournament:
    """A knockout of seven bots, played to its end."""
    small.bots(7)
    cup = small.tournament(small.ladder(seats=3), format="knockout")
    small.run_all()
    return cup


@pytest.mark.parametrize("part", ["rounds", "standings", "cross-table", "bracket", "entries"])
def test_the_number_of_queries_does_not_grow_with_a_tournament(
    api: Api, part: str, cup: Tournament, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(8):
        assert api.get(f"tournaments/{cup.pk}/{part}").status_code == 200


@pytest.mark.parametrize("count", [1, 10])
def test_a_list_of_tournaments_costs_one_query(
    api: Api, ladder: Ladder, count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(count):
        small.tournament(ladder)
    with django_assert_num_queries(1):
        assert len(api.get("tournaments").json()["results"]) == count


@pytest.mark.parametrize("slug", ["nowhere", "a\0b", 7, None, ["quick"]])
def test_an_unknown_ladder_is_a_problem(
    api: Api, ladder: Ladder, organiser: str, slug: object
) -> None:
    new = {"title": "X", "ladder": slug, "starts_at": "2099-01-06T12:00:00Z"}
    answer = api.post("tournaments", new, token=organiser)
    assert "ladder" in fields_of(assert_problem(answer, 400, "invalid"))


def test_an_organiser_enters_and_withdraws_any_bot_at_any_time_before_the_end(
    api: Api, tournament: Tournament, bot: tuple[Bot, str], organiser: str
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    Tournament.objects.update(
        state="announced", entries_open_at=timezone.now() + timedelta(minutes=30)
    )
    for state in ("announced", "open", "running"):
        Tournament.objects.update(state=state)
        for _ in range(2):
            assert api.call("PUT", f"{path}?reason=By%20mail", token=organiser).status_code == 200
        for _ in range(2):
            assert api.call("DELETE", path, token=organiser).status_code == 204
    entered = api.call("PUT", path, token=organiser).json()
    assert (entered["state"], entered["left_after"]) == ("entered", None)
    rows = api.get("moderation-log", token=organiser).json()["results"]
    assert [row["action"] for row in rows] == ["enter-bot", *["withdraw-bot", "enter-bot"] * 3]
    assert rows[-1].items() >= {"made_by": "eve", "reason": "By mail"}.items()
    Tournament.objects.update(state="finished")
    assert_problem(api.call("DELETE", path, token=organiser), 409, "entries-not-open")


def test_a_withdrawal_whose_public_reason_would_be_cut_off_is_refused(
    api: Api, tournament: Tournament, organiser: str
) -> None:
    small.bots(4)
    Tournament.objects.update(starts_at=timezone.now(), open_seconds=3600)
    competitions.advance_tournament(tournament.pk)
    path = f"tournaments/{tournament.pk}/entries/bot-0"
    refused = api.call("DELETE", f"{path}?reason={'a' * 201}", token=organiser)
    assert fields_of(assert_problem(refused, 400, "invalid")) == {"reason"}
    assert api.call("DELETE", f"{path}?reason={'a' * 200}", token=organiser).status_code == 204
    assert tournament.entries.get(bot__name="bot-0").reason == "a" * 200


def test_an_organiser_enters_bots_with_the_scope_organise(
    api: Api, tournament: Tournament, bot: tuple[Bot, str], organiser: str
) -> None:
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    Token.objects.filter(owner__username="eve").update(scopes=["organise"])
    assert api.call("PUT", path, token=organiser).status_code == 200
    Token.objects.filter(owner__username="eve").update(scopes=["manage"])
    assert_problem(api.call("DELETE", path, token=organiser), 403, "not-your-bot")


def test_a_running_knockout_takes_no_bot_from_an_organiser(
    api: Api, tournament: Tournament, bot: tuple[Bot, str], organiser: str
) -> None:
    Tournament.objects.update(state="running", format="knockout", blocks_per_table=1)
    answer = api.call("PUT", f"tournaments/{tournament.pk}/entries/ada-bot", token=organiser)
    assert_problem(answer, 409, "entries-not-open")


def test_a_deleted_bot_leaves_a_tournament_that_an_organiser_entered_it_in_before_its_opening(
    api: Api, tournament: Tournament, ada: tuple[User, str], bot: tuple[Bot, str], organiser: str
) -> None:
    Tournament.objects.update(state="announced")
    api.call("PUT", f"tournaments/{tournament.pk}/entries/ada-bot", token=organiser)
    assert api.call("DELETE", "bots/ada-bot", token=ada[1]).status_code in (200, 204)
    assert api.get(f"tournaments/{tournament.pk}").json()["entries"] == 0
