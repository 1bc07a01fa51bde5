"""What the terminal of `make up` shows, and what its log keeps."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from devserver.output import Output

REQUEST = "2026-11-23T02:13:09Z [info     ] request finished [api.requests] status=200"
FAULT = "2026-11-23T02:13:09Z [warning  ] calls of bots fail [league.play.outages]"

Opened = Callable[..., Output]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Open an output; the test's end closes it."""
    with ExitStack() as stack:

        def open_output(*path: Path, **options: Any) -> Output:
            return stack.enter_context(closing(Output(*path, **options)))

        yield open_output


def test_requests_are_in_the_log_and_not_in_the_terminal(
    opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = opened(tmp_path / "log" / "league.log")
    lines = (REQUEST, FAULT, "Traceback (most recent call last):")
    for line in lines:
        output.take("\033[36mweb | \033[0m", line)
    printed = capsys.readouterr().out
    assert printed.count("web | ") == 2
    assert "request finished" not in printed
    kept = (tmp_path / "log" / "league.log").read_text().splitlines()
    assert kept == [
        f"web | {line}" for line in (REQUEST, FAULT, "Traceback (most recent call last):")
    ]


def test_what_parts_print_while_they_stop_is_in_the_log_alone(
    opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = opened(tmp_path / "league.log")
    output.stops = True
    output.take("clock | ", FAULT)
    assert capsys.readouterr().out == ""
    assert FAULT in (tmp_path / "league.log").read_text()


def test_a_verbose_league_prints_all(
    opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened(tmp_path / "league.log", verbose=True).take("web | ", REQUEST)
    assert capsys.readouterr().out == f"web | {REQUEST}\n"


def test_with_json_each_line_is_an_object_with_its_part(
    opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = opened(tmp_path / "league.log", in_json=True)
    output.take("\033[36mweb   | \033[0m", '{"message": "request finished", "level": "info"}')
    output.take("clock | ", '{"message": "calls of bots fail", "level": "warning", "part": "x"}')
    output.take("play  | ", "ended with status 1; it starts again")
    output.take("play  | ", "")
    kept = [json.loads(line) for line in (tmp_path / "league.log").read_text().splitlines()]
    assert [(line["part"], line["level"], line["message"]) for line in kept] == [
        ("web", "info", "request finished"),
        ("clock", "warning", "calls of bots fail"),
        ("play", "warning", "ended with status 1; it starts again"),
    ]
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == kept[1:]  # requests are in the log alone


def test_a_log_that_grows_is_cut_into_three_files(opened: Opened, tmp_path: Path) -> None:
    output = opened(tmp_path / "league.log")
    for _ in range(5):
        output.take("", "x" * 9_000_000)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "league.log",
        "league.log.1",
        "league.log.2",
    ]


def test_a_full_disk_loses_lines_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = Path("/dev/full").open("w")  # noqa: SIM115 - its last flush fails, as its writes do
    monkeypatch.setattr("sys.stdout", full)
    with closing(Output(Path("/dev/full"), verbose=True)) as output:
        for _ in range(3):
            output.take("web | ", FAULT)
    with pytest.raises(OSError, match="No space left"):
        full.close()
    assert capfd.readouterr().err == ""
