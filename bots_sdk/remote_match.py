"""What the remote runner knows of a match in play."""

from dataclasses import dataclass, field

from bots_sdk.answers import MatchMove
from bots_sdk.deciding import MatchPlayer

MIN_CHECK_SECONDS = 2.0
"""The wait before the first check whether a match is over."""


@dataclass(slots=True)
class RemoteMatch:
    """A match in play.

    Attributes:
        id: the id of the match.
        player: the bot in the match.
        turn: the number of the newest turn.
        answered_at: the time of the league's verdict on the move in that turn; None while the turn
            is in hand.
        last_move: the last move with a verdict.
        check_at: the time of the next check whether the match is over.
        check_seconds: the wait after that check.
    """

    id: int
    player: MatchPlayer = field(default_factory=MatchPlayer)
    turn: int = -1
    answered_at: float | None = 0.0
    last_move: MatchMove | None = None
    check_at: float = 0.0
    check_seconds: float = MIN_CHECK_SECONDS
