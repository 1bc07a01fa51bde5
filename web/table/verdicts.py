"""The analysis of a match beside its table: verdicts by phase, and the chances."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from engine.analysis import MARKS, Analysis, Decision
from engine.analysis.results import BEST, BLUNDER, MISTAKE, Chance, places
from engine.sentences import move_in_words

WIDTH, HEIGHT = 1000, 100
"""Size of the picture of the chances; 0 % is at the bottom."""
_TENTH = 0.095
_AWARD = "award "
_PARTICIPLES = {
    "give": "given",
    "play": "played",
    "award": "awarded",
    "lead": "led",
    "pass": "passed",
}
_ORDER = ("", *MARKS)
"""Marks, the worst last; "" if no seat had a choice."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of the analysis on one phase of a match.

    Attributes:
        begins_at: ply of its first move.
        ply: number of moves up to its end.
        step: number of its step in the replay, from 1.
        when: name of that step, such as ``day 3``.
        mark: the worst mark of its decisions; "" if no seat had a choice.
        text: the verdict in words.
        chances: of each seat after it, in percent.
        moved: the same before the new cards of the phase; None if no cards came.
        faults: its mistakes and blunders, the worst first.
    """

    begins_at: int
    ply: int
    step: int
    when: str
    mark: str
    text: str
    chances: list[float]
    moved: list[float] | None
    faults: list[Decision]

    @property
    def is_fault(self) -> bool:
        """Whether a seat made a mistake or a blunder."""
        return self.mark in (MISTAKE, BLUNDER)


@dataclass(frozen=True, slots=True)
class StepChances:
    """The chances after a step, for the table of chances.

    Attributes:
        step: its number.
        when: its name.
        chances: of each seat, in percent.
        fault: the verdict on the phase with its worst mistake or blunder; None without one.
        blamed: name of the bot and mark of each mistake and blunder in it, the worst first.
    """

    step: int
    when: str
    chances: list[float]
    fault: Verdict | None
    blamed: list[tuple[str, str]]


def verdicts_of(
    found: Analysis, steps: Sequence[tuple[int, str]], names: Sequence[str]
) -> list[Verdict]:
    """Return the verdict on each phase of a match.

    Args:
        found: the analysis of the match.
        steps: number and name of the step of each ply.
        names: of the players, by seat.
    """
    verdicts = []
    for before, after in pairwise(found.chances):
        made = [each for each in found.decisions if before.ply <= each.ply < after.ply]
        step, when = steps[before.ply]
        faults = [each for each in made if each.mark in (MISTAKE, BLUNDER)]
        faults.sort(key=lambda each: -each.loss)
        verdicts.append(
            Verdict(
                begins_at=before.ply,
                ply=after.ply,
                step=step,
                when=when,
                mark=max((each.mark for each in made), key=_ORDER.index, default=""),
                text=_words(faults, made, names, (before, after)),
                chances=_percent(after.seats),
                moved=None if after.before_cards is None else _tenths(_percent(after.before_cards)),
                faults=faults,
            )
        )
    return verdicts


def chances_by_step(verdicts: Sequence[Verdict], names: Sequence[str]) -> list[StepChances]:
    """Return the chances after each step of the replay.

    Args:
        verdicts: on all phases.
        names: of the players, by seat.
    """
    rows = []
    for step in sorted({each.step for each in verdicts}):
        phases = [each for each in verdicts if each.step == step]
        faults = [each for each in phases if each.is_fault]
        worst = max(faults, key=lambda each: each.faults[0].loss, default=None)
        losses = sorted(
            chain.from_iterable(each.faults for each in faults), key=lambda it: -it.loss
        )
        blamed = [(names[each.seat], each.mark) for each in losses]
        rows.append(StepChances(step, phases[0].when, phases[-1].chances, worst, blamed))
    return rows


def verdict_at(verdicts: Sequence[Verdict], step: int, ply: int | None = None) -> Verdict | None:
    """Return the verdict that a page without JavaScript shows; `beside.js` shows the same.

    For the result of a step, it also has the worst fault of the phases before the last.

    Args:
        verdicts: on all phases.
        step: number of the step.
        ply: number of moves up to the end of a phase of this step; None for its result.
    """
    phases = [each for each in verdicts if each.step == step]
    if not phases:
        return None
    *earlier, last = phases
    shown = next((each for each in phases if each.ply == ply), last)
    faults = [each for each in earlier if each.is_fault]
    if shown is not last or not faults:
        return shown
    worst = next((each for each in faults if each.mark == BLUNDER), faults[0])
    earlier_text = f"Earlier in this step: {worst.text}"
    if not last.is_fault:
        return replace(worst, text=earlier_text)
    # The page shows the mark before the text, so it is the mark of the first sentence.
    if worst.mark == BLUNDER != last.mark:
        return replace(worst, text=f"{worst.text} Later in this step: {last.text}")
    return replace(last, text=f"{last.text} {earlier_text}")


def chance_lines(first: Sequence[float], verdicts: Sequence[Verdict]) -> list[str]:
    """Return the points of an SVG polyline for each seat, the phases at equal distances.

    Args:
        first: the chance of each seat after the deal, 0 to 1.
        verdicts: on all phases.
    """
    rows = [_tenths(_percent(first)), *(_tenths(each.chances) for each in verdicts)]
    across = [round(WIDTH * at / max(1, len(rows) - 1), 1) for at in range(len(rows))]
    return [
        " ".join(f"{x},{HEIGHT - row[seat]:g}" for x, row in zip(across, rows, strict=True))
        for seat in range(len(first))
    ]


def for_browser(first: Sequence[float], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return what the browser needs to show the analysis beside the table, as JSON data.

    ``texts`` lists each text of a verdict once. ``phases`` has for each phase its ply, chances,
    mark, the index of its text, the better moves as seat and ranks, and the chances before its new
    cards.
    """
    texts = list(dict.fromkeys(each.text for each in verdicts))
    phases = [
        [
            each.ply,
            _tenths(each.chances),
            each.mark,
            texts.index(each.text),
            _cards(each),
            each.moved,
        ]
        for each in verdicts
    ]
    return {"texts": texts, "first": _tenths(_percent(first)), "phases": phases}


