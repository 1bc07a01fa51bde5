"""Pictures for previews of links: what they show, who may see them, and what they cost."""

import re
from datetime import timedelta
from html import unescape
from io import BytesIO
from threading import Event, Semaphore, Thread

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from league import bots as services
from league import competitions, play
from league.models import Bot, Ladder, Match, Tournament
from league.play.headlines import headline
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page
from web.pictures import drawing
from web.pictures.drawing import as_png, site_svg
from web.pictures.lists import LISTS, list_svg

pytestmark = pytest.mark.django_db(transaction=True)

MAX_QUERIES = {"matches": 6, "bots": 14, "ladders": 7, "tournaments": 12}


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    caches["pictures"].clear()


def picture(client: Client, path: str) -> Image.Image:
    response = client.get(path)
    assert response.status_code == 200
    assert response["Content-Type"] == "image/png"
    drawn = Image.open(BytesIO(response.content))
    drawn.load()
    return drawn


def _kept(drawn: list[str], svg: str) -> bytes:
    """Note an SVG and draw it."""
    drawn.append(svg)
    return as_png(svg)


def first_match() -> Match:
    return Match.objects.finished().earliest("pk")


def test_all_pictures_have_the_size_that_sites_ask_for(client: Client, played: Tournament) -> None:
    knockout = small.tournament(small.ladder("eagles", seats=2), format="knockout")
    small.run_all()
    paths = [
        "/picture.png",
        f"/matches/{first_match().pk}/picture.png",
        f"/matches/{Match.objects.finished().latest('pk').pk}/picture.png?step=3",
        "/bots/bot-0/picture.png",
        "/ladders/quick/picture.png",
        f"/tournaments/{played.pk}/picture.png",
        f"/tournaments/{knockout.pk}/picture.png",
    ]
    paths += [f"/{name}/picture.png" for name in LISTS]
    drawn = {path: picture(client, path) for path in paths}
    assert {each.size for each in drawn.values()} == {(1200, 630)}
    assert len({each.tobytes() for each in drawn.values()}) == len(paths)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_names_its_picture_which_shows_its_first_rows(
    client: Client, played: Tournament, name: str
) -> None:
    head = page(client, f"/{name}/")
    assert f'property="og:image" content="http://testserver/{name}/picture.png"' in head
    first = {
        "bots": "bot-0",
        "ladders": played.ladder.title,
        "events": played.title,
        "matches": headline(Match.objects.finished().latest("finished_at")),
    }[name]
    assert first in unescape(list_svg(name))


def test_an_empty_list_has_a_picture_too(client: Client) -> None:
    assert "No tournament is planned." in list_svg("events")
    assert picture(client, "/matches/picture.png").size == (1200, 630)


def test_a_step_changes_the_picture_of_a_match(client: Client, played: Tournament) -> None:
    path = f"/matches/{first_match().pk}/picture.png"
    end, last, second = (
        client.get(f"{path}{step}").content for step in ("", "?step=999", "?step=2")
    )
    assert end == last
    assert end != second
    assert client.get(f"{path}?step=nonsense").content == end


def test_two_matches_have_different_pictures(client: Client, played: Tournament) -> None:
    one, other = Match.objects.finished().order_by("pk")[:2]
    pictures = [client.get(f"/matches/{each.pk}/picture.png").content for each in (one, other)]
    assert pictures[0] != pictures[1]


def test_a_match_in_play_shows_no_card_that_is_hidden(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr("web.views.pictures.as_png", lambda svg: _kept(drawn, svg))
    match = match_of(remote_bots(3))
    response = client.get(f"/matches/{match.pk}/picture.png")
    assert response["Cache-Control"] == "public, max-age=15"
    assert "Day 1 of 8" in drawn[0]
    assert '<use href="#r' not in drawn[0]


def test_a_match_that_nobody_may_watch_has_no_picture(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    match = Match.objects.earliest("pk")
    for _ in ("waiting", "finished, its deal in play"):
        assert client.get(f"/matches/{match.pk}/picture.png").status_code == 404
        text = page(client, f"/matches/{match.pk}/")
        assert 'property="og:image" content="http://testserver/picture.png"' in text
        if match.status == Match.Status.WAITING:
            play.play_match(match.pk, players=small.players)
            match.refresh_from_db()


def test_unknown_things_have_no_picture(client: Client, played: Tournament) -> None:
    for path in ("matches/9999999", "bots/nobody", "ladders/none", "tournaments/9999999"):
        assert client.get(f"/{path}/picture.png").status_code == 404


def test_the_old_name_of_a_bot_leads_to_its_picture(client: Client, played: Tournament) -> None:
    bot = small.bots(1, User.objects.create(username="ada"), prefix="mine")[0]
    services.change_bot(bot, name="renamed")
    response = client.get("/bots/mine-0/picture.png")
    assert (response.status_code, response["Location"]) == (301, "/bots/renamed/picture.png")


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/", "/picture.png"),
        ("/ladders/quick/", "/ladders/quick/picture.png"),
        ("/bots/bot-0/", "/bots/bot-0/picture.png"),
        ("/tournaments/{tournament}/", "/tournaments/{tournament}/picture.png"),
        ("/matches/{match}/", "/matches/{match}/picture.png"),
        ("/matches/{match}/?step=3", "/matches/{match}/picture.png?step=3"),
        ("/matches/{match}/?step=999", "/matches/{match}/picture.png?step=9"),
    ],
)
def test_a_page_names_its_picture_with_the_address_of_the_site(
    client: Client, played: Tournament, path: str, address: str
) -> None:
    numbers = {"tournament": played.pk, "match": first_match().pk}
    text = page(client, path.format(**numbers))
    tags = dict(
        re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="([^"]*)"', text)
    )
    assert tags["og:image"] == f"http://testserver{address.format(**numbers)}"
    assert tags["og:image:type"] == "image/png"
    assert (tags["og:image:width"], tags["og:image:height"]) == ("1200", "630")
    assert tags["twitter:card"] == "summary_large_image"
    assert len(tags["og:image:alt"]) > 20
    assert picture(client, tags["og:image"].removeprefix("http://testserver")).size == (1200, 630)


