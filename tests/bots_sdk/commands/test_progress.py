"""Progress: a rewritten line in a terminal, lines elsewhere."""

import io
import threading

import pytest
from rich.console import Console

from bots_sdk.commands import progress as progressing
from bots_sdk.commands.progress import progress, time_left


def test_without_a_terminal_the_progress_is_printed_as_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progressing, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progressing, "_BETWEEN_SECONDS", 0.0)
    seen = threading.Event()
    texts = iter(["", "1 match", "2 matches"])

    def line() -> str:
        if (text := next(texts, None)) is None:
            seen.set()
            return ""
        return text

    with progress(line) as print_line:
        assert seen.wait(10)
        print_line("a fault")
    assert capsys.readouterr() == ("", "1 match\n2 matches\na fault\n")


def test_in_a_terminal_one_line_is_rewritten_below_the_results() -> None:
    out = io.StringIO()
    terminal = Console(file=out, force_terminal=True, width=20, _environ={"TERM": "xterm"})
    with progress(lambda: "a line that is too long for this", results=terminal):
        terminal.print("ok")
    shown = out.getvalue()
    assert "a line that is too…" in shown
    assert shown.index("ok\n") < shown.rindex("a line that is too…")
    assert shown.endswith("\x1b[2K")


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(lambda: "1 match", quiet=True) as print_line:
        print_line("a fault")
    assert capsys.readouterr() == ("", "")


def test_the_time_left_follows_from_the_results_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots_sdk.commands.progress.time.monotonic", lambda: 110.0)
    assert time_left(0, 40, 100.0) == ""
    assert time_left(10, 40, 100.0) == "; about 30 s left"
    assert time_left(1, 40, 100.0) == "; about 7 minutes left"
