"""The command ``twelfth-night``: all that a bot's author does, each a command.

Results go to standard output, as JSON with ``--json``; reasons go to standard error, as one object
with ``--json``.

Exit status: 0 done; 1 the league refused, or a record does not hold; 2 it can't be done as asked:
a wrong argument, a file that is no bot; 3 the league does not answer; 4 a token is missing or does
not work; 130 stopped by Ctrl-C.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from bots_sdk import calls, runner, starters
from bots_sdk.bot import BotFileError, load
from bots_sdk.client import Client, Retry
from bots_sdk.errors import ProblemError, UnreachableError
from bots_sdk.saved import Saved, SavedError, SavedLeague
from bots_sdk.verifying import check_match

OK, REFUSED, IMPOSSIBLE, UNREACHABLE, NO_TOKEN, STOPPED = 0, 1, 2, 3, 4, 130

_A_MOMENT = Retry(seconds=3.0)
_LOCAL = "http://127.0.0.1:8000"
_BOT_TOKEN = "tn_b_"
_NAME = re.compile(r"[a-z0-9-]{3,32}", re.ASCII)


class ImpossibleError(Exception):
    """What was asked can't be done; the message is the line that says why and what to do."""

    code = "impossible"


class NoTokenError(ImpossibleError):
    """There is no token for it on this machine."""

    code = "no-token"


class _Group(TyperGroup):
    """Turns what goes wrong into a line and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
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
        except (BotFileError, SavedError) as error:
            status = IMPOSSIBLE
            said = {"error": "bad-file", "detail": str(error)}
        if ctx.find_root().meta.get("json"):
            print(json.dumps(said), file=sys.stderr)
        else:
            print(f"twelfth-night: {said['detail']}", file=sys.stderr)
        raise typer.Exit(status)


_REMEDIES = {
    "invalid-token": "`twelfth-night login` gets an owner token, `bot token NAME` a bot's.",
    "not-authenticated": "`twelfth-night login` gets a token.",
    "bot-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to the bot's.",
    "owner-token-needed": "Unset TWELFTH_NIGHT_TOKEN, or set it to the owner's.",
}


def _with_remedy(error: ProblemError) -> str:
    return " ".join(filter(None, [str(error), _REMEDIES.get(error.code)]))


def _note_json(ctx: typer.Context, wanted: bool) -> bool:
    ctx.find_root().meta["json"] = wanted
    return wanted


Json = Annotated[
    bool,
    typer.Option("--json", help="Print JSON.", callback=_note_json, is_eager=True),
]

app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Write a bot, run it in a league, and see how it does.",
    epilog="Exit status: 0 done, 1 refused or not true, 2 can't be done as asked, 3 the league "
    "does not answer, 4 no token that works, 130 stopped. TWELFTH_NIGHT_URL and "
    "TWELFTH_NIGHT_TOKEN come before what login saved.",
)
bot_app = typer.Typer(no_args_is_help=True, help="Bots of yours.")
app.add_typer(bot_app, name="bot")


# -- At home ---------------------------------------------------------------------------------


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The bot's name: 3 to 32 of a-z, 0-9 and -.")],
    game: Annotated[
        Literal["twelve-days", "partridge"], typer.Option(help="The game it plays.")
    ] = "twelve-days",
    as_json: Json = False,
) -> None:
    """Write a first bot and a test for it, here."""
    if not _NAME.fullmatch(name):
        raise ImpossibleError(f"{name!r} is no name for a bot: 3 to 32 of a-z, 0-9 and -.")
    stem = name.replace("-", "_")
    files = {
        Path(f"{stem}.py"): starters.bot_text(game, stem),
        Path(f"test_{stem}.py"): starters.check_text(game, stem),
    }
    for path in files:
        if path.exists():
            raise ImpossibleError(f"{path} is there already; remove it or choose another name.")
    try:
        for path, text in files.items():
            path.write_text(text)
    except OSError as error:
        raise ImpossibleError(f"{error.filename} can't be written: {error.strerror}.") from None
    if as_json:
        _print_json({"files": [str(path) for path in files]})
        return
    bot, test = files
    print(f"Wrote {bot} and {test}. Next:")
    for command, purpose in (
        (f"python {test}", "does it play without a fault?"),
        (f"twelfth-night bot create {name}", "make it known to the league"),
        (f"twelfth-night run {bot}", "play, until Ctrl-C"),
    ):
        print(f"  {command:<40}{purpose}")


# -- Who one is ------------------------------------------------------------------------------


@app.command()
def login(
    url: Annotated[str, typer.Argument(help="The league's address.", show_default=False)] = "",
    username: Annotated[str, typer.Option(help="Of the account.", show_default=False)] = "",
    sign_up: Annotated[bool, typer.Option("--sign-up", help="Make the account first.")] = False,
    with_token: Annotated[
        bool, typer.Option("--with-token", help="Read an owner token from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Save a league's address and an owner token for it.

    The password is asked for, or taken from TWELFTH_NIGHT_PASSWORD.
    """
    saved = _saved()
    url = url or os.environ.get("TWELFTH_NIGHT_URL", "") or saved.url or _LOCAL
    if with_token:
        token = sys.stdin.readline().strip()
        with _client(url, token) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # refused if the token does not work
    else:
        with _client(url) as client:
            url = client.url
            client.send(calls.ladders(limit=1))  # before anybody types a password
            username = username or typer.prompt("Username", err=True)
            password = os.environ.get("TWELFTH_NIGHT_PASSWORD") or typer.prompt(
                "Password", hide_input=True, confirmation_prompt=sign_up, err=True
            )
            enter = calls.create_account if sign_up else calls.create_token
            token = client.send(enter(username, password))["token"]
    league = saved.league(url)
    league.username, league.token = username or league.username, token
    saved.url = url
    saved.write()
    if as_json:
        _print_json({"url": url, "username": league.username, "saved": str(saved.path)})
    else:
        print(f"Logged in at {url}; saved in {saved.path}.")


