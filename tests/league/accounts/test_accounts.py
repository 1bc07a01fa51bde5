"""Accounts, tokens and bots."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from pytest_django import Settings

from league import accounts, bots
from league.models import Bot, Token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada() -> tuple[User, str]:
    return accounts.create_account(username="ada", password="a long enough secret")


def test_an_owner_token_leads_to_its_owner(ada: tuple[User, str]) -> None:
    user, text = ada
    assert accounts.owner_for_token(text) == user
    assert accounts.bot_for_token(text) is None


def test_a_bot_token_leads_to_its_bot(ada: tuple[User, str]) -> None:
    bot, text = bots.create_bot(owner=ada[0], name="bot", kind="remote")
    assert accounts.bot_for_token(text) == bot
    assert accounts.still_play([text])
    assert accounts.owner_for_token(text) is None


def test_only_a_hash_and_the_first_characters_are_stored(ada: tuple[User, str]) -> None:
    _, text = ada
    token = Token.objects.get()
    assert text.startswith("tn_o_")
    assert token.prefix == text[:11]
    stored = [str(value) for value in token.__dict__.values()]
    assert not any(text[11:] in value for value in stored)


def test_the_hash_needs_the_secret_key(ada: tuple[User, str], settings: Settings) -> None:
    settings.SECRET_KEY = "another key, as if only the database was stolen"
    assert accounts.owner_for_token(ada[1]) is None


def test_a_revoked_token_stops_working_and_others_keep_working(ada: tuple[User, str]) -> None:
    user, first = ada
    second = accounts.new_owner_token(user)
    token = accounts.find_token(first)
    assert token is not None
    accounts.revoke(token)
    assert accounts.owner_for_token(first) is None
    assert accounts.owner_for_token(second) == user


def test_a_revoked_bot_token_stops_working_at_once_in_this_process(ada: tuple[User, str]) -> None:
    _, text = bots.create_bot(owner=ada[0], name="bot", kind="remote")
    token = accounts.find_token(text)
    assert token is not None
    accounts.revoke(token)
    assert accounts.bot_for_token(text) is None
    assert not accounts.still_play([text])
    assert not accounts.still_play([ada[1]])


def test_a_new_bot_token_replaces_the_old_one(ada: tuple[User, str]) -> None:
    bot, old = bots.create_bot(owner=ada[0], name="bot", kind="remote")
    new = accounts.new_bot_token(bot)
    assert accounts.bot_for_token(old) is None
    assert accounts.bot_for_token(new) == bot
    assert bot.tokens.count() == 1


@pytest.mark.parametrize("text", ["", "tn_o_", "tn_b_x", "nonsense", "tn_o_" + "x" * 5000, "ä\0"])
def test_a_malformed_token_is_not_found(ada: tuple[User, str], text: str) -> None:
    assert accounts.find_token(text) is None


def test_tokens_of_a_locked_account_stop_working(ada: tuple[User, str]) -> None:
    user, text = ada
    _, playing = bots.create_bot(owner=user, name="bot", kind="remote")
    user.is_active = False
    user.save()
    assert accounts.owner_for_token(text) is None
    assert accounts.bot_for_token(playing) is None
    assert not accounts.still_play([playing])


def test_a_remote_bot_may_play_at_once(ada: tuple[User, str]) -> None:
    bot, _ = bots.create_bot(owner=ada[0], name="bot", kind="remote")
    assert bot.current.number == 1
    assert bot.current.state == "ready"


def test_a_hosted_bot_has_no_version_before_its_upload(ada: tuple[User, str]) -> None:
    bot, _ = bots.create_bot(owner=ada[0], name="bot", kind="hosted")
    assert bot.current is None


@pytest.mark.parametrize("name", ["ab", "a" * 33, "Bot", "a_b", "bot\n", "böt", ""])
def test_a_malformed_bot_name_is_refused(ada: tuple[User, str], name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        bots.create_bot(owner=ada[0], name=name, kind="remote")
    assert "name" in refused.value.message_dict
    assert not Bot.objects.exists()


def test_owners_cannot_create_house_bots(ada: tuple[User, str]) -> None:
    with pytest.raises(ValidationError):
        bots.create_bot(owner=ada[0], name="bot", kind="house")


def test_a_name_is_taken_once(ada: tuple[User, str]) -> None:
    bots.create_bot(owner=ada[0], name="bot", kind="remote")
    with pytest.raises(ValidationError, match="taken"):
        bots.create_bot(owner=ada[0], name="bot", kind="remote")


def test_an_account_name_is_taken_in_any_case_of_letters(ada: tuple[User, str]) -> None:
    with pytest.raises(ValidationError, match="taken"):
        accounts.create_account(username="ADA", password="a long enough secret")


def test_a_password_easy_to_guess_is_refused(db: None) -> None:
    with pytest.raises(ValidationError) as refused:
        accounts.create_account(username="ada", password="password")
    assert "password" in refused.value.message_dict
