"""Lists with search, the wall, and the page of two bots."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from engine.rating.intervals import wilson
from league import feeds
from league.models import Bot, HeadToHead, Ladder, Match, MatchSeat, Tournament
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page, queries

pytestmark = pytest.mark.django_db(transaction=True)

MATCH = r'class="match-link" href="/matches/(\d+)/"'


def found(text: str, pattern: str) -> list[str]:
    return re.findall(pattern, text)


def test_empty_lists_say_what_to_do(client: Client) -> None:
    assert "There is no bot yet" in page(client, "/bots/")
    assert "No match has begun yet" in page(client, "/matches/")
    assert "set_up_league" in page(client, "/ladders/")
    assert "No tournament is over yet" in page(client, "/events/")
    assert "No match has been played yet" in page(client, "/tv/")
    for path in ("/bots/", "/matches/", "/ladders/", "/events/"):
        assert "Show all" in page(client, f"{path}?q=nothing")


def test_the_old_address_of_the_tournaments_leads_to_the_events(client: Client) -> None:
    answer = client.get("/tournaments/")
    assert (answer.status_code, answer["Location"]) == (301, "/events/")


def test_bots_are_found_by_name_and_kind(client: Client, played: Tournament) -> None:
    small.bots(2, owner=User.objects.create(username="ada"), prefix="ada")
    names = r'class="match-link" href="/bots/([^/]+)/"'
    assert found(page(client, "/bots/"), names) == [
        *("ada-0", "ada-1", "bot-0", "bot-1", "bot-2", "bot-3")
    ]
    assert found(page(client, "/bots/?q=BOT-1"), names) == ["bot-1"]
    assert found(page(client, "/bots/?kind=hosted"), names) == ["ada-0", "ada-1"]
    rating = played.ladder.standings.get(bot__name="bot-1").rating
    assert f"<b>{rating / 1000:.0f}</b>" in page(client, "/bots/?q=bot-1")


def test_matches_are_found_by_bot_game_and_state(client: Client, played: Tournament) -> None:
    live = match_of(remote_bots(3))
    everything = [str(match.pk) for match in Match.objects.order_by("-pk")]
    assert found(page(client, "/matches/"), MATCH) == everything
    assert found(page(client, "/matches/?state=playing"), MATCH) == [str(live.pk)]
    with_bot = Match.objects.filter(seating__bot__name="bot-2").order_by("-pk")
    assert found(page(client, "/matches/?q=bot-2"), MATCH) == [str(each.pk) for each in with_bot]
    assert found(page(client, "/matches/?game=partridge"), MATCH) == []
    assert found(page(client, "/matches/?game=chess&state=no"), MATCH) == everything


def test_the_list_of_matches_has_pages_without_counting_all(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.views.lists._ROWS", 5)
    first, second = page(client, "/matches/?state=finished"), page(client, "/matches/?page=2")
    assert 'href="?state=finished&amp;page=2"' in first
    numbers = [*found(first, MATCH), *found(second, MATCH)]
    assert numbers == [str(match.pk) for match in Match.objects.order_by("-pk")[:10]]
    assert "Newer" in second


def test_ladders_and_events_are_found_by_title(client: Client, played: Tournament) -> None:
    small.ladder("other")
    assert '"/ladders/quick/"' not in page(client, "/ladders/?q=oth")
    assert '"/ladders/other/"' in page(client, "/ladders/?q=oth")
    assert f"/tournaments/{played.pk}/" in page(client, "/events/?q=TOURN")
    assert f"/tournaments/{played.pk}/" not in page(client, "/events/?format=swiss")


def test_the_wall_shows_up_to_nine_live_tables_and_else_the_match_of_the_day(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    text = page(client, "/tv/")
    assert text.count('<article class="tv">') == 1
    assert "best match of the day" in text
    bots = remote_bots(3)
    strongest = match_of(list(Bot.objects.filter(kind="house")[:2]) + bots[:1])
    for _ in range(10):
        match_of(bots)
    text = page(client, "/tv/")
    assert text.count('<article class="tv">') == 9
    assert found(text, r'tv-head"><a href="/matches/(\d+)/')[0] == str(strongest.pk)


def test_the_home_page_shows_the_live_table_then_the_match_of_the_day(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    text = page(client, "/")
    assert ">match of the day<" in text
    assert "Closest match" in text
    match_of(remote_bots(3))
    assert ">live</span>" in page(client, "/")


def test_a_highlight_shows_its_moment_and_leads_to_its_step(
    client: Client, played: Tournament
) -> None:
    feeds.find_highlights(timezone.now().date())
    closest = next(each for each in feeds.last_highlights() if each.kind == "closest")
    text = page(client, "/")
    [part] = re.findall(r'<li class="highlight">(?:(?!</li>).)*Closest match.*?</li>', text, re.S)
    assert f'class="whole-card" href="/matches/{closest.match_id}/?step={closest.step}"' in part
    assert re.search(r'role="img" aria-label="[^"]+ (plays|scores|has|passes) ?', part)
    assert 'class="tc r' in part


def test_two_bots_have_a_page_with_their_score_by_ladder_seat_and_version(
    client: Client, played: Tournament
) -> None:
    row = HeadToHead.objects.get(bot__name="bot-0", opponent__name="bot-1")
    text = page(client, "/bots/bot-0/against/bot-1/")
    low, high = wilson(row.win_share, row.pairs)
    assert f"{100 * row.win_share:.0f} %" in text
    assert f"{100 * low:.0f} % to {100 * high:.0f} %" in text
    seats = MatchSeat.objects.filter(bot__name="bot-0", match__seating__bot__name="bot-1")
    for seat in set(seats.values_list("seat", flat=True)):
        count = seats.filter(seat=seat).count()
        assert re.search(rf'seat {seat}</th>\s*<td class="number">{count}</td>', text)
    assert "version 1 against version 1" in text
    both = Match.objects.filter(seating__bot__name="bot-0").filter(seating__bot__name="bot-1")
    assert len(found(text, MATCH)) == both.count()
    before = queries(client, "/bots/bot-0/against/bot-1/")
    small.tournament(Ladder.objects.get())
    small.run_all()
    assert queries(client, "/bots/bot-0/against/bot-1/") == before <= 8
    page(client, "/bots/bot-0/against/none/", status=404)


def test_two_bots_that_never_met_have_a_page(client: Client) -> None:
    small.bots(2)
    assert "have not finished a match" in page(client, "/bots/bot-0/against/bot-1/")
