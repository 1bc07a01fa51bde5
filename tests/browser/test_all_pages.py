"""Every page in the browser: no error in the console, no horizontal overflow, no fault by axe."""

from typing import Literal

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext
from pytest_django.live_server_helper import LiveServer

from league import analyses
from league.models import Bot, Match, Tournament
from tests.browser.axe import faults
from tests.browser.conftest import Visit, answer_without_events, sign_in
from tests.league.play.live import match_of, remote_bots

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (820, "dark"), (1400, "light")])
def test_no_page_has_an_error_or_overflows(
    league: Tournament,
    context: BrowserContext,
    visit: Visit,
    live_server: LiveServer,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    _prepare(context, live_server)
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.emulate_media(color_scheme=theme)
    found = {}
    for path in _paths(league):
        response = visit.page.goto(path)
        overflow = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        status = response.status if response else None
        if status != 200 or overflow > 0:
            found[path] = (status, overflow)
    assert found == {}


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1400, "dark")])
def test_axe_finds_no_fault_on_any_page(
    league: Tournament,
    context: BrowserContext,
    visit: Visit,
    live_server: LiveServer,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    """Run axe in one theme at each width, as a run takes a second.

    The gallery of components has all four combinations (`test_gallery.py`).
    """
    _prepare(context, live_server)
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    found = {}
    for path in _paths(league):
        visit.page.goto(path)
        if here := faults(visit.page):
            found[path] = here
    assert found == {}


def _prepare(context: BrowserContext, live_server: LiveServer) -> None:
    """Sign in an organiser who owns a bot, and answer for the gateway, which does not run here."""
    ada = User.objects.get(username="ada")
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    sign_in(context, ada, live_server.url)
    context.route("**/matches/*/events", answer_without_events)
    context.route("**/api/v1/matches/events?*", answer_without_events)


def _paths(league: Tournament) -> list[str]:
    own = Bot.objects.get(owner__username="ada")
    cup = Tournament.objects.exclude(pk=league.pk).get()
    robin_match = Match.objects.filter(block__round__tournament=league).earliest("pk")
    cup_match = Match.objects.filter(block__round__tournament=cup).earliest("pk")
    analyses.ask(match=robin_match)
    analyses.compute(robin_match.pk, seconds=600, playouts=8)
    live_match = match_of(remote_bots(3))
    return [
        "/",
        "/tv/",
        "/bots/",
        "/bots/?q=bot",
        "/matches/",
        "/ladders/",
        "/feed/",
        "/bots/bot-0/against/bot-1/",
        "/ladders/quick/",
        "/ladders/quick/?view=statistics",
        "/ladders/eagles/rounds/1/",
        "/bots/bot-0/",
        "/events/",
        "/play/",
        "/learn/",
        "/learn/twelve-days/",
        "/learn/partridge/",
        "/learn/write-a-bot/",
        "/organise/tournaments/new/",
        f"/tournaments/{league.pk}/",
        f"/tournaments/{cup.pk}/",
        f"/matches/{robin_match.pk}/",
        f"/matches/{cup_match.pk}/?step=4",
        f"/matches/{cup_match.pk}/analysis/",
        f"/matches/{robin_match.pk}/analysis/?decisions=all",
        f"/matches/{live_match.pk}/",
        "/account/",
        f"/account/bots/{own.name}/upload/",
        f"/account/bots/{own.name}/versions/1/",
        f"/account/bots/{own.name}/compare/",
        "/account/sign-up/",
        "/docs/",
        "/docs/rules/twelve-days/",
        "/organise/",
        "/organise/log/",
        f"/organise/bots/{own.name}/",
        f"/organise/tournaments/{cup.pk}/",
    ]
