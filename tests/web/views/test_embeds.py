"""Embeds: matches, ladders and tournaments in a frame of another site."""

import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from league import competitions, play
from league.models import Match, Tournament
from tests.league import small
from tests.league.play.live import match_of, remote_bots
from tests.web.pages import page, queries

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[3]
MAX_QUERIES = {"matches": 6, "ladders": 8, "tournaments": 16}


def addresses(tournament: Tournament) -> dict[str, str]:
    match = Match.objects.finished().earliest("pk")
    return {
        "matches": f"/embed/matches/{match.pk}/",
        "ladders": "/embed/ladders/quick/",
        "tournaments": f"/embed/tournaments/{tournament.pk}/",
    }


def test_other_sites_may_frame_the_embeds_alone(client: Client, played: Tournament) -> None:
    embeds = addresses(played).values()
    for path in embeds:
        response = client.get(path)
        assert response.status_code == 200
        assert "X-Frame-Options" not in response
        policy = response["Content-Security-Policy"]
        assert "frame-ancestors *" in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" not in policy
    pages = ["/", "/tv/", "/play/", "/account/sign-in/", "/embed/matches/9999999/", "/picture.png"]
    pages += [path.removeprefix("/embed") for path in embeds]
    for path in pages:
        response = client.get(path)
        assert response["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_an_embed_is_a_bare_page_whose_links_leave_the_frame(
    client: Client, played: Tournament
) -> None:
    for path in addresses(played).values():
        text = page(client, path)
        assert '<base target="_top">' in text
        assert '<meta name="robots" content="noindex">' in text
        assert f'<h1><a href="{path.removeprefix("/embed")}">' in text
        assert "<nav" not in text
        assert "<form" not in text
        assert "csrf" not in text


def test_an_embed_does_not_depend_on_the_reader(client: Client, played: Tournament) -> None:
    for path in addresses(played).values():
        response = client.get(path)
        assert "Vary" not in response
        assert not response.cookies


def test_the_embed_of_a_match_steps_within_its_frame(client: Client, played: Tournament) -> None:
    text = page(client, addresses(played)["matches"] + "?step=3")
    assert "Step 3 of 9" in text
    links = re.findall(r'<a href="\?step=\d+"([^>]*)', text)
    assert len(links) == 4
    assert all('target="_self"' in link for link in links)


def test_the_embed_of_a_live_match_follows_its_events(client: Client) -> None:
    match = match_of(remote_bots(3))
    text = page(client, f"/embed/matches/{match.pk}/")
    assert 'data-table="live"' in text
    assert f'data-match="{match.pk}"' in text


def test_the_embed_of_a_secret_match_has_no_cards(client: Client) -> None:
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    match = Match.objects.earliest("pk")
    path = f"/embed/matches/{match.pk}/"
    assert "waits to be played" in page(client, path)
    play.play_match(match.pk, players=small.players)
    text = page(client, path)
    assert "The table appears when all matches with this deal are finished." in text
    assert "data-table" not in text


def test_the_embed_of_a_ladder_shows_its_best_bots(client: Client, played: Tournament) -> None:
    text = page(client, "/embed/ladders/quick/")
    assert [f">bot-{at}</a>" in text for at in range(4)] == [True] * 4
    assert "See this ladder" in text


def test_the_embed_of_a_knockout_shows_its_bracket(client: Client) -> None:
    small.bots(4)
    cup = small.tournament(small.ladder(seats=2), format="knockout")
    small.run_all()
    text = page(client, f"/embed/tournaments/{cup.pk}/")
    assert 'class="bracket"' in text
    assert "<h3>Final</h3>" in text
    assert "wins." in text


@pytest.mark.parametrize("state", Tournament.State.values)
def test_the_embed_of_a_tournament_shows_its_state(
    client: Client, played: Tournament, state: str
) -> None:
    opens_at = timezone.now() + timedelta(hours=1)
    Tournament.objects.filter(pk=played.pk).update(state=state, entries_open_at=opens_at)
    words = {"announced": "Entries open", "open": "Entries are open", "cancelled": "Cancelled"}
    text = page(client, f"/embed/tournaments/{played.pk}/")
    assert words.get(state, "bot-0") in text
    assert "UTC UTC" not in text
    assert "</time> UTC" not in text


def test_pages_show_the_code_of_their_embed(client: Client, played: Tournament) -> None:
    Tournament.objects.filter(pk=played.pk).update(title='A "cup" & <more>')
    for path in addresses(played).values():
        text = page(client, path.removeprefix("/embed"))
        [code] = re.findall(r"<textarea[^>]* readonly[^>]*>(.*?)</textarea>", text, re.DOTALL)
        copied = unescape(code)
        assert copied.startswith(f'<iframe src="http://testserver{path}" title="')
        assert copied.endswith("</iframe>")
        if "tournaments" in path:
            assert 'title="A &quot;cup&quot; &amp; &lt;more&gt;"' in copied


def test_the_document_shows_the_code_of_an_embed(client: Client, played: Tournament) -> None:
    Tournament.objects.filter(pk=played.pk).update(title="Sunday cup")
    document = (ROOT / "docs/organise.md").read_text("utf-8")
    [shown] = re.findall(r"<iframe .*?</iframe>", document, re.DOTALL)
    [code] = re.findall(r"&lt;iframe .*?/iframe&gt;", page(client, f"/tournaments/{played.pk}/"))
    site, league = f"http://testserver/embed/tournaments/{played.pk}/", "https://league.example"
    assert " ".join(shown.split()) == unescape(code).replace(site, f"{league}/embed/tournaments/3/")


def test_an_embed_costs_few_queries(client: Client, played: Tournament) -> None:
    costs = {kind: queries(client, path) for kind, path in addresses(played).items()}
    assert {kind: n for kind, n in costs.items() if n > MAX_QUERIES[kind]} == {}
