"""The host that `make up` listens on, and the names by which it can be reached."""

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bots_sdk.saved import Saved, SavedLeague
from devserver import down, restore, up
from devserver.addresses import address, allowed_hosts, held
from devserver.next_commands import next_commands
from devserver.place import ServersError, claimed, reason
from devserver.running import variables_of_running
from devserver.servers import Servers
from devserver.up import banner
from tests.journeys.running import CHECKOUT, free_port


@pytest.mark.parametrize(
    ("host", "names", "at"),
    [
        ("127.0.0.1", "localhost,127.0.0.1,[::1]", "http://127.0.0.1:8000/"),
        ("0.0.0.0", "*", "http://127.0.0.1:8000/"),
        ("::", "*", "http://[::1]:8000/"),
        ("192.168.7.7", "localhost,127.0.0.1,[::1],192.168.7.7", "http://192.168.7.7:8000/"),
        ("fd00::7", "localhost,127.0.0.1,[::1],[fd00::7]", "http://[fd00::7]:8000/"),
    ],
)
def test_a_host_gives_the_allowed_names_and_the_address(host: str, names: str, at: str) -> None:
    assert allowed_hosts(host) == names
    assert address(host, 8000) == at


def test_a_started_league_prints_the_next_commands_for_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    commands = next_commands("http://127.0.0.1:8123")
    text = banner("http://127.0.0.1:8123/", Path.cwd() / "var", commands)
    assert "Twelfth Night is up: http://127.0.0.1:8123/\n" in text
    assert "\n  twelfth-night login http://127.0.0.1:8123 --sign-up\n" in text
    assert "\n  twelfth-night new mybot\n" in text
    assert "All data stay in var for" in text
    assert str(Path("/elsewhere/var")) in banner("http://127.0.0.1/", Path("/elsewhere/var"), [])


