"""The types of the site's scripts: in JSDoc and in `web/types`, checked by TypeScript."""

import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from engine.games.events import KINDS, Cards, Event

ROOT = Path(__file__).resolve().parents[2]
TSC = ROOT / "build/types-js/node_modules/typescript/bin/tsc"
TYPES = {
    str: "string",
    int: "number",
    Cards: "number[]",
    int | None: "number | null",
    bool | None: "boolean | null",
    Cards | None: "number[] | null",
}


def as_type(kind: str, event: type[Event]) -> str:
    """Return the TypeScript type of an event's JSON form."""
    hints = get_type_hints(event)
    members = [f"{each.name}: {TYPES[hints[each.name]]}" for each in fields(event)]
    return "; ".join([f'{{ kind: "{kind}"', *members]) + " }"


def test_the_types_of_events_are_those_of_the_engine() -> None:
    text = (ROOT / "web/types/events.d.ts").read_text("utf-8")
    lines = [line.strip(" |;") for line in text.splitlines() if line.startswith("  |")]
    assert lines == [as_type(kind, event) for kind, event in KINDS.items()]


def test_the_lock_of_typescript_names_no_registry() -> None:
    lock = (ROOT / "requirements/package-lock.json").read_text("utf-8")
    assert '"integrity"' in lock
    assert "://" not in lock


def test_typescript_finds_no_error_in_the_scripts() -> None:
    node = shutil.which("node")
    if not node or not TSC.exists():
        pytest.skip("TypeScript is not installed; `make types-js` installs it if npm is there")
    command = [node, str(TSC), "--project", "jsconfig.json"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.stdout + result.stderr == ""
