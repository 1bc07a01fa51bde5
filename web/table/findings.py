"""The findings of an analysis: the decisions that lost most, each with the better move."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.analysis import Analysis, Decision
from engine.analysis.results import BLUNDER, MISTAKE
from engine.sentences import move_in_words
from web.table.verdicts import in_places, ranks

_MOST = 3
_LEAST_CHANGE = 5
"""A change of a chance by fewer percentage points is not shown."""
_ALIVE = 0.05
"""The headline leaves out a seat whose chance was smaller before its mistake."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake or blunder.

    Attributes:
        number: from 1, as `findings_of` orders them.
        mark: of the decision.
        seat: of the bot.
        name: of the bot.
        when: name of the step, such as ``day 3``.
        query: of the link to the moment in the replay.
        ply: number of moves up to the end of its phase.
        phase: index of its phase, from 1; 0 is the deal.
        said: what it cost: the fall of the chance if no other seat decided at the same time, else
            the places.
        change: the fall of the chance if other seats decided at the same time; "" if it was small.
        move: that was made, in words.
        cards: its ranks.
        best: the best move, in words.
        better: the ranks of its cards.
        by_referee: whether the referee made the move.
    """

    number: int
    mark: str
    seat: int
    name: str
    when: str
    query: str
    ply: int
    phase: int
    said: str
    change: str
    move: str
    cards: list[int]
    best: str
    better: list[int]
    by_referee: bool


def findings_of(
    found: Analysis,
    steps: Sequence[tuple[int, str]],
    names: Sequence[str],
    most: int = _MOST,
) -> list[Finding]:
    """Return the mistakes and blunders that lost most.

    First come those after which the seat's chance fell, then the others of a seat that could still
    win, then the rest. Within each group, the largest loss is first.

    Args:
        found: the analysis of the match.
        steps: number and name of the step of each ply.
        names: of the players, by seat.
        most: at most so many.
    """
    faults = [each for each in found.decisions if each.mark in (MISTAKE, BLUNDER)]
    faults.sort(key=lambda each: (_group(found, each), -each.loss, each.ply))
    return [
        _finding(number, each, found, steps, names) for number, each in enumerate(faults[:most], 1)
    ]


def headline_of(found: Analysis, findings: Sequence[Finding]) -> str:
    """Return what happened in a match by its worst decision, such as ``ada blunders in round 3``.

    Args:
        found: the analysis of the match.
        findings: its decisions that lost most, as `findings_of` returns them.
    """
    if not findings:
        return "No bot makes a mistake"
    worst = findings[0]
    when = at_step(worst.when.partition(",")[0])
    before, after = _chances_around(found, worst)
    results = [each.result for each in found.totals]
    if before > 0.5 > after and results[worst.seat] < max(results):
        return f"{worst.name} throws the win away {when}"
    if worst.mark == BLUNDER:
        return f"{worst.name} blunders {when}"
    return f"{worst.name} makes a mistake {when}"


def at_step(when: str) -> str:
    """Return the name of a step with its preposition: "on day 3", "in round 1, trick 2"."""
    return f"{'on' if when.startswith('day') else 'in'} {when}"


def change_of(found: Analysis, findings: Sequence[Finding]) -> str:
    """Return what the worst decision's step did to the chance of its seat; "" if it hardly fell.

    Args:
        found: the analysis of the match.
        findings: its decisions that lost most, as `findings_of` returns them.
    """
    if not findings:
        return ""
    worst = findings[0]
    around = _chances_around(found, worst)
    return f"{_falls(f'{worst.name}’s', *around)}." if _fall(*around) >= _LEAST_CHANGE else ""


def _falls(whose: str, before: float, after: float) -> str:
    return f"{whose} chance falls from {100 * before:.0f} to {100 * after:.0f}\N{NO-BREAK SPACE}%"


def _group(found: Analysis, decision: Decision) -> int:
    """Return 0 if the seat's chance fell with a decision, 1 if it could still win, else 2."""
    around = _chances(found, _phase_of(found, decision), decision.seat)
    if around[0] < _ALIVE:
        return 2
    return 0 if _fall(*around) >= _LEAST_CHANGE else 1


def _phase_of(found: Analysis, decision: Decision) -> int:
    """Return the index of a decision's phase, from 1."""
    return next(at for at, each in enumerate(found.chances) if each.ply > decision.ply)


def _fall(before: float, after: float) -> float:
    """Return by how many percentage points a chance fell."""
    return 100 * (before - after)


def _chances_around(found: Analysis, finding: Finding) -> tuple[float, float]:
    """Return the chance of a decision's seat before the phase of the decision, and after it."""
    return _chances(found, finding.phase, finding.seat)


def _chances(found: Analysis, phase: int, seat: int) -> tuple[float, float]:
    before, after = found.chances[phase - 1 : phase + 1]
    return before.seats[seat], after.after_moves[seat]


def _finding(
    number: int,
    decision: Decision,
    found: Analysis,
    steps: Sequence[tuple[int, str]],
    names: Sequence[str],
) -> Finding:
    phase = _phase_of(found, decision)
    after = found.chances[phase]
    step, when = steps[decision.ply]
    name, begins_at = names[decision.seat], found.chances[phase - 1].ply
    is_alone = sum(begins_at <= each.ply < after.ply for each in found.decisions) == 1
    around = _chances(found, phase, decision.seat)
    lost = in_places(decision.loss, len(names))
    said, change = f"{name} ends {lost} lower on average", ""
    if is_alone and _fall(*around) >= 1:
        said = _falls(f"{name}’s", *around)
    elif _fall(*around) >= _LEAST_CHANGE:
        change = f"After the moves of all seats, {_falls('its', *around)}."
    return Finding(
        number=number,
        mark=decision.mark,
        seat=decision.seat,
        name=name,
        when=when,
        query=f"step={step}&ply={after.ply}",
        ply=after.ply,
        phase=phase,
        said=said,
        change=change,
        move=move_in_words(decision.move, names),
        cards=ranks(decision.move),
        best=move_in_words(decision.best, names),
        better=ranks(decision.best),
        by_referee=decision.fault is not None,
    )
