"""The turning points of a match: the moments that changed a chance most, each with its cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.analysis import Analysis, Decision
from engine.analysis.results import MISTAKE_LOSS
from engine.games.twelve_days import TwelveDays
from web.table.verdicts import Verdict

_MOST = 6
_LEAST = 0.08
"""A turning point changes the chance of a seat by this or more; its error is about 0.03."""
_VERBS = {"give": ("gives", "giving"), "play": ("plays", "playing"), "pass": ("passes", "passing")}
_AWARD = "award"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turning point: moves or new cards that changed the chance of a seat a lot.

    Attributes:
        verdict: of the phase.
        step: number of the step of the replay that shows it.
        query: of the link to it.
        label: of the link to it, such as ``Day 3``, or ``Start of day 4`` for new cards.
        seat: the seat whose chance changed most.
        is_luck: whether new cards changed it, not moves.
        mark: of the decision that changed it, if this is a fault; else "".
        cause: what changed it, in words.
        change: the change in words, without the chances.
        before: the chance of the seat before, in percent.
        after: the chance of the seat after it, in percent.
        is_unseen: whether the chance fell after the seat's own move, which was no fault: hidden
            cards decided.
    """

    verdict: Verdict
    step: int
    query: str
    label: str
    seat: int
    is_luck: bool
    mark: str
    cause: str
    change: str
    before: float
    after: float
    is_unseen: bool = False

    @property
    def rises(self) -> bool:
        """Whether the chance grew."""
        return self.after > self.before


def turns_of(
    found: Analysis,
    verdicts: Sequence[Verdict],
    names: Sequence[str],
    steps: Sequence[tuple[int, str]],
    game: str,
) -> list[Turn]:
    """Return the turning points of a match, in order: the largest changes of a chance.

    Args:
        found: the analysis of the match.
        verdicts: on its phases.
        names: of the players, by seat.
        steps: number and name of the step of each ply.
        game: by name.
    """
    changes: list[Turn] = []
    for (before, after), verdict in zip(pairwise(found.chances), verdicts, strict=True):
        moved = after.after_moves
        seat = _most_changed(before.seats, moved, after.decider)
        if abs(moved[seat] - before.seats[seat]) >= _LEAST:
            changes.append(
                _by_moves(found, verdict, after.decider, seat, before.seats, moved, names)
            )
        seat = _most_changed(moved, after.seats)
        if abs(after.seats[seat] - moved[seat]) >= _LEAST:
            # The replay shows new cards with the step that they begin.
            is_end = after.ply == len(steps)
            step, begun = (steps[-1][0] + 1, "") if is_end else steps[after.ply]
            is_days = game == TwelveDays.game
            cause = "The cards drawn (luck)" if is_days else "The new deal (luck)"
            changes.append(
                Turn(
                    verdict,
                    step,
                    f"step={step}&cards={verdict.ply}",
                    "The end" if is_end else f"Start of {begun.split(',')[0]}",
                    seat,
                    True,
                    "",
                    cause,
                    f"{names[seat]}’s chance",
                    100 * moved[seat],
                    100 * after.seats[seat],
                )
            )
    largest = sorted(changes, key=lambda each: -abs(each.after - each.before))[:_MOST]
    return sorted(largest, key=lambda each: (each.verdict.ply, each.is_luck))


def _by_moves(
    found: Analysis,
    verdict: Verdict,
    decider: int | None,
    seat: int,
    before: Sequence[float],
    after: Sequence[float],
    names: Sequence[str],
) -> Turn:
    """Return the turning point of a phase whose moves changed the chance of a seat."""
    plies = range(verdict.begins_at, verdict.ply)
    made = [each for each in found.decisions if each.ply in plies and each.seat == decider]
    falls = after[seat] < before[seat]
    mark, cause = "", "The moves of all seats together"
    if made:
        # Only a fault that explains the change: its own chance fell, or that of another seat rose.
        is_fault = made[0] in verdict.faults and (decider == seat) == falls
        mark = made[0].mark if is_fault else ""
        cause = f"{names[made[0].seat]} {_does(made[0], names, instead=is_fault)}"
    own = bool(made) and decider == seat
    return Turn(
        verdict,
        verdict.step,
        f"step={verdict.step}&ply={verdict.ply}",
        verdict.when.capitalize(),
        seat,
        False,
        mark,
        cause,
        "its chance" if own else f"{names[seat]}’s chance",
        100 * before[seat],
        100 * after[seat],
        own and falls and made[0].loss < MISTAKE_LOSS,
    )


def _most_changed(
    before: Sequence[float], after: Sequence[float], decider: int | None = None
) -> int:
    """Return the seat whose chance changed most; with two seats, the one that decided."""

    def change(seat: int) -> tuple[float, bool]:
        return round(abs(after[seat] - before[seat]), 4), seat == decider

    return max(range(len(before)), key=change)


def _does(decision: Decision, names: Sequence[str], *, instead: bool) -> str:
    """Return a move in words, such as ``gives 7 instead of 3``."""
    verb, cards = _parts(decision.move, names)
    other, better = _parts(decision.best, names)
    if verb == _AWARD:
        does = f"awards the day cards to {cards}"
        return f"{does} instead of {better}" if instead else does
    does = f"{_VERBS[verb][0]} {cards}".strip()
    if not instead:
        return does
    better = better if other == verb else f"{_VERBS[other][1]} {better}".strip()
    return f"{does} instead of {better}"


def _parts(move: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the verb of a move, and its cards or the name of the receiver."""
    verb, _, rest = move.partition(" ")
    if verb == _AWARD:
        return verb, names[int(rest)]
    return verb, "a Claus" if rest == "0" else rest
