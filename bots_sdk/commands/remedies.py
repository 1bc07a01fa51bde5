"""What a person can do after an error of a league: the command for the right address."""

import os
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from bots_sdk.errors import ProblemError, UnreachableError
from bots_sdk.nearby import USUAL, is_here, running_league

_WAITS = ("is still being checked", "is held")
"""Parts of the detail of ``no-version`` if a version is there, but can't play yet."""
_OTHER_GAMES = "declares that it plays"
"""A part of the detail of ``not-qualified`` if the bot's file does not declare the game."""


def after_silence(error: UnreachableError) -> str:
    """Return what to do if a league does not answer."""
    running = running_league()
    if os.environ.get("TWELFTH_NIGHT_URL", "").rstrip("/") == error.url:
        change = "The variable TWELFTH_NIGHT_URL sets this address."
        if running and running != error.url:
            return f"{change} A league runs here: `export TWELFTH_NIGHT_URL={running}`."
        if is_here(error.url):
            return f"{change} If the league is yours, start it with {_make_up(error.url)}."
        return f"{change} Check it, and that the league is running."
    if running and running != error.url:
        return f"A league runs here at {running}: `twelfth-night login {running}`."
    if is_here(error.url):
        return (
            f"If the league is yours, start it with {_make_up(error.url)}. If it has another port, "
            "log in there: `twelfth-night login http://127.0.0.1:PORT`."
        )
    return "Check the address, and that the league is running."


def _make_up(url: str) -> str:
    """Return the command that starts a league at an address of this machine."""
    is_usual = urlsplit(url).port == urlsplit(USUAL).port
    return "`make up`" if is_usual else f"`make up PORT={urlsplit(url).port or 80}`"


def after_problem(error: ProblemError) -> str:
    """Return what to do after a problem; empty if its detail names the remedy already."""
    if error.remedy:
        return error.remedy
    if error.code in _BY_CODE:
        return _BY_CODE[error.code](error)
    for pattern, remedy in _BY_TEXT:
        if found := pattern.search(str(error)):
            return remedy.format(found[1], url=error.url)
    return ""


def _token(error: ProblemError) -> str:
    if os.environ.get("TWELFTH_NIGHT_TOKEN"):
        return (
            "The variable TWELFTH_NIGHT_TOKEN sets this token. To use the saved token, run "
            "`unset TWELFTH_NIGHT_TOKEN`."
        )
    return (
        f"`twelfth-night login {error.url}` gets a new owner token, "
        "`twelfth-night bot token NAME` a new bot token."
    )


def _elsewhere(url: str) -> str:
    """Return where a league is if something else answers at an address."""
    parts = urlsplit(url)
    if parts.path.strip("/"):  # copied from a page of the league
        root = f"{parts.scheme}://{parts.netloc}"
        return f"Try the address without {parts.path}: `twelfth-night login {root}`."
    running = running_league()
    if running and running != url:
        return f"A league runs here at {running}: `twelfth-night login {running}`."
    if running:
        return "This is the address of the league that runs here, so try again in a few seconds."
    if is_here(url):
        return (
            "No league of this checkout runs here. `make up` starts one and prints its address; "
            "then log in there: `twelfth-night login ADDRESS`."
        )
    return (
        "Open the league's home page in a browser and log in with its address: `twelfth-night "
        "login ADDRESS`."
    )


_BY_CODE: dict[str, Callable[[ProblemError], str]] = {
    "invalid-token": _token,
    "not-authenticated": lambda error: f"`twelfth-night login {error.url}` gets a token.",
    "bot-token-needed": lambda _: "Unset TWELFTH_NIGHT_TOKEN, or set it to the bot's token.",
    "owner-token-needed": lambda _: "Unset TWELFTH_NIGHT_TOKEN, or set it to an owner token.",
    "scope-needed": lambda error: (
        f"`twelfth-night login {error.url}` gets a token with all scopes."
    ),
    "wrong-credentials": lambda error: (
        f"Check both. `twelfth-night login {error.url} --sign-up` creates an account."
    ),
    "not-your-bot": lambda _: (
        "`twelfth-night status` lists the bots whose tokens are saved on this machine."
    ),
    "unexpected-answer": lambda error: _elsewhere(error.url),
    "no-version": lambda error: (
        ""  # The detail has the remedy.
        if any(each in str(error) for each in _WAITS)
        else "`twelfth-night upload FILE --bot NAME` uploads one."
    ),
    "same-file": lambda _: "Use --again to upload it anyway.",
    "not-qualified": lambda error: (
        ""  # The detail has the remedy.
        if _OTHER_GAMES in str(error)
        else "`twelfth-night check FILE` shows here what would fail."
    ),
}
"""Remedies by the code of the problem."""

_BY_TEXT = [
    (
        # Nobody creates a bot to challenge it.
        re.compile(r"(?<!opponents: )There is no bot ([a-z0-9-]+)"),
        "`twelfth-night bot create {0}` creates a remote bot, `twelfth-night upload FILE --bot "
        "{0}` a hosted one.",
    ),
    (re.compile(r"There is no (ladder) "), "`twelfth-night ladder` lists the ladders."),
    (
        re.compile(r"^Match (\d+) is \w+; it has no record yet"),
        "`twelfth-night watch {0}` follows it to its end.",
    ),
    (re.compile(r"There is no (match) "), "The latest matches are listed at {url}/matches/."),
    (
        re.compile(r"The name ([a-z0-9-]+) is taken by your own remote bot"),
        "`twelfth-night bot token {0}` gets a new token for it; with --print-token it prints the "
        "token.",
    ),
    (
        re.compile(r"The name ([a-z0-9-]+) is taken by your own hosted bot"),
        "`twelfth-night upload FILE --bot {0}` uploads a version of it.",
    ),
    (
        re.compile(r"The username (\S+) is taken"),
        "If the account is yours, leave out --sign-up: `twelfth-night login {url} --username {0}`.",
    ),
]
"""Remedies by a part of the detail, where one code stands for several mistakes."""
