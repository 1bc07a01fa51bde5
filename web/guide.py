"""The guide of a first match: for each decision, what a player may do and what to think about.

A sentence depends only on the player's own observation, so the guide reveals no hidden card.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.games.twelve_days import TwelveDays

Observation = Mapping[str, Any]
COOKIE = "guide"
"""The cookie of a table whose player wants the guide."""


def advice(seen: Observation) -> str:
    """Return the guide's sentences for a decision: first the legal moves, then advice.

    Args:
        seen: the observation of the player who decides.
    """
    return _ADVICE[seen["phase"]](seen)


def _give(seen: Observation) -> str:
    if seen["day"] == 1:
        return (
            "You may give any card. Your left neighbour gets it before you play. So give a card "
            "that helps them little, such as a high card of which you hold only one."
        )
    if _is_last(seen):
        return (
            "You may give any card. This is the last day, and your hand scores after it. So keep "
            "the ranks of which you hold the most."
        )
    last = seen["history"][-1]
    if last["winner"] is None and _first(seen, lambda day: day["winner"] is None):
        points = sum(last["pot"])
        return (
            "Yesterday every card was cancelled, so nobody won. The winner of today also gets "
            f"the {_points(points)} in the pot. You may give any card."
        )
    twice = [rank for rank, count in Counter(last["plays"]).items() if count > 1]
    if twice and _first(seen, lambda day: len(set(day["plays"])) < len(day["plays"])):
        return (
            f"Yesterday two seats or more played {_name(twice[0])}, so these cards cancelled "
            "each other. You may give any card."
        )
    return "You may give any card. Keep low cards for the late days, which are worth more."


def _play(seen: Observation) -> str:
    got = _name(seen["received"])
    stake = sum(seen["pot"])
    if seen["day"] == 1:
        return (
            f"You received {got}. You may play any card, that one too. The lowest card that "
            f"nobody else plays wins {_points(stake)}; on day 1 a high card costs you little."
        )
    if _is_last(seen):
        return (
            f"The last play: {_points(stake)} for the lowest card that nobody else plays. Keep the "
            "ranks of which you hold the most, because they score right after it."
        )
    if len(seen["pot"]) > 1:
        return (
            f"The pot holds {_points(stake)} from {len(seen['pot'])} days. You may play any card; "
            "this is a day for a low one that others are not likely to play."
        )
    return (
        f"You received {got}. You may play any card: a low one to win {_points(stake)}, or a "
        "high one that you do not need for the count at the end."
    )


def _award(_: Observation) -> str:
    return (
        "You won with a Claus, so you may not keep the points. Award them to the seat that you "
        "fear least."
    )


def _lead(seen: Observation) -> str:
    if len(seen["hand"]) == 1:
        return "Your last card: if nobody plays a card as low or lower, you win the round."
    last = seen["round"] == seen["rounds"] and not seen["history"]
    begin = "This is the last round. " if last else ""
    return (
        f"{begin}You lead, so you may play any single card, set or straight, but you may not pass. "
        "A long set or straight empties your hand quickly. Keep a low card to win the lead back."
    )


def _follow(seen: Observation) -> str:
    moves: Sequence[str] = seen["legal_moves"]
    low = seen["lead_low"]
    lead = next(action["cards"] for action in seen["trick"] if action["cards"])
    if list(moves) == ["pass"]:
        if len(lead) == 1:
            return f"You have no card of {low} or less, so you pass."
        return f"You have no {_kind(lead)} with a lowest card of {low} or less, so you pass."
    answer = f"a {_kind(lead)} whose lowest card is {low} or less"
    begin = f"You may pass, or play {f'a card of {low} or less' if len(lead) == 1 else answer}."
    if any(len(move.split()) - 1 == len(seen["hand"]) for move in moves):
        return (
            f"{begin} You can play your last cards now: if they win the trick, you win the round; "
            "if not, you take them back."
        )
    if not any(
        action["seat"] == seen["seat"] for trick in seen["history"] for action in trick["actions"]
    ):
        return (
            f"{begin} You need not win the trick: each card that you play leaves your hand. The "
            "seat with the lowest card leads next."
        )
    return f"{begin} If you pass, you keep your cards for a trick that suits them."


_ADVICE = {"give": _give, "play": _play, "award": _award, "lead": _lead, "follow": _follow}


def _is_last(seen: Observation) -> bool:
    """Return whether this is the last day."""
    return bool(seen["day"] == TwelveDays.presets[seen["rules"]].days)


def _first(seen: Observation, has: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Return whether exactly one finished day has a property; callers check that of yesterday."""
    return [has(day) for day in seen["history"]].count(True) == 1


def _name(rank: int | None) -> str:
    """Return a card with its article."""
    if rank == 0:
        return "a Claus"
    return f"an {rank}" if rank in (8, 11) else f"a {rank}"


def _kind(lead: Sequence[int]) -> str:
    """Return the kind of a lead of several cards."""
    return "set" if len({*lead}) == 1 else "straight"


def _points(number: int) -> str:
    return f"{number} point{'' if number == 1 else 's'}"
