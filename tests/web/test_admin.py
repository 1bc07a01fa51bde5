"""The admin pages: the fields that organisers may change, and when."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import competitions
from league.models import Bot, Tournament
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("eve"))
    return client


@pytest.fixture
def running() -> Tournament:
    tournament = small.tournament(small.ladder(), format="swiss")
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    tournament.refresh_from_db()
    return tournament


def act(client: Client, action: str, *entries: int) -> str:
    path = "/admin/league/tournamententry/"
    data = {"action": action, "_selected_action": entries}
    return client.post(path, data, follow=True).content.decode()


def test_entries_are_withdrawn_and_disqualified_by_actions(
    organiser: Client, running: Tournament
) -> None:
    first, second, third = running.entries.order_by("pk")[:3]
    assert "is withdrawn" in act(organiser, "withdraw", first.pk)
    change = f"/admin/league/tournamententry/{second.pk}/change/"
    assert organiser.post(change, {"reason": "Two accounts."}).status_code == 302
    assert "is disqualified" in act(organiser, "disqualify", second.pk, third.pk)
    left = list(running.entries.order_by("pk").values_list("state", "reason")[:3])
    assert left == [
        ("withdrawn", ""),
        ("disqualified", "Two accounts."),
        ("disqualified", "Decision of the organisers."),
    ]


def test_an_impossible_withdrawal_shows_the_reason(organiser: Client, running: Tournament) -> None:
    Tournament.objects.update(state="finished")
    entry = running.entries.first()
    assert entry is not None
    assert "You can&#x27;t withdraw a bot now" in act(organiser, "withdraw", entry.pk)


def test_event_settings_are_fixed_once_the_tournament_begins(
    organiser: Client, running: Tournament
) -> None:
    path = f"/admin/league/tournament/{running.pk}/change/"
    assert organiser.post(path, {"title": "Bowl", "format": "knockout"}).status_code == 302
    running.refresh_from_db()
    assert (running.title, running.format) == ("Bowl", "swiss")


def test_a_schedule_with_contradicting_fields_is_refused(organiser: Client) -> None:
    data = {
        "title": "Cup",
        "ladder": small.ladder().pk,
        "format": "knockout",
        "late_entry": "on",
        "every_hours": "1",
        "time_zone": "UTC",
        "entry_hours": "1",
        "max_tables": "500",
        "extra_blocks": "4",
        "first_at_0": "2026-01-01",
        "first_at_1": "00:00",
    }
    answer = organiser.post("/admin/league/schedule/add/", data)
    assert "have late entries; set late_entry to false" in answer.content.decode()
    del data["late_entry"]
    for name in ("Europe/Illyria", "Europe", "../UTC", "/etc/passwd"):
        answer = organiser.post("/admin/league/schedule/add/", {**data, "time_zone": name})
        assert f"There is no time zone {name}" in answer.content.decode()
    assert organiser.post("/admin/league/schedule/add/", data).status_code == 302
    assert not Bot.objects.exists()


def test_game_and_seats_of_a_ladder_are_fixed_by_its_first_round(organiser: Client) -> None:
    ladder = small.ladder(seats=4)
    path = f"/admin/league/ladder/{ladder.pk}/change/"
    assert b'name="seats"' in organiser.get(path).content
    tournament = small.tournament(ladder, format="swiss")
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    form = organiser.get(path).context["adminform"].form
    values = {name: "" if (of := form.initial.get(name)) is None else of for name in form.fields}
    changed = {**values, "k_schedule": "{}", "title": "Other", "game": "partridge", "seats": 3}
    assert organiser.post(path, changed).status_code == 302
    ladder.refresh_from_db()
    assert (ladder.title, ladder.game, ladder.seats) == ("Other", "twelve-days", 4)