@app.command()
def status(
    bots: Annotated[list[str] | None, typer.Argument(help="Default: those saved here.")] = None,
    as_json: Json = False,
) -> None:
    """See how your bots are doing."""
    url, league = _league()
    names = bots or list(league.bots)
    rows = []
    with _client(url) as client:
        for name in names:
            bot = client.send(calls.bot(name))
            latest = client.send(calls.matches(bot=name, limit=10))["results"]
            rows.append((bot, latest))
    if as_json:
        told = [{**bot, "latest_matches": latest} for bot, latest in rows]
        _print_json({"url": url, "username": league.username, "bots": told})
        return
    print(f"{url}, {league.username or 'not logged in'}")
    if not rows:
        print("No bots here yet; `twelfth-night bot create NAME` makes one.")
        return
    table = _table("bot", "kind", "version", "online", "in play", "latest places")
    for bot, latest in rows:
        online = "paused" if bot["paused"] else "yes" if bot["online"] else "no"
        places = [
            f"{seat['place']}/{match['seats']}"
            for match in latest
            for seat in match["seating"]
            if seat["bot"] == bot["name"] and seat["place"]
        ]
        playing = sum(match["status"] in ("waiting", "playing") for match in latest)
        _add_row(table, bot["name"], bot["kind"], bot["version"], online, playing, " ".join(places))
    _print_table(table)


@bot_app.command("create")
def bot_create(
    name: Annotated[str, typer.Argument(help="3 to 32 of a-z, 0-9 and -.")],
    kind: Annotated[Literal["remote", "hosted"], typer.Option(help="Where it runs.")] = "remote",
    as_json: Json = False,
) -> None:
    """Make a bot known to the league, and save its token."""
    url, token = _owner()
    with _client(url, token) as client:
        bot = client.send(calls.create_bot(name, kind))
    path = _save_bot(url, name, bot["token"])
    if as_json:
        _print_json(bot)
    else:
        print(f"{name} is a {kind} bot now: {url}/bots/{name}/")
        print(f"Its token is saved in {path}.")


