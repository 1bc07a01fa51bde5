"""Changing a password, and one-time links for somebody who has lost it."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from league import accounts
from league.models import ModerationEntry
from tests.web.pages import page

pytestmark = pytest.mark.django_db
OLD, NEW = "a long enough secret", "a quite different secret"


@pytest.fixture(autouse=True)
def quick_and_alone(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()


@pytest.fixture
def ada() -> tuple[User, str]:
    return accounts.create_account(username="ada", password=OLD)


def sign_in(password: str) -> Client | None:
    client = Client()
    answer = client.post("/account/sign-in/", {"username": "ada", "password": password})
    return client if answer.status_code == 302 else None


def link_from(text: str) -> str:
    [path] = re.findall(r"/account/reset/[\w-]+/[\w-]+/", text)
    return str(path)


def test_changing_the_password_ends_other_sessions_and_keeps_tokens(
    ada: tuple[User, str],
) -> None:
    here, elsewhere = sign_in(OLD), sign_in(OLD)
    assert here is not None
    assert elsewhere is not None
    wrong = here.post("/account/password/", {"old": "not mine", "new_password": NEW})
    assert "This is not your current password." in wrong.content.decode()
    weak = here.post("/account/password/", {"old": OLD, "new_password": "password"})
    assert "too common" in weak.content.decode()
    assert here.post("/account/password/", {"old": OLD, "new_password": NEW}).status_code == 302
    assert "Your tokens still work." in page(here, "/account/")
    assert elsewhere.get("/account/").status_code == 302
    assert sign_in(OLD) is None
    assert sign_in(NEW) is not None
    assert accounts.owner_for_token(ada[1]) == ada[0]
    sent = {"old": NEW, "new_password": OLD, "revoke": "on"}
    assert here.post("/account/password/", sent).status_code == 302
    assert accounts.owner_for_token(ada[1]) is None


def test_a_reset_link_of_an_operator_works_once(
    ada: tuple[User, str], client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reset_link", "ADA", url="https://league.example/")
    printed = capsys.readouterr().out
    assert printed.startswith("https://league.example/account/reset/")
    link = link_from(printed)
    assert "New password of ada" in page(client, link)
    weak = client.post(link, {"new_password": "password"})
    assert (weak.status_code, "too common" in weak.content.decode()) == (400, True)
    assert client.post(link, {"new_password": NEW})["Location"] == "/account/sign-in/"
    assert sign_in(NEW) is not None
    assert "does not work" in page(client, link, status=404)
    assert client.post(link, {"new_password": OLD}).status_code == 404
    assert sign_in(OLD) is None
    with pytest.raises(CommandError, match="There is no account nobody"):
        call_command("reset_link", "nobody")


def test_a_reset_link_expires(ada: tuple[User, str], client: Client, settings: Settings) -> None:
    link = "/account/reset/{}/{}/".format(*accounts.new_reset(ada[0]))
    page(client, link)
    settings.PASSWORD_RESET_TIMEOUT = -1
    page(client, link, status=404)
    settings.PASSWORD_RESET_TIMEOUT = timedelta(hours=24).total_seconds()
    page(client, link[:-2] + "x/", status=404)
    page(client, "/account/reset/OTk5OTk5OTk5OTk5OTk5/x-y/", status=404)


def test_a_sign_in_ends_a_reset_link(ada: tuple[User, str], client: Client) -> None:
    link = "/account/reset/{}/{}/".format(*accounts.new_reset(ada[0]))
    assert sign_in(OLD) is not None
    page(client, link, status=404)


def test_other_rights_end_a_reset_link(ada: tuple[User, str], client: Client) -> None:
    link = "/account/reset/{}/{}/".format(*accounts.new_reset(ada[0]))
    page(client, link)
    User.objects.filter(pk=ada[0].pk).update(is_staff=True)
    page(client, link, status=404)


def test_the_page_of_a_reset_link_lets_browsers_send_their_origin(ada: tuple[User, str]) -> None:
    # With the policy "no-referrer" they send "null", and Django refuses the form as forged.
    client = Client(enforce_csrf_checks=True)
    link = "/account/reset/{}/{}/".format(*accounts.new_reset(ada[0]))
    assert client.get(link)["Referrer-Policy"] == "strict-origin"
    sent = {"new_password": NEW, "csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    assert client.post(link, sent, headers={"origin": "null"}).status_code == 403
    assert client.post(link, sent, headers={"origin": "http://testserver"}).status_code == 302


def test_an_organiser_issues_a_link_for_players_but_not_for_organisers(
    ada: tuple[User, str], client: Client
) -> None:
    eve = User.objects.create_user("eve", is_staff=True)
    User.objects.create_user("zoe", is_staff=True)
    client.force_login(eve)
    assert "Issue reset link" in page(client, "/organise/accounts/ada/")
    shown = client.post("/organise/accounts/ada/reset-link/")
    assert "no-store" in shown["Cache-Control"]
    assert "New password of ada" in page(client, link_from(shown.content.decode()))
    logged = ModerationEntry.objects.get()
    assert (logged.action, logged.made_by, logged.account) == ("reset-link", eve, ada[0])
    client.post("/organise/accounts/zoe/reset-link/")
    assert "An operator issues the link" in page(client, "/organise/accounts/zoe/")
    assert ModerationEntry.objects.count() == 1
    client.force_login(ada[0])
    assert client.post("/organise/accounts/eve/reset-link/").status_code == 403
