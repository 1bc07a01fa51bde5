"""``upload`` at a league that refuses the file, or that has it already."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bots_sdk.call import Call
from bots_sdk.cli import application
from bots_sdk.commands import bot_logs, uploading
from bots_sdk.commands.versions import with_name
from bots_sdk.errors import ProblemError
from bots_sdk.saved import Saved, SavedError, SavedLeague
from tests.bots_sdk.commands.leagues import FakeLeague

QUALIFYING = {
    "game": "partridge",
    "passed": False,
    "reason": "crash: no",
    "printed": "line 7\n",
    "printed_until": "2026-12-24T18:00:00Z",
}
REASON = "partridge: crash: no"


class League(FakeLeague):
    """A league with bots, which refuses each upload."""

    def __init__(self, *bots: str, at_once: bool = False) -> None:
        self.bots = set(bots)
        self.at_once = at_once
        self.versions = [] if at_once else [1]

    def note_token(self) -> None:
        """Save a token, as `save_bot`."""

    def send(self, call: Call[Any]) -> Any:
        match call.method, call.path.split("/"):
            case "GET", ["bots", name] if name not in self.bots:
                raise problem(404, "not-found")
            case "GET", ["bots", name]:
                return {"name": name, "kind": "hosted", "version": None}
            case "POST", ["bots"]:
                self.bots.add(call.body["name"])
                return {"token": "t"}
            case "POST", ["bots", name, "versions"]:
                if self.at_once:
                    raise problem(429, "too-many-uploads")
                return {"bot": name, "number": 1, "state": "checking"}
            case "GET", ["bots", _, "versions"]:
                return {"results": [{"number": each} for each in self.versions]}
            case "GET", ["bots", name, "versions", *_]:
                refused = {"bot": name, "number": 1, "state": "refused", "reason": REASON}
                return {**refused, "qualifying": [QUALIFYING]}
            case "DELETE", ["bots", name]:
                self.bots.remove(name)
                return None
        raise AssertionError(call)


def problem(status: int, code: str) -> ProblemError:
    return ProblemError(code, status, code)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "feste.py"
    path.write_text("def choose(observation): return ''\n")
    return path


class LeagueWithFile(League):
    """A league that has the file as the current version."""

    def send(self, call: Call[Any]) -> Any:
        match call.method, call.path.split("/"):
            case "POST", ["bots", _, "versions"] if call.body["again"] == "false":
                raise ProblemError("same-file", 409, "This file is the same as version 1.")
        return super().send(call)


def upload(
    league: League, file: Path, monkeypatch: pytest.MonkeyPatch, *options: str, typed: str = ""
) -> Any:
    monkeypatch.setattr(uploading, "owner_token", lambda: (league.url, "token"))
    monkeypatch.setattr(uploading, "client_for", lambda *_: league)
    saved = SavedLeague(bots=dict.fromkeys(league.bots, "t"))
    monkeypatch.setattr(uploading, "read_saved", lambda: Saved(file, "", {league.url: saved}))
    monkeypatch.setattr(uploading, "save_bot", lambda *_: league.note_token())
    monkeypatch.setattr(uploading, "forget_bot", lambda *_: None)
    return CliRunner().invoke(application(), ["upload", str(file), *options], input=typed)


def test_a_refused_upload_deletes_the_bot_that_it_created(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = League()
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 1
    assert f"The league refused the file: {REASON}\n" in result.stdout
    assert result.stdout.count("crash: no") == 1
    assert "so this command deleted it" in result.stdout
    assert league.bots == set()


def test_an_upload_goes_on_if_the_token_can_not_be_saved(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The league runs the bot, so the token is not needed here."""

    class WithoutHome(League):
        def note_token(self) -> None:
            raise SavedError("leagues.json can't be written: Read-only file system.")

    result = upload(WithoutHome(), file, monkeypatch)
    assert f"The league refused the file: {REASON}\n" in result.stdout


@pytest.mark.parametrize("other", [True, False])
def test_an_upload_that_creates_a_second_bot_names_the_option_for_a_version(
    file: Path, monkeypatch: pytest.MonkeyPatch, other: bool
) -> None:
    shown = upload(League("malvolio") if other else League(), file, monkeypatch).stdout
    text = "If the file is a new version of another bot of yours, add --bot NAME."
    assert (text in shown) is other


