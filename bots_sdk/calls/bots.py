"""Calls on accounts, tokens, games, bots and their versions."""

from collections.abc import Iterable
from typing import Literal

from bots_sdk import answers
from bots_sdk.call import Call, read_bytes, read_nothing, url_path
from bots_sdk.pages import Page


def create_account(username: str, password: str) -> Call[answers.OwnerToken]:
    """Sign up, and get a first owner token."""
    body = {"username": username, "password": password}
    return Call("POST", "accounts", body, creates=True)


def change_password(
    username: str, password: str, new_password: str, *, revoke_tokens: bool = False
) -> Call[None]:
    """Change the password of an account.

    Args:
        username: of the account.
        password: that works now.
        new_password: that works from now on.
        revoke_tokens: whether the account's owner tokens stop working.
    """
    body = {
        "username": username,
        "password": password,
        "new_password": new_password,
        "revoke_tokens": revoke_tokens,
    }
    return Call("POST", "accounts/password", body, read=read_nothing)


def create_token(
    username: str,
    password: str,
    *,
    name: str | None = None,
    scopes: Iterable[Literal["manage", "read", "organise"]] | None = None,
    expires_at: str | None = None,
) -> Call[answers.OwnerToken]:
    """Sign in, and get another owner token.

    Args:
        username: of the account.
        password: of the account.
        name: by which you recognise the token.
        scopes: of the token; None for all of an owner token.
        expires_at: when it stops working, in ISO 8601; None for never.
    """
    settings = {"name": name, "scopes": scopes and list(scopes), "expires_at": expires_at}
    body = {key: value for key, value in settings.items() if value is not None}
    return Call(
        "POST", "tokens", {"username": username, "password": password, **body}, creates=True
    )


def tokens(limit: int | None = None) -> Call[Page[answers.Token]]:
    """List your tokens and those of your bots, the newest first. Needs an owner token."""
    return Call("GET", "tokens", query={"limit": limit})


def token(number: int) -> Call[answers.Token]:
    """Get a token of yours, without its text. Needs an owner token."""
    return Call("GET", url_path("tokens", number))


def delete_token(number: int) -> Call[None]:
    """Revoke a token of yours. Needs an owner token."""
    return Call("DELETE", url_path("tokens", number), read=read_nothing)


def current_token() -> Call[answers.Token]:
    """Get the token that the client uses, without its text. Needs any token."""
    return Call("GET", "tokens/current")


def revoke_token() -> Call[None]:
    """Revoke the token that the client uses. Needs an owner token."""
    return Call("DELETE", "tokens/current", read=read_nothing)


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
    return Call("POST", "bots", {"name": name, "kind": kind}, creates=True)


def change_bot(
    name: str,
    *,
    new_name: str | None = None,
    paused: bool | None = None,
    description: str | None = None,
    challenges_from: Literal["anyone", "nobody"] | None = None,
    max_challenges_per_day: int | None = None,
) -> Call[answers.Bot]:
    """Change the name and settings of a bot. Needs an owner token.

    Args:
        name: the bot.
        new_name: its name from now on; None to leave it as it is.
        paused: True to pause the bot, False to resume it, None to leave this as it is.
        description: the new description; None to leave it as it is.
        challenges_from: who may challenge the bot; None to leave it as it is.
        max_challenges_per_day: challenges of others in 24 hours; None to leave it as it is.
    """
    changes = {
        "name": new_name,
        "paused": paused,
        "description": description,
        "challenges_from": challenges_from,
        "max_challenges_per_day": max_challenges_per_day,
    }
    body = {key: value for key, value in changes.items() if value is not None}
    return Call("PATCH", url_path("bots", name), body)


def delete_bot(name: str) -> Call[None]:
    """Delete a bot; if it has played, its results stay. Needs an owner token."""
    return Call("DELETE", url_path("bots", name), read=read_nothing)


def bot_records(name: str) -> Call[bytes]:
    """Download the public records of all matches of a bot, one a line."""
    return Call("GET", url_path("bots", name, "matches.ndjson"), read=read_bytes)


def new_bot_token(name: str) -> Call[answers.BotToken]:
    """Get a new token for a bot; the old one stops working. Needs an owner token."""
    return Call("POST", url_path("bots", name, "token"), creates=True)


def upload(
    name: str,
    filename: str,
    source: bytes,
    note: str = "",
    *,
    held: bool = False,
    again: bool = False,
) -> Call[answers.Version]:
    """Upload a version of a hosted bot. Needs an owner token.

    Args:
        name: the bot.
        filename: the name of the file.
        source: a Python file, a zip archive with a ``bot.py``, or a WebAssembly module.
        note: your note about this version.
        held: whether the version becomes current only when you promote it.
        again: whether the file may be the same as the current version's.
    """
    return Call(
        "POST",
        url_path("bots", name, "versions"),
        {"note": note, "held": str(held).lower(), "again": str(again).lower()},
        files={"source": (filename, source)},
        creates=True,
    )


def versions(name: str, limit: int | None = None) -> Call[Page[answers.Version]]:
    """List the versions of a bot, the newest first."""
    return Call("GET", url_path("bots", name, "versions"), query={"limit": limit})


def version(name: str, number: int) -> Call[answers.Version]:
    """Get a version of a bot."""
    return Call("GET", url_path("bots", name, "versions", number))


def change_version(name: str, number: int, note: str) -> Call[answers.Version]:
    """Change your note about a version. Needs an owner token."""
    return Call("PATCH", url_path("bots", name, "versions", number), {"note": note})


def withdraw_version(name: str, number: int) -> Call[answers.Version]:
    """Withdraw a version during its check; it never plays. Needs an owner token."""
    return Call("POST", url_path("bots", name, "versions", number, "withdraw"))


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
    return Call("POST", url_path("bots", name, "comparisons"), body, creates=True)


def comparisons(name: str, limit: int | None = None) -> Call[Page[answers.Comparison]]:
    """List the comparisons of a bot's versions, the latest first."""
    return Call("GET", url_path("bots", name, "comparisons"), query={"limit": limit})


def comparison(number: int) -> Call[answers.ComparisonDetail]:
    """Get a comparison with its progress."""
    return Call("GET", url_path("comparisons", number))


def cancel_comparison(number: int) -> Call[answers.Comparison]:
    """Cancel a comparison. Needs an owner token."""
    return Call("POST", url_path("comparisons", number, "cancel"))
