"""The command ``twelfth-night``: all that a bot's author does, each a command.

Results go to standard output, as JSON with ``--json``; reasons go to standard error, as one object
with ``--json``. `bots_sdk.commands` has the commands, a module a subject; this is their list.

Exit status: 0 done; 1 the league refused, a record does not hold, or a bot that is tried, compared
or checked at home did not do; 2 it can't be done as asked: a wrong argument, a file that is no bot;
3 the league does not answer; 4 a token is missing or does not work; 130 stopped by Ctrl-C.
"""

from collections.abc import Iterable, Sequence

import typer

from bots_sdk.commands import (
    accounts,
    checking,
    comparing,
    looking,
    playing,
    starting,
    trying,
    uploading,
)
from bots_sdk.commands.shared import BareReplay, Group

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Write a bot, run it in a league, and see how it does.",
    epilog="Exit status: 0 done, 1 refused or not true, 2 can't be done as asked, 3 the league "
    "does not answer, 4 no token that works, 130 stopped. TWELFTH_NIGHT_URL and "
    "TWELFTH_NIGHT_TOKEN come before what login saved.",
)
for command in (
    starting.new,
    checking.check,
    comparing.ab,
    accounts.login,
    looking.status,
    uploading.upload,
    uploading.logs,
    playing.run,
    playing.enter,
    looking.ladder,
    looking.match,
    looking.verify,
):
    app.command()(command)
app.command("try", cls=BareReplay)(trying.try_bot)

bot_app = typer.Typer(no_args_is_help=True, help="Bots of yours.")
bot_app.command("create")(accounts.bot_create)
bot_app.command("token")(accounts.bot_token)
app.add_typer(bot_app, name="bot")


def main(arguments: Sequence[str] | Iterable[str] | None = None) -> None:
    """Run the command line."""
    app(args=None if arguments is None else list(arguments), prog_name="twelfth-night")
