"""Calls of organisers: quarantines, blocks, and the moderation log."""

from typing import Literal, Unpack

from bots_sdk import answers
from bots_sdk.call import Call, read_bytes, read_nothing, url_path
from bots_sdk.pages import Page


def quarantines(limit: int | None = None) -> Call[Page[answers.Quarantine]]:
    """List the quarantines that hold now, the newest first. Needs an organiser's owner token."""
    return Call("GET", "quarantines", query={"limit": limit})


def bot_quarantine(bot: str) -> Call[answers.Quarantine]:
    """Get the quarantine of a bot or of its account. Needs its owner's or an organiser's token."""
    return Call("GET", url_path("bots", bot, "quarantine"))


def quarantine_bot(bot: str, **settings: Unpack[answers.NewQuarantine]) -> Call[answers.Quarantine]:
    """Put a bot in quarantine, or change its quarantine. Needs an organiser's owner token."""
    return Call("POST", url_path("bots", bot, "quarantine"), settings, creates=True)


def lift_bot_quarantine(bot: str, *, reason: str | None = None) -> Call[None]:
    """Lift the quarantine of a bot; that of its account stays. Needs an organiser's owner token."""
    path = url_path("bots", bot, "quarantine")
    return Call("DELETE", path, query={"reason": reason}, read=read_nothing)


def account_quarantine(username: str) -> Call[answers.Quarantine]:
    """Get the quarantine of an account. Needs an organiser's owner token."""
    return Call("GET", url_path("accounts", username, "quarantine"))


def quarantine_account(
    username: str, **settings: Unpack[answers.NewQuarantine]
) -> Call[answers.Quarantine]:
    """Put an account in quarantine: all its bots. Needs an organiser's owner token."""
    return Call("POST", url_path("accounts", username, "quarantine"), settings, creates=True)


def lift_account_quarantine(username: str, *, reason: str | None = None) -> Call[None]:
    """Lift the quarantine of an account; those of bots stay. Needs an organiser's owner token."""
    path = url_path("accounts", username, "quarantine")
    return Call("DELETE", path, query={"reason": reason}, read=read_nothing)


def blocks(slug: str, round: int, limit: int | None = None) -> Call[Page[answers.Block]]:
    """List the blocks of a round of a ladder by number."""
    return Call("GET", _blocks(slug, round), query={"limit": limit})


def block(slug: str, round: int, number: int) -> Call[answers.Block]:
    """Get a block with its state, and the reason if it is void."""
    return Call("GET", _blocks(slug, round, number))


def preview_void(slug: str, round: int, number: int) -> Call[answers.Preview]:
    """Preview making a block void, or letting it count again. Needs an organiser's owner token."""
    return Call("GET", _blocks(slug, round, number, "void"))


def void_block(
    slug: str, round: int, number: int, reason: str, *, seen: str | None = None
) -> Call[answers.Block]:
    """Make a block void: it rates no bot. Needs an organiser's owner token.

    Args:
        slug: of the ladder.
        round: number of the round.
        number: of the block.
        reason: why; it is public.
        seen: the preview's `seen`. If the state has changed since, the league refuses the call.
    """
    body = {"reason": reason} if seen is None else {"reason": reason, "seen": seen}
    return Call("POST", _blocks(slug, round, number, "void"), body)


def restore_block(
    slug: str, round: int, number: int, *, reason: str | None = None, seen: str | None = None
) -> Call[answers.Block]:
    """Have a void block count again, as `void_block`. Needs an organiser's owner token."""
    path = _blocks(slug, round, number, "void")
    return Call("DELETE", path, query={"reason": reason, "seen": seen})


def preview_replay(
    slug: str, round: int, number: int, *, later_stages: Literal["keep", "again"] | None = None
) -> Call[answers.Preview]:
    """Preview the changes before a block is played again. Needs an organiser's owner token."""
    path = _blocks(slug, round, number, "replay")
    return Call("GET", path, query={"later_stages": later_stages})


def replay_block(
    slug: str, round: int, number: int, **decision: Unpack[answers.Replay]
) -> Call[answers.Block]:
    """Make a block void, and have its bots play it again. Needs an organiser's owner token."""
    return Call("POST", _blocks(slug, round, number, "replay"), decision, creates=True)


def moderation_log(
    *, action: str | None = None, q: str | None = None, limit: int | None = None
) -> Call[Page[answers.ModerationEntry]]:
    """List the decisions of organisers, the newest first. Needs an organiser's owner token.

    Args:
        action: list only rows of this action, such as `quarantine`.
        q: list only rows with this text in the subject, the reason or the organiser's name.
        limit: the number of rows on a page.
    """
    return Call("GET", "moderation-log", query={"action": action, "q": q, "limit": limit})


def moderation_log_export(*, format: Literal["ndjson", "csv"] = "ndjson") -> Call[bytes]:
    """Download the whole moderation log as a file. Needs an organiser's owner token."""
    return Call("GET", "moderation-log/export", query={"format": format}, read=read_bytes)


def _blocks(slug: str, round: int, *rest: str | int) -> str:
    return url_path("ladders", slug, "rounds", round, "blocks", *rest)
