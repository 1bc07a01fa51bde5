"""What pages weigh: our JavaScript, all bytes, and no other host."""

from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Response
from pytest_django.live_server_helper import LiveServer

from league import analyses, feeds
from league.models import Match, Tournament
from tests.browser.conftest import Visit

pytestmark = pytest.mark.django_db(transaction=True)

MAX_SCRIPT_BYTES = 60_000
"""Of our JavaScript on one page, uncompressed."""
MAX_BYTES = 400_000
"""Of all bodies on one page, over the wire."""


def test_no_page_is_heavy_or_loads_from_another_host(
    league: Tournament, fresh: Visit, live_server: LiveServer
) -> None:
    responses: list[Response] = []
    hosts: set[str] = set()
    context = fresh.page.context
    context.new_cdp_session(fresh.page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    fresh.page.on("response", lambda response: responses.append(response))
    heavy = {}
    scripts_seen = 0
    for path in _paths(league):
        responses.clear()
        fresh.page.goto(path, wait_until="networkidle")
        requests = [each.request for each in responses if not _is_stream(each)]
        scripts = sum(len(each.body()) for each in responses if is_script(each))
        every = sum(request.sizes()["responseBodySize"] for request in requests)
        scripts_seen = max(scripts_seen, scripts)
        if scripts > MAX_SCRIPT_BYTES or every > MAX_BYTES:
            heavy[path] = (scripts, every)
    assert heavy == {}
    assert scripts_seen > 10_000, "the table's modules were not counted"
    assert hosts == {urlsplit(live_server.url).netloc}


def is_script(response: Response) -> bool:
    """Return whether a response is a script of ours; the editor Ace is a package."""
    is_ours = "/write-a-bot/ace/" not in response.url and response.status < 300
    return response.request.resource_type == "script" and is_ours


def _is_stream(response: Response) -> bool:
    """Return whether a response is a stream of events, whose size is not known before its end."""
    return response.request.resource_type == "eventsource"


def _paths(league: Tournament) -> list[str]:
    match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    cup = Tournament.objects.exclude(pk=league.pk).get()
    feeds.find_highlights(timezone.now().date())
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=600, playouts=8)
    waiting = Match.objects.filter(block__round__tournament=league).latest("pk")
    analyses.ask(match=waiting)
    return [
        "/",
        "/tv/",
        "/play/",
        "/learn/write-a-bot/",
        "/ladders/quick/",
        "/ladders/quick/?view=statistics",
        "/bots/bot-0/",
        "/bots/bot-0/statistics/",
        "/bots/bot-0/against/bot-1/",
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        f"/matches/{match.pk}/",
        f"/matches/{waiting.pk}/",
        f"/matches/{match.pk}/analysis/?decisions=all",
        f"/embed/matches/{match.pk}/",
        "/docs/",
        "/docs/api-guide/",
        "/api/v1/docs/",
    ]
