"""The calls of the API, one function each: what to send, and the type of the answer.

Nothing here does input or output. `Client.send` and `AsyncClient.send` make a call:

    client.send(calls.create_bot("mybot", "remote"))["token"]
    for match in client.pages(calls.matches(bot="mybot")): ...

A docstring names the token that a call needs. All other calls work without a token.
"""

from collections.abc import Iterable
from typing import Literal, Unpack

from bots_sdk import answers
from bots_sdk.call import Call, Stream, read_bytes, read_nothing, url_path
from bots_sdk.pages import Page

MAX_MOVES = 100
"""The largest number of moves in one call of `moves`."""
MAX_WAIT_SECONDS = 30.0
"""The longest wait of one call of `turns`."""


# -- Accounts --------------------------------------------------------------------------------


def create_account(username: str, password: str) -> Call[answers.OwnerToken]:
    """Sign up, and get a first owner token."""
    body = {"username": username, "password": password}
    return Call("POST", "accounts", body, repeatable=False)


def create_token(username: str, password: str) -> Call[answers.OwnerToken]:
    """Sign in, and get another owner token."""
    body = {"username": username, "password": password}
    return Call("POST", "tokens", body, repeatable=False)


def revoke_token() -> Call[None]:
    """Revoke the token that the client uses. Needs an owner token."""
    return Call("DELETE", "tokens/current", read=read_nothing)


# -- Games and bots --------------------------------------------------------------------------


def games() -> Call[Page[answers.Game]]:
    """List the games with their presets."""
    return Call("GET", "games")


def bots(limit: int | None = None) -> Call[Page[answers.Bot]]:
    """List the bots by name."""
    return Call("GET", "bots", query={"limit": limit})


def bot(name: str) -> Call[answers.Bot]:
    """Get a bot."""
    return Call("GET", url_path("bots", name))


def create_bot(name: str, kind: Literal["remote", "hosted"]) -> Call[answers.CreatedBot]:
    """Create a bot, and get its token. Needs an owner token."""
    return Call("POST", "bots", {"name": name, "kind": kind}, repeatable=False)


def change_bot(
    name: str, *, paused: bool | None = None, description: str | None = None
) -> Call[answers.Bot]:
    """Pause, resume or describe a bot. Needs an owner token.

    Args:
        name: the bot.
        paused: True to pause the bot, False to resume it, None to leave this as it is.
        description: the new description; None to leave it as it is.
    """
    changes = {"paused": paused, "description": description}
    body = {key: value for key, value in changes.items() if value is not None}
    return Call("PATCH", url_path("bots", name), body)


def new_bot_token(name: str) -> Call[answers.BotToken]:
    """Get a new token for a bot; the old one stops working. Needs an owner token."""
    return Call("POST", url_path("bots", name, "token"))


def upload(
    name: str, filename: str, source: bytes, note: str = "", *, held: bool = False
) -> Call[answers.Version]:
    """Upload a version of a hosted bot. Needs an owner token.

    Args:
        name: the bot.
        filename: the name of the file.
        source: a Python file, or a zip archive with a ``bot.py``.
        note: your note about this version.
        held: whether the version becomes current only when you promote it.
    """
    return Call(
        "POST",
        url_path("bots", name, "versions"),
        {"note": note, "held": "true" if held else "false"},
        files={"source": (filename, source)},
        repeatable=False,
    )


def versions(name: str, limit: int | None = None) -> Call[Page[answers.Version]]:
    """List the versions of a bot, the newest first."""
    return Call("GET", url_path("bots", name, "versions"), query={"limit": limit})


def version(name: str, number: int) -> Call[answers.Version]:
    """Get a version of a bot."""
    return Call("GET", url_path("bots", name, "versions", number))


def source(name: str, number: int) -> Call[bytes]:
    """Download the uploaded file of a version. Needs an owner token."""
    return Call("GET", url_path("bots", name, "versions", number, "source"), read=read_bytes)


def version_log(name: str, number: int) -> Call[answers.VersionLog]:
    """Get the report of a version's check. Needs an owner token."""
    return Call("GET", url_path("bots", name, "versions", number, "log"))


def promote(name: str, number: int) -> Call[answers.Version]:
    """Make a version that is ready the current one. Needs an owner token."""
    return Call("POST", url_path("bots", name, "versions", number, "promote"))


def bot_standing(name: str, slug: str) -> Call[answers.BotStanding]:
    """Get a bot's standing on a ladder, and when the bot plays next."""
    return Call("GET", url_path("bots", name, "ladders", slug))


def performance_history(
    name: str, slug: str, limit: int | None = None
) -> Call[Page[answers.Performance]]:
    """List a bot's performance and band after each round that rated it, the latest first."""
    path = url_path("bots", name, "ladders", slug, "performance")
    return Call("GET", path, query={"limit": limit})


