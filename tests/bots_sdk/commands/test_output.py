"""Tables of commands in a narrow terminal, and without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bots_sdk.commands.output import add_row, new_table, print_table


def printed(capsys: pytest.CaptureFixture[str], rows: list[tuple[str, ...]]) -> list[str]:
    table = new_table("bot", "matches", "mean place", "mean score", "your win share", "Elo lead")
    for row in rows:
        add_row(table, *row)
    print_table(table)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("columns", [80, 60, 30])
def test_cells_stay_whole_in_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    row = ("house-counting-2", "1200", "2.51", "31.20", "77.1 %", "+245 (+209 to +280)")
    *_, line = printed(capsys, [row])
    assert all(cell in line for cell in row)
    assert len(line) <= max(columns, 70)


def test_a_very_long_cell_wraps_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(["word"] * 30)
    lines = printed(capsys, [("ada", "", "", "", "", text)])
    assert max(map(len, lines)) <= 80
    assert sum(line.count("word") for line in lines) == 30


def test_without_a_terminal_each_row_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = " ".join(["word"] * 30)
    [_, line] = printed(capsys, [("house-counting-2", "1200", "2.51", "31.20", "77.1 %", text)])
    assert text in line


def run_command(*words: str, output: str) -> "subprocess.CompletedProcess[str]":
    """Run a command whose standard output goes to a file."""
    with Path(output).open("w") as stream:
        return subprocess.run(
            [sys.executable, "-m", "bots_sdk", *words],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )


needs_full_disk = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)
NO_SPACE = "The output can't be written: No space left on device."


@needs_full_disk
@pytest.mark.parametrize("words", [["rules", "partridge"], ["--version"], ["rules", "--help"]])
def test_output_to_a_full_disk_fails_with_one_line(words: list[str]) -> None:
    done = run_command(*words, output="/dev/full")
    assert (done.returncode, done.stderr) == (2, f"twelfth-night: {NO_SPACE}\n")


@needs_full_disk
def test_json_to_a_full_disk_fails_with_a_json_line() -> None:
    done = run_command("rules", "--json", output="/dev/full")
    assert json.loads(done.stderr) == {"error": "no-output", "detail": NO_SPACE}


def test_a_reader_that_leaves_early_gets_no_message() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "bots_sdk", "rules", "partridge"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == b""
        assert command.wait() == 1
