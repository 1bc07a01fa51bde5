"""The names that pages show exist: modules, files, settings, error codes, metrics, commands."""

import re
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from api.problems import CODES
from bots_sdk.cli import application
from league.durations import HISTOGRAMS
from league.health import QUEUES
from tests.docs.documents import DOCS, ROOT, lines, plain, table
from tests.docs.running_blocks import pages

PACKAGES = "api|bots_sdk|config|devserver|engine|league|web|tests|benchmarks"
DOTTED = re.compile(rf"(?:{PACKAGES})(?:\.[A-Za-z_]\w*)+")
PATH = re.compile(rf"(?:{PACKAGES}|docs|docker)/[\w./-]*")


@cache
def names(document: str) -> list[str]:
    """Return the words between backquotes in the text of a page."""
    text = "\n".join(line for line, _, language in lines(document) if language is None)
    return re.findall(r"`([^`\n]+)`", text)


def is_there(dotted: str) -> bool:
    """Return whether a dotted name is a module, or a word in the code of one."""
    path = ROOT
    parts = dotted.split(".")
    for number, part in enumerate(parts):
        if (path / part).is_dir():
            path /= part
        elif (path / f"{part}.py").is_file():
            rest = parts[number + 1 :]
            return not rest or _has_word(path / f"{part}.py", rest[0])
        else:
            return _has_word(path / "__init__.py", part)
    return path != ROOT


def _has_word(file: Path, word: str) -> bool:
    return file.is_file() and re.search(rf"\b{word}\b", file.read_text("utf-8")) is not None


@pytest.mark.parametrize("document", pages())
def test_the_modules_and_files_that_a_page_names_exist(document: str) -> None:
    for name in names(document):
        if DOTTED.fullmatch(name) and not name.endswith((".py", ".md")):
            assert is_there(name), f"{document} names {name}"
        if PATH.fullmatch(name):
            assert (ROOT / name).exists(), f"{document} names {name}"


def test_a_module_that_is_gone_is_noticed() -> None:
    assert is_there("league.play")
    assert is_there("engine.referee.play")
    assert not is_there("league.nowhere")
    assert not is_there("engine.referee.nothing_of_the_kind")


def test_the_table_of_settings_has_every_variable_that_the_settings_read() -> None:
    read = set()
    for path in (ROOT / "config").rglob("*.py"):
        read |= set(re.findall(r'environment\.\w+\(\s*"([A-Z_]+)"', path.read_text("utf-8")))
    shown = {
        name
        for row in table("operate.md", "Settings")
        for name in re.findall(r"`([A-Z_]+)`", row["variable"])
    }
    assert shown == read


def test_the_table_of_errors_has_every_code_with_its_status() -> None:
    shown = {plain(row["code"]): int(row["status"]) for row in table("api-guide.md", "Errors")}
    assert shown == {code: status for code, (status, _) in CODES.items()}


def test_the_metrics_that_the_page_names_exist() -> None:
    code = (ROOT / "web" / "metrics.py").read_text("utf-8")
    histograms = {f"league_{name}_seconds" for name in HISTOGRAMS}
    shown = [name for name in names("operate.md") if name.startswith("league_")]
    assert histograms <= set(shown)
    for name in set(shown) - histograms:
        assert f'"{name.removeprefix("league_")}"' in code or f'"{name}"' in code, name


def test_the_queues_that_the_page_names_are_those_of_the_settings() -> None:
    assert sorted(plain(row["queue"]) for row in table("operate.md", "Queues")) == QUEUES


def test_the_commands_that_pages_name_exist() -> None:
    group = get_command(application())
    assert isinstance(group, TyperGroup)
    known = group.commands.keys()
    for document in pages():
        text = (DOCS / document).read_text("utf-8")
        for command in re.findall(r"(?:`|\$ )twelfth-night ([a-z]+)", text):
            assert command in known, f"{document}: twelfth-night {command}"
