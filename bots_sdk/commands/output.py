"""Output of commands: JSON or tables."""

import json
import os
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

_MAX_WHOLE = 40

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

JsonWithToken = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text, with the token.")
]


def print_json(value: Any) -> None:
    """Print a result as JSON."""
    print(json.dumps(value))


def print_commands(rows: list[tuple[str, str]]) -> None:
    """Print commands, each with its purpose as the shell's comment, so that lines can be copied."""
    width = max(len(command) for command, _ in rows)
    for command, purpose in rows:
        print(f"  {command:<{width}}  # {purpose}")


def new_table(*columns: str) -> Table:
    """Return an empty table with these columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def percent(share: float) -> str:
    """Return a share in percent, without decimals."""
    return f"{100 * share:.0f} %"


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain texts without markup; None gives an empty cell."""
    table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))


def print_table(table: Table) -> None:
    """Print a table; if it is too wide for the terminal, headers wrap between words.

    Only cells of more than `_MAX_WHOLE` characters wrap. Without a terminal nothing wraps: a file
    or another program gets each row as one line, unless COLUMNS sets a width.
    """
    console = Console(highlight=False)
    widths, wanted = [], []
    for column in table.columns:
        cells = max((cell.cell_len for cell in column.cells if isinstance(cell, Text)), default=0)
        header = str(column.header)
        widths.append(max(min(cells, _MAX_WHOLE), *map(len, header.split())))
        wanted.append(max(cells, len(header)))
    gaps = (len(widths) - 1) * table.padding[1] * 2
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = sum(wanted) + gaps
    left = console.width - gaps - sum(widths)
    for column, width, most in zip(table.columns, widths, wanted, strict=True):
        more = min(most - width, max(left, 0))
        column.width, left = width + more, left - more
    console.width = max(console.width, sum(widths) + gaps)
    console.print(table)
