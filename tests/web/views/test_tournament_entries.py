"""The forms on a tournament's page that enter and withdraw a bot."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from league import competitions, play
from league.models import Bot, Tournament
from tests.league import small
from tests.web.pages import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_tournament() -> Tournament:
    """Announce a tournament of a ladder whose entries are open."""
    now = timezone.now()
    announced = competitions.announce_tournament(
        title="Open",
        ladder=small.ladder(),
        starts_at=now + timedelta(hours=1),
        entries_open_at=now - timedelta(hours=1),
    )
    small.run_once()
    return announced


@pytest.fixture
def own_bot(client: Client) -> Bot:
    """Store a bot of an owner, who is signed in."""
    owner = User.objects.create_user("maria")
    client.force_login(owner)
    [bot] = small.bots(1, owner=owner, prefix="maria")
    return bot


def send(client: Client, tournament: Tournament, form: str, bot: str) -> str:
    """Send a form of the tournament's page; return the text of the page that follows."""
    answer = client.post(f"/tournaments/{tournament.pk}/{form}/", {"bot": bot}, follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain == [(f"/tournaments/{tournament.pk}/", 302)]
    return answer.content.decode()


def test_an_owner_enters_and_withdraws_a_bot_on_the_page(
    client: Client, open_tournament: Tournament, own_bot: Bot
) -> None:
    assert "maria-0 is entered." in send(client, open_tournament, "enter", "maria-0")
    assert open_tournament.entries.filter(bot=own_bot).exists()
    assert "maria-0 is withdrawn." in send(client, open_tournament, "withdraw", "maria-0")
    assert not open_tournament.entries.filter(bot=own_bot).exists()


def test_a_refused_entry_is_explained_on_the_page(
    client: Client, open_tournament: Tournament, own_bot: Bot
) -> None:
    Bot.objects.filter(pk=own_bot.pk).update(current=None)
    text = send(client, open_tournament, "enter", "maria-0")
    assert "maria-0 has no current version: version 1 is held. Promote it first, on the" in text
    assert "is entered" not in text
    assert not open_tournament.entries.exists()


def test_only_the_owner_of_a_bot_can_enter_it(
    client: Client, open_tournament: Tournament, own_bot: Bot
) -> None:
    small.bots(1, owner=User.objects.create_user("feste"), prefix="feste")
    address = f"/tournaments/{open_tournament.pk}/enter/"
    assert client.post(address, {"bot": "feste-0"}).status_code == 404
    assert client.post(address, {}).status_code == 404
    refused = client.get(address)
    assert (refused.status_code, refused.headers["Allow"]) == (405, "POST")
    assert "This address is not a page" in refused.content.decode()
    client.logout()
    answer = client.post(address, {"bot": "maria-0"})
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        "/account/sign-in/?next=/",
    )
    assert not open_tournament.entries.exists()


def test_the_page_offers_the_forms_to_owners_while_entries_are_open(
    client: Client, open_tournament: Tournament, own_bot: Bot
) -> None:
    address = f"/tournaments/{open_tournament.pk}/"
    assert f'action="{address}enter/"' in page(client, address)
    client.logout()
    assert f'action="{address}enter/"' not in page(client, address)


def test_before_the_start_the_page_lists_the_house_bots_and_has_one_way_to_enter(
    client: Client, open_tournament: Tournament
) -> None:
    small.bots(2, prefix="house")
    address = f"/tournaments/{open_tournament.pk}/"
    text = page(client, address)
    entries = text.partition('id="standings"')[2].partition("</section>")[0]
    assert "No bot has entered yet. These house bots play:" in entries
    assert re.findall(r'href="([^"]+)"', entries) == ["/bots/house-0/", "/bots/house-1/"]
    Tournament.objects.update(house_bots=False)
    text = page(client, address)
    entries = text.partition('id="standings"')[2].partition("</section>")[0]
    assert "house-0" not in entries
    assert "Sign in" not in entries


def test_the_menu_marks_tournaments_on_the_page_of_one(
    client: Client, open_tournament: Tournament
) -> None:
    text = page(client, f"/tournaments/{open_tournament.pk}/")
    assert re.findall(r'<a href="([^"]+)" aria-current="true"', text) == ["/events/"]


def test_a_deleted_bot_is_not_offered(
    client: Client, open_tournament: Tournament, own_bot: Bot
) -> None:
    path = f"/tournaments/{open_tournament.pk}/"
    assert "<option>maria-0</option>" in page(client, path)
    versions = small.versions([own_bot, *small.bots(2)])
    play.open_unrated_match(game="twelve-days", rules="eight-nights", versions=versions)
    assert competitions.delete_bot(own_bot)  # it has played, so it stays
    text = page(client, path)
    assert "<option>maria-0</option>" not in text
    assert "You have no bot that can enter" in text
