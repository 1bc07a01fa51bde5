"""Calls on matches, and calls with which a bot plays."""

from collections.abc import Iterable

from bots_sdk import answers
from bots_sdk.call import Call, Stream, read_bytes, url_path
from bots_sdk.pages import Page

MAX_MOVES = 100
"""The largest number of moves in one call of `moves`."""
MAX_WAIT_SECONDS = 30.0
"""The longest wait of one call of `turns`."""


def create_match(game: str, rules: str, bots: Iterable[str]) -> Call[answers.Match]:
    """Start an unrated match between your bots and house bots. Needs an owner token."""
    body = {"game": game, "rules": rules, "bots": list(bots)}
    return Call("POST", "matches", body, creates=True)


def challenge(
    bot: str,
    opponents: Iterable[str],
    *,
    game: str | None = None,
    rules: str | None = None,
) -> Call[answers.ChallengeDetail]:
    """Start a challenge: one unrated block, played at once. Needs an owner token.

    Args:
        bot: one of your bots.
        opponents: the other bots.
        game: None for the game of a ladder that fits.
        rules: a preset of the game; None for that of the ladder.
    """
    body = {"bot": bot, "opponents": list(opponents), "game": game, "rules": rules}
    sent = {key: value for key, value in body.items() if value is not None}
    return Call("POST", "challenges", sent, creates=True)


def challenge_result(number: int) -> Call[answers.ChallengeDetail]:
    """Get a challenge with its matches and its result so far."""
    return Call("GET", url_path("challenges", number))


def challenges(
    *, bot: str | None = None, limit: int | None = None
) -> Call[Page[answers.Challenge]]:
    """List challenges, or those with a bot, the latest first."""
    return Call("GET", "challenges", query={"bot": bot, "limit": limit})


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


def analysis(number: int) -> Call[answers.MatchAnalysis]:
    """Get the analysis of a match, or how far it is."""
    return Call("GET", url_path("matches", number, "analysis"))


def analyse(number: int) -> Call[answers.MatchAnalysis]:
    """Ask for the analysis of a match. Needs an owner token."""
    return Call("POST", url_path("matches", number, "analysis"), creates=True)


def match_log(number: int) -> Call[Page[answers.SeatLog]]:
    """List the faults and the output of your bots in a match. Needs an owner token."""
    return Call("GET", url_path("matches", number, "log"))


def match_events(number: int, last_event_id: str | None = None) -> Stream:
    """Follow a match as spectators see it, from the start or after an event.

    `ServerEvent.events` lists what happened in each phase.
    """
    return Stream(url_path("matches", number, "events"), last_event_id)


def matches_events(numbers: Iterable[int], last_event_id: str | None = None) -> Stream:
    """Follow several matches in one stream, from their start or after an event.

    The stream leaves out matches that do not exist; if none exists, the call is ``not-found``.

    Args:
        numbers: of 1 to 12 matches; the data of each event names its match as ``match``.
        last_event_id: of the last event; it contains the place in each match.
    """
    return Stream("matches/events", last_event_id, {"match": list(numbers)})


def turns(wait: float = 0.0) -> Call[answers.Turns]:
    """Get the open turns. Needs a bot token.

    Args:
        wait: if no turn is open, how many seconds to wait for one, at most `MAX_WAIT_SECONDS`.
            The answer has no turns when the time is over.
    """
    if not 0 <= wait <= MAX_WAIT_SECONDS:
        raise ValueError(f"wait must be 0 to {MAX_WAIT_SECONDS:.0f} seconds, not {wait}")
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
