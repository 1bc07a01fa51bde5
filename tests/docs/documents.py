"""Read the documents under ``docs/``: tables and code blocks by the heading they stand under."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from engine.record import Record, read

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

Row = dict[str, str]


class Block(NamedTuple):
    """A code block: its language, its text, and the heading above it."""

    language: str
    text: str
    heading: str


def lines(document: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield each line of a document with the heading above it and, in a block, its language."""
    heading, language = "", None
    for line in (DOCS / document).read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):  # a block in a list is indented
            line = line.lstrip()
            yield line, heading, None
            language = line[3:] if language is None else None
            continue
        if language is None and line.startswith("#"):
            heading = line.lstrip("# ")
        yield line, heading, language


def blocks(document: str) -> list[Block]:
    """Return the code blocks of a document, first to last; in a list, without the indentation."""
    found: list[Block] = []
    inside = False
    for line, heading, language in lines(document):
        if line.startswith("```"):
            inside = not inside
            if inside:
                found.append(Block(line[3:], "", heading))
        elif language is not None:
            found[-1] = found[-1]._replace(text=found[-1].text + line + "\n")
    return [block._replace(text=dedent(block.text)) for block in found]


def tables(document: str, heading: str) -> list[list[Row]]:
    """Return the tables under a heading; each row is its cells by column."""
    found: list[list[list[str]]] = []
    before = ""
    for line, above, language in lines(document):
        if above == heading and language is None and line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        before = line
    assert found, f"{document} has no table under {heading!r}"
    return [
        [dict(zip(table[0], row, strict=True)) for row in table[2:]]  # row 1 is the rule
        for table in found
    ]


def table(document: str, heading: str) -> list[Row]:
    """Return the only table under a heading."""
    [found] = tables(document, heading)
    return found


def numbers(cell: str) -> list[int]:
    """Return the numbers in a cell, in order."""
    return [int(number) for number in re.findall(r"-?\d+", cell)]


def plain(cell: str) -> str:
    """Return a cell that holds one name in backquotes, without them."""
    return cell.strip("`")


def example(game: str) -> Record:
    """Return the match that the rules of a game explain."""
    return read((DOCS / "rules" / f"{game}-example.jsonl").read_bytes())
