"""The organisers' pages that announce a tournament, and change it before its start."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league.models import Ladder, ModerationEntry, Tournament
from tests.league import small

pytestmark = pytest.mark.django_db

NEW = "/organise/tournaments/new/"


@pytest.fixture
def olga(client: Client) -> User:
    """An organiser who is signed in."""
    olga = User.objects.create(username="olga", is_staff=True)
    client.force_login(olga)
    return olga


def form(**changes: str) -> dict[str, str]:
    ladder = Ladder.objects.first() or small.ladder(seats=3)
    tomorrow = timezone.now() + timedelta(days=1)
    sent = {
        "title": "Class cup",
        "ladder": ladder.slug,
        "format": "swiss",
        "zone": "UTC",
        "starts_at": tomorrow.strftime("%Y-%m-%dT%H:%M"),
    }
    return sent | changes


def test_an_organiser_announces_a_tournament_from_a_page(client: Client, olga: User) -> None:
    assert NEW in client.get("/organise/").content.decode()
    assert client.get(NEW).status_code == 200
    answer = client.post(NEW, form(house="take-part"))
    cup = Tournament.objects.get()
    assert answer["Location"] == f"/tournaments/{cup.pk}/"
    assert (cup.title, cup.format, cup.state) == ("Class cup", "swiss", "open")
    assert (cup.house_bots, cup.fill_in, cup.max_tables) == (True, False, 500)
    assert ModerationEntry.objects.get().made_by == olga
    assert b"Class cup is announced" in client.get(answer["Location"]).content


@pytest.mark.parametrize(
    ("house", "stored"),
    [
        ("take-part", (True, False)),
        ("fill-seats", (False, True)),
        ("neither", (False, False)),
        ("", (False, False)),
    ],
)
def test_the_house_bots_take_part_or_fill_seats_or_neither(
    client: Client, olga: User, house: str, stored: tuple[bool, bool]
) -> None:
    client.post(NEW, form(house=house))
    cup = Tournament.objects.get()
    assert (cup.house_bots, cup.fill_in) == stored
    page = client.get(f"/organise/tournaments/{cup.pk}/change/")
    assert page.context["form"]["house"].value() == (house or "neither")


def test_the_times_are_in_the_zone_of_the_form(client: Client, olga: User) -> None:
    day = (timezone.now() + timedelta(days=2)).strftime("%Y-%m-%d")
    client.post(NEW, form(zone="Asia/Tokyo", starts_at=f"{day}T15:30"))
    wanted = datetime.fromisoformat(f"{day}T15:30").replace(tzinfo=ZoneInfo("Asia/Tokyo"))
    assert Tournament.objects.get().starts_at == wanted.astimezone(UTC)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zone": "Berlin"}, "is not a time zone. Write an area and a city, such as"),
        ({"starts_at": "2001-01-01T10:00"}, "has passed"),
        ({"starts_at": "soon"}, "Enter a valid date/time."),
        ({"zone": "Europe/Berlin", "starts_at": "2027-03-28T02:30"}, "the clocks skip it"),
        ({"zone": "Asia/Tokyo", "starts_at": "0001-01-01T00:00"}, "Choose another time"),
        ({"zone": "America/New_York", "starts_at": "9999-12-31T23:59"}, "Choose another time"),
        ({"format": "knockout", "late_entry": "on"}, "knockout"),
        ({"blocks_per_table": "0"}, "greater than or equal to 1"),
        ({"title": ""}, "This field is required."),
    ],
)
def test_a_wrong_value_is_named_beside_its_field_and_the_rest_is_kept(
    client: Client, olga: User, changes: dict[str, str], message: str
) -> None:
    answer = client.post(NEW, form(**changes))
    assert answer.status_code == 400
    assert message in answer.content.decode().partition("<main")[2]
    if "title" not in changes:
        assert 'value="Class cup"' in answer.content.decode()
    assert not Tournament.objects.exists()


def test_an_organiser_changes_a_tournament_before_its_start(client: Client, olga: User) -> None:
    client.post(NEW, form())
    cup = Tournament.objects.get()
    page = f"/organise/tournaments/{cup.pk}/"
    assert f"{page}change/" in client.get(page).content.decode()
    sent = form(title="Spring cup", read_at=cup.changed_at.isoformat(), swiss_rounds="3")
    assert client.post(f"{page}change/", sent)["Location"] == f"/tournaments/{cup.pk}/"
    cup.refresh_from_db()
    assert (cup.title, cup.swiss_rounds) == ("Spring cup", 3)


@pytest.mark.parametrize("time", ["01:30:00Z", "12:34:56.789Z"])
def test_a_start_that_the_form_shows_inexactly_stays_if_nobody_changes_it(
    client: Client, olga: User, time: str
) -> None:
    october = datetime(timezone.now().year + 1, 10, 31, tzinfo=UTC)
    clocks_go_back = october - timedelta(days=(october.weekday() + 1) % 7)
    start = f"{clocks_go_back:%Y-%m-%d}T{time}"
    client.post(NEW, form())
    Tournament.objects.update(starts_at=start)
    cup = Tournament.objects.get()
    berlin = ZoneInfo("Europe/Berlin")
    shown = cup.starts_at.astimezone(berlin).strftime("%Y-%m-%dT%H:%M")
    sent = form(title="B", zone=berlin.key, starts_at=shown, read_at=cup.changed_at.isoformat())
    client.post(f"/organise/tournaments/{cup.pk}/change/", sent)
    cup.refresh_from_db()
    assert (cup.title, cup.starts_at) == ("B", datetime.fromisoformat(start))


def test_an_announced_tournament_opens_at_once_if_the_time_is_left_empty(
    client: Client, olga: User
) -> None:
    later = (timezone.now() + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M")
    client.post(NEW, form(entries_open_at=later))
    cup = Tournament.objects.get()
    assert cup.state == "announced"
    sent = form(read_at=cup.changed_at.isoformat(), entries_open_at="")
    assert client.post(f"/organise/tournaments/{cup.pk}/change/", sent).status_code == 302
    cup.refresh_from_db()
    assert cup.entries_open_at <= timezone.now()


def test_two_organisers_do_not_overwrite_each_other(client: Client, olga: User) -> None:
    client.post(NEW, form())
    cup = Tournament.objects.get()
    read = (cup.changed_at - timedelta(minutes=1)).isoformat()
    page = f"/organise/tournaments/{cup.pk}/change/"
    answer = client.post(page, form(title="B", read_at=read))
    assert answer.status_code == 400
    assert "Title: stored now “Class cup”, yours “B”." in answer.content.decode()
    cup.refresh_from_db()
    assert cup.title == "Class cup"
    again = form(title="B", read_at=answer.context["form"]["read_at"].value())
    assert client.post(page, again)["Location"] == f"/tournaments/{cup.pk}/"
    cup.refresh_from_db()
    assert cup.title == "B"


def test_a_conflict_shows_what_the_house_bots_do(client: Client, olga: User) -> None:
    client.post(NEW, form(house="take-part"))
    cup = Tournament.objects.get()
    read = (cup.changed_at - timedelta(minutes=1)).isoformat()
    sent = form(house="fill-seats", read_at=read)
    answer = client.post(f"/organise/tournaments/{cup.pk}/change/", sent).content.decode()
    assert "House bots: stored now “They take part”, yours “They fill empty seats”." in answer


def test_a_tournament_that_has_begun_keeps_its_settings(client: Client, olga: User) -> None:
    client.post(NEW, form())
    Tournament.objects.update(state="running")
    cup = Tournament.objects.get()
    answer = client.post(f"/organise/tournaments/{cup.pk}/change/", form(title="Late"))
    assert answer["Location"] == f"/organise/tournaments/{cup.pk}/"
    assert "has begun" in client.get(answer["Location"]).content.decode()


def test_others_may_not_announce(client: Client) -> None:
    assert client.get(NEW).status_code == 302
    client.force_login(User.objects.create(username="ada"))
    assert client.get(NEW).status_code == 403
    assert client.post(NEW, form()).status_code == 403
    assert not Tournament.objects.exists()
