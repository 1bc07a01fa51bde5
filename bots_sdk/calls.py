"""The calls of the API, each described once: what to send, what comes back, may it be repeated.

Nothing here does input or output. `Client.send` and `AsyncClient.send` make a call:

    client.send(calls.create_bot("mybot", "remote"))["token"]
    for match in client.pages(calls.matches(bot="mybot")): ...
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from bots_sdk.answers import (
    Accepted,
    Bot,
    BotStanding,
    BotToken,
    BracketRound,
    Comparison,
    ComparisonDetail,
    CreatedBot,
    CrossRow,
    Game,
    Ladder,
    LadderEntry,
    Match,
    Meeting,
    Move,
    OwnerToken,
    Page,
    PastPerformance,
    RatingChange,
    Revision,
    Round,
    SeatLog,
    Standing,
    Suspicion,
    Tournament,
    TournamentEntry,
    TournamentRound,
    TournamentRow,
    Turn,
    Verdicts,
    Version,
    VersionLog,
    WatchedMatch,
)

MAX_MOVES = 100
"""Moves that `moves` takes at once."""
MAX_WAIT_SECONDS = 30.0
"""Seconds that `turns` may be asked to wait."""

Result = TypeVar("Result")


def _json(response: httpx.Response) -> Any:
    return response.json()


def _nothing(response: httpx.Response) -> None:
    return None


def _bytes(response: httpx.Response) -> bytes:
    return response.content


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """A call.

    Attributes:
        method: of HTTP.
        path: below ``/api/v1/``.
        body: to be sent as JSON; None for no body.
        query: parameters; those that are None are left out.
        files: by field, for a multipart body, with ``body`` as the other fields.
        repeatable: whether doing it twice is as good as once, so that it may be sent again when
            nobody knows whether it arrived.
        held: seconds for which the answer may be held back on purpose.
        read: makes the result of a response that is no problem.
    """

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str | int | float | None] = field(default_factory=dict)
    files: Mapping[str, tuple[str, bytes]] | None = None
    repeatable: bool = True
    held: float = 0.0
    read: Callable[[httpx.Response], Result] = _json


@dataclass(frozen=True, slots=True)
class Stream:
    """A call that answers with server-sent events, after the one with ``last_event_id``."""

    path: str
    last_event_id: str | None = None


def _path(*parts: str | int) -> str:
    return "/".join(quote(str(part), safe="") for part in parts)


# -- Accounts --------------------------------------------------------------------------------


def create_account(username: str, password: str) -> Call[OwnerToken]:
    """Sign up, and get a first owner token."""
    body = {"username": username, "password": password}
    return Call("POST", "accounts", body, repeatable=False)


def create_token(username: str, password: str) -> Call[OwnerToken]:
    """Sign in: get one more owner token."""
    body = {"username": username, "password": password}
    return Call("POST", "tokens", body, repeatable=False)


def revoke_token() -> Call[None]:
    """Revoke the token that the client uses."""
    return Call("DELETE", "tokens/current", read=_nothing)


# -- Games and bots --------------------------------------------------------------------------


def games() -> Call[Page[Game]]:
    """See which games there are."""
    return Call("GET", "games")


def bots(limit: int | None = None) -> Call[Page[Bot]]:
    """List the bots, by name."""
    return Call("GET", "bots", query={"limit": limit})


def bot(name: str) -> Call[Bot]:
    """Look at a bot."""
    return Call("GET", _path("bots", name))


def create_bot(name: str, kind: Literal["remote", "hosted"]) -> Call[CreatedBot]:
    """Create a bot, and get its token. Owner."""
    return Call("POST", "bots", {"name": name, "kind": kind}, repeatable=False)


def change_bot(
    name: str, *, paused: bool | None = None, description: str | None = None
) -> Call[Bot]:
    """Pause, resume or describe a bot; what is None stays as it is. Owner."""
    changes = {"paused": paused, "description": description}
    body = {key: value for key, value in changes.items() if value is not None}
    return Call("PATCH", _path("bots", name), body)


def new_bot_token(name: str) -> Call[BotToken]:
    """Get a new token for a bot; the old one stops working. Owner."""
    return Call("POST", _path("bots", name, "token"))


def upload(
    name: str, filename: str, source: bytes, note: str = "", *, held: bool = False
) -> Call[Version]:
    """Upload a version of a hosted bot: a .py, or a .zip with bot.py. Owner.

    One held back does not take over when it is ready.
    """
    return Call(
        "POST",
        _path("bots", name, "versions"),
        {"note": note, "held": "true" if held else "false"},
        files={"source": (filename, source)},
        repeatable=False,
    )


def versions(name: str, limit: int | None = None) -> Call[Page[Version]]:
    """List the versions of a bot, the newest first."""
    return Call("GET", _path("bots", name, "versions"), query={"limit": limit})


def version(name: str, number: int) -> Call[Version]:
    """Look at a version of a bot."""
    return Call("GET", _path("bots", name, "versions", number))


def source(name: str, number: int) -> Call[bytes]:
    """Get the file that was uploaded. Owner."""
    return Call("GET", _path("bots", name, "versions", number, "source"), read=_bytes)


def version_log(name: str, number: int) -> Call[VersionLog]:
    """See how a version was checked: why it failed, what it printed. Owner."""
    return Call("GET", _path("bots", name, "versions", number, "log"))


def promote(name: str, number: int) -> Call[Version]:
    """Have a version that is ready play from now on. Owner."""
    return Call("POST", _path("bots", name, "versions", number, "promote"))


def bot_standing(name: str, slug: str) -> Call[BotStanding]:
    """See where a bot stands on a ladder, when it plays next, and what halves its error."""
    return Call("GET", _path("bots", name, "ladders", slug))


def performance_history(
    name: str, slug: str, limit: int | None = None
) -> Call[Page[PastPerformance]]:
    """See a bot's performance with its band after each round that rated it, latest first."""
    path = _path("bots", name, "ladders", slug, "performance")
    return Call("GET", path, query={"limit": limit})


