"""The command ``twelfth-night``, for bot authors; this module lists its subcommands.

Results go to standard output, and errors to standard error. With ``--json``, each is one JSON
object. `bots_sdk.commands` has a module for each subject.

Exit status: 0 success; 1 the league refused, a record does not hold, or your bot made a fault, lost
a comparison or failed a check; 2 wrong arguments, a file that is not a bot, or output that can't be
written; 3 the league does not answer; 4 a token is missing or does not work; 130 stopped by Ctrl-C.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from bots_sdk.commands.errors import (
    IMPOSSIBLE,
    REFUSED,
    STOPPED,
    Group,
    file_problem,
    print_problem,
)
from bots_sdk.commands.help_pages import Command

_COMMANDS = {
    "new": "starting.new",
    "rules": "reading.rules",
    "watch": "watching.watch",
    "check": "checking.check",
    "ab": "comparing.ab",
    "login": "accounts.login",
    "password": "accounts.password",
    "status": "looking.status",
    "upload": "uploading.upload",
    "logs": "bot_logs.logs",
    "run": "playing.run",
    "enter": "playing.enter",
    "challenge": "challenging.challenge",
    "ladder": "looking.ladder",
    "match": "showing.match",
    "verify": "verifying.verify",
    "analyse": "analysing.analyse_match",
    "try": "trying.try_bot",
}
"""The function of each command in `bots_sdk.commands`, in the order of the help."""
_BOT_COMMANDS = {
    "create": "accounts.bot_create",
    "token": "accounts.bot_token",
    "pause": "accounts.bot_pause",
    "resume": "accounts.bot_resume",
    "rename": "changing.rename",
    "delete": "changing.delete",
    "note": "changing.note",
    "withdraw": "changing.withdraw",
}
"""The same for the commands that follow the word ``bot``."""
_HELP = "--help"


def application(first: str = "") -> typer.Typer:
    """Return the command line.

    Args:
        first: the first word after the program's name. If it is a command, the others are left out:
            importing the modules of all takes longer than most commands run. If it asks for the
            list of commands, no module is imported.
    """
    app = typer.Typer(
        cls=Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        help="Write a bot, run it in a league, and follow its results.",
        epilog="Exit status: 0 success, 1 failed or refused, 2 wrong arguments or files, 3 the "
        "league does not answer, 4 a token is missing or does not work, 130 stopped by Ctrl-C. The "
        "variables TWELFTH_NIGHT_URL and TWELFTH_NIGHT_TOKEN override the address and the token "
        "that `login` saved.",
    )
    app.callback()(_all_commands)
    is_known = first in _COMMANDS or first == "bot"
    if first == _HELP:
        for name, at in _COMMANDS.items():
            app.command(name, cls=Command)(_described(at))
    else:
        _add(app, {name: at for name, at in _COMMANDS.items() if not is_known or name == first})
    if not is_known or first == "bot":
        bots = typer.Typer(cls=Group, no_args_is_help=True, help="Create and change your bots.")
        _add(bots, _BOT_COMMANDS)
        app.add_typer(bots, name="bot")
    return app


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        # Imported here: it takes longer than most of the other modules.
        from importlib.metadata import version

        typer.echo(f"twelfth-night {version('twelfth-night')}")
        raise typer.Exit


def _all_commands(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """Take the options of the program. A command keeps its name even if it is the only one."""


def _described(at: str) -> Callable[[], None]:
    """Return a function with the first sentence of a command's help, read from its source."""
    module, _, name = at.partition(".")
    source = (Path(__file__).parent / "commands" / f"{module}.py").read_text("utf-8")
    found = re.search(rf'^def {name}\(.*?^    """(.*?)(?:\n|""")', source, re.DOTALL | re.MULTILINE)

    def described() -> None:
        pass

    described.__doc__ = found[1] if found else ""
    return described


def _add(app: typer.Typer, commands: dict[str, str]) -> None:
    for name, at in commands.items():
        module, _, function = at.partition(".")
        found = import_module(f"bots_sdk.commands.{module}")
        app.command(name, cls=getattr(found, "CLASS", Command))(getattr(found, function))


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the command line."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # the encoding may lack a letter of a bot's output
            stream.reconfigure(errors="backslashreplace")
    words: Sequence[str] = sys.argv[1:] if arguments is None else list(arguments)
    try:
        app = application(words[0] if words else _HELP)
    except KeyboardInterrupt:  # while the modules of the command are imported
        sys.exit(STOPPED)
    try:
        try:
            app(args=words, prog_name="twelfth-night")
        finally:
            sys.stdout.flush()  # else Python does it at the exit, with a traceback
    except OSError as error:
        # Drop the rest of the output: at the exit, Python would try to write it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if not isinstance(error, BrokenPipeError):  # a broken pipe has no reader
            print_problem(file_problem(error), as_json="--json" in words)
            sys.exit(IMPOSSIBLE)
        sys.exit(REFUSED)


def _open_closed_streams() -> None:
    """Open the standard streams that the caller has closed, such as by ``<&-`` in a shell."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the end


if __name__ == "__main__":
    main()
