"""The prompts of ``login``."""

import pytest

from bots_sdk.commands import accounts
from bots_sdk.saved import Saved, SavedError
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


def test_a_token_that_can_not_be_saved_is_printed_or_the_next_step_is(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts set the league and the owner token by variables, and may have no writable home."""

    def refuse(saved: Saved, text: str) -> None:
        raise SavedError("leagues.json can't be written: Read-only file system.")

    monkeypatch.setattr(Saved, "_write", refuse)
    monkeypatch.setenv("TWELFTH_NIGHT_URL", stub.url)
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_o_1")
    printed = cli("bot", "create", "mybot", "--print-token")
    assert (printed.exit_code, printed.stdout) == (0, "tn_b_1\n")
    assert "Note: the token is not saved: leagues.json can't be written" in printed.stderr
    lost = cli("bot", "create", "mybot")
    assert lost.exit_code == 2
    assert "a new token for mybot, but this command could not save it. " in lost.stderr
    assert "`twelfth-night bot token mybot --print-token`" in lost.stderr