def compare(
    name: str, ladder: str, new: int, old: int, *, promote: bool = False
) -> Call[Comparison]:
    """Ask whether a version of a hosted bot is better than another. Owner."""
    body = {"ladder": ladder, "new": new, "old": old, "promote": promote}
    return Call("POST", _path("bots", name, "comparisons"), body, repeatable=False)


def comparisons(name: str, limit: int | None = None) -> Call[Page[Comparison]]:
    """List the comparisons of a bot's versions, the latest first."""
    return Call("GET", _path("bots", name, "comparisons"), query={"limit": limit})


def comparison(number: int) -> Call[ComparisonDetail]:
    """See how a comparison goes."""
    return Call("GET", _path("comparisons", number))


def cancel_comparison(number: int) -> Call[Comparison]:
    """End a comparison without a verdict. Owner."""
    return Call("POST", _path("comparisons", number, "cancel"))


# -- Ladders ---------------------------------------------------------------------------------


def ladders(limit: int | None = None) -> Call[Page[Ladder]]:
    """List the ladders."""
    return Call("GET", "ladders", query={"limit": limit})


def ladder(slug: str) -> Call[Ladder]:
    """Look at a ladder."""
    return Call("GET", _path("ladders", slug))


def ladder_standings(
    slug: str, *, hidden: bool = False, limit: int | None = None
) -> Call[Page[Standing]]:
    """See who stands where: bots with a rank by rating, then the provisional ones.

    Args:
        slug: of the ladder.
        hidden: whether to list those too that are idle or have left, after all others.
        limit: to so many a page.
    """
    query = {"hidden": "true" if hidden else None, "limit": limit}
    return Call("GET", _path("ladders", slug, "standings"), query=query)


def ladder_cross_table(
    slug: str, *, bot: str | None = None, limit: int | None = None
) -> Call[Page[Meeting]]:
    """See what each bot, or one, took from each that it has met in rated blocks."""
    query = {"bot": bot, "limit": limit}
    return Call("GET", _path("ladders", slug, "cross-table"), query=query)


def ladder_ledger(
    slug: str,
    *,
    bot: str | None = None,
    round: int | None = None,
    revision: int | None = None,
    limit: int | None = None,
) -> Call[Page[RatingChange]]:
    """See every change of a rating with its blocks, matches and seeds, the latest first."""
    query = {"bot": bot, "round": round, "revision": revision, "limit": limit}
    return Call("GET", _path("ladders", slug, "ledger"), query=query)


def ladder_revisions(slug: str, limit: int | None = None) -> Call[Page[Revision]]:
    """List the corrections of a ladder, the latest first."""
    return Call("GET", _path("ladders", slug, "revisions"), query={"limit": limit})


def ladder_export(slug: str) -> Call[bytes]:
    """Get a ladder as one file: rounds, records and ledger, as JSON Lines."""
    return Call("GET", _path("ladders", slug, "export"), read=_bytes)


def fair_play(slug: str) -> Call[Page[Suspicion]]:
    """See which pairs do better next to each other than they should. Organiser."""
    return Call("GET", _path("ladders", slug, "fair-play"))


def ladder_rounds(slug: str, limit: int | None = None) -> Call[Page[Round]]:
    """List the rounds of a ladder, the latest first."""
    return Call("GET", _path("ladders", slug, "rounds"), query={"limit": limit})


def enter_ladder(slug: str, bot: str) -> Call[LadderEntry]:
    """Enter a bot on a ladder. Owner or that bot."""
    return Call("PUT", _path("ladders", slug, "entries", bot))


def leave_ladder(slug: str, bot: str) -> Call[None]:
    """Take a bot off a ladder. Owner or that bot."""
    return Call("DELETE", _path("ladders", slug, "entries", bot), read=_nothing)


# -- Tournaments -----------------------------------------------------------------------------


def tournaments(limit: int | None = None) -> Call[Page[Tournament]]:
    """List the tournaments, the latest start first."""
    return Call("GET", "tournaments", query={"limit": limit})