@pytest.mark.parametrize("at_once", [False, True])
def test_a_bot_with_a_version_of_another_upload_is_not_deleted(
    file: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    league = League(at_once=at_once)
    league.versions.append(2)
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 1
    assert "deleted" not in result.output
    assert league.bots == {"feste"}


def test_a_failed_import_names_the_file_and_where_the_bot_can_run(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithoutModule(League):
        def send(self, call: Call[Any]) -> Any:
            found = super().send(call)
            if call.method == "GET" and "versions" in call.path:
                why = "crash: ModuleNotFoundError: No module named 'torch' (bot.py, line 1)"
                found = {**found, "reason": f"twelve-days: {why}"}
            return found

    for league in (WithoutModule(), WithoutModule("feste")):
        shown = upload(league, file, monkeypatch).stdout
        assert "No module named 'torch' (feste.py, line 1)" in shown
        assert "may import most of Python's standard library, NumPy, engine" in shown
        assert f"check {file}` lists all imports that fail" in shown
        assert "bot create NAME" in shown


def test_tracebacks_name_the_file_but_archives_keep_bot_py() -> None:
    text = 'File "bot.py", line 1, in <module>\nbot.py, line 2: x\n'
    assert with_name(text, Path("x/my.py")) == text.replace("bot.py", "my.py")
    assert with_name(text, Path("my.zip")) == text
    assert with_name("Write a bot.py at its top.", Path("my.py")) == "Write a bot.py at its top."


def test_a_directory_names_the_command_that_packs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = upload(League(), tmp_path, monkeypatch)
    assert result.exit_code == 2
    assert f"{tmp_path} is a directory. Give the bot's file, or" in result.stderr
    assert f"`cd {tmp_path}; zip -r bot.zip .`" in result.stderr


@pytest.mark.parametrize("name", ["README.md", "remote_bot.mjs"])
def test_a_file_that_is_no_bot_is_refused_before_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("It's a text.\n")
    result = upload(League(), tmp_path / name, monkeypatch)
    assert result.exit_code == 2
    assert "a bot is a .py, .wasm or .zip file" in result.stderr
    assert "bot create NAME" in result.stderr


def test_an_upload_that_fails_at_once_deletes_the_bot_that_it_created(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = League(at_once=True)
    assert upload(league, file, monkeypatch).exit_code != 0
    assert league.bots == set()


def test_a_refused_upload_keeps_a_bot_that_was_there(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = League("feste")
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 1
    assert f"The league refused version 1 of feste: {REASON}\n" in result.stdout
    assert (
        "\n\nOutput at partridge, kept until 2026-12-24 at the latest:\n  line 7\n" in result.stdout
    )
    assert "feste has no version that can play yet." in result.stdout
    assert result.stdout.count("crash: no") == 1
    assert league.bots == {"feste"}


def test_a_refused_upload_names_the_version_that_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithVersion(League):
        def send(self, call: Call[Any]) -> Any:
            if call.path == "bots/feste":
                return {"kind": "hosted", "version": 3}
            return super().send(call)

    shown = upload(WithVersion("feste"), file, monkeypatch).stdout
    assert "\n\nVersion 3 still plays.\n" in shown


def test_the_log_of_a_refused_version_does_not_name_itself(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_logs, "owner_token", lambda: ("", "token"))
    monkeypatch.setattr(bot_logs, "client_for", lambda *_: League("feste"))
    words = ["logs", "feste", "--version", "1"]
    shown = CliRunner().invoke(application(), words).stdout
    assert shown.startswith(f"The league refused version 1 of feste: {REASON}\n\nOutput at")
    assert "twelfth-night logs" not in shown


def test_a_syntax_error_is_shown_before_any_call(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = League()
    file.write_text("def choose(observation)\n    return ''\n")
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 2
    assert f"{file}, line 1: expected ':'\n    def choose(observation)\n" in result.stderr
    assert result.stderr.splitlines()[2].strip() == "^"
    assert league.bots == set()


def test_two_games_with_the_same_output_show_it_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TwoGames(League):
        def send(self, call: Call[Any]) -> Any:
            found = super().send(call)
            if call.path.endswith("/log"):
                found["qualifying"] = [{**QUALIFYING, "game": "twelve-days"}, QUALIFYING]
            return found

    shown = upload(TwoGames("feste"), file, monkeypatch).stdout
    assert shown.count("line 7") == 1
    assert "Output at twelve-days and partridge, kept" in shown


def test_a_file_beyond_the_limits_is_refused_before_any_call(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = League()
    file.write_bytes(b"PK\3\4 and no archive")
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 2
    assert "The league would refuse" in str(result.stderr)
    assert league.bots == set()


def test_a_file_that_the_bot_plays_with_is_uploaded_again_only_with_an_option(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = LeagueWithFile("feste")
    result = upload(league, file, monkeypatch)
    assert result.exit_code == 1
    assert "This file is the same as version 1. Use --again to" in result.stderr
    assert "The league refused version 1" in upload(league, file, monkeypatch, "--again").stdout


@pytest.mark.parametrize(("typed", "is_sent"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_in_a_terminal_the_command_asks_whether_to_upload_the_same_file_again(
    typed: str, is_sent: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "in_terminal", lambda: True)
    result = upload(LeagueWithFile("feste"), file, monkeypatch, typed=typed)
    assert "This file is the same as version 1. Upload it again? [y/N]" in result.stderr
    assert ("The league refused version 1" in result.stdout) == is_sent
