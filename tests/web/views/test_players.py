"""Playing in the browser without JavaScript: sit down, move by forms, leave, invite others."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from league import play
from league.models import Match, PlayerTable, Turn
from tests.league.bots.uploaded import ready_bot
from tests.league.players import house_bots
from web.play_forms import TableForm

pytestmark = pytest.mark.django_db

TWELVE_DAYS = {"game": "twelve-days eight-nights", "seats": "3"}
PARTRIDGE = {"game": "partridge eagle-short", "seats": "2"}


@pytest.fixture(autouse=True)
def house(db: None) -> None:
    house_bots()


def sit(client: Client, **sent: Any) -> str:
    """Start a table with one click; return its address."""
    answer = client.post("/play/", sent or TWELVE_DAYS)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def found(pattern: str, page: str) -> str:
    match = re.search(pattern, page)
    assert match is not None, pattern
    return match[1]


def page_of(client: Client, address: str) -> str:
    """Return the page of a table once the house bots have moved."""
    match = Match.objects.filter(table__code=address.split("/")[2]).first()
    if match is not None:
        play.play_house_turns(match.pk)
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def moves_on(page: str) -> list[str]:
    return re.findall(r'name="move" value="([^"]+)"', page)


def turn_on(page: str) -> str:
    return found(r'name="turn" value="(\d*)"', page)


def move(client: Client, address: str, page: str, at: int = 0) -> Any:
    sent = {"turn": turn_on(page), "move": moves_on(page)[at]}
    return client.post(f"{address}move/", sent, follow=True)


@pytest.mark.parametrize(
    ("game", "seats", "sentence"),
    [
        ("twelve-days calliope", 2, "“12 Days, full game of 12 days” takes 3 to 5 seats, not 2."),
        ("twelve-days calliope", 6, "Choose 3 to 5 seats."),
        ("twelve-days eight-nights", 6, "Choose 3 or 4 seats."),
    ],
)
def test_a_number_of_seats_that_the_game_does_not_allow_is_refused(
    client: Client, game: str, seats: int, sentence: str
) -> None:
    answer = client.post("/play/", {"game": game, "seats": seats})
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not PlayerTable.objects.exists()


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("calliope", "If you win with a Claus (0), you must award them to another seat."),
        ("cheapass", "If you win with a Claus (0), you keep them."),
        ("eight-nights", ""),
    ],
)
def test_the_rules_in_short_are_those_of_the_preset(
    client: Client, rules: str, sentence: str
) -> None:
    page = page_of(client, sit(client, game=f"twelve-days {rules}", seats="3"))
    how = page.partition("How 12 Days is played")[2].partition("</ol>")[0]
    assert sentence in how
    assert ("Claus" in how) == bool(sentence)


@pytest.mark.parametrize("sent", [TWELVE_DAYS, PARTRIDGE, {"game": "twelve-days calliope"}])
def test_a_whole_match_is_played_by_forms_alone(client: Client, sent: dict[str, str]) -> None:
    address = sit(client, **sent)
    for _ in range(200):
        page = page_of(client, address)
        if 'data-state="over"' in page:
            break
        move(client, address, page)
    match = Match.objects.get()
    assert match.status == Match.Status.FINISHED
    assert "Play again" in page
    assert re.search(r'class="lead">(You have|house-.* wins? with) \d+ (gift|point)', page)
    assert f"/matches/{match.pk}/" in page
    assert sum(seat.faults for seat in match.seating.all()) == 0
    assert client.get(f"/matches/{match.pk}/").status_code == 200


def test_sitting_down_needs_the_forms_secret(house: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/play/", TWELVE_DAYS).status_code == 403
    home = strict.get("/").content.decode()
    secret = found(r'name="csrfmiddlewaretoken" value="(\w+)"', home)
    answer = strict.post("/play/", {**TWELVE_DAYS, "csrfmiddlewaretoken": secret})
    assert answer.status_code == 302


def test_the_home_page_starts_a_match_with_one_click(client: Client) -> None:
    home = client.get("/").content.decode()
    form = home[home.index('action="/play/"') :]
    game = found(r'name="game" value="([^"]+)"', form)
    assert client.post("/play/", {"game": game}).status_code == 302


def test_the_cookie_of_a_seat_is_for_its_table_alone(client: Client) -> None:
    address = sit(client)
    cookie = client.cookies["seat"]
    assert cookie["path"] == address
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_a_move_is_named_in_words_and_a_hint_gives_one_with_its_reason(client: Client) -> None:
    address = sit(client)
    assert re.search(r"Give \d to house-", page_of(client, address))
    page = client.get(f"{address}?hint=1").content.decode()
    assert "house-counting would choose: Give" in page
    assert "at the end. If you played this card" in page


def test_a_visitor_without_the_seat_sees_no_hand_and_makes_no_move(client: Client) -> None:
    address = sit(client)
    page = page_of(client, address)
    other = Client()
    assert other.get(address).status_code == 302
    assert move(other, address, page).status_code == 404
    for call in ("leave", "start", "keep", "again"):
        assert other.post(f"{address}{call}/").status_code == 404


def test_the_token_of_another_table_opens_no_seat(client: Client) -> None:
    address = sit(client)
    other = Client()
    sit(other)
    other.cookies.load({"seat": other.cookies["seat"].value})
    assert other.get(address).status_code == 302


def test_a_double_click_makes_one_move(client: Client) -> None:
    address = sit(client)
    page = page_of(client, address)
    first, second = move(client, address, page), move(client, address, page)
    assert "messages" not in second.content.decode().split("<main")[1].split("<h1")[0]
    assert first.status_code == second.status_code == 200
    assert Turn.objects.filter(decided_at__isnull=False).count() == 1


def test_a_stale_form_says_so_and_shows_the_table(client: Client) -> None:
    address = sit(client)
    page = page_of(client, address)
    move(client, address, page)
    answer = move(client, address, page, at=-1).content.decode()
    assert "This turn is over" in answer
    missing = client.post(f"{address}move/", {"turn": "9999999999", "move": "x"}, follow=True)
    assert "Choose one of the moves." in missing.content.decode()
    absurd = client.post(f"{address}move/", {"turn": "999", "move": "give 1"}, follow=True)
    assert "not your turn" in absurd.content.decode()


def test_a_match_whose_browser_was_closed_ends_by_the_clock(client: Client) -> None:
    sit(client)
    match = Match.objects.get()
    for _ in range(2):
        play.play_house_turns(match.pk)
        turn = Turn.objects.open().get()
        play.expire_overdue(turn.deadline + timedelta(seconds=1))
    play.play_house_turns(match.pk)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED


def test_leaving_hands_the_seat_to_a_house_bot(client: Client) -> None:
    address = sit(client)
    answer = client.post(f"{address}leave/", follow=True).content.decode()
    assert "You left. A house bot plays your seat" in answer
    assert "You left; house-counting played the seat to the end" in page_of(client, address)


def test_after_the_end_of_the_match_nobody_leaves_it(client: Client) -> None:
    address = sit(client)
    Match.objects.update(status=Match.Status.VOID)
    answer = client.post(f"{address}leave/", follow=True)
    assert answer.status_code == 200
    assert "You left" not in answer.content.decode()


def test_one_address_starts_only_so_many_tables(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "tables": (5, 3600)}
    statuses = [
        client.post("/play/", PARTRIDGE, REMOTE_ADDR="203.0.113.7").status_code for _ in range(8)
    ]
    assert statuses == [302] * 5 + [429] * 3
    assert PlayerTable.objects.count() == 5


def test_no_table_opens_while_all_are_taken(client: Client, settings: Settings) -> None:
    settings.MAX_PLAYER_TABLES = 1
    sit(client)
    answer = client.post("/play/", TWELVE_DAYS)
    assert answer.status_code == 503
    assert "All tables are taken now" in answer.content.decode()


def test_play_again_starts_a_match_with_the_same_settings(client: Client) -> None:
    address = sit(client, **PARTRIDGE)
    client.post(f"{address}leave/")
    page_of(client, address)
    again = client.post(f"{address}again/")["Location"]
    first, second = PlayerTable.objects.order_by("pk")
    assert second.code in again
    assert (second.game, second.rules, second.seats) == (first.game, first.rules, first.seats)


def test_friends_join_by_a_link_and_one_of_them_starts(client: Client) -> None:
    address = sit(client, **TWELVE_DAYS, waits="on", nickname="Ada")
    assert f"http://testserver{address}" in page_of(client, address)
    friend = Client()
    assert "Join the table" in page_of(friend, address)
    friend.post(f"{address}join/", {"nickname": "Bob"})
    assert "Bob" in page_of(client, address)
    friend.post(f"{address}start/")
    mine, theirs = page_of(client, address), page_of(friend, address)
    assert '<span class="you">you</span>' in mine
    assert "Bob" in mine
    assert "Ada" in theirs
    assert sorted(moves_on(mine)) != [] != sorted(moves_on(theirs))
    late = Client()
    assert late.post(f"{address}join/", follow=False)["Location"] == address
    assert PlayerTable.objects.get().players.count() == 2


def test_somebody_who_signed_in_finds_the_seat_in_another_browser(client: Client) -> None:
    ada = User.objects.create(username="ada")
    client.force_login(ada)
    address = sit(client)
    page_of(client, address)
    elsewhere = Client()
    elsewhere.force_login(ada)
    page = page_of(elsewhere, address)
    assert move(elsewhere, address, page).status_code == 200
    assert Turn.objects.filter(decided_at__isnull=False).count() == 1


def test_other_peoples_bots_play_with_people_who_signed_in(client: Client) -> None:
    # With a file: the lot decides who begins.
    bot = ready_bot(User.objects.create(username="owner"))
    sent = {**PARTRIDGE, "opponents": bot.name}
    assert "Sign in to play" in client.post("/play/", sent).content.decode()
    client.force_login(User.objects.create(username="ada"))
    assert bot.name in page_of(client, sit(client, **sent))


def test_an_old_waiting_room_is_closed(client: Client) -> None:
    address = sit(client, **TWELVE_DAYS, waits="on")
    PlayerTable.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert client.get(address).status_code == 404


def test_the_page_of_a_turn_costs_few_queries(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    address = sit(client)
    page_of(client, address)
    with django_assert_max_num_queries(24):
        client.get(address)


def view(client: Client, address: str, query: str = "") -> dict[str, Any]:
    """Return what the script of a table's page fetches."""
    found: dict[str, Any] = client.get(f"{address}view.json{query}").json()
    return found