def test_the_alternative_text_of_a_match_names_its_seats_and_points(
    client: Client, played: Tournament
) -> None:
    match = first_match()
    text = page(client, f"/matches/{match.pk}/")
    by_place = match.seating.order_by("place", "seat")
    points = ", ".join(f"{seat.bot.name} {seat.score}" for seat in by_place)
    assert f"A card table. The end: hands are counted. Points: {points}." in text


def test_a_picture_is_drawn_once(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr("web.views.pictures.as_png", lambda svg: _kept(drawn, svg))
    path = f"/matches/{first_match().pk}/picture.png"
    first, second = client.get(path), client.get(path)
    assert first.content == second.content
    assert first["Cache-Control"] == "public, max-age=86400"
    again = client.get(path, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert len(drawn) == 1


def test_a_client_may_draw_so_many_pictures(
    client: Client, played: Tournament, settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "pictures": (1, 3600)}
    path = f"/matches/{first_match().pk}/picture.png"
    client.defaults["REMOTE_ADDR"] = "192.0.2.77"
    assert client.get(path).status_code == 200
    assert client.get(path).status_code == 200  # from the cache
    refused = client.get(f"{path}?step=1")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert "The limit is 1 requests" in refused.content.decode()


def test_pictures_are_drawn_one_at_a_time(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "_PATIENCE_SECONDS", 0.01)
    path = f"/matches/{first_match().pk}/picture.png"
    with drawing._one_at_a_time:
        response = client.get(path)
        assert response.status_code == 503
        assert int(response["Retry-After"]) > 0
    assert client.get(path).status_code == 200


def test_at_most_two_threads_wait_for_the_one_that_draws(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/matches/{first_match().pk}/picture.png"
    over, entered = Event(), Semaphore(0)

    def held(svg: str) -> bytes:
        entered.release()
        over.wait(30)  # a fourth thread would wait too
        return b""

    with monkeypatch.context() as patch:
        patch.setattr(drawing, "_in_turn", held)
        threads = [Thread(target=as_png, args=(site_svg(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        assert all(entered.acquire(timeout=60) for _ in threads)
        refused = client.get(path)
        over.set()
        for thread in threads:
            thread.join()
    assert refused.status_code == 503
    assert (refused["Retry-After"], refused["Cache-Control"]) == ("5", "no-store")
    assert client.get(path).status_code == 200


def test_other_threads_go_on_while_a_picture_is_drawn() -> None:
    done = Event()

    def draw() -> None:
        for _ in range(3):
            as_png(site_svg())
        done.set()

    Thread(target=draw).start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    # With the lock held, this thread had a turn or two for each picture.
    assert turns > 20


def test_a_document_that_is_no_svg_is_refused() -> None:
    with pytest.raises(ValueError, match="root node"):
        as_png("<svg")


def test_a_new_result_changes_the_picture_of_a_bot(client: Client, played: Tournament) -> None:
    before = client.get("/bots/bot-0/picture.png")
    bot = Bot.objects.get(name="bot-0")
    bot.standings.update(rating=1_777_000)
    after = client.get("/bots/bot-0/picture.png")
    assert before["ETag"] != after["ETag"]
    assert before.content != after.content


def test_every_state_of_a_tournament_has_its_picture(client: Client, played: Tournament) -> None:
    path = f"/tournaments/{played.pk}/picture.png"
    seen = {client.get(path)["ETag"]}
    for state in Tournament.State.values:
        opens_at = timezone.now() + timedelta(hours=1)
        Tournament.objects.filter(pk=played.pk).update(state=state, entries_open_at=opens_at)
        seen.add(client.get(path)["ETag"])
    assert len(seen) == len(Tournament.State.values)


def test_a_title_may_have_any_letters(client: Client, played: Tournament) -> None:
    for title in ("Кубок & <b>\x08", "東京カップ", "كأس", "🎄" * 40):
        Ladder.objects.filter(slug="quick").update(title=title)
        assert picture(client, "/ladders/quick/picture.png").size == (1200, 630)
        assert picture(client, f"/tournaments/{played.pk}/picture.png").size == (1200, 630)


def test_a_picture_costs_few_queries(client: Client, played: Tournament) -> None:
    names = {
        "matches": first_match().pk,
        "bots": "bot-0",
        "ladders": "quick",
        "tournaments": played.pk,
    }
    costs = {}
    for kind, name in names.items():
        path = f"/{kind}/{name}/picture.png"
        client.get(path)
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        costs[kind] = len(captured)
    assert {kind: n for kind, n in costs.items() if n > MAX_QUERIES[kind]} == {}


def test_the_picture_of_the_site_shows_its_cards() -> None:
    drawn = Image.open(BytesIO(as_png(site_svg()))).convert("RGB")
    colours = {drawn.getpixel((x, y)) for x in range(0, 1200, 8) for y in range(230, 580, 8)}
    assert (255, 253, 248) in colours  # a card
    assert (29, 97, 72) in colours  # the felt
