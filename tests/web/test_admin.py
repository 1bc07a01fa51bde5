"""The admin pages: the fields that organisers may change, and when."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import competitions
from league.models import Bot, Ladder, Tournament
from tests.league import small
from web.admin import LadderAdmin

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


def test_an_action_opens_the_page_that_decides_on_one_entry(
    organiser: Client, running: Tournament
) -> None:
    first, second = running.entries.order_by("pk")[:2]
    assert "Choose exactly one entry" in act(organiser, "decide", first.pk, second.pk)
    page = act(organiser, "decide", second.pk)
    assert f"Disqualify {second.bot.name}" in page
    act(organiser, "withdraw", first.pk)
    assert set(running.entries.values_list("state", flat=True)) == {"entered"}


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
    assert "enter a knockout after its start; switch late entry off" in answer.content.decode()
    del data["late_entry"]
    for name in ("Europe/Illyria", "Europe", "../UTC", "/etc/passwd"):
        answer = organiser.post("/admin/league/schedule/add/", {**data, "time_zone": name})
        assert f"There is no time zone &#x27;{name}&#x27;" in answer.content.decode()
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


LADDER = {
    "slug": "mine",
    "title": "Mine",
    "game": "twelve-days",
    "rules": "calliope",
    "seats": "4",
    "move_seconds": "1",
    "bank_seconds": "30",
    "k_schedule": "{}",
    "round_pause_seconds": "0",
    "idle_pause_seconds": "20",
    "settled_blocks": "400",
    "max_blocks_per_round": "4",
    "random_percent": "10",
    "idle_days": "14",
    "ranked_from": "20",
}


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        (
            "game",
            "chess",
            "There is no game &#x27;chess&#x27;; the games are twelve-days, partridge.",
        ),
        ("rules", "eagle", "twelve-days has no preset &#x27;eagle&#x27;"),
        ("seats", "0", "Calliope takes 3 to 5 seats, not 0."),
        ("seats", "99", "Calliope takes 3 to 5 seats, not 99."),
        ("move_seconds", "-5", "-5.0 is not allowed; use a number from 0.01 to 3600."),
        ("move_seconds", "inf", "Enter a number."),
        ("move_seconds", "nan", "Enter a number."),
        ("bank_seconds", "1e300", "1e+300 is not allowed; use a number from 0 to 86400."),
        (
            "k_schedule",
            '{"k": 5}',
            "There is no field &#x27;k&#x27;; the fields are steps",
        ),
        ("k_schedule", '{"settled": 1e9}', "settled: 1000000000.0 is not allowed"),
        ("k_schedule", '{"steps": [[20, 64], [10, 32]]}', "10 blocks come after 20 blocks."),
        ("random_percent", "101", "101 is not allowed; use a whole number from 0 to 100."),
        ("settled_blocks", "0", "0 is not allowed"),
        ("idle_days", "0", "0 is not allowed"),
        ("slug", "Mine", "use 1 to 50 characters: a-z, 0-9 and -."),
        ("slug", "other", "Another ladder has the slug other; choose another one."),
        ("title", "OTHER", "Another ladder has the title OTHER; choose another one."),
        ("title", "\u202eeniM", "has a character that can&#x27;t be shown; remove it."),
    ],
)
def test_a_ladder_that_cannot_be_played_is_refused_with_the_allowed_values(
    organiser: Client, field: str, value: str, named: str
) -> None:
    small.ladder("other")
    answer = organiser.post("/admin/league/ladder/add/", {**LADDER, field: value})
    assert answer.status_code == 200
    assert named.lower() in answer.content.decode().lower()
    assert not Ladder.objects.exclude(slug="other").exists()


def test_a_ladder_within_the_limits_is_stored(organiser: Client) -> None:
    answer = organiser.post("/admin/league/ladder/add/", LADDER)
    assert answer.status_code == 302
    assert Ladder.objects.get().k_schedule == {}


def form_of(client: Client, path: str) -> dict[str, str]:
    """Return the values of the form on a change page, as a browser sends them."""
    form = client.get(path).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def test_a_form_saved_over_somebody_elses_change_shows_both_versions(organiser: Client) -> None:
    ladder = small.ladder()
    path = f"/admin/league/ladder/{ladder.pk}/change/"
    mine, theirs = form_of(organiser, path), form_of(organiser, path)
    for sent in (mine, theirs):
        sent |= {"k_schedule": "{}", "paused": ""}
    assert organiser.post(path, {**theirs, "title": "Theirs"}).status_code == 302
    answer = organiser.post(path, {**mine, "title": "Mine"})
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "stored now “Theirs”, yours “Mine”" in text
    ladder.refresh_from_db()
    assert ladder.title == "Theirs"
    seen = answer.context["adminform"].form["seen"].value()
    assert organiser.post(path, {**mine, "title": "Mine", "seen": seen}).status_code == 302
    ladder.refresh_from_db()
    assert ladder.title == "Mine"


def test_a_form_stores_only_the_fields_that_the_person_changed(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = small.ladder()
    path = f"/admin/league/ladder/{ladder.pk}/change/"
    sent = {**form_of(organiser, path), "k_schedule": "{}", "paused": "", "title": "New"}
    clean = LadderAdmin.save_model

    def correct_first(*args: Any) -> None:
        Ladder.objects.update(revision=7)  # as a correction does at that moment
        clean(*args)

    monkeypatch.setattr(LadderAdmin, "save_model", correct_first)
    assert organiser.post(path, sent).status_code == 302
    ladder.refresh_from_db()
    assert (ladder.title, ladder.revision) == ("New", 7)


def test_the_admin_pages_change_nothing_that_the_league_keeps(
    organiser: Client, running: Tournament
) -> None:
    [bot, other] = small.bots(2, owner=User.objects.create(username="ada"), prefix="ada")
    path = f"/admin/league/bot/{bot.pk}/change/"
    sent = {
        "name": "eve-bot",
        "kind": "house",
        "owner": "",
        "current": str(other.current_id),
        "paused": "on",
        "description": "A text.",
        "challenges_from": "nobody",
        "max_challenges_per_day": "7",
    }
    assert organiser.post(path, sent).status_code == 302
    kept = (bot.name, bot.kind, bot.owner_id, bot.current_id, False)
    bot.refresh_from_db()
    assert (bot.name, bot.kind, bot.owner_id, bot.current_id, bot.paused) == kept
    assert bot.description == "A text."
    assert organiser.get("/admin/league/bot/add/").status_code == 403
    for model, row in (
        ("bot", bot.pk),
        ("tournament", running.pk),
        ("tournamententry", running.entries.first().pk),
        ("block", running.rounds.first().blocks.first().pk),
        ("ladder", running.ladder_id),
    ):
        assert organiser.get(f"/admin/league/{model}/{row}/delete/").status_code == 403
    before = Tournament.objects.values().get(pk=running.pk)
    form = organiser.get(f"/admin/league/tournament/{running.pk}/change/")
    assert set(form.context["adminform"].form.fields) == {"title", "seen"}
    assert Tournament.objects.values().get(pk=running.pk) == before


def test_a_tournaments_times_are_checked_as_in_the_api(organiser: Client) -> None:
    tournament = competitions.announce_tournament(
        title="Cup", ladder=small.ladder(), starts_at=timezone.now() + timedelta(hours=1)
    )
    path = f"/admin/league/tournament/{tournament.pk}/change/"
    form = organiser.get(path).context["adminform"].form
    sent = {name: "" if (v := form[name].value()) is None else v for name in form.fields}
    opens = tournament.entries_open_at
    sent |= {
        "entries_open_at_0": f"{opens:%Y-%m-%d}",
        "entries_open_at_1": f"{opens:%H:%M:%S}",
        "starts_at_0": "2001-01-01",
        "starts_at_1": "00:00:00",
    }
    answer = organiser.post(path, {k: v for k, v in sent.items() if v is not False})
    assert "starts_at" in answer.context["adminform"].form.errors or answer.context["errors"]
    before = tournament.starts_at
    tournament.refresh_from_db()
    assert tournament.starts_at == before


def test_an_opening_of_entries_that_has_passed_counts_as_now(organiser: Client) -> None:
    """As on the organisers' pages: nobody could enter before."""
    now = timezone.now()
    tournament = competitions.announce_tournament(
        title="Cup",
        ladder=small.ladder(),
        entries_open_at=now + timedelta(minutes=30),
        starts_at=now + timedelta(hours=1),
    )
    path = f"/admin/league/tournament/{tournament.pk}/change/"
    form = organiser.get(path).context["adminform"].form
    sent = {name: "" if (v := form[name].value()) is None else v for name in form.fields}
    starts = tournament.starts_at
    sent |= {
        "entries_open_at_0": f"{now - timedelta(days=2):%Y-%m-%d}",
        "entries_open_at_1": "00:00:00",
        "starts_at_0": f"{starts:%Y-%m-%d}",
        "starts_at_1": f"{starts:%H:%M:%S}",
    }
    answer = organiser.post(path, {k: v for k, v in sent.items() if v is not False})
    assert answer.status_code == 302
    tournament.refresh_from_db()
    assert now <= tournament.entries_open_at <= timezone.now()


