"""``twelfth-night bot`` and ``password``: what they send, and what stays saved."""

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bots_sdk.call import Call
from bots_sdk.cli import application
from bots_sdk.commands import accounts, changing, leagues
from bots_sdk.saved import Saved, SavedError, SavedLeague
from tests.bots_sdk.commands.leagues import URL, FakeLeague
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague


class League(FakeLeague):
    """A league that grants every call."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any]] = []

    def send(self, call: Call[Any]) -> Any:
        self.sent.append((call.method, call.path, call.body))
        return {"name": call.path.rpartition("/")[2]}


@pytest.fixture
def league(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> League:
    made = League()
    monkeypatch.setattr(typer, "get_app_dir", lambda _: str(tmp_path))
    with Saved.changing(tmp_path / "leagues.json") as saved:
        saved.url, saved.leagues[URL] = URL, SavedLeague("ada", "t", {"swan": "b"})
    for module in (accounts, changing):
        monkeypatch.setattr(module, "client_for", lambda *_: made)
    monkeypatch.setattr(changing, "owner_token", lambda: (URL, "t"))
    monkeypatch.setattr(accounts, "chosen_league", lambda: (URL, saved.leagues[URL]))
    return made


def run(*words: str) -> Any:
    return CliRunner().invoke(application(), list(words))


def tokens() -> dict[str, str]:
    return leagues.read_saved().leagues[URL].bots


def test_a_renamed_bot_keeps_its_saved_token(league: League) -> None:
    assert run("bot", "rename", "swan", "goose").exit_code == 0
    assert league.sent == [("PATCH", "bots/swan", {"name": "goose"})]
    assert tokens() == {"goose": "b"}


def test_a_bot_is_deleted_after_a_confirmation(league: League) -> None:
    refused = run("bot", "delete", "swan")
    assert (refused.exit_code, league.sent) == (2, [])
    assert "Use --yes" in refused.stderr
    assert run("bot", "delete", "swan", "--yes").exit_code == 0
    assert league.sent == [("GET", "bots/swan", None), ("DELETE", "bots/swan", None)]
    assert tokens() == {}


def test_a_change_at_the_league_counts_although_the_tokens_can_not_be_saved(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(saved: Saved, text: str) -> None:
        raise SavedError("leagues.json can't be written: Read-only file system.")

    monkeypatch.setattr(Saved, "_write", refuse)
    for words in (["rename", "swan", "goose"], ["delete", "swan", "--yes"]):
        result = run("bot", *words)
        assert result.exit_code == 0
        assert (
            "but the file with your tokens still has the old entry. leagues.json" in result.stderr
        )


def test_a_bot_is_not_deleted_by_its_former_name(logged_in: Cli, stub: StubLeague) -> None:
    for method in ("GET", "DELETE"):
        stub.answers[f"{method} bots/old"] = (308, "/api/v1/bots/new")
    stub.answers["GET bots/new"] = (200, {"name": "new"})
    stub.answers["DELETE bots/new"] = (204, b"")
    result = logged_in("bot", "delete", "old", "--yes")
    assert ("DELETE", "bots/new") not in stub.requests
    assert result.exit_code == 2
    assert "old is called new now" in result.stderr


def test_note_and_withdraw_send_one_call_each(league: League) -> None:
    assert run("bot", "note", "swan", "2", "counts cards").exit_code == 0
    assert run("bot", "withdraw", "swan", "2").exit_code == 0
    assert league.sent == [
        ("PATCH", "bots/swan/versions/2", {"note": "counts cards"}),
        ("POST", "bots/swan/versions/2/withdraw", None),
    ]


def test_the_password_command_takes_both_passwords_from_the_environment(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_PASSWORD", "old")
    monkeypatch.setenv("TWELFTH_NIGHT_NEW_PASSWORD", "new")
    result = run("password", "--revoke-tokens")
    assert result.exit_code == 0, result.output
    body = {"username": "ada", "password": "old", "new_password": "new", "revoke_tokens": True}
    assert league.sent == [("POST", "accounts/password", body)]
    assert "twelfth-night login" in result.stdout
