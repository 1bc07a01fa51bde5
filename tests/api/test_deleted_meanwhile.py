"""Calls on a bot that its owner deletes after the call has read it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from api.views import bots as views
from league import bots
from league.accounts import tokens
from league.models import Bot, BotVersion, Token
from tests.league.bots.uploaded import FIRST, owner, ready_bot

pytestmark = pytest.mark.django_db(transaction=True)
Call = Callable[[Client, str], Any]


def upload(client: Client, address: str) -> Any:
    data = {"source": SimpleUploadedFile("bot.py", FIRST + b"#2"), "again": "true"}
    return client.post(f"{address}/versions", data)


def patch(path: str, **changes: object) -> Call:
    return lambda client, address: client.patch(
        address + path, changes, content_type="application/json"
    )


def post(path: str) -> Call:
    return lambda client, address: client.post(address + path, {}, content_type="application/json")


CALLS: dict[str, Call] = {
    "upload": upload,
    "rename": patch("", name="other-name"),
    "resume": patch("", paused=False, description="back"),
    "token": post("/token"),
    "note": patch("/versions/1", note="mine"),
    "promote": post("/versions/1/promote"),
    "withdraw": post("/versions/1/withdraw"),
}


@pytest.mark.parametrize("is_retired", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_a_bot_that_is_deleted_meanwhile_changes_nothing(
    name: str, is_retired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = owner()
    bot = ready_bot(ada)
    if name == "withdraw":
        BotVersion.objects.update(state=BotVersion.State.CHECKING)
    text = tokens.new_owner_token(ada)
    last_read = "_find_version" if name in {"note", "promote", "withdraw"} else "_own"
    read = getattr(views, last_read)

    def late(*of: object) -> object:
        found = read(*of)
        if is_retired:
            bots.retire(bot, timezone.now())
        else:
            bots.remove(Bot.objects.get(pk=bot.pk))
        return found

    monkeypatch.setattr(views, last_read, late)
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {text}"})
    answer: HttpResponse = CALLS[name](client, f"/api/v1/bots/{bot.name}")
    assert answer.status_code == 409
    assert b"bot-retired" in answer.content
    assert not Token.objects.exclude(bot=None).exists()
    kept = Bot.objects.filter(pk=bot.pk).first()
    if not is_retired:
        assert kept is None
        return
    assert kept is not None
    assert (kept.name, kept.paused, kept.description) == (bot.name, True, "")
    assert [version.note for version in kept.versions.all()] == [""]
