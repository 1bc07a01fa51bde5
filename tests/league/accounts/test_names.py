"""Names of accounts that can pass for another one are refused wherever a name is chosen."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from pytest_django import Settings

from league import accounts
from league.accounts.names import check_name, skeleton

pytestmark = pytest.mark.django_db

PASSWORD = "four calling birds"


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("\u0430da", "mixes scripts: '\u0430' is Cyrillic, 'd' is Latin"),
        ("ad\u03b1", "mixes scripts"),
        ("a\u200bda", "U+200B (ZERO WIDTH SPACE), which is invisible"),
        ("a\u3164da", "which is invisible"),
        ("\u202eada", "which is invisible"),
        ("\uff41da", "a variant of an ordinary character. Write 'ada'"),
        ("\U0001d41ada", "a variant of an ordinary character. Write 'ada'"),
        ("\u1e9b\u0323x", "a variant of"),
        ("ada\u0661", "Use the digits 0 to 9"),
        ("ada king", "a space. Use only letters, digits and the characters @ . + - _, for example"),
        ("ada!", "contains '!'. Use only letters"),
        (".", "has no letter and no digit"),
        ("..", "has no letter and no digit"),
        (" ", "a space. Use only letters, digits and the characters @ . + - _."),
    ],
)
def test_a_name_with_deceptive_or_other_characters_is_refused_with_the_reason(
    name: str, reason: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        check_name(name)
    assert reason in refused.value.messages[0]
    assert repr(name) in refused.value.messages[0]


@pytest.mark.parametrize(
    "name",
    [
        "Zo\u00eb",
        "\u00c5sa_1",
        "\u0410\u043b\u0438\u0441\u0430",
        "\u03a3\u03c9\u03ba\u03c1\u03ac\u03c4\u03b7\u03c2",
        "\u5c71\u7530\u305f\u308d\u3046",
        "a.b+c@d-e",
    ],
)
def test_names_in_the_letters_of_one_language_are_allowed(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["ada king", "ada/king", "a\u200bda", "\uff41da", "a/b c"])
def test_a_malformed_name_gets_one_error_on_the_page_and_in_the_api(
    client: Client, name: str
) -> None:
    account = {"username": name, "password": PASSWORD}
    answer = client.post("/api/v1/accounts", account, content_type="application/json").json()
    [error] = answer["errors"]
    assert repr(name) in error["message"]
    text = client.post("/account/sign-up/", account).content.decode()
    assert text.count("The name ") == 1
    assert "valid username" not in text
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("alice", "aIice"),
        ("alice", "a1ice"),
        ("bob", "b0b"),
        ("coco", "\u0441\u043e\u0441\u043e"),
        ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ],
)
def test_a_name_that_looks_like_another_account_is_refused(first: str, second: str) -> None:
    assert skeleton(first) == skeleton(second)
    accounts.create_account(username=first, password=PASSWORD)
    with pytest.raises(ValidationError, match="looks like the name of another account"):
        accounts.create_account(username=second, password=PASSWORD)


def test_other_names_have_other_looks() -> None:
    names = ["ada", "bob", "bab", "adam", "a-da", "ada1", "ada2", "x" * 150, "z\u00f6e", "zoe"]
    assert len({skeleton(name) for name in names}) == len(names)


def test_every_door_refuses_a_look_alike_name(client: Client) -> None:
    form = {"username": "\u0430da", "password": PASSWORD}
    page = client.post("/account/sign-up/", form)
    assert page.status_code == 400
    assert "mixes scripts" in page.content.decode()
    call = client.post("/api/v1/accounts", form, content_type="application/json")
    [error] = call.json()["errors"]
    assert (call.status_code, error["field"]) == (400, "username")
    assert "mixes scripts" in error["message"]
    with pytest.raises(Exception, match="mixes scripts"):
        call_command("createsuperuser", username="\u0430da", email="", interactive=False)
    client.force_login(User.objects.create_superuser("root"))
    admin: dict[str, Any] = {"username": "\u0430da", "password1": PASSWORD, "password2": PASSWORD}
    page = client.post("/admin/auth/user/add/", admin)
    assert page.status_code == 200
    assert "mixes scripts" in page.content.decode()
    assert not User.objects.filter(username="\u0430da").exists()


def test_two_accounts_with_one_look_cannot_be_stored_at_the_same_time() -> None:
    User.objects.create_user("alice")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("aIice")


def test_the_longest_name_of_letters_that_look_like_several_is_allowed() -> None:
    name = "\u102a" * 150
    assert len(skeleton(name[:10])) == 50
    accounts.create_account(username=name, password=PASSWORD)
    with pytest.raises(ValidationError, match="looks like"):
        accounts.create_account(username=name[:-1], password=PASSWORD)


def test_the_name_of_a_deleted_account_is_free_again() -> None:
    User.objects.create_user("alice").delete()
    accounts.create_account(username="aIice", password=PASSWORD)
