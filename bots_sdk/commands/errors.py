"""Errors of commands: the line that a failed command prints, and its exit status."""

import json
import re
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from bots_sdk.arena.errors import ArenaError
from bots_sdk.bot_errors import BotFileError
from bots_sdk.commands.help_pages import named_alike
from bots_sdk.commands.remedies import after_problem, after_silence
from bots_sdk.errors import ProblemError, UnreachableError
from bots_sdk.invoking import typed
from bots_sdk.saved import SavedError
from engine.errors import quote

OK, REFUSED, IMPOSSIBLE, UNREACHABLE, NO_TOKEN, STOPPED = 0, 1, 2, 3, 4, 130

_UsageError: Any = typer.BadParameter.__base__
_CALL = re.compile(r" [^.]*\bPOST /api/v1/[^.]*\.")
"""In a problem's detail: a later sentence that names a call of the API."""


class ImpossibleError(Exception):
    """A command can't run as given; the message is a line with the reason and a remedy."""

    code = "impossible"


class NoTokenError(ImpossibleError):
    """No token for the league or the bot is set or saved."""

    code = "no-token"


class Group(TyperGroup):
    """The command group; it turns exceptions into an error line and an exit status."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note whether the user wants JSON, even if the other arguments are wrong."""
        ctx.find_root().meta["json"] = "--json" in args
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters."""
        return named_alike(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            error.message = _plain(error)
            if not error.format_message():
                raise  # the help page stands in place of a message
            status = IMPOSSIBLE
            problem = {"error": "usage", "detail": _with_help(error, ctx)}
        except KeyboardInterrupt:
            raise typer.Exit(STOPPED) from None
        except UnreachableError as error:
            status = UNREACHABLE
            detail = f"{error}. {after_silence(error)}"
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
        except UnicodeEncodeError as error:  # of a word that the shell passed on
            status = IMPOSSIBLE
            letter = quote(str(error.object)[error.start : error.end], 20)
            detail = f"A word of the command has {letter}, which is not UTF-8. Write it in UTF-8."
            problem = {"error": "impossible", "detail": detail}
        print_problem(problem, as_json=ctx.find_root().meta.get("json", False))
        raise typer.Exit(status)


def print_problem(problem: dict[str, Any], *, as_json: bool) -> None:
    """Print the error line of a command, on standard error."""
    problem["detail"] = typed(str(problem["detail"]))
    line = json.dumps(problem) if as_json else f"twelfth-night: {problem['detail']}"
    print(line, file=sys.stderr)


def file_problem(error: OSError) -> dict[str, Any]:
    """Return the problem of a file that can't be used, or of output that can't be written."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return {"error": "no-output", "detail": f"The output can't be written: {reason}."}
    detail = f"{error.filename} can't be read or written: {reason}."
    return {"error": "bad-file", "detail": detail}


def _plain(error: Any) -> str:
    """Return the message of a usage error; plain words in place of the validator's on numbers."""
    # Typer's validation puts this before its message about a wrong choice.
    message = str(error.message).removeprefix("Value error, ")
    if near := getattr(error, "possibilities", None):
        error.possibilities = None  # else the library adds its own list
        return f"There is no option {error.option_name}. Did you mean {' or '.join(sorted(near))}?"
    errors = getattr(error.__cause__, "errors", None)
    if errors is None:
        return message
    first = errors()[0]
    value, limits = first["input"], first.get("ctx", {})
    match first["type"]:
        case "int_parsing_size":
            return f"{quote(str(value), 20)} is too large: it has {len(str(value))} digits."
        case "int_parsing" | "int_from_float" | "int_type":
            return f"{str(value)!r} is not a whole number."
        case "float_parsing" | "float_type":
            return f"{str(value)!r} is not a number."
        case "greater_than_equal":
            return f"{value} is too small. The smallest allowed number is {limits['ge']}."
        case "less_than_equal":
            return f"{value} is too large. The largest allowed number is {limits['le']}."
    return message


def _with_help(error: Any, ctx: Any) -> str:
    """Return a message about wrong arguments, and the command whose help lists the right ones."""
    message = str(error.format_message()).rstrip()
    ctx = error.ctx or ctx
    shown = (
        "lists the commands" if isinstance(ctx.command, TyperGroup) else "explains the arguments"
    )
    end = "" if message.endswith((".", "?")) else "."
    # The first word is how the program was started; `typed` puts it in the right form.
    words = ["twelfth-night", *ctx.command_path.split()[1:], "--help"]
    return f"{message}{end} `{' '.join(words)}` {shown}."


def _with_remedy(error: ProblemError) -> str:
    """Return the detail and the command that helps, in place of sentences on calls of the API."""
    detail = str(error)
    remedy = after_problem(error)
    if not remedy:
        return detail
    detail = _CALL.sub("", detail)
    return f"{detail}{'' if detail.endswith(('.', '?')) else '.'} {remedy}"
