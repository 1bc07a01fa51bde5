"""Tournaments: looking, entering, organising."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from league import events
from league.models import Tournament
from tests.api.conftest import assert_problem
from tests.league import small

pytestmark = pytest.mark.django_db


@pytest.fixture
def ladder(db):
    return small.ladder()


@pytest.fixture
def tournament(ladder):
    """One that starts in an hour, its entries open."""
    made = events.announce_tournament(
        title="Cup", ladder=ladder, starts_at=timezone.now() + timedelta(hours=1)
    )
    events.advance(made.pk)
    made.refresh_from_db()
    assert made.state == "open"
    return made


def new(**changes):
    starts_at = (timezone.now() + timedelta(days=1)).isoformat()
    return {"title": "Cup", "ladder": "quick", "starts_at": starts_at, **changes}


def test_an_organiser_announces_a_tournament(api, ladder, organiser):
    made = api.post("tournaments", new(house_bots=False), token=organiser)
    assert made.status_code == 201
    shown = made.json()
    assert shown.items() >= {"title": "Cup", "ladder": "quick", "seed": None, "entries": 0}.items()
    assert len(shown["commitment"]) == 64
    assert api.get(f"tournaments/{shown['id']}").json() == shown
    assert api.get("tournaments").json()["results"] == [shown]


def test_the_group_of_organisers_may_too(api, ladder, ada):
    ada[0].groups.add(Group.objects.create(name="organisers"))
    assert api.post("tournaments", new(), token=ada[1]).status_code == 201


def test_others_do_not_organise(api, tournament, ada, bot):
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
def test_a_tournament_that_makes_no_sense_is_refused_by_field(api, ladder, organiser, field, value):
    answer = api.post("tournaments", new(**{field: value}), token=organiser)
    assert field in assert_problem(answer, 400, "invalid")["errors"]


def test_a_tournament_changes_until_it_begins(api, tournament, organiser):
    path = f"tournaments/{tournament.pk}"
    assert api.call("PATCH", path, {"title": "Bowl"}, token=organiser).json()["title"] == "Bowl"
    late = {"entries_open_at": timezone.now().isoformat()}
    assert_problem(api.call("PATCH", path, late, token=organiser), 400, "invalid")
    Tournament.objects.update(state="running")
    answer = api.call("PATCH", path, {"title": "Vase"}, token=organiser)
    assert_problem(answer, 409, "tournament-begun")
    assert_problem(api.post(f"{path}/cancel", token=organiser), 409, "tournament-begun")


def test_a_tournament_is_called_off_once_and_stays_so(api, tournament, organiser):
    for _ in range(2):
        answer = api.post(f"tournaments/{tournament.pk}/cancel", token=organiser)
        assert answer.status_code == 200
        assert answer.json()["state"] == "cancelled"


def test_a_bot_enters_and_withdraws_while_entries_are_open(api, tournament, ada, bot):
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    for token in (ada[1], bot[1]):
        assert api.call("PUT", path, token=token).status_code == 200
    assert api.get(f"tournaments/{tournament.pk}").json()["entries"] == 1
    assert api.call("DELETE", path, token=bot[1]).status_code == 204
    Tournament.objects.update(state="running")
    assert_problem(api.call("PUT", path, token=bot[1]), 409, "entries-not-open")
    assert_problem(api.call("DELETE", path, token=bot[1]), 409, "entries-not-open")


def test_a_bot_without_a_version_does_not_enter(api, tournament, ada):
    api.post("bots", {"name": "hosted-bot", "kind": "hosted"}, token=ada[1])
    answer = api.call("PUT", f"tournaments/{tournament.pk}/entries/hosted-bot", token=ada[1])
    assert_problem(answer, 409, "no-version")


def test_nobody_enters_somebody_elses_bot(api, tournament, bot, eve):
    path = f"tournaments/{tournament.pk}/entries/ada-bot"
    assert_problem(api.call("PUT", path, token=eve[1]), 403, "not-your-bot")
    assert_problem(api.call("DELETE", path, token=eve[1]), 403, "not-your-bot")


def test_a_finished_tournament_shows_standings_rounds_and_its_seed(api, ladder):
    small.bots(4)
    played = small.tournament(ladder)
    small.run_all()
    path = f"tournaments/{played.pk}"
    assert api.get(path).json()["seed"] == bytes(played.seed).hex()
    rows = api.get(f"{path}/standings").json()["results"]
    assert rows[0]["rank"] == 1
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert len(api.get(f"{path}/rounds").json()["results"]) > 0


@pytest.mark.parametrize("count", [1, 10])
def test_a_list_of_tournaments_costs_one_query(api, ladder, count, django_assert_num_queries):
    for _ in range(count):
        small.tournament(ladder)
    with django_assert_num_queries(1):
        assert len(api.get("tournaments").json()["results"]) == count


@pytest.mark.parametrize("slug", ["nowhere", "a\0b", 7, None, ["quick"]])
def test_a_ladder_that_there_is_not_is_said_so(api, ladder, organiser, slug):
    new = {"title": "X", "ladder": slug, "starts_at": "2099-01-06T12:00:00Z"}
    answer = api.post("tournaments", new, token=organiser)
    assert "ladder" in assert_problem(answer, 400, "invalid")["errors"]
