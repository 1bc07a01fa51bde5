"""Run the code blocks of a page as a reader would, and compare their output with the page.

The rules that pages follow:

- ``python`` blocks of a page run in order in one namespace. A ``text`` block after one, under the
  same heading, is its output.
- ``console`` blocks of a page run in order in one shell. A line that begins with ``$ `` is a
  command, other lines are its output. A ``json`` block after one is its output too.
- ``sh`` blocks run in the same shell. Each line is a command, and the page shows no output.
- A block that names a file, such as ``python first.py``, is saved as this file before the commands
  run. The remote bots, such as ``go remote_bot.go``, and ``sh run`` blocks run in
  `tests.docs.listings`.
- ``sh no-run`` blocks need root, containers or a cluster. No test runs them; each file, ``make``
  target and ``manage.py`` command in them exists.
- In an output ``...`` stands for any text, and a line ``...`` for any number of lines.
- In the output of a running league, texts and numbers of the same kind are equal.
"""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from devserver.running import VARIABLES
from tests.docs.documents import DOCS, ROOT, Block, blocks

ADDRESS = "http://127.0.0.1:8000"
"""The address of the league that pages show."""
README = "../README.md"
"""It has its own league, `tests.journeys.test_readme`: its last command waits for a rank."""

_MARK = "@@ exit status"
_TWELFTH_NIGHT = """\
[ "$1" = run ] || exec python -m bots_sdk "$@"
# It plays until Ctrl-C; here it ends as soon as it is ready, by the signal that does the same.
python -m bots_sdk "$@" >.run 2>&1 &
until grep -q ready .run || ! kill -0 $!; do sleep 0.1; done
kill -TERM $!
wait $!
status=$?
cat .run
exit $status"""
_KINDS = (
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z",  # a time
    r"tn_[ob]_[\w-]{43}",  # a token
    r"[0-9a-f]{64}",  # a seed or commitment
    r"[0-9a-f]{24}",  # the id of a request
    r"(give|play|award) \d+",  # a move
)


class Step(NamedTuple):
    """A command with the output that the page shows after it; "" if the page shows none."""

    command: str
    shown: str
    heading: str


@dataclass(slots=True)
class Place:
    """A directory in which a page's blocks run.

    Attributes:
        directory: the reader's current directory, with links to parts of the checkout.
        address: of the running league; empty without one.
        log: the text that `make up` has printed.
        environment: more variables for the shell.
    """

    directory: Path
    address: str = ""
    log: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """Create the directory, the links, and the commands that a reader has on PATH."""
        self.directory.mkdir(parents=True)
        for name in ("docs", "benchmarks", "manage.py", "web"):
            (self.directory / name).symlink_to(ROOT / name)
        (self.directory / ".venv" / "bin").mkdir(parents=True)
        (self.directory / ".venv" / "bin" / "activate").touch()
        commands = self.directory / ".commands"
        commands.mkdir()
        _write(commands / "python", f'exec "{sys.executable}" "$@"')
        log = self.directory / ".log"
        log.write_text(self.log)
        _write(commands / "twelfth-night", _TWELFTH_NIGHT)
        # The league runs already: it was started as `make up` starts it.
        _write(commands / "make", f'[ "$1" = up ] && [ -s "{log}" ] && exec cat "{log}"\nexit 2')

    def variables(self) -> dict[str, str]:
        """Return the environment of the shell."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TWELFTH_NIGHT_", "XDG_", "PYTEST_"))
            and name not in (*VARIABLES, "DJANGO_SETTINGS_MODULE")
        }
        path = f"{self.directory / '.commands'}:{os.environ['PATH']}"
        home = self.directory / ".home"
        home.mkdir(exist_ok=True)
        return kept | {
            "PATH": path,
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "COLUMNS": "100",
            "TERM": "dumb",
            "TWELFTH_NIGHT_PASSWORD": "four calling birds",
            "BACKUP_DIRECTORY": str(self.directory / "var" / "backups"),
            "ARCHIVE_DIRECTORY": str(self.directory / "var" / "archive"),
            **self.environment,
        }


def _write(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def file_of(language: str) -> str:
    """Return the file that a code block's language names; "" if it names none."""
    name = language.partition(" ")[2]
    return name if "." in name else ""


def steps(document: str) -> list[Step]:
    """Return the commands of a page's ``console`` blocks in order."""
    found: list[Step] = []
    before: Block | None = None
    for block in blocks(document):
        if block.language == "console":
            found += _steps_of(block)
        elif block.language == "sh":
            lines = block.text.strip().replace("\\\n", "\0").splitlines()
            found += [Step(line.replace("\0", "\\\n"), "", block.heading) for line in lines]
        elif block.language == "json" and before and before.language == "console":
            last = found[-1]
            if not last.shown and before.heading == block.heading:
                found[-1] = last._replace(shown=block.text)
        before = block
    return found


