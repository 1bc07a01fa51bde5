"""The failures at a league that a check imitates, each with the remedy for a bot that fails."""

from dataclasses import dataclass

from bots_sdk.checking.players import CheckedBot, RepeatedBot, RestartedBot, SkippedBot


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure at the league that the check imitates.

    Attributes:
        player: imitates the failure.
        name: the name of the failure.
        passed: the text of the finding if the bot makes no faults.
        remedy: what to do if it makes faults.
    """

    player: type[CheckedBot]
    name: str
    passed: str
    remedy: str


FAILURES = (
    Failure(
        RestartedBot,
        "restart",
        "continues after its process is killed and restarted in the middle of a match",
        "After a crash or a timeout the league restarts a bot in the middle of a match, and all "
        "its variables are lost. Read the past from observation['history'] instead.",
    ),
    Failure(
        RepeatedBot,
        "same observation twice",
        "returns a legal move if it gets the same observation again",
        "After a lost connection the bot gets the same observation again. So compute the move from "
        "the observation alone, and do not count calls.",
    ),
    Failure(
        SkippedBot,
        "move by the referee",
        "continues after the referee (the program that runs the match) has played a move for it",
        "If a bot is out of time, the referee plays a move for it, and the bot gets no notice. So "
        "read your past moves from the observation, and do not store them yourself.",
    ),
)