def test_the_script_gets_the_phases_after_a_ply_the_moves_and_the_panel(client: Client) -> None:
    address = sit(client)
    page_of(client, address)
    first = view(client, address)
    assert [phase["ply"] for phase in first["phases"]] == [0]
    assert first["turn"] == 0
    assert {choice["text"] for choice in first["choices"]} == set(
        moves_on(page_of(client, address))
    )
    assert "Day 1, 1 point: give a card to" in first["panel"]
    move(client, address, page_of(client, address))
    page_of(client, address)
    second = view(client, address, "?after=0")
    assert [phase["ply"] for phase in second["phases"]] == [3]
    assert second["turn"] == 1
    client.post(f"{address}leave/")
    page_of(client, address)
    assert view(client, address)["state"] == "over"


def test_the_script_gets_no_card_of_another_seat(client: Client) -> None:
    address = sit(client)
    page_of(client, address)
    own = Match.objects.get().seating.get(bot__kind="player").seat
    [dealt] = view(client, address)["phases"]
    hands = {
        each["seat"]: each["cards"] for each in dealt["events"] if each["kind"] == "hand_dealt"
    }
    assert [seat for seat, cards in hands.items() if cards is not None] == [own]
    assert Client().get(f"{address}view.json").status_code == 404


@pytest.mark.parametrize(("nickname", "shown"), [("", "a guest"), ("Zoë", "Zoë")])
def test_a_player_is_shown_by_name_or_as_a_guest_on_every_page(
    client: Client, nickname: str, shown: str
) -> None:
    address = sit(client, **PARTRIDGE, nickname=nickname)
    match = Match.objects.get()
    bot = match.seating.get(bot__kind="player").bot.name
    assert shown in page_of(client, address)
    client.post(f"{address}leave/")
    over = page_of(client, address)
    assert f'action="/matches/{match.pk}/analysis/"' in over
    assert client.post(f"/matches/{match.pk}/analysis/").status_code == 302
    pages = ["", "analysis/", "phases.json"]
    texts = [client.get(f"/matches/{match.pk}/{page}").content.decode() for page in pages]
    for text in (over, *texts[:2]):
        assert shown.lower() in text.lower()  # a guest who wins stands first: "A guest"
    assert not any(bot in text for text in (over, *texts))


def test_each_field_of_a_table_stands_under_one_heading() -> None:
    form = TableForm()
    grouped = [field.name for _, fields in form.groups for field in fields]
    assert sorted(grouped) == sorted(form.fields)
