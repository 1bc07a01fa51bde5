"""Hints for players: what a house bot would play with this observation, and why in a sentence.

The bot is `bots_sdk.reference.counting_bot`, which counts the unseen cards. It sees nothing but the
player's own observation, and takes a few milliseconds.
"""

from typing import Any, NamedTuple

from bots_sdk.reference import counting_bot
from engine.games.twelve_days_presets import PRESETS

Observation = dict[str, Any]


class Hint(NamedTuple):
    """A move that the bot would make.

    Attributes:
        bot: name of the house bot.
        move: as in ``legal_moves``.
        why: a sentence on the bot's reason.
    """

    bot: str
    move: str
    why: str


def hint(observation: Observation) -> Hint:
    """Return what house-counting would do in a decision.

    Args:
        observation: of the seat that is to move, with its ``legal_moves``.
    """
    move = counting_bot.choose(observation, "hint")
    reasons = {"give": _give, "play": _play, "award": _award, "lead": _lead, "follow": _follow}
    why = reasons[observation["phase"]](observation, counting_bot.numbers(move))
    return Hint("house-counting", move, why)


def _chance(observation: Observation, rank: int) -> float:
    """Return the chance that a card of a rank wins today, as the bot counts it."""
    days = 8 if "eight-nights" in observation["rules"] else 12
    unseen, shares = counting_bot.cards_out(observation, days)
    return counting_bot.win_chances(unseen, shares, observation["seats"] - 1)[rank]


def _give(observation: Observation, numbers: list[int]) -> str:
    [rank] = numbers
    held = observation["hand"].count(rank)
    wins = _percent(_chance(observation, rank))
    if rank == 0:
        return (
            "A Claus never scores at the end. If you played this card today, it would win in about "
            f"{wins} of cases{_for_others(observation)}."
        )
    score = (
        "one card rarely scores at the end"
        if held == 1
        else f"you keep {held - 1}, which may still score at the end"
    )
    return (
        f"You hold {held} of this rank: {score}. If you played this card today, it would win in "
        f"about {wins} of cases."
    )


def _play(observation: Observation, numbers: list[int]) -> str:
    [rank] = numbers
    points, held = sum(observation["pot"]), observation["hand"].count(rank)
    wins = _percent(_chance(observation, rank))
    stake = f"{points} point{'' if points == 1 else 's'}"
    if rank == 0:
        return (
            f"It wins {stake} in about {wins} of cases{_for_others(observation)}. A Claus never "
            "scores at the end."
        )
    return (
        f"It wins {stake} in about {wins} of cases, and costs you one of {held} cards of its rank."
    )


def _for_others(observation: Observation) -> str:
    """Return what a seat must do after it wins with a Claus."""
    awards = PRESETS[observation["rules"]].claus == "award"
    return ", but you must then award the points to another seat" if awards else ""


def _award(observation: Observation, numbers: list[int]) -> str:
    points = [sum(cards) for cards in observation["day_cards"]]
    has = f"This seat has {points[numbers[0]]} points so far"
    opponents = [counting_bot.numbers(move)[0] for move in observation["legal_moves"]]
    # The bot decides by lot between seats with about the same number of points.
    if points[numbers[0]] > min(points[seat] for seat in opponents):
        return f"{has}, hardly more than the opponent with the fewest."
    return f"{has}, the fewest of all opponents, so it threatens you least."


def _lead(observation: Observation, numbers: list[int]) -> str:
    left = len(observation["hand"]) - len(numbers)
    if not left:
        return "It empties your hand: you win the round if no other seat wins the trick."
    stay = "1 stays" if left == 1 else f"{left} stay"
    return f"{_shed(numbers)} at once, and {stay} in your hand. Many cards are hard to beat."


def _follow(observation: Observation, numbers: list[int]) -> str:
    if not numbers:
        plays = [counting_bot.numbers(move) for move in observation["legal_moves"]]
        if all(len(cards) in (0, len(observation["hand"])) for cards in plays):
            return (
                "You could only play your last cards, and you take them back if another seat wins "
                "the trick."
            )
        return "Each play would cost a card that is worth more later, for example in a straight."
    lows = [action["cards"][-1] for action in observation["trick"] if action["cards"]]
    if numbers[-1] <= min(lows):
        return f"{_shed(numbers)}, and {numbers[-1]} is the lowest card so far, so you may win."
    return (
        f"{_shed(numbers)}. This play can't win the trick, because {min(lows)} is the lowest card "
        "so far. But the fewer cards you hold, the better."
    )


def _shed(numbers: list[int]) -> str:
    count = len(numbers)
    return f"You get rid of {count} card{'' if count == 1 else 's'}"


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %"