def compare(
    name: str, ladder: str, new: int, old: int, *, promote: bool = False
) -> Call[answers.Comparison]:
    """Start a comparison of two versions of a hosted bot. Needs an owner token.

    Args:
        name: the bot.
        ladder: the ladder that gives the game, the preset and the opponents.
        new: the version that may be better.
        old: the version to compare it with.
        promote: whether the new version becomes current if it is better.
    """
    body = {"ladder": ladder, "new": new, "old": old, "promote": promote}
    return Call("POST", url_path("bots", name, "comparisons"), body, repeatable=False)


def comparisons(name: str, limit: int | None = None) -> Call[Page[answers.Comparison]]:
    """List the comparisons of a bot's versions, the latest first."""
    return Call("GET", url_path("bots", name, "comparisons"), query={"limit": limit})


def comparison(number: int) -> Call[answers.ComparisonDetail]:
    """Get a comparison with its progress."""
    return Call("GET", url_path("comparisons", number))


def cancel_comparison(number: int) -> Call[answers.Comparison]:
    """Cancel a comparison. Needs an owner token."""
    return Call("POST", url_path("comparisons", number, "cancel"))


# -- Ladders ---------------------------------------------------------------------------------


def ladders(limit: int | None = None) -> Call[Page[answers.Ladder]]:
    """List the ladders."""
    return Call("GET", "ladders", query={"limit": limit})


def ladder(slug: str) -> Call[answers.LadderDetail]:
    """Get a ladder."""
    return Call("GET", url_path("ladders", slug))


def ladder_standings(
    slug: str, *, hidden: bool = False, limit: int | None = None
) -> Call[Page[answers.Standing]]:
    """List the standings of a ladder: ranked bots by rating, then provisional bots.

    Args:
        slug: the ladder.
        hidden: whether to add hidden bots at the end.
        limit: the number of bots on a page.
    """
    query = {"hidden": "true" if hidden else None, "limit": limit}
    return Call("GET", url_path("ladders", slug, "standings"), query=query)


def ladder_cross_table(
    slug: str, *, bot: str | None = None, limit: int | None = None
) -> Call[Page[answers.Meeting]]:
    """List the share of each bot, or of one bot, against each opponent in rated blocks."""
    query = {"bot": bot, "limit": limit}
    return Call("GET", url_path("ladders", slug, "cross-table"), query=query)


def ladder_ledger(
    slug: str,
    *,
    bot: str | None = None,
    round: int | None = None,
    revision: int | None = None,
    limit: int | None = None,
) -> Call[Page[answers.RatingChange]]:
    """List every rating change with its blocks, matches and seeds, the latest first."""
    query = {"bot": bot, "round": round, "revision": revision, "limit": limit}
    return Call("GET", url_path("ladders", slug, "ledger"), query=query)


def ladder_revisions(slug: str, limit: int | None = None) -> Call[Page[answers.Revision]]:
    """List the corrections of a ladder, the latest first."""
    return Call("GET", url_path("ladders", slug, "revisions"), query={"limit": limit})


def ladder_export(slug: str) -> Call[bytes]:
    """Download a ladder as one file in JSON Lines: rounds, records and ledger."""
    return Call("GET", url_path("ladders", slug, "export"), read=read_bytes)


def fair_play(slug: str) -> Call[Page[answers.Suspicion]]:
    """List the pairs of bots that may help each other. Needs an organiser's owner token."""
    return Call("GET", url_path("ladders", slug, "fair-play"))


def ladder_rounds(slug: str, limit: int | None = None) -> Call[Page[answers.Round]]:
    """List the rounds of a ladder, the latest first."""
    return Call("GET", url_path("ladders", slug, "rounds"), query={"limit": limit})


def enter_ladder(slug: str, bot: str) -> Call[answers.LadderEntry]:
    """Enter a bot on a ladder. Needs an owner token or the bot's token."""
    return Call("PUT", url_path("ladders", slug, "entries", bot))


def leave_ladder(slug: str, bot: str) -> Call[None]:
    """Take a bot off a ladder. Needs an owner token or the bot's token."""
    return Call("DELETE", url_path("ladders", slug, "entries", bot), read=read_nothing)


# -- Tournaments -----------------------------------------------------------------------------


def tournaments(limit: int | None = None) -> Call[Page[answers.Tournament]]:
    """List the tournaments, the latest start first."""
    return Call("GET", "tournaments", query={"limit": limit})


def tournament(number: int) -> Call[answers.Tournament]:
    """Get a tournament."""
    return Call("GET", url_path("tournaments", number))


def tournament_standings(number: int) -> Call[Page[answers.TournamentRow]]:
    """List the standings of a tournament."""
    return Call("GET", url_path("tournaments", number, "standings"))


def tournament_rounds(number: int, limit: int | None = None) -> Call[Page[answers.TournamentRound]]:
    """List the rounds of a tournament with tables and byes, the latest first."""
    return Call("GET", url_path("tournaments", number, "rounds"), query={"limit": limit})