@bot_app.command("token")
def bot_token(
    name: Annotated[str, typer.Argument(help="A bot of yours.")], as_json: Json = False
) -> None:
    """Get a new token for a bot and save it; the bot's old one stops working."""
    url, token = _owner()
    with _client(url, token) as client:
        fresh = client.send(calls.new_bot_token(name))
    path = _save_bot(url, name, fresh["token"])
    if as_json:
        _print_json({"name": name, **fresh})
    else:
        print(f"{name} has a new token, saved in {path}.")


# -- Playing ---------------------------------------------------------------------------------


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The bot's Python file.")],
    bot: Annotated[
        str, typer.Option(help="As which bot; default: by the file's name.", show_default=False)
    ] = "",
    threads: Annotated[int, typer.Option(min=1, help="Turns thought of at once.")] = runner.THREADS,
    faults: Annotated[
        Path, typer.Option(help="Where the observations of faults are saved.")
    ] = Path("faults"),
    as_json: Json = False,
) -> None:
    """Play a bot in all its matches until Ctrl-C, which lets it finish the moves in hand.

    Where the bot fails its first legal move is played, and what it was asked is saved.
    """
    loaded = load(file)
    url, league = _league()
    name = bot or file.stem.replace("_", "-")
    token = os.environ.get("TWELFTH_NIGHT_TOKEN", "")
    if not token.startswith(_BOT_TOKEN):
        token = league.bots.get(name, "")
    if not token:
        known = f" Saved here: {', '.join(league.bots)}." if league.bots else ""
        raise NoTokenError(
            f"There is no token here for a bot {name} at {url}. `twelfth-night bot create {name}` "
            f"makes the bot, `bot token {name}` gets a new token for one that you have, --bot "
            f"names another.{known}"
        )
    runner.run(loaded, url, token, threads=threads, faults=faults, as_json=as_json)


@app.command()
def enter(
    ladder: Annotated[str, typer.Argument(help="The ladder's slug; `ladder` lists them.")],
    bot: Annotated[str, typer.Argument(help="A bot of yours.")],
    as_json: Json = False,
) -> None:
    """Enter a bot on a ladder; again changes nothing."""
    url, league = _league()
    token = os.environ.get("TWELFTH_NIGHT_TOKEN") or league.token or league.bots.get(bot, "")
    if not token:
        raise NoTokenError(f"There is no token here for {url}; `twelfth-night login` gets one.")
    with _client(url, token) as client:
        entry = client.send(calls.enter_ladder(ladder, bot))
    if as_json:
        _print_json(entry)
    else:
        print(f"{bot} is on the ladder {ladder}: {url}/ladders/{ladder}/")


# -- Looking ---------------------------------------------------------------------------------


@app.command()
def ladder(
    slug: Annotated[
        str, typer.Argument(help="Which; default: list them.", show_default=False)
    ] = "",
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many bots to show.")] = 20,
    as_json: Json = False,
) -> None:
    """See the ladders, or who stands where on one."""
    url = _league()[0]
    with _client(url) as client:
        if not slug:
            ladders = list(client.pages(calls.ladders()))
            if as_json:
                _print_json(ladders)
                return
            table = _table("ladder", "title", "game", "rules", "seats", "seconds a move")
            for each in ladders:
                seconds = f"{each['move_seconds']:g} + {each['bank_seconds']:g}"
                cells = (each["slug"], each["title"], each["game"], each["rules"], each["seats"])
                _add_row(table, *cells, seconds)
            _print_table(table)
            return
        rows = [
            row
            for row, _ in zip(
                client.pages(calls.ladder_standings(slug, limit=min(top, 100))),
                range(top),
                strict=False,
            )
        ]
    if as_json:
        _print_json(rows)
        return
    table = _table("rank", "bot", "owner", "rating", "blocks", "win share")
    for row in rows:
        share = "" if row["win_share"] is None else f"{row['win_share']:.0%}"
        rating = f"{row['rating'] / 1000:.0f}"
        owner = row["owner"] or "house"
        _add_row(table, row["rank"] or "-", row["bot"], owner, rating, row["blocks"], share)
    _print_table(table)
    print(f"{url}/ladders/{slug}/")


