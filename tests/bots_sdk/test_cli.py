"""The command line against a stub league: what it prints, saves and exits with."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague, problem

# `tests/league/competitions/test_ladder_entries.py` pins the league's sentence.
CHECKING = "mybot can't enter yet: version 1 is still being checked. Try again soon."


def saved(tmp_path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        (tmp_path / "config" / "twelfth-night" / "leagues.json").read_text()
    )
    return document


def test_login_saves_address_and_token_for_their_owner_alone(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    assert saved(tmp_path)["url"] == stub.url
    assert saved(tmp_path)["leagues"][stub.url]["token"] == "tn_o_1"
    assert stub.bodies[-1] == {"username": "ada", "password": "a long and silly one"}
    path = tmp_path / "config" / "twelfth-night" / "leagues.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_can_come_from_standard_input(cli: Cli, stub: StubLeague, tmp_path: Path) -> None:
    assert cli("login", stub.url, "--with-token", input="tn_o_2\n").exit_code == 0
    assert stub.headers[-1]["Authorization"] == "Bearer tn_o_2"
    assert saved(tmp_path)["leagues"][stub.url]["token"] == "tn_o_2"


def test_a_password_can_come_from_standard_input(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("login", stub.url, "--username", "ada", "--password-stdin")
    assert cli(*words, input="four calling birds\n").exit_code == 0
    assert stub.bodies[-1] == {"username": "ada", "password": "four calling birds"}
    monkeypatch.delenv("TWELFTH_NIGHT_PASSWORD")
    empty = cli(*words, input="")
    assert empty.exit_code == 2
    assert "`twelfth-night login --password-stdin < FILE`" in empty.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (
            (),
            "Without a terminal, the command can't prompt for it. Use --username NAME.",
        ),
        (
            ("--username", "ada"),
            "The password is missing. Without a terminal, the command can't prompt for it.",
        ),
        (("--username", "ada"), "--password-stdin, or set the variable TWELFTH_NIGHT_PASSWORD"),
        (("--with-token",), "Standard input has no owner token."),
        (("--with-token", "--sign-up"), "leave out --username, --sign-up and --password-stdin"),
    ],
)
def test_login_without_a_terminal_names_the_option_instead_of_a_prompt(
    cli: Cli,
    stub: StubLeague,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.delenv("TWELFTH_NIGHT_PASSWORD")
    result = cli("login", stub.url, *words, input="")
    assert result.exit_code == 2
    assert named in result.stderr


AT_A_TERMINAL = """
import os, sys
os.open(sys.argv[1], os.O_RDWR)  # the first terminal that the leader of a session opens is its own
from bots_sdk.cli import main
main(sys.argv[2:])
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_login_does_not_ask_at_the_terminal_of_a_command_with_other_input(
    cli: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python's getpass asks at the controlling terminal, even if standard input is another file.
    monkeypatch.delenv("TWELFTH_NIGHT_PASSWORD")
    controller, terminal = os.openpty()
    words = [os.ttyname(terminal), "login", stub.url, "--username", "ada"]
    try:
        done = subprocess.run(
            [sys.executable, "-c", AT_A_TERMINAL, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=40,
            check=False,
        )
    finally:
        os.close(terminal)
        os.close(controller)
    assert done.returncode == 2
    assert b"--password-stdin" in done.stderr


def test_run_uses_the_saved_token_of_the_bot(
    logged_in: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    assert saved(tmp_path)["leagues"][stub.url]["bots"] == {"mybot": "tn_b_1"}
    (tmp_path / "other.py").write_text("def choose(observation): return 'pass'")
    result = logged_in("run", "other.py")
    assert result.exit_code == 4
    assert "No token is saved here for the bot other" in result.stderr
    assert "`twelfth-night bot create other`" in result.stderr


def test_a_token_can_be_printed_alone_for_a_program_in_another_language(
    logged_in: Cli, stub: StubLeague
) -> None:
    assert logged_in("bot", "create", "mybot", "--print-token").stdout == "tn_b_1\n"
    detail = "The name mybot is taken."
    taken = {"status": 400, "code": "invalid", "detail": detail}
    stub.answers["POST bots"] = (400, taken)
    result = logged_in("bot", "create", "mybot", "--print-token")
    assert (result.exit_code, result.stdout) == (1, "")
    assert detail in result.stderr


def test_a_token_is_not_sent_to_another_league(
    logged_in: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = StubLeague()
    with other.serving() as url:
        monkeypatch.setenv("TWELFTH_NIGHT_URL", url)
        result = logged_in("enter", "partridge", "mybot")
    assert result.exit_code == 4
    assert other.requests == []


def test_the_environment_overrides_the_saved_token(
    logged_in: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_b_mine")
    stub.answers["PUT ladders/partridge/entries/mybot"] = (200, {"ladder": "p", "bot": "mybot"})
    result = logged_in("enter", "partridge", "mybot", "--json")
    assert json.loads(result.stdout) == {"ladder": "p", "bot": "mybot"}
    assert stub.headers[-1]["Authorization"] == "Bearer tn_b_mine"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (problem(401, "invalid-token"), 4),
        (problem(403, "not-your-bot"), 1),
        (problem(404, "not-found"), 1),
    ],
)
def test_a_problem_is_one_line_or_one_object(
    logged_in: Cli, stub: StubLeague, answer: dict[str, Any], status: int
) -> None:
    stub.answers["PUT ladders/x/entries/y"] = (answer["status"], answer)
    plain = logged_in("enter", "x", "y")
    assert plain.exit_code == status
    assert plain.stderr.startswith(f"twelfth-night: from the stub: {answer['code']}")
    assert plain.stderr.count("\n") == 1
    found = logged_in("enter", "x", "y", "--json")
    assert found.exit_code == status
    assert json.loads(found.stderr)["error"] == answer["code"]


def test_an_unreachable_league_has_its_own_exit_status(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "http://127.0.0.1:1")
    waits: list[float] = []
    monkeypatch.setattr("bots_sdk.client.sleep", waits.append)
    result = cli("ladder")
    assert waits == [0]
    assert result.exit_code == 3
    assert "http://127.0.0.1:1 does not answer (Connection refused)." in result.stderr
    assert "start it with `make up PORT=1`." in result.stderr
    monkeypatch.delenv("TWELFTH_NIGHT_URL")
    result = cli("login", "http://localhost:1")
    assert "start it with `make up PORT=1`. If it has another port" in result.stderr


def test_a_missing_or_wrong_address_names_a_remedy(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = cli("status")
    assert result.exit_code == 2
    assert "`twelfth-night login http://127.0.0.1:8000 --sign-up`" in result.stderr
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "league.test:8001")
    result = cli("status")
    assert result.exit_code == 2
    assert "'league.test:8001' is not an address such as http://league.test:8001" in result.stderr


def run_here(url: str, tmp_path: Path) -> None:
    """Have a league run in the directory of the test, as far as commands can see."""
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "running.json").write_text(json.dumps({"url": url}))


def test_the_league_that_runs_here_is_the_default(
    cli: Cli, stub: StubLeague, tmp_path: Path
) -> None:
    run_here(stub.url, tmp_path)
    assert f"`twelfth-night login {stub.url} --sign-up`" in cli("status").stderr
    assert cli("login", "--username", "ada").exit_code == 0
    assert saved(tmp_path)["url"] == stub.url


def test_a_wrong_port_gets_the_address_of_the_league_that_runs_here(
    cli: Cli, stub: StubLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here(stub.url, tmp_path)
    result = cli("login", "http://127.0.0.1:1")
    assert result.exit_code == 3
    assert f"A league runs here at {stub.url}: `twelfth-night login {stub.url}`." in result.stderr
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "http://127.0.0.1:1")
    assert f"`export TWELFTH_NIGHT_URL={stub.url}`" in cli("ladder").stderr


def test_the_file_of_a_killed_league_names_no_league(cli: Cli, tmp_path: Path) -> None:
    run_here("http://127.0.0.1:1", tmp_path)
    assert "`twelfth-night login http://127.0.0.1:8000 --sign-up`" in cli("status").stderr


def test_no_upload_is_proposed_while_a_version_is_being_checked(
    logged_in: Cli, stub: StubLeague
) -> None:
    stub.answers["PUT ladders/x/entries/mybot"] = (
        409,
        {**problem(409, "no-version"), "detail": CHECKING},
    )
    assert logged_in("enter", "x", "mybot").stderr == f"twelfth-night: {CHECKING}\n"


def test_a_token_from_the_environment_that_does_not_work_is_named(
    logged_in: Cli, stub: StubLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWELFTH_NIGHT_TOKEN", "tn_o_old")
    stub.answers["PUT ladders/x/entries/mybot"] = (401, problem(401, "invalid-token"))
    assert "`unset TWELFTH_NIGHT_TOKEN`" in logged_in("enter", "x", "mybot").stderr


def test_run_refuses_a_hosted_bot(logged_in: Cli, stub: StubLeague, tmp_path: Path) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "kind": "hosted"})
    (tmp_path / "mybot.py").write_text("def choose(observation): return 'pass'")
    result = logged_in("run", "mybot.py")
    assert result.exit_code == 2
    assert "`twelfth-night bot create mybot-at-home`" in result.stderr


def test_run_names_the_league_for_which_the_token_is_saved(
    logged_in: Cli, stub: StubLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logged_in("bot", "create", "mybot").exit_code == 0
    (tmp_path / "mybot.py").write_text("def choose(observation): return 'pass'")
    monkeypatch.setenv("TWELFTH_NIGHT_URL", "http://127.0.0.1:1")
    result = logged_in("run", "mybot.py")
    assert result.exit_code == 4
    assert f"`export TWELFTH_NIGHT_URL={stub.url}`" in result.stderr


def test_a_bot_is_paused_and_resumed(logged_in: Cli, stub: StubLeague) -> None:
    stub.answers["PATCH bots/mybot"] = (200, {"name": "mybot", "paused": True})
    result = logged_in("bot", "pause", "mybot")
    assert stub.bodies[-1] == {"paused": True}
    assert "`twelfth-night bot resume mybot`" in result.stdout
    assert logged_in("bot", "resume", "mybot").exit_code == 0
    assert stub.bodies[-1] == {"paused": False}


def test_upload_of_a_file_that_does_not_exist_names_the_command_for_a_first_bot(cli: Cli) -> None:
    result = cli("upload", "none.py")
    assert result.exit_code == 2
    assert "There is no file none.py. `twelfth-night new none` writes a first bot." in result.stderr


def test_a_damaged_file_of_saved_leagues_is_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config" / "twelfth-night" / "leagues.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"url": 7}')
    result = cli("status")
    assert result.exit_code == 2
    assert f"{path} is damaged. Remove it" in result.stderr


@pytest.mark.parametrize("command", [(), ("upload",), ("try",), ("bot",), ("bot", "create")])
def test_the_help_shows_no_type_for_flags(cli: Cli, command: tuple[str, ...]) -> None:
    result = cli(*command, "--help")
    assert result.exit_code == 0
    assert "--help" in result.stdout
    assert "bool" not in result.stdout


@pytest.mark.parametrize(
    ("held", "next_step"),
    [
        (
            False,
            "enters it and shows its progress:\n  twelfth-night enter days mybot --wait",
        ),
        (
            True,
            "This version does not play until you promote it: {url}/account/bots/mybot/versions/2/",
        ),
    ],
)
def test_upload_prints_the_next_step(
    logged_in: Cli, stub: StubLeague, tmp_path: Path, held: bool, next_step: str
) -> None:
    (tmp_path / "mybot.py").write_text("def choose(observation): return 'pass'")
    version = {"bot": "mybot", "number": 2, "state": "ready", "held": held}
    stub.answers["GET bots/mybot"] = (200, {"name": "mybot", "kind": "hosted"})
    stub.answers["POST bots/mybot/versions"] = (202, version)
    ladders = [{"slug": "days", "game": "twelve-days", "ranked_from": 20}]
    stub.answers["GET ladders"] = (200, {"results": ladders, "next": None})
    result = logged_in("upload", "mybot.py", "--no-wait")
    assert result.exit_code == 0
    assert next_step.format(url=stub.url) in result.stdout


def test_a_command_starts_without_the_modules_of_the_others() -> None:
    """Every command of a session at the terminal waits for these imports."""
    script = (
        "import sys\nfrom bots_sdk.cli import main\n"
        "try:\n    main(['rules', 'moves'])\nexcept SystemExit:\n    pass\n"
        "assert 'bots_sdk.commands.reading' in sys.modules\n"
        "for name in ('httpx', 'bots_sdk.arena.pool', 'engine.analysis', 'bots_sdk.checking'):\n"
        "    assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
