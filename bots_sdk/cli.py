"""The command ``twelfth-night``, for bot authors; this module lists its subcommands.

Results go to standard output, and errors to standard error. With ``--json``, each is one JSON
object. `bots_sdk.commands` has a module for each subject.

Exit status: 0 success; 1 the league refused, a record does not hold, or your bot made a fault, lost
a comparison or failed a check; 2 wrong arguments, or a file that is not a bot; 3 the league does
not answer; 4 a token is missing or does not work; 130 stopped by Ctrl-C.
"""

from collections.abc import Iterable, Sequence

import typer

from bots_sdk.commands import (
    accounts,
    analysing,
    challenging,
    changing,
    checking,
    comparing,
    looking,
    playing,
    reading,
    starting,
    trying,
    uploading,
    watching,
)
from bots_sdk.commands.errors import Group
from bots_sdk.commands.help_pages import Command
from bots_sdk.commands.replaying import BareReplay

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Write a bot, run it in a league, and follow its results.",
    epilog="Exit status: 0 success, 1 failed or refused, 2 wrong arguments or files, 3 the league "
    "does not answer, 4 a token is missing or does not work, 130 stopped by Ctrl-C. The "
    "variables TWELFTH_NIGHT_URL and TWELFTH_NIGHT_TOKEN override what login saved.",
)
for command in (
    starting.new,
    reading.rules,
    watching.watch,
    checking.check,
    comparing.ab,
    accounts.login,
    accounts.password,
    looking.status,
    uploading.upload,
    uploading.logs,
    playing.run,
    playing.enter,
    challenging.challenge,
    looking.ladder,
    looking.match,
    looking.verify,
):
    app.command(cls=Command)(command)
app.command("analyse", cls=Command)(analysing.analyse_match)
app.command("try", cls=BareReplay)(trying.try_bot)

bot_app = typer.Typer(cls=Group, no_args_is_help=True, help="Create and change your bots.")
bot_app.command("create", cls=Command)(accounts.bot_create)
bot_app.command("token", cls=Command)(accounts.bot_token)
bot_app.command("pause", cls=Command)(accounts.bot_pause)
bot_app.command("resume", cls=Command)(accounts.bot_resume)
for change in (
    changing.rename,
    changing.delete,
    changing.note,
    changing.withdraw,
):
    bot_app.command(cls=Command)(change)
app.add_typer(bot_app, name="bot")


def main(arguments: Sequence[str] | Iterable[str] | None = None) -> None:
    """Run the command line."""
    app(args=None if arguments is None else list(arguments), prog_name="twelfth-night")


if __name__ == "__main__":
    main()
