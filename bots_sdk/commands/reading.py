"""``rules``: the rules of the games and the reference of moves and observations."""

import os
import pydoc
import re
import sys
from typing import Annotated, ClassVar

import typer
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.output import Json, add_row, new_table, print_json, print_table
from bots_sdk.invoking import command_word
from bots_sdk.rules import TOPICS, text
from engine.errors import nearest

_COLUMNS = 80
_MAX_NAME = 30
_HEADING = re.compile(r"^(#{2,}) (.*)$", re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^]]*\]\([^)]*\)\n\n?", re.MULTILINE)
"""A picture of a page; the texts and tables beside it show the same."""
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:)[^)]*\)")
_OTHER_NAMES = {"12 days": "twelve-days", "12 days of christmas": "partridge"}


def rules(
    topic: Annotated[
        str,
        typer.Argument(help=f"One of {', '.join(TOPICS)}; default: list them.", show_default=False),
    ] = "",
    as_json: Json = False,
) -> None:
    """Print the rules of a game, or what a bot sees and can do."""
    if not topic:
        _list(as_json=as_json)
        return
    found = _topic(topic)
    if as_json:
        print_json({"topic": found, "markdown": text(found)})
        return
    terminal = sys.stdout.isatty()
    wide = Console().width if terminal else _COLUMNS
    console = Console(highlight=False, width=min(_COLUMNS, wide), force_terminal=terminal or None)
    with console.capture() as printed:
        console.print(_Page(plain(text(found), headings=not terminal), hyperlinks=False))
    page = "\n".join(line.rstrip() for line in printed.get().splitlines())
    if terminal and sys.stdin.isatty():
        os.environ.setdefault("LESS", "FRX")  # colours, and no waiting if the text fits
        pydoc.pager(page)
    else:
        print(page)


class _Table(TableElement):
    """A table that shows its first column, which has the names, without breaks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                first = table.columns[0]
                first.no_wrap = all(len(str(cell)) <= _MAX_NAME for cell in first.cells)
            yield table


class _Page(Markdown):
    """A text with such tables."""

    elements: ClassVar = {**Markdown.elements, "table_open": _Table}


def plain(markdown: str, *, headings: bool) -> str:
    """Return a text without what a terminal can't show: pictures and links between pages.

    Args:
        markdown: the text.
        headings: whether to mark headings with signs, because there are no colours.
    """
    markdown = _LINK.sub(r"\1", _PICTURE.sub("", markdown))
    return _HEADING.sub(r"\1 == \2 ==", markdown) if headings else markdown


def _list(*, as_json: bool) -> None:
    if as_json:
        print_json(TOPICS)
        return
    table = new_table("command", "prints")
    for topic, words in TOPICS.items():
        add_row(table, f"{command_word()} rules {topic}", words)
    print_table(table)


def _topic(word: str) -> str:
    """Return the topic for a word.

    Raises:
        ImpossibleError: there is no such topic.
    """
    asked = word.strip().lower()
    asked = _OTHER_NAMES.get(asked, asked.removesuffix(".md").replace("_", "-").replace(" ", "-"))
    if asked in TOPICS:
        return asked
    if near := nearest(asked, list(TOPICS), cutoff=0.5):
        remedy = f"Did you mean `twelfth-night rules {near}`?"
    else:
        remedy = f"The topics are {', '.join(TOPICS)}."
    raise ImpossibleError(f"There is no topic {word!r}. {remedy}")
