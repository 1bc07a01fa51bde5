"""The prompts of ``login``."""

import pytest

from bots_sdk.commands import accounts
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague


def test_a_sign_up_asks_to_repeat_the_password(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers["POST accounts"] = (201, {"username": "ada", "token": "tn_o_1"})
    monkeypatch.delenv("TWELFTH_NIGHT_PASSWORD")
    asked: list[object] = []

    def prompt(name: str, remedy: str, **options: object) -> str:
        asked.append((name, options["confirmation_prompt"]))
        return "a long and silly one"

    monkeypatch.setattr(accounts, "_prompt", prompt)
    assert cli("login", stub.url, "--username", "ada").exit_code == 0
    assert cli("login", stub.url, "--username", "ada", "--sign-up").exit_code == 0
    assert asked == [("password", False), ("password", "Repeat the password")]
