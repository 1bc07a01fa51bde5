"""``challenge``: play an unrated block at the league immediately."""

from typing import Annotated, Literal

import typer

from bots_sdk import answers, calls
from bots_sdk.commands.errors import REFUSED
from bots_sdk.commands.following import follow
from bots_sdk.commands.leagues import client_for, owner_token
from bots_sdk.commands.output import Json, add_row, new_table, percent, print_json, print_table
from bots_sdk.explanations import WIN_SHARE


def challenge(
    bot: Annotated[
        str,
        typer.Argument(help="One of your bots: a hosted bot, or a remote bot that is running."),
    ],
    opponents: Annotated[
        list[str],
        typer.Argument(
            help="The opponents: house bots such as house-thumb, your own bots, and bots of other "
            "owners that accept challenges. twelve-days needs at least two opponents."
        ),
    ],
    game: Annotated[
        Literal["twelve-days", "partridge"] | None,
        typer.Option(
            help="The game. Default: the game of a ladder that your bot is on, if the ladder "
            "allows this number of bots. Otherwise the game of any ladder that allows this number.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        str,
        typer.Option(
            help="A preset (edition) of the game, such as calliope; needs --game.",
            show_default=False,
        ),
    ] = "",
    wait: Annotated[bool, typer.Option(help="Wait for the result.")] = True,
    as_json: Json = False,
) -> None:
    """Play unrated matches immediately, against bots that you name.

    A challenge is one block. A block is a set of matches at one table. It has as many matches as
    the table has seats, so each bot sits once in each seat. No rating changes. The league plays the
    challenge ahead of rated matches. After Ctrl-C the league plays on, and the page of the
    challenge shows the result.

    Exit status 1: the league refused the challenge, or a match could not be played.
    """
    url, token = owner_token()
    with client_for(url, token) as client:
        made = client.send(calls.challenge(bot, opponents, game=game, rules=rules or None))
        if not as_json:
            what = f"{made['game']} {made['rules']}, {len(made['matches'])} matches"
            print(f"Challenge {made['id']}: {what}")
            print(f"{url}/challenges/{made['id']}/", flush=True)
        if wait:
            number = made["id"]
            made = follow(
                lambda: client.send(calls.challenge_result(number)),
                _line,
                after_stop="The league plays on. The page of the challenge shows the result.",
                quiet=as_json,
            )
    if as_json:
        print_json(made)
    elif wait:
        _print_result(url, made)
    if made["state"] == "void":
        raise typer.Exit(REFUSED)


def _line(made: answers.ChallengeDetail) -> str | None:
    """Return how far a challenge is; None if it is over."""
    count = len(made["matches"])
    if made["state"] == "waiting":
        return "The challenge has not begun."
    if made["state"] == "playing":
        playing = sum(match["status"] == "playing" for match in made["matches"])
        waiting = sum(match["status"] == "waiting" for match in made["matches"])
        return (
            f"{made['matches_finished']} of {count} matches finished, {playing} in play, {waiting} "
            "waiting to begin."
        )
    return None


def _print_result(url: str, made: answers.ChallengeDetail) -> None:
    if made["win_share"] is None:
        reasons = {match["void_reason"] for match in made["matches"]} - {""}
        print(f"The challenge is void, so it has no result. {' '.join(sorted(reasons))}")
        return
    table = new_table("opponent", "your win share", "95 % interval")
    for pair in made["results"]:
        interval = f"{percent(pair['low'])} to {percent(pair['high'])}"
        add_row(table, pair["opponent"], percent(pair["share"]), interval)
    print_table(table)
    print(f"{made['bot']} has a win share of {percent(made['win_share'])} in all. {WIN_SHARE}")
    print(
        "The true value is probably within the 95 % interval. One block has few matches, so the "
        "intervals are wide."
    )
