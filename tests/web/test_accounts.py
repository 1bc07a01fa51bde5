"""Accounts on the pages: signing up, bots, tokens and rate limits."""

import re
from itertools import pairwise

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from league import accounts
from league.accounts import throttles
from league.models import Bot, LadderEntry, Token
from tests.league import small
from tests.responses import Response

pytestmark = pytest.mark.django_db

ADA = {"username": "ada", "password": "a long enough secret"}
BOT = {"name": "ada-bot", "kind": "remote"}


@pytest.fixture(autouse=True)
def quick_and_fresh(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    monkeypatch.setattr(throttles, "_cache_away_until", 0.0)


def shown_token(response: Response) -> str:
    """Return the token that a page shows, after checking that no cache may store the page."""
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    [token] = re.findall(r"\btn_[ob]_[A-Za-z0-9_-]{43}", response.content.decode())
    return str(token)


@pytest.fixture
def ada(client: Client) -> Client:
    """A browser in which Ada has signed up."""
    shown_token(client.post("/account/sign-up/", ADA))
    return client


def test_the_page_to_sign_up_states_what_an_account_is_for(client: Client) -> None:
    text = client.get("/account/sign-up/").text
    for what in ("Enter bots", "Follow", "Challenge"):
        assert f"<strong>{what}</strong>" in text
    assert "You give a name and a password, nothing else." in text
    assert re.findall(r'<input type="(?:text|password)" name="(\w+)"', text) == [
        "username",
        "password",
    ]


def test_an_account_lists_creates_and_revokes_its_tokens(ada: Client) -> None:
    text = shown_token(ada.post("/account/tokens/", {"name": "laptop"}))
    assert str(accounts.owner_for_token(text)) == "ada"
    play = shown_token(ada.post("/account/", BOT))
    accounts.bot_for_token(play)
    page = ada.get("/account/tokens/").content.decode()
    token = Token.objects.get(name="laptop")
    assert all(shown in page for shown in ("laptop", "ada-bot", f"<code>{token.prefix}…"))
    assert page.count("/revoke/") == 3
    assert text not in page
    Client().post(f"/account/tokens/{token.pk}/revoke/")
    eve = Client()
    eve.post("/account/sign-up/", {**ADA, "username": "eve"})
    assert eve.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert accounts.owner_for_token(text) is not None
    assert (
        "is revoked"
        in ada.post(f"/account/tokens/{token.pk}/revoke/", follow=True).content.decode()
    )
    assert accounts.owner_for_token(text) is None


def test_an_owner_replaces_and_revokes_the_token_on_the_page_of_the_bot(ada: Client) -> None:
    play = shown_token(ada.post("/account/", BOT))
    assert accounts.bot_for_token(play) is not None
    page = ada.get("/bots/ada-bot/manage/").content.decode()
    token = Token.objects.get(bot__name="ada-bot")
    assert f"<code>{token.prefix}…</code>" in page
    assert "last used" in page
    assert "Replace token" in page
    assert token.prefix not in Client().get("/bots/ada-bot/").content.decode()
    ada.post(f"/account/tokens/{token.pk}/revoke/")
    assert accounts.bot_for_token(play) is None
    assert "Create token" in ada.get("/bots/ada-bot/manage/").content.decode()


def test_signing_up_signs_in_and_shows_a_token_that_works(client: Client) -> None:
    token = shown_token(client.post("/account/sign-up/", ADA))
    assert str(accounts.owner_for_token(token)) == "ada"
    page = client.get("/account/").content.decode()
    assert "ada" in page
    assert token not in page


def test_a_new_account_first_sees_what_it_can_do_and_then_the_token(client: Client) -> None:
    text = client.post("/account/sign-up/", ADA).text
    main = text[text.index("<main") :]
    places = [main.index(what) for what in ("Create a bot", "Choose bots", "Watch the", "Play a")]
    assert places == sorted(places)
    assert places[-1] < main.index("shown only on this page") < main.index('id="token"')
    assert "<details" not in main[: main.index('id="token"')]  # it is in view
    assert 'data-copies="token" hidden' in main


def test_an_error_of_a_password_takes_the_place_of_the_hint(client: Client) -> None:
    answer = client.post("/account/sign-up/", {"username": "ada", "password": "short"})
    assert answer.status_code == 400
    assert answer.text.count("at least 8 characters") == 1
    assert "At least 8 characters" not in answer.text
    assert "id_password_helptext" not in answer.text


def test_signing_out_and_in_again(ada: Client) -> None:
    assert ada.post("/account/sign-out/").status_code == 302
    refused = ada.get("/account/")
    assert (refused.status_code, refused["Location"]) == (302, "/account/sign-in/?next=/account/")
    wrong = ada.post("/account/sign-in/", {**ADA, "password": "another"})
    assert wrong.status_code == 200
    assert 'class="errors"' in wrong.content.decode()
    assert ada.post(refused["Location"], {**ADA, "next": "/account/"})["Location"] == "/account/"
    assert ada.get("/account/").status_code == 200


def test_a_new_remote_bot_has_a_token_that_is_shown_once(ada: Client) -> None:
    token = shown_token(ada.post("/account/", BOT))
    assert accounts.bot_for_token(token) == Bot.objects.get()
    for path in ("/account/", "/bots/ada-bot/"):
        assert token not in ada.get(path).content.decode()
    replaced = shown_token(ada.post("/account/bots/ada-bot/token/"))
    assert accounts.bot_for_token(token) is None
    assert accounts.bot_for_token(replaced) == Bot.objects.get()
    assert Token.objects.filter(bot__isnull=False).count() == 1


def test_the_headings_of_an_account_skip_no_level(ada: Client) -> None:
    for _ in range(2):  # without a bot, then with one
        text = ada.get("/account/").content.decode()
        levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", text)]
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert text.count("From a file to the ladder") == 1
        ada.post("/account/", BOT)


def test_the_error_for_a_taken_name_stands_beside_its_field(ada: Client) -> None:
    ada.post("/account/", BOT)
    again = ada.post("/account/", BOT)
    assert again.status_code == 400
    assert (
        "The name ada-bot is taken by your own remote bot; use that bot" in again.content.decode()
    )


def test_a_bot_is_paused_and_resumed(ada: Client) -> None:
    ada.post("/account/", BOT)
    for paused in (True, False):
        ada.post("/account/bots/ada-bot/pause/", {"paused": "yes"} if paused else {})
        assert Bot.objects.get().paused is paused


def test_a_bot_enters_a_ladder_and_leaves_it(ada: Client) -> None:
    small.ladder()
    ada.post("/account/", BOT)
    for entered in (True, False):
        ada.post("/account/bots/ada-bot/ladders/quick/", {"enter": "yes"} if entered else {})
        assert LadderEntry.objects.exists() is entered


@pytest.mark.parametrize("what", ["token/", "pause/", "ladders/quick/"])
def test_only_its_owner_may_change_a_bot(ada: Client, what: str) -> None:
    small.ladder()
    ada.post("/account/", BOT)
    eve = Client()
    eve.post("/account/sign-up/", {**ADA, "username": "eve"})
    assert eve.post(f"/account/bots/ada-bot/{what}", {"enter": "yes"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "rate"),
    [
        ("/account/sign-in/", "passwords"),
        ("/account/sign-up/", "accounts"),
        ("/admin/login/", "passwords"),
    ],
)
def test_sign_in_and_sign_up_have_rate_limits(
    client: Client, settings: Settings, path: str, rate: str
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, rate: (2, 3600)}
    wrong = {"username": "ada", "password": "x"}
    codes = [client.post(path, wrong).status_code for _ in range(2)]
    assert 429 not in codes
    page = client.post(path, wrong)
    assert page.status_code == 429
    assert re.search(r"Try again in \d+ minutes?\.", page.content.decode())
    assert 1 <= int(page["Retry-After"]) <= 3600
    assert client.get(path).status_code == 200, "reading the form is not counted"


def test_pages_and_api_share_their_rate_limits(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "passwords": (1, 3600)}
    client.post("/account/sign-in/", ADA)
    answer = client.post("/api/v1/tokens", ADA, content_type="application/json")
    assert answer.status_code == 429


def test_one_sentence_has_all_rules_of_passwords(client: Client, settings: Settings) -> None:
    hint = "At least 8 characters; not a common password, and not similar to your username."
    assert hint in client.get("/account/sign-up/").text
    names = [each["NAME"].rpartition(".")[2] for each in settings.AUTH_PASSWORD_VALIDATORS]
    assert names == [  # each rule is in the sentence
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    ]


@pytest.mark.parametrize(
    ("form", "next_page"),
    [
        ("http://testserver/bots/?q=bot&page=2", "/bots/%3Fq%3Dbot%26page%3D2"),
        ("http://x.y/z", "/"),
    ],
)
def test_who_has_signed_out_meanwhile_comes_back_to_the_page_of_the_form(
    client: Client, form: str, next_page: str
) -> None:
    [bot] = small.bots(1)
    answer = client.post(f"/bots/{bot.name}/follow/", headers={"referer": form})
    assert answer["Location"] == f"/account/sign-in/?next={next_page}"
    assert client.get(f"/bots/{bot.name}/follow/").status_code == 405