def _steps_of(block: Block) -> Iterator[Step]:
    commands: list[tuple[list[str], list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append(([line[2:]], []))
        elif line.startswith("> ") and not commands[-1][1]:
            commands[-1][0].append(line[2:])
        elif commands[-1][0][-1].endswith("\\") and not commands[-1][1]:
            commands[-1][0].append(line)
        else:
            commands[-1][1].append(line)
    for command, shown in commands:
        yield Step("\n".join(command), "\n".join(shown).strip(), block.heading)


def run(document: str, place: Place) -> list[str]:
    """Run the commands of a page in one shell; return what is wrong, one text for each step."""
    found = steps(document)
    if not found:
        return []
    for block in blocks(document):
        if name := file_of(block.language):
            (place.directory / name).write_text(block.text)
    script = "\n".join(
        f"{{ {step.command.replace(ADDRESS, place.address or ADDRESS)}\n}}; s=$?;"
        f' printf "\\n{_MARK} %d\\n" $s; (exit $s)'
        for step in found
    )
    (place.directory / ".script").write_text(script)
    done = subprocess.run(
        ["bash", ".script"],
        cwd=place.directory,
        env=place.variables(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    printed = re.split(rf"\n{_MARK} (\d+)\n", done.stdout)
    wrong = []
    for number, step in enumerate(found):
        if 2 * number + 1 >= len(printed):
            wrong.append(f"{document}: the shell ended before $ {step.command}: {done.stdout}")
            break
        output, status = printed[2 * number], int(printed[2 * number + 1])
        output = output.replace(place.address or ADDRESS, ADDRESS).strip()
        following = found[number + 1].command if number + 1 < len(found) else ""
        if not _is_fine(step.command, status, following):
            wrong.append(f"{document}: exit status {status} of $ {step.command}\n{output}")
        elif step.shown and not matches(step.shown, output, alike=bool(place.address)):
            wrong.append(f"{document}: $ {step.command}\n--- page\n{step.shown}\n--- now\n{output}")
    return wrong


def _is_fine(command: str, status: int, following: str) -> bool:
    """Return whether a command may end with a status.

    A page shows another status than 0 by ``echo $?``; curl ends a stream with 28.
    """
    if following.startswith("echo $?"):
        return True
    return status == (28 if "--max-time" in command else 0)


def matches(shown: str, output: str, *, alike: bool = False) -> bool:
    """Return whether an output is the one that a page shows.

    Args:
        shown: by the page.
        output: of the command.
        alike: whether values of the same kind are equal, as the values of a running league.
    """
    try:
        page, now = json.loads(shown), json.loads(output)
    except ValueError:
        pattern = "".join(map(_pattern, _lines(shown)))
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(output))) is not None
    return is_same(page, now, alike=alike)


def is_same(page: Any, now: Any, *, alike: bool) -> bool:
    """Return whether a JSON value is the one of a page, or one of the same kind if ``alike``."""
    if isinstance(page, dict) and isinstance(now, dict):
        if "..." not in page and page.keys() != now.keys():
            return False
        return all(
            key in now and is_same(value, now[key], alike=alike)
            for key, value in page.items()
            if key != "..."
        )
    if isinstance(page, list) and isinstance(now, list):
        if page and page[-1] == "...":
            return all(is_same(a, b, alike=alike) for a, b in zip(page[:-1], now, strict=False))
        if alike and all(type(value) in (int, str) for value in page):
            return {type(value) for value in now} <= {type(value) for value in page} or not now
        return len(page) == len(now) and all(
            is_same(a, b, alike=alike) for a, b in zip(page, now, strict=True)
        )
    if isinstance(page, str) and isinstance(now, str):
        pattern = ".*".join(map(re.escape, page.split("...")))
        if re.fullmatch(pattern, now, re.DOTALL):
            return True
        return alike and any(re.fullmatch(k, page) and re.fullmatch(k, now) for k in _KINDS)
    if alike and type(page) in (int, float):
        return type(now) in (int, float)
    return bool(page == now)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with single blanks and without blanks at their ends."""
    return [" ".join(line.split()) for line in text.strip().splitlines()]


def _pattern(line: str) -> str:
    """Return the pattern for a line of a page."""
    if line == "...":
        return r"(?:.*\n)*"
    return ".*".join(map(re.escape, line.split("..."))) + r"\n"


def pages() -> list[str]:
    """Return all pages whose blocks run, by their paths from ``docs/``."""
    return [README, *sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))]


def needs_league(document: str) -> bool:
    """Return whether a page's commands need a running league."""
    return any(ADDRESS in step.command for step in steps(document))


def exec_python(document: str, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the ``python`` blocks of a page in one namespace and compare their output."""
    namespace: dict[str, Any] = {"__name__": document}
    printed, heading = None, ""
    for block in blocks(document):
        if block.language == "python":
            text = block.text.replace(ADDRESS, address or ADDRESS)
            exec(compile(text, document, "exec"), namespace)
            printed, heading = capsys.readouterr().out, block.heading
        elif block.language == "text" and printed is not None and heading == block.heading:
            assert matches(block.text, printed, alike=bool(address)), printed
            printed = None


def wrong_at_league(
    address: str,
    log: str,
    league_directory: Path,
    directory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> list[str]:
    """Run the blocks of the pages in docs/ that need a league; return the texts of what is wrong.

    Args:
        address: of the league, without a slash at the end.
        log: the text that `make up` has printed.
        league_directory: the directory of the league's data.
        directory: an empty directory for the readers' files.
        capsys: reads the output of ``python`` blocks.
        monkeypatch: changes the current directory.
    """
    environment = {"LEAGUE_DIRECTORY": str(league_directory)}
    places = {
        document: Place(
            directory / Path(document).stem, address, log.replace(address, ADDRESS), environment
        )
        for document in pages()
        if needs_league(document) and document != README
    }
    for place in places.values():
        place.prepare()
    with ThreadPoolExecutor(len(places)) as pool:  # they wait for the league most of the time
        wrong = [text for found in pool.map(run, places, places.values()) for text in found]
    for document, place in places.items():
        monkeypatch.chdir(place.directory)
        exec_python(document, address, capsys)
    return wrong
