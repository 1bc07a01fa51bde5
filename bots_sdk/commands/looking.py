"""``status`` and ``ladder``: your bots, and the standings of a league.

Both are run often, so this module loads nothing of the engine's rules.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from bots_sdk import answers, calls
from bots_sdk.client import Client
from bots_sdk.commands.leagues import (
    chosen_league,
    client_for,
    environment_token,
    saved_elsewhere,
)
from bots_sdk.commands.output import Json, add_row, new_table, percent, print_json, print_table
from bots_sdk.commands.ranking import describe_with_rank, ladder_places
from bots_sdk.errors import ProblemError
from bots_sdk.explanations import BLOCK, WIN_SHARE
from bots_sdk.invoking import typed
from bots_sdk.statuses import UNFINISHED

_MAX_COUNTED = 100
_MAX_PLACES = 6


class _Place(NamedTuple):
    """A bot's place in a finished match, and the number of moves that the referee played for it."""

    match: int
    place: int
    seats: int
    faults: int


def status(
    bots: Annotated[
        list[str] | None,
        typer.Argument(help="The bots; default: all bots whose tokens are saved on this machine."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show your bots: whether they are online, their latest places, and when they play next."""
    url, league = chosen_league()
    names = bots or list(league.bots)
    rows = []
    described: dict[tuple[str, str], str] = {}
    unfinished: dict[str, str] = {}
    gone: list[str] = []
    own: set[str] = set()
    token = environment_token()
    with client_for(url, token) as client:
        if token or not names:
            # Refused if the token does not work, or if no league answers.
            client.send(calls.ladders(limit=1))
        for name in names:
            try:
                bot = client.send(calls.bot(name))
            except ProblemError as error:
                if bots or error.code != "not-found":
                    raise
                gone.append(name)  # deleted, or the league began anew
                continue
            if name in league.bots:
                own.add(bot["name"])
            name = bot["name"]  # it may have been renamed
            latest = client.send(calls.matches(bot=name, status="finished", limit=10))["results"]
            entries = ladder_places(client, name)
            rows.append((bot, latest, entries))
            if not as_json:
                unfinished[name] = _count_unfinished(client, name)
                described |= {
                    (name, entry["ladder"]): describe_with_rank(client, entry) for entry in entries
                }
    if as_json:
        found = [
            {**bot, "latest_matches": latest, "ladders": places} for bot, latest, places in rows
        ]
        print_json({"url": url, "username": league.username, "bots": found})
        return
    who = "with the token in TWELFTH_NIGHT_TOKEN" if token else league.username or "not logged in"
    print(f"{url}, {who}")
    if gone:
        print(
            typed(
                f"Tokens are saved here for bots that the league does not have: {', '.join(gone)}. "
                "The bots were deleted, or the league was set up anew. `twelfth-night bot create "
                "NAME` creates a bot again."
            )
        )
    if not rows:
        print(
            f"No bot token is saved on this machine for {url}. `twelfth-night bot create NAME` "
            "creates a bot. `twelfth-night bot token NAME` saves a new token for one of your bots. "
            f"`twelfth-night status NAME` shows any bot.{saved_elsewhere(url)}"
        )
        return
    table = new_table("bot", "kind", "version", "online", "unfinished matches")
    latest_places = {bot["name"]: _places(bot["name"], latest) for bot, latest, _ in rows}
    for bot, _, _ in rows:
        name = bot["name"]
        online = "paused" if bot["paused"] else "yes" if bot["online"] else "no"
        # Nobody uploads versions of a remote bot.
        version = "-" if bot["kind"] == "remote" else bot["version"]
        add_row(table, name, bot["kind"], version, online, unfinished[name])
    print_table(table)
    for bot, _, entries in rows:
        name = bot["name"]
        if found_places := latest_places[name]:
            _print_places(name, found_places[:_MAX_PLACES])
        for entry in entries:
            print(f"{name} on {entry['ladder']}: {described[name, entry['ladder']]}")
        if bot["paused"] and name in own:
            print(typed(f"`twelfth-night bot resume {name}` resumes {name}."))
        elif bot["kind"] == "hosted" and bot["version"] is None and name in own:
            log = f"`twelfth-night logs {name}` shows why."
            print(typed(f"{name} has no version that can play. {log}"))
        elif not entries and name in own:
            enter = f"`twelfth-night enter LADDER {name}` enters it on one."
            print(typed(f"{name} is on no ladder. {enter}"))


def _print_places(bot: str, found: Sequence[_Place]) -> None:
    """Print a bot's latest places, and how to read the match with the worst one."""
    latest = ", ".join(f"{each.place} of {each.seats} (match {each.match})" for each in found)
    print(f"{bot}, latest places: {latest}")
    # Of equal places, it is the newest.
    worst = max(found, key=lambda each: each.place / each.seats)
    which = "worst" if worst.place > 1 else "newest"
    text = (
        f"  For the {which} one, `twelfth-night match {worst.match}` shows what happened. "
        f"`twelfth-night analyse {worst.match} --bot {bot}` shows the mistakes."
    )
    if worst.faults:
        moves = "1 move" if worst.faults == 1 else f"{worst.faults} moves"
        text = (
            f"  In the {which} one the referee played {moves} for {bot}: "
            f"`twelfth-night logs {bot} --match {worst.match}` shows why."
        )
    print(typed(text))


def _places(bot: str, matches: Sequence[answers.Match]) -> list[_Place]:
    """Return a bot's places in matches with a public result."""
    return [
        _Place(match["id"], seat["place"], match["seats"], seat["faults"])
        for match in matches
        for seat in match["seating"]
        if seat["bot"] == bot and seat["place"]
    ]


def _count_unfinished(client: Client, bot: str) -> str:
    """Return the number of a bot's matches that wait or are in play, as text."""
    found = [
        client.send(calls.matches(bot=bot, status=each, limit=_MAX_COUNTED)) for each in UNFINISHED
    ]
    more = "+" if any(page["next"] for page in found) else ""
    return f"{sum(len(page['results']) for page in found)}{more}"


def ladder(
    slug: Annotated[
        str,
        typer.Argument(
            metavar="LADDER",
            help="The ladder's short name; default: list all.",
            show_default=False,
        ),
    ] = "",
    top: Annotated[int, typer.Option(min=1, max=1000, help="The number of bots to show.")] = 20,
    as_json: Json = False,
) -> None:
    """List the ladders, or show the standings of one ladder.

    A ladder is a lasting ranking of bots at one game, preset and number of seats.
    """
    url = chosen_league()[0]
    with client_for(url) as client:
        if not slug:
            ladders = list(client.pages(calls.ladders()))
            if as_json:
                print_json(ladders)
                return
            table = new_table(
                "ladder", "title", "game", "rules", "seats", "seconds per move + bank"
            )
            for each in ladders:
                seconds = f"{each['move_seconds']:g} + {each['bank_seconds']:g}"
                cells = (each["slug"], each["title"], each["game"], each["rules"], each["seats"])
                add_row(table, *cells, seconds)
            print_table(table)
            print("The bank is the extra time that each bot has for a whole match.")
            print(typed("`twelfth-night ladder LADDER` shows the standings of a ladder."))
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
        print_json(rows)
        return
    table = new_table("rank", "bot", "owner", "rating", "blocks", "win share")
    for row in rows:
        share = "" if row["win_share"] is None else percent(row["win_share"])
        rating = f"{row['rating'] / 1000:.0f}"
        owner = row["owner"] or "house"
        add_row(table, row["rank"] or "-", row["bot"], owner, rating, row["blocks"], share)
    print_table(table)
    _print_legend(has_unranked=not all(row["rank"] for row in rows))
    names = {row["bot"] for row in rows if not row["owner"]}
    for twin in sorted(name for name in names if f"{name}-2" in names):
        print(
            f"{twin} and {twin}-2 are the same program. The difference between their ratings is "
            "luck."
        )
    print(f"{url}/ladders/{slug}/")


def _print_legend(*, has_unranked: bool) -> None:
    """Print the meaning of the columns."""
    print()
    print("- rank: the position by rating. It gets worse if other bots overtake the bot.")
    if has_unranked:
        print('- rank "-": provisional. The bot needs more blocks for a rank.')
    print("- owner house: a bot of the league itself.")
    print("- rating: Elo, the scale of chess ratings. Each bot begins at 1500.")
    print(f"- blocks: the number of rated blocks. {BLOCK}")
    print(f"- win share: {WIN_SHARE}")
    print()