def _cards(verdict: Verdict) -> list[list[Any]]:
    return [
        [each.seat, ranks(each.best)] for each in verdict.faults if not each.best.startswith(_AWARD)
    ]


def ranks(move: str) -> list[int]:
    """Return the ranks of the cards of a move; none if it is a pass or an award."""
    return [] if move.startswith(_AWARD) else [int(rank) for rank in re.findall(r"\d+", move)]


def _words(
    faults: Sequence[Decision],
    made: Sequence[Decision],
    names: Sequence[str],
    chances: tuple[Chance, Chance],
) -> str:
    """Return a verdict on the decisions of a phase.

    Args:
        faults: the mistakes and blunders, the worst first.
        made: all decisions.
        names: of the players, by seat.
        chances: before and after the phase.
    """
    if not made:
        return "No choice: there was one legal move."
    if faults:
        seats = len(names)
        others = [f"{names[each.seat]} lost {in_places(each.loss, seats)}" for each in faults[1:]]
        worst = _gave_up(faults[0], names, chances if len(made) == 1 else None)
        return " ".join([worst, *([f"{', '.join(others)}."] if others else [])])
    alone = names[made[0].seat] if len(made) == 1 else ""
    if all(each.mark == BEST for each in made):
        return f"{alone} found the best move." if alone else "All seats found the best move."
    if alone:
        return f"{alone} chose a move close to the best."
    return "No mistake: all moves were close to the best."


def _gave_up(
    decision: Decision, names: Sequence[str], chances: tuple[Chance, Chance] | None
) -> str:
    """Return what a seat should have done, then what it lost.

    Args:
        decision: a mistake or a blunder.
        names: of the players, by seat.
        chances: before and after the move; None if other seats decided with it.
    """
    verb, move = _done(move_in_words(decision.move, names))
    best_verb, best = _done(move_in_words(decision.best, names))
    instead = move if verb == best_verb else f"{verb} {move}".strip()
    lost = f"it ends {in_places(decision.loss, len(names))} lower on average"
    if chances is not None:
        before, after = chances[0].seats[decision.seat], chances[1].after_moves[decision.seat]
        if round(100 * after) < round(100 * before):
            lost = f"its chance of the first place went from {before:.0%} to {after:.0%}"
            lost = lost.replace("%", "\N{NO-BREAK SPACE}%")
    done = f"{best_verb} {best}".strip()
    return f"{names[decision.seat]} should have {done}, not {instead}: {lost}."


def _done(move: str) -> tuple[str, str]:
    """Return a move in words as the participle of its verb, and the rest."""
    verb, _, rest = move.partition(" ")
    return _PARTICIPLES[verb], rest


def in_places(loss: float, seats: int) -> str:
    """Return the loss of a decision in places, such as ``0.8 places``.

    Args:
        loss: in win share.
        seats: number of seats at the table.
    """
    lost = places(loss, seats)
    text = f"{lost:.1f}" if lost >= _TENTH else f"{lost:.2f}"
    return f"{text} place{'' if text == '1.0' else 's'}"


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]


def _tenths(percents: Sequence[float]) -> list[float]:
    return [round(percent, 1) for percent in percents]