def tournament(number: int) -> Call[Tournament]:
    """Look at a tournament."""
    return Call("GET", _path("tournaments", number))


def tournament_standings(number: int) -> Call[Page[TournamentRow]]:
    """See how the entrants of a tournament stand."""
    return Call("GET", _path("tournaments", number, "standings"))


def tournament_rounds(number: int, limit: int | None = None) -> Call[Page[TournamentRound]]:
    """List the rounds of a tournament, the latest first, with tables and byes."""
    return Call("GET", _path("tournaments", number, "rounds"), query={"limit": limit})


def tournament_cross_table(number: int) -> Call[Page[CrossRow]]:
    """See who took what from whom in a tournament."""
    return Call("GET", _path("tournaments", number, "cross-table"))


def tournament_bracket(number: int) -> Call[Page[BracketRound]]:
    """See who sits where in each round of a knockout, and goes on; empty for other formats."""
    return Call("GET", _path("tournaments", number, "bracket"))


def tournament_entries(number: int, limit: int | None = None) -> Call[Page[TournamentEntry]]:
    """List who is entered for a tournament, and who has left."""
    return Call("GET", _path("tournaments", number, "entries"), query={"limit": limit})


def create_tournament(title: str, ladder: str, starts_at: str, **more: Any) -> Call[Tournament]:
    """Announce a tournament; ``more`` as the schema has it. Organiser."""
    body = {"title": title, "ladder": ladder, "starts_at": starts_at, **more}
    return Call("POST", "tournaments", body, repeatable=False)


def change_tournament(number: int, **changes: Any) -> Call[Tournament]:
    """Change a tournament that has not begun; ``changes`` as the schema has it. Organiser."""
    return Call("PATCH", _path("tournaments", number), changes)


def cancel_tournament(number: int) -> Call[Tournament]:
    """Call a tournament off that has not begun. Organiser."""
    return Call("POST", _path("tournaments", number, "cancel"))


def enter_tournament(number: int, bot: str) -> Call[TournamentEntry]:
    """Enter a bot for a tournament while entries are open. Owner or that bot."""
    return Call("PUT", _path("tournaments", number, "entries", bot))


def leave_tournament(number: int, bot: str) -> Call[None]:
    """Withdraw a bot from a tournament, also while that runs. Owner or that bot."""
    return Call("DELETE", _path("tournaments", number, "entries", bot), read=_nothing)


def disqualify(number: int, bot: str, reason: str) -> Call[TournamentEntry]:
    """Disqualify a bot from a tournament. Organiser."""
    path = _path("tournaments", number, "entries", bot, "disqualify")
    return Call("POST", path, {"reason": reason})


# -- Matches ---------------------------------------------------------------------------------


def create_match(game: str, rules: str, bots: Iterable[str]) -> Call[Match]:
    """Have an unrated match played between bots of one's own and of the house. Owner."""
    body = {"game": game, "rules": rules, "bots": list(bots)}
    return Call("POST", "matches", body, repeatable=False)


def matches(
    *,
    bot: str | None = None,
    ladder: str | None = None,
    tournament: int | None = None,
    status: str | None = None,
    limit: int | None = None,
) -> Call[Page[Match]]:
    """List matches, the latest first."""
    query = {"bot": bot, "ladder": ladder, "tournament": tournament, "status": status}
    return Call("GET", "matches", query={**query, "limit": limit})


def match(number: int) -> Call[WatchedMatch]:
    """Watch a match: what the public sees of it now."""
    return Call("GET", _path("matches", number))


def record(number: int) -> Call[bytes]:
    """Get the record of a finished match, as `engine.record.read` takes it."""
    return Call("GET", _path("matches", number, "record"), read=_bytes)


def match_log(number: int) -> Call[Page[SeatLog]]:
    """See what one's bots printed in a match, and why they had faults. Owner."""
    return Call("GET", _path("matches", number, "log"))


def match_events(number: int, last_event_id: str | None = None) -> Stream:
    """Follow what a spectator may see of a match."""
    return Stream(_path("matches", number, "events"), last_event_id)


# -- Playing: with a bot token ---------------------------------------------------------------


def turns(wait: float = 0.0) -> Call[list[Turn]]:
    """Get the open turns at once, else when one opens, else none after ``wait`` seconds."""
    if not 0 <= wait <= MAX_WAIT_SECONDS:
        raise ValueError(f"wait is 0 to {MAX_WAIT_SECONDS:.0f} seconds, not {wait}")
    return Call("GET", "turns", query={"wait": f"{wait:g}"}, held=wait)


def turn_stream() -> Stream:
    """Follow the turns: on connecting all that are open, then each as it opens."""
    return Stream("turns/stream")


def move(match: int, turn: int, move: str) -> Call[Accepted]:
    """Make a move. Sent again it gets the same answer."""
    return Call("POST", _path("matches", match, "moves"), {"turn": turn, "move": move})


def moves(moves: Iterable[Move]) -> Call[Verdicts]:
    """Make up to `MAX_MOVES` moves; get a verdict for each, and the turns open then."""
    return Call("POST", "moves", {"moves": list(moves)})
