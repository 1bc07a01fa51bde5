"""Calls on tournaments."""

from typing import Literal, Unpack

from bots_sdk import answers
from bots_sdk.call import Call, read_bytes, read_nothing, url_path
from bots_sdk.pages import Page


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


def tournament_export(number: int, *, format: Literal["ndjson", "csv"] = "ndjson") -> Call[bytes]:
    """Download a tournament: its rounds and records as JSON Lines, or its standings as CSV."""
    path = url_path("tournaments", number, "export")
    return Call("GET", path, query={"format": format}, read=read_bytes)


def create_tournament(**settings: Unpack[answers.NewTournament]) -> Call[answers.Tournament]:
    """Announce a tournament. Needs an organiser's owner token."""
    return Call("POST", "tournaments", settings, creates=True)


def change_tournament(
    number: int, **changes: Unpack[answers.TournamentChanges]
) -> Call[answers.Tournament]:
    """Change a tournament that has not begun. Needs an organiser's owner token."""
    return Call("PATCH", url_path("tournaments", number), changes)


def preview_cancellation(number: int) -> Call[answers.Preview]:
    """Preview a cancellation, or taking it back. Needs an organiser's owner token."""
    return Call("GET", url_path("tournaments", number, "cancel"))


def cancel_tournament(
    number: int, *, reason: str | None = None, seen: str | None = None
) -> Call[answers.Tournament]:
    """Cancel a tournament that is not over. Needs an organiser's owner token.

    Args:
        number: the tournament.
        reason: why; it is public.
        seen: the preview's `seen`. If the state has changed since, the league refuses the call.
    """
    sent = {"reason": reason, "seen": seen}
    body = {name: value for name, value in sent.items() if value is not None}
    return Call("POST", url_path("tournaments", number, "cancel"), body or None)


def restore_tournament(
    number: int,
    *,
    reason: str | None = None,
    starts_at: str | None = None,
    seen: str | None = None,
) -> Call[answers.Tournament]:
    """Take a cancellation back. Needs an organiser's owner token.

    Args:
        number: the tournament.
        reason: why; the moderation log keeps it.
        starts_at: the new start in ISO 8601, if the planned one has passed.
        seen: as in `cancel_tournament`.
    """
    query = {"reason": reason, "starts_at": starts_at, "seen": seen}
    return Call("DELETE", url_path("tournaments", number, "cancel"), query=query)


def enter_tournament(number: int, bot: str) -> Call[answers.TournamentEntry]:
    """Enter a bot while entries are open. Needs an owner token or the bot's token."""
    return Call("PUT", url_path("tournaments", number, "entries", bot))


def leave_tournament(number: int, bot: str) -> Call[None]:
    """Withdraw a bot at any time before the end. Needs an owner token or the bot's token."""
    return Call("DELETE", url_path("tournaments", number, "entries", bot), read=read_nothing)


def disqualify(
    number: int, bot: str, reason: str, *, seen: str | None = None
) -> Call[answers.TournamentEntry]:
    """Disqualify a bot, also after the end. Needs an organiser's owner token.

    Args:
        number: the tournament.
        bot: its name.
        reason: why; it is public.
        seen: as in `cancel_tournament`.
    """
    path = url_path("tournaments", number, "entries", bot, "disqualify")
    body = {"reason": reason} if seen is None else {"reason": reason, "seen": seen}
    return Call("POST", path, body)


def preview_disqualification(number: int, bot: str) -> Call[answers.Preview]:
    """Preview a disqualification, or taking it back. Needs an organiser's owner token."""
    return Call("GET", url_path("tournaments", number, "entries", bot, "disqualify"))


def reinstate(
    number: int, bot: str, *, reason: str | None = None, seen: str | None = None
) -> Call[answers.TournamentEntry]:
    """Take a disqualification back; `seen` as in `disqualify`. Needs an organiser's owner token."""
    path = url_path("tournaments", number, "entries", bot, "disqualify")
    return Call("DELETE", path, query={"reason": reason, "seen": seen})
