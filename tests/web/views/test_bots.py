"""The page of a bot."""

import re

import pytest
from django.test import Client

from league import competitions, ratings
from league.models import Bot, Match, Tournament
from tests.league import small
from tests.web.pages import page

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_bots_page_shows_its_interval_opponents_and_when_it_is_due(
    client: Client, played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league.ratings.performance.ERROR_FROM", 1)
    [round_id] = ratings.take_fits()
    ratings.fit_round(round_id)
    competitions.enter_ladder(ladder=played.ladder, bot=Bot.objects.get(name="bot-0"))
    text = page(client, "/bots/bot-0/")
    assert "After about 9 more blocks, the ± of its performance is half as large." in text
    assert "It waits for more bots: a table has 3 seats, and 1" in text
    assert 'class="area' in text
    for name in ("bot-1", "bot-2", "bot-3"):
        assert re.search(rf'>{name}</a></th>\s*<td class="number"><a [^>]*>6</a></td>', text)


def test_a_bots_latest_matches_come_first(client: Client, played: Tournament) -> None:
    small.tournament(played.ladder)
    small.run_all()
    text = page(client, "/bots/bot-0/")
    shown = [int(pk) for pk in re.findall(r'class="match-link" href="/matches/(\d+)/"', text)]
    played_in = Match.objects.filter(seating__bot__name="bot-0").order_by("-pk")
    assert shown == list(played_in.values_list("pk", flat=True))[:20]
    assert "more match" not in text
    queued = small.tournament(played.ladder)
    competitions.advance_tournament(queued.pk)
    text = page(client, "/bots/bot-0/")
    kept = re.findall(r'class="match-link" href="/matches/(\d+)/"', text)
    assert [int(pk) for pk in kept] == shown
    assert "9 more matches of this bot wait to be played" in text


def test_the_headline_of_a_bot_states_its_rating_on_each_ladder(
    client: Client, played: Tournament
) -> None:
    rating = played.ladder.standings.get(bot__name="bot-0").rating
    text = page(client, "/bots/bot-0/")
    head = text[
        text.index('<header class="banner">') : text.index("</header>", text.index("banner"))
    ]
    words = " ".join(re.sub(r"<[^>]+>", " ", head).split())
    assert words.startswith("house bot, which belongs to the league")
    assert f"Provisional on {played.ladder.title} , rated {rating / 1000:.0f}" in words
    assert 'href="/bots/bot-0/against/bot-1/"' in text
