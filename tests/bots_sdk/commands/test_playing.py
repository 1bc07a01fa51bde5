"""``run`` and ``enter``: what they refuse, and the remedy."""

from pathlib import Path

import pytest

from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague, problem
from tests.bots_sdk.test_cli import run_here

BOT = "def choose(observation): return 'pass'"


@pytest.fixture
def mybot(logged_in: Cli, tmp_path: Path) -> Cli:
    """Return the command of a user whose remote bot mybot has a saved token."""
    assert logged_in("bot", "create", "mybot").exit_code == 0
    (tmp_path / "mybot.py").write_text(BOT)
    return logged_in


@pytest.mark.parametrize("token", ["nonsense", "tn_o_1"])
def test_run_refuses_a_variable_without_a_bot_token(
    mybot: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", token)
    sent = len(stub.requests)
    result = mybot("run", "mybot.py")
    assert result.exit_code == 4
    assert "The token in the variable TWELFTH_NIGHT_TOKEN is not a bot token" in result.stderr
    assert "`unset TWELFTH_NIGHT_TOKEN`" in result.stderr
    assert len(stub.requests) == sent


def test_run_at_a_wrong_port_names_the_league_that_runs_here(
    mybot: Cli, stub: StubLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(stub.url, tmp_path)
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_b_1")
    monkeypatch.setattr("bots_sdk.running.run", lambda *_, **__: None)
    shown = mybot("run", "mybot.py").stderr
    assert "http://127.0.0.1:1 does not answer" in shown
    assert f"A league runs here: `export TWELFTH_NIGHT_URL={stub.url}`." in shown


def test_run_of_an_unknown_bot_lists_remote_bots_alone(
    mybot: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "kind": "remote"})
    stub.answers["GET bots/upped"] = (200, {"name": "upped", "kind": "hosted"})
    for name in ("upped", "deleted"):
        assert mybot("bot", "create", name).exit_code == 0
    (tmp_path / "other.py").write_text(BOT)
    result = mybot("run", "other.py")
    assert result.exit_code == 4
    assert "`twelfth-night bot create other`" in result.stderr
    assert "Tokens of remote bots are saved for mybot." in result.stderr
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "kind": "hosted"})
    assert "are saved for" not in mybot("run", "other.py").stderr


def test_enter_with_bot_and_ladder_exchanged_names_their_order(
    logged_in: Cli, stub: StubLeague
) -> None:
    detail = "There is no ladder mybot."
    stub.answers["PUT ladders/mybot/entries/partridge"] = (
        404,
        {**problem(404, "not-found"), "detail": detail},
    )
    assert "`twelfth-night ladder` lists" in logged_in("enter", "mybot", "partridge").stderr
    ladders = {"results": [{"slug": "partridge"}], "next": None}
    stub.answers["GET ladders"] = (200, ladders)
    shown = logged_in("enter", "mybot", "partridge").stderr
    assert f"{detail} Name the ladder first, then the bot: " in shown
    assert "`twelfth-night enter partridge mybot`" in shown