@pytest.mark.parametrize(
    ("default", "bots", "last"),
    [
        ("http://127.0.0.1:8123", {}, "new mybot"),
        ("http://127.0.0.1:8123", {"mybot": "tn_b_1"}, "status"),
        ("http://elsewhere.example", {"mybot": "tn_b_1"}, "status"),
    ],
)
def test_a_league_with_a_saved_account_proposes_to_log_in_to_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    default: str,
    bots: dict[str, str],
    last: str,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    league = SavedLeague(username="ada", token="tn_o_1", bots=bots)
    path = tmp_path / "twelfth-night" / "leagues.json"
    with Saved.changing(path) as saved:
        saved.url, saved.leagues["http://127.0.0.1:8123"] = default, league
    assert next_commands("http://127.0.0.1:8123") == [
        "twelfth-night login http://127.0.0.1:8123 --username ada",
        f"twelfth-night {last}",
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_takes_a_host_from_its_command_line_only() -> None:
    def command(*arguments: str) -> str:
        return subprocess.run(
            ["make", "--dry-run", "up", *arguments],
            cwd=CHECKOUT,
            env=os.environ | {"HOST": "x86_64-conda-linux-gnu"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "--host" not in command()
    assert "--host 0.0.0.0" in command("HOST=0.0.0.0")


def test_a_league_that_starts_slowly_is_announced_when_it_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([False] * 3 + [True])
    monkeypatch.setattr(up, "_answers", lambda *_: next(answers))
    monkeypatch.setattr(up, "_PATIENCE_SECONDS", 0.15)
    options = argparse.Namespace(host="127.0.0.1", port=8123, directory=Path.cwd() / "var")
    asyncio.run(up._announce(options, asyncio.Event()))
    printed = capsys.readouterr()
    assert "Still starting after" in printed.err
    assert "http://127.0.0.1:8123/ does not answer yet" in printed.err
    assert "Twelfth Night is up" in printed.out


def test_a_league_with_a_secret_key_of_its_own_stores_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started = []

    async def run(_: object, environment: dict[str, str], *__: object) -> None:
        started.append(environment["SECRET_KEY"])

    monkeypatch.setattr(up, "_run", run)
    monkeypatch.setattr(up, "server_parts", lambda *_, **__: ([], Servers("", "")))
    monkeypatch.setattr(
        sys, "argv", ["make up", "--directory", str(tmp_path), "--port", str(free_port())]
    )
    monkeypatch.setenv("SECRET_KEY", "own")
    assert up.main() == 0
    assert not (tmp_path / "secret_key").exists()
    monkeypatch.delenv("SECRET_KEY")
    assert up.main() == 0
    assert started == ["own", (tmp_path / "secret_key").read_text()]


def test_a_league_with_addresses_in_files_starts_no_servers_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else its workers would sleep for ever: the supervisor would look into the wrong Valkey."""
    secrets = {"DATABASE_URL": "postgresql://a/b", "REDIS_URL": "redis://a/0", "SECRET_KEY": "own"}
    for name, text in secrets.items():
        (tmp_path / name).write_text(f"{text}\n")
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / name))
    started: list[dict[str, str]] = []

    async def run(_: object, environment: dict[str, str], *servers: object) -> None:
        started.append(environment | variables_of_running(tmp_path / "var"))
        assert servers[1] == []

    monkeypatch.setattr(up, "_run", run)
    monkeypatch.delenv("LEAGUE_DIRECTORY", raising=False)
    words = ["make up", "--directory", str(tmp_path / "var"), "--port", str(free_port())]
    monkeypatch.setattr(sys, "argv", words)
    assert up.main() == 0
    [environment] = started
    assert secrets.items() <= environment.items()
    assert not {f"{name}_FILE" for name in secrets} & environment.keys()


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "this file is empty"), (b"\xff", "which is no text in UTF-8")]
)
def test_a_file_without_its_secret_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: bytes,
    reason: str,
) -> None:
    file = tmp_path / "url"
    file.write_bytes(content)
    monkeypatch.setenv("REDIS_URL_FILE", str(file))
    monkeypatch.setattr(sys, "argv", ["make up", "--directory", str(tmp_path / "var")])
    assert up.main() == 1
    message = capsys.readouterr().err
    assert message.startswith(f"make up: REDIS_URL_FILE is {file}, ")
    assert reason in message


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1", "8000.5"])
def test_a_port_that_is_no_port_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["make up", f"--port={port}"])
    assert up.main() == 1
    assert f"make up: PORT={port} is not a number from 1 to 65535." in capsys.readouterr().err


def test_a_league_that_runs_here_is_named_before_its_port(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, claimed(tmp_path):
        port = str(taken.getsockname()[1])
        monkeypatch.setattr(sys, "argv", ["make up", "--directory", str(tmp_path), "--port", port])
        assert up.main() == 1
    assert "A league is already running in" in capsys.readouterr().err


@pytest.mark.parametrize("command", [up.main, down.main, restore.main])
def test_a_directory_that_can_not_be_used_is_named_without_a_traceback(
    command: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    backup, file = tmp_path / "league.dump", tmp_path / "file"
    backup.touch()
    file.touch()
    words = ["make", *([str(backup)] if command == restore.main else []), "--directory", str(file)]
    monkeypatch.setattr(sys, "argv", words)
    assert command() == 1
    assert str(file) in capsys.readouterr().err


def test_a_file_of_another_user_is_named_with_the_question() -> None:
    error = PermissionError(13, "Permission denied", "/league/var/lock")
    text = "/league/var/lock: Permission denied. Does it belong to another user?"
    assert reason(error) == text


def test_two_leagues_that_start_at_the_same_moment_do_not_share_a_port() -> None:
    port = free_port()
    with held("127.0.0.1", port):
        with pytest.raises(ServersError, match=f"Port {port} on 127.0.0.1 can't be used"):
            held("127.0.0.1", port).__enter__()
        with socket.socket() as front:  # it listens as Caddy does
            for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
                front.setsockopt(socket.SOL_SOCKET, option, 1)
            front.bind(("127.0.0.1", port))
            front.listen()
            with socket.create_connection(("127.0.0.1", port)) as client:
                accepted, _ = front.accept()
                accepted.close()
                assert client.recv(1) == b""
    with held("127.0.0.1", port):  # right after the last start
        pass