def test_the_dates_of_an_account_are_shown_and_not_changed(organiser: Client) -> None:
    ada = User.objects.create_user("ada", last_login=timezone.now())
    path = f"/admin/auth/user/{ada.pk}/change/"
    form = organiser.get(path).context["adminform"].form
    assert not {"last_login", "date_joined"} & set(form.fields)
    sent = {"username": "ada", "first_name": "Ada", "date_joined_0": "2001-01-01"}
    assert organiser.post(path, {**sent, "date_joined_1": "00:00:00"}).status_code == 302
    stored = User.objects.get(pk=ada.pk)
    assert (stored.first_name, stored.date_joined) == ("Ada", ada.date_joined)
    assert stored.last_login == ada.last_login


def test_an_account_does_not_get_the_name_of_another_one_in_another_case(
    organiser: Client,
) -> None:
    User.objects.create_user("bob")
    ada = User.objects.create_user("ada")
    path = f"/admin/auth/user/{ada.pk}/change/"
    answer = organiser.post(path, {"username": "Bob"})
    assert answer.context["adminform"].form.errors["username"] == [
        "The username Bob is taken; choose another."
    ]
    assert organiser.post(path, {"username": "Ada"}).status_code == 302
    assert User.objects.get(pk=ada.pk).username == "Ada"


def test_a_wrong_address_of_an_admin_page_is_no_error_in_the_log(
    organiser: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = organiser.get("/admin/league/ladder/add/", {"_to_field": "doubled"})
    assert answer.status_code == 400
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def test_lists_of_rows_with_a_private_name_say_what_they_are(organiser: Client) -> None:
    front = organiser.get("/admin/").content.decode()
    assert "Void marks of blocks" in front
    assert "Revisions of ladders&#x27; ledgers" in front
    for rows in ("voidmark", "revision", "block", "quarantine", "moderationentry", "schedule"):
        page = organiser.get(f"/admin/league/{rows}/").content.decode()
        assert re.search(r"<h2>[A-Z][^<]{50,}\.</h2>", page), rows
