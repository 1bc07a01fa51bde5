"""The pages on which an owner changes or deletes a bot, and its versions."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from league import bots
from league.models import Bot, BotVersion
from tests.league import small
from tests.league.bots.uploaded import FIRST, hosted_bot
from tests.web.pages import page

pytestmark = pytest.mark.django_db
SETTINGS = {
    "name": "newer",
    "description": "Plays low.",
    "challenges_from": "nobody",
    "max_challenges_per_day": "7",
}


@pytest.fixture
def ada(client: Client) -> User:
    user = User.objects.create_user("ada")
    client.force_login(user)
    return user


@pytest.fixture
def mine(ada: User) -> Bot:
    return hosted_bot(ada, "my-bot")


def test_an_owner_renames_a_bot_and_sets_who_may_challenge_it(client: Client, mine: Bot) -> None:
    shown = page(client, "/account/bots/my-bot/settings/")
    assert 'value="my-bot"' in shown
    answer = client.post("/account/bots/my-bot/settings/", SETTINGS)
    assert answer["Location"] == "/account/bots/newer/settings/"
    mine.refresh_from_db()
    assert (mine.name, mine.description) == ("newer", "Plays low.")
    assert (mine.challenges_from, mine.max_challenges_per_day) == ("nobody", 7)
    assert client.get("/bots/my-bot/")["Location"] == "/bots/newer/"


def test_a_taken_name_is_an_error_beside_its_field(client: Client, mine: Bot) -> None:
    small.bots(1)
    answer = client.post("/account/bots/my-bot/settings/", {**SETTINGS, "name": "bot-0"})
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "The name bot-0 is taken" in text
    assert "<h1>Settings of my-bot</h1>" in text


def test_a_bot_is_deleted_after_a_page_that_states_what_stays(client: Client, mine: Bot) -> None:
    assert "has never played" in page(client, "/account/bots/my-bot/delete/")
    assert Bot.objects.filter(name="my-bot").exists()
    client.post("/account/bots/my-bot/delete/")
    assert not Bot.objects.filter(name="my-bot").exists()


def test_an_owner_changes_a_note_that_nobody_else_sees(client: Client, mine: Bot) -> None:
    version = bots.upload(bot=mine, data=FIRST, note="first try")
    path = f"/account/bots/my-bot/versions/{version.number}/"
    client.post(f"{path}note/", {"note": "counts cards"})
    assert 'value="counts cards"' in page(client, path)
    assert "counts cards" in page(client, "/bots/my-bot/versions/")
    client.post(f"{path}note/", {"note": "x" * 501})
    version.refresh_from_db()
    assert version.note == "counts cards"
    client.logout()
    assert "counts cards" not in page(client, "/bots/my-bot/versions/")


def test_an_owner_withdraws_a_version_during_its_check(client: Client, mine: Bot) -> None:
    version = bots.upload(bot=mine, data=FIRST)
    path = f"/account/bots/my-bot/versions/{version.number}/"
    assert "Withdraw version" in page(client, path)
    client.post(f"{path}withdraw/")
    text = page(client, path)
    assert "Its owner withdrew it during its check." in text
    assert "Withdraw version" not in text
    assert not bots.check_version(version.pk)
    BotVersion.objects.filter(pk=version.pk).update(state="ready")
    client.post(f"{path}withdraw/")
    version.refresh_from_db()
    assert version.state == "ready"


def test_nobody_changes_the_bots_of_others(client: Client, mine: Bot) -> None:
    version = bots.upload(bot=mine, data=FIRST)
    client.force_login(User.objects.create_user("eve"))
    version_path = f"/account/bots/my-bot/versions/{version.number}"
    for path in ("/account/bots/my-bot/settings/", "/account/bots/my-bot/delete/"):
        assert client.get(path).status_code == client.post(path).status_code == 404
    for action in ("note", "withdraw"):
        assert client.post(f"{version_path}/{action}/", {"note": "x"}).status_code == 404