def tournament_cross_table(number: int) -> Call[Page[answers.CrossRow]]:
    """List the share of each entrant against each opponent that it met."""
    return Call("GET", url_path("tournaments", number, "cross-table"))


def tournament_bracket(number: int) -> Call[Page[answers.BracketRound]]:
    """List the rounds of a knockout with its tables; empty for other formats."""
    return Call("GET", url_path("tournaments", number, "bracket"))


def tournament_entries(
    number: int, limit: int | None = None
) -> Call[Page[answers.TournamentEntry]]:
    """List the entries of a tournament, withdrawn and disqualified ones too."""
    return Call("GET", url_path("tournaments", number, "entries"), query={"limit": limit})


def create_tournament(**settings: Unpack[answers.NewTournament]) -> Call[answers.Tournament]:
    """Announce a tournament. Needs an organiser's owner token."""
    return Call("POST", "tournaments", settings, repeatable=False)


def change_tournament(
    number: int, **changes: Unpack[answers.TournamentChanges]
) -> Call[answers.Tournament]:
    """Change a tournament that has not begun. Needs an organiser's owner token."""
    return Call("PATCH", url_path("tournaments", number), changes)


def cancel_tournament(number: int) -> Call[answers.Tournament]:
    """Cancel a tournament that has not begun. Needs an organiser's owner token."""
    return Call("POST", url_path("tournaments", number, "cancel"))


def enter_tournament(number: int, bot: str) -> Call[answers.TournamentEntry]:
    """Enter a bot while entries are open. Needs an owner token or the bot's token."""
    return Call("PUT", url_path("tournaments", number, "entries", bot))


def leave_tournament(number: int, bot: str) -> Call[None]:
    """Withdraw a bot at any time before the end. Needs an owner token or the bot's token."""
    return Call("DELETE", url_path("tournaments", number, "entries", bot), read=read_nothing)


def disqualify(number: int, bot: str, reason: str) -> Call[answers.TournamentEntry]:
    """Disqualify a bot from a tournament. Needs an organiser's owner token."""
    path = url_path("tournaments", number, "entries", bot, "disqualify")
    return Call("POST", path, {"reason": reason})


# -- Matches ---------------------------------------------------------------------------------


def create_match(game: str, rules: str, bots: Iterable[str]) -> Call[answers.Match]:
    """Start an unrated match between your bots and house bots. Needs an owner token."""
    body = {"game": game, "rules": rules, "bots": list(bots)}
    return Call("POST", "matches", body, repeatable=False)


def matches(
    *,
    bot: str | None = None,
    ladder: str | None = None,
    tournament: int | None = None,
    status: str | None = None,
    limit: int | None = None,
) -> Call[Page[answers.Match]]:
    """List matches, the latest first."""
    query = {"bot": bot, "ladder": ladder, "tournament": tournament, "status": status}
    return Call("GET", "matches", query={**query, "limit": limit})


def match(number: int) -> Call[answers.WatchedMatch]:
    """Get a match as spectators see it now."""
    return Call("GET", url_path("matches", number))


def record(number: int) -> Call[bytes]:
    """Download the record of a finished match; `engine.record.read` reads it."""
    return Call("GET", url_path("matches", number, "record"), read=read_bytes)


def match_log(number: int) -> Call[Page[answers.SeatLog]]:
    """List the faults and the output of your bots in a match. Needs an owner token."""
    return Call("GET", url_path("matches", number, "log"))


def match_events(number: int, last_event_id: str | None = None) -> Stream:
    """Follow a match as spectators see it, from the start or after an event.

    `ServerEvent.events` lists what happened in each phase.
    """
    return Stream(url_path("matches", number, "events"), last_event_id)


# -- Playing: with a bot token ---------------------------------------------------------------


def turns(wait: float = 0.0) -> Call[answers.Turns]:
    """Get the open turns. Needs a bot token.

    Args:
        wait: if no turn is open, how many seconds to wait for one, at most `MAX_WAIT_SECONDS`.
            The answer has no turns when the time is over.
    """
    if not 0 <= wait <= MAX_WAIT_SECONDS:
        raise ValueError(f"wait is 0 to {MAX_WAIT_SECONDS:.0f} seconds, not {wait}")
    return Call("GET", "turns", query={"wait": f"{wait:g}"}, wait_seconds=wait)


def turn_stream() -> Stream:
    """Follow the turns: first all that are open, then each as it opens. Needs a bot token."""
    return Stream("turns/stream")


def move(match: int, turn: int, move: str) -> Call[answers.Accepted]:
    """Make a move; a second identical call gets the same answer. Needs a bot token."""
    return Call("POST", url_path("matches", match, "moves"), {"turn": turn, "move": move})


def moves(moves: Iterable[answers.MatchMove]) -> Call[answers.Verdicts]:
    """Make up to `MAX_MOVES` moves; get the verdicts and the open turns. Needs a bot token."""
    return Call("POST", "moves", {"moves": list(moves)})
