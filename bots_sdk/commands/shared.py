"""What all commands share: exit statuses, what can't be done, ``--json``, tables."""

import json
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
    """What was asked can't be done; the message is the line that says why and what to do."""

    code = "impossible"


class NoTokenError(ImpossibleError):
    """There is no token for it on this machine."""

    code = "no-token"


class Group(TyperGroup):
    """Turns what goes wrong into a line and an exit status."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether JSON is wanted, also where the rest can't be understood."""
        ctx.find_root().meta["json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if not ctx.find_root().meta["json"]:
                raise
            status = IMPOSSIBLE
            said = {"error": "usage", "detail": error.format_message()}
        except KeyboardInterrupt:
            raise typer.Exit(STOPPED) from None
        except UnreachableError as error:
            status = UNREACHABLE
            said = {"error": "unreachable", "detail": f"{error}. Is the league up there?"}
        except ProblemError as error:
            status = NO_TOKEN if error.status == 401 else REFUSED
            said = {**error.members, "error": error.code, "detail": _with_remedy(error)}
        except ImpossibleError as error:
            status = NO_TOKEN if isinstance(error, NoTokenError) else IMPOSSIBLE
            said = {"error": error.code, "detail": str(error)}
        except ArenaError as error:
            status = IMPOSSIBLE
            said = {"error": "impossible", "detail": str(error)}
        except (BotFileError, SavedError) as error:
            status = IMPOSSIBLE
            said = {"error": "bad-file", "detail": str(error)}
        if ctx.find_root().meta.get("json"):
            print(json.dumps(said), file=sys.stderr)
        else:
            print(f"twelfth-night: {said['detail']}", file=sys.stderr)
        raise typer.Exit(status)


class BareReplay(TyperCommand):
    """Takes ``--replay`` without a number for the first match."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in what is left out."""
        for at in range(len(args) - 1, -1, -1):
            if args[at] == "--replay" and not _is_number(args[at + 1 : at + 2]):
                args.insert(at + 1, "1")
        return super().parse_args(ctx, args)


def _is_number(words: list[str]) -> bool:
    return bool(words) and words[0].removeprefix("-").isdigit()


_REMEDIES = {
    "invalid-token": "`twelfth-night login` gets an owner token, `bot token NAME` a bot's.",
    "not-authenticated": "`twelfth-night login` gets a token.",
    "bot-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to the bot's.",
    "owner-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to the owner's.",
}


def _with_remedy(error: ProblemError) -> str:
    return " ".join(filter(None, [str(error), _REMEDIES.get(error.code)]))


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    """Add a row of texts, in which nothing is markup; None is an empty cell."""
    table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))


def print_table(table: Table) -> None:
    """Print a table."""
    Console(highlight=False).print(table)
