"""Shared by all commands: exit statuses, error messages, ``--json``, prompts and tables."""

import json
import re
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from bots_sdk.arena.errors import ArenaError
from bots_sdk.bot import BotFileError
from bots_sdk.errors import ProblemError, UnreachableError
from bots_sdk.saved import SavedError

OK, REFUSED, IMPOSSIBLE, UNREACHABLE, NO_TOKEN, STOPPED = 0, 1, 2, 3, 4, 130


_UsageError: Any = typer.BadParameter.__base__


class ImpossibleError(Exception):
    """A command can't run as given; the message is a line with the reason and a remedy."""

    code = "impossible"


class NoTokenError(ImpossibleError):
    """No token for the league or the bot is set or saved."""

    code = "no-token"


_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break inside a paragraph."""


class Group(TyperGroup):
    """The command group; it turns exceptions into an error line and an exit status."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether the user wants JSON, even if the other arguments are wrong."""
        ctx.find_root().meta["json"] = "--json" in args
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _without_flag_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if not ctx.find_root().meta["json"]:
                raise
            status = IMPOSSIBLE
            problem = {"error": "usage", "detail": error.format_message()}
        except KeyboardInterrupt:
            raise typer.Exit(STOPPED) from None
        except UnreachableError as error:
            status = UNREACHABLE
            detail = f"{error}. Check the address, and that the league is running."
            problem = {"error": "unreachable", "detail": detail}
        except ProblemError as error:
            status = NO_TOKEN if error.status == 401 else REFUSED
            problem = {**error.members, "error": error.code, "detail": _with_remedy(error)}
        except ImpossibleError as error:
            status = NO_TOKEN if isinstance(error, NoTokenError) else IMPOSSIBLE
            problem = {"error": error.code, "detail": str(error)}
        except ArenaError as error:
            status = IMPOSSIBLE
            problem = {"error": "impossible", "detail": str(error)}
        except (BotFileError, SavedError) as error:
            status = IMPOSSIBLE
            problem = {"error": "bad-file", "detail": str(error)}
        if ctx.find_root().meta.get("json"):
            print(json.dumps(problem), file=sys.stderr)
        else:
            print(f"twelfth-night: {problem['detail']}", file=sys.stderr)
        raise typer.Exit(status)


class Command(TyperCommand):
    """A command whose help wraps paragraphs, and shows no type for flags."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.help:
            self.help = _LINE_BREAK.sub(" ", self.help)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return _without_flag_types(super().get_params(ctx))


class BareReplay(Command):
    """A command in which ``--replay`` without a number stands for match 1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the missing number."""
        for at in range(len(args) - 1, -1, -1):
            if args[at] == "--replay" and not _is_number(args[at + 1 : at + 2]):
                args.insert(at + 1, "1")
        return super().parse_args(ctx, args)


def _without_flag_types(params: Any) -> Any:
    """Return parameters whose flags show no type in the help."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return params


def _is_number(words: list[str]) -> bool:
    return bool(words) and words[0].removeprefix("-").isdigit()


_REMEDIES = {
    "invalid-token": "Run `twelfth-night login` to get a new owner token, or "
    "`twelfth-night bot token NAME` to get a new bot token.",
    "not-authenticated": "Run `twelfth-night login` to get a token.",
    "bot-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to the bot's token.",
    "owner-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to an owner token.",
}


def _with_remedy(error: ProblemError) -> str:
    return " ".join(filter(None, [str(error), _REMEDIES.get(error.code)]))


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def prompt(name: str, source: str, **options: Any) -> str:
    """Return an answer typed at the terminal.

    Args:
        name: the name of the value.
        source: the option or variable that gives the value without a prompt.
        options: options of `typer.prompt`.

    Raises:
        ImpossibleError: there is no terminal, and standard input has no answer.
    """
    try:
        answer: str = typer.prompt(name, err=True, **options)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        raise ImpossibleError(
            f"No {name.lower()} is given, and there is no terminal to ask for it. Use {source}."
        ) from None
    return answer


def print_json(value: Any) -> None:
    """Print a result as JSON."""
    print(json.dumps(value))


def new_table(*columns: str) -> Table:
    """Return an empty table with these columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain texts without markup; None gives an empty cell."""
    table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))


def print_table(table: Table) -> None:
    """Print a table."""
    Console(highlight=False).print(table)
