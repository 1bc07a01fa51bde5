"""Bot tokens that a process remembers, and tokens that are read together."""

import time
from typing import NoReturn

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from league import accounts
from league.accounts import tokens
from league.models import Token
from tests.league.play.live import remote_bots

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_memory() -> None:
    tokens._remembered.clear()


def test_tokens_of_many_bots_take_one_query_and_a_note_of_their_use() -> None:
    bots = remote_bots(5)
    texts = {accounts.new_bot_token(bot): bot for bot in bots}
    _, owner = accounts.create_account(username="ada", password="a long enough secret")
    with CaptureQueriesContext(connection) as queries:
        found = accounts.find_tokens([*texts, owner, "tn_b_forged", "nonsense", ""])
    assert len(queries) == 2
    assert {text: token.bot for text, token in found.items() if token.bot} == texts
    assert found.keys() == {*texts, owner}
    assert not Token.objects.filter(used_at=None).exists()


def test_a_bot_token_is_remembered_and_an_owner_token_is_not() -> None:
    [bot] = remote_bots(1)
    text = accounts.new_bot_token(bot)
    _, owner = accounts.create_account(username="ada", password="a long enough secret")
    assert accounts.remembered_token(text) is None
    assert not accounts.has_worked(text)
    accounts.find_tokens([text, owner])
    with CaptureQueriesContext(connection) as queries:
        found = accounts.remembered_token(text)
        assert accounts.find_tokens([text]) == {text: found}
    assert found is not None
    assert found.bot == bot
    assert len(queries) == 0
    assert accounts.has_worked(text)
    assert accounts.remembered_token(owner) is None


def test_a_remembered_token_is_read_again_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [bot] = remote_bots(1)
    text = accounts.new_bot_token(bot)
    accounts.find_token(text)
    now = time.monotonic()
    monkeypatch.setattr("league.accounts.tokens.time.monotonic", lambda: now + 2.1)
    assert accounts.remembered_token(text) is None
    assert accounts.has_worked(text)
    Token.objects.all().delete()
    assert accounts.find_token(text) is None


def test_only_working_tokens_of_bots_still_play() -> None:
    bots = remote_bots(2)
    texts = [accounts.new_bot_token(bot) for bot in bots]
    _, owner = accounts.create_account(username="ada", password="a long enough secret")
    Token.objects.filter(bot=bots[1]).delete()
    assert accounts.still_play([*texts, owner, "nonsense"]) == {texts[0]}


def crash(*_args: object, **_kwargs: object) -> NoReturn:
    raise RuntimeError("the machine is gone")


def test_a_crash_while_a_bot_token_is_replaced_leaves_the_old_one_that_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [bot] = remote_bots(1)
    text = accounts.new_bot_token(bot)
    with monkeypatch.context() as patch:
        patch.setattr(Token, "save", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            accounts.new_bot_token(bot)
    assert accounts.bot_for_token(text) == bot
    new = accounts.new_bot_token(bot)
    assert accounts.bot_for_token(text) is None
    assert accounts.bot_for_token(new) == bot
    assert Token.objects.filter(bot=bot).count() == 1


def test_a_crash_while_a_password_and_tokens_change_changes_neither(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user, text = accounts.create_account(username="ada", password="a long enough secret")
    with monkeypatch.context() as patch:
        patch.setattr(QuerySet, "delete", crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            accounts.set_password(user, "another long secret", revoke_tokens=True)
    assert accounts.owner_for_token(text) == user
    user.refresh_from_db()
    assert user.check_password("a long enough secret")