@app.command()
def match(
    number: Annotated[int, typer.Argument(min=1, help="The match's number.", metavar="ID")],
    as_json: Json = False,
) -> None:
    """Look at a match."""
    url = _league()[0]
    with _client(url) as client:
        found = client.send(calls.match(number))
    if as_json:
        _print_json(found)
        return
    what = "unrated" if found["ladder"] is None else f"rated on {found['ladder']}"
    print(f"Match {number}: {found['game']} {found['rules']}, {what}, {found['status']}")
    columns = ("seat", "bot", "version", "place", "score", "faults")
    table = _table(*columns)
    for seat in found["seating"]:
        _add_row(table, *(seat.get(column) for column in columns))
    _print_table(table)
    print(f"{url}/matches/{number}/")


@app.command()
def verify(
    number: Annotated[int, typer.Argument(min=1, help="The match's number.", metavar="ID")],
    commitment: Annotated[
        str,
        typer.Option(help="As noted before the first move, 64 hex digits.", show_default=False),
    ] = "",
    as_json: Json = False,
) -> None:
    """Replay a finished match here: do commitment, deal, moves and scores hold?

    The league says now what its commitment was; --commitment gives what one noted at the time.
    """
    url = _league()[0]
    with _client(url) as client:
        line = client.send(calls.record(number))
        found = client.send(calls.match(number))
    checks = check_match(line, found, commitment.lower())
    held = all(check.holds for check in checks)
    if as_json:
        told = [check._asdict() for check in checks]
        _print_json({"match": number, "holds": held, "checks": told})
    else:
        for check in checks:
            print(f"{'ok  ' if check.holds else 'NOT '} {check.what}: {check.detail}")
    if not held:
        raise typer.Exit(REFUSED)


# -- Shared ----------------------------------------------------------------------------------


def _saved() -> Saved:
    return Saved.read(Path(typer.get_app_dir("twelfth-night")) / "leagues.json")


def _league() -> tuple[str, SavedLeague]:
    """Return the address of the league that is meant, and what is saved for it."""
    saved = _saved()
    url = os.environ.get("TWELFTH_NIGHT_URL", "") or saved.url
    if not url:
        raise ImpossibleError(
            f"Which league? `twelfth-night login {_LOCAL}` saves one; or set TWELFTH_NIGHT_URL."
        )
    with _client(url) as client:
        return client.url, saved.leagues.get(client.url, SavedLeague())


def _owner() -> tuple[str, str]:
    """Return the league's address and an owner token for it."""
    url, league = _league()
    token = os.environ.get("TWELFTH_NIGHT_TOKEN") or league.token
    if not token:
        raise NoTokenError(f"Not logged in at {url}; `twelfth-night login {url}` does it.")
    return url, token


def _save_bot(url: str, name: str, token: str) -> Path:
    saved = _saved()
    saved.league(url).bots[name] = token
    saved.url = saved.url or url
    saved.write()
    return saved.path


def _client(url: str, token: str | None = None) -> Client:
    try:
        return Client(url, token, retry=_A_MOMENT)
    except ValueError as error:
        raise ImpossibleError(f"{error}.") from None


def _print_json(value: Any) -> None:
    print(json.dumps(value))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add_row(table: Table, *cells: object) -> None:
    # As texts, in which nothing is markup.
    table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))


def _print_table(table: Table) -> None:
    Console(highlight=False).print(table)


def main(arguments: Sequence[str] | Iterable[str] | None = None) -> None:
    """Run the command line."""
    app(args=None if arguments is None else list(arguments), prog_name="twelfth-night")
