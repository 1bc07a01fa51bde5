"""Samples of the analysis beside a replay, for the gallery; all numbers are made up."""

from collections.abc import Iterator
from itertools import cycle, pairwise
from random import Random
from typing import NamedTuple

from engine.analysis import MARKS, Analysis, Chance, Decision, Total
from engine.playback import play_back
from engine.record import Record
from league.models import MatchAnalysis
from web.match_analysis import Beside, beside_of
from web.table.tables import Table

_LOSSES = dict(zip(MARKS, (0.0, 0.01, 0.06, 0.25), strict=True))
_EVEN = 0.02
"""How much a phase of a match without turning points changes a chance at most."""
_LIVELY = 0.35


class Analysed(NamedTuple):
    """A replay with the analysis beside it, and the panel of the analysis in its other states.

    Attributes:
        table: the replay.
        done: its analysis.
        panels: the other states, each with its title.
    """

    table: Table
    done: Beside
    panels: list[tuple[str, Beside]]


def analysed(table: Table, record: Record) -> Analysed:
    """Return the samples for the replay of a record."""
    moves = len(record.moves)
    state = MatchAnalysis.State
    panels = [
        ("Done, without a turning point", _beside(table, record, _EVEN)),
        ("In progress", Beside(state.WAITING.value, moves, moves // 3)),
        ("Failed", Beside(state.FAILED.value, moves)),
        ("Not requested", Beside("none", moves)),
    ]
    return Analysed(table, _beside(table, record, _LIVELY), panels)


def _beside(table: Table, record: Record, most: float) -> Beside:
    """Return a made-up analysis of a replay; a phase changes a chance by ``most`` at most."""
    return beside_of(_analysis(record, most), record, table.names, table.number)


def _analysis(record: Record, most: float) -> Analysis:
    rng = Random(5)
    decisions = tuple(_decisions(record, lively=most > _EVEN))
    chances = tuple(_chances(record, decisions, most, rng))
    totals = tuple(
        _total(seat, (record.seats - place) / (record.seats - 1), rng)
        for seat, place in enumerate(record.places)
    )
    return Analysis(version=1, playouts=8, chances=chances, decisions=decisions, totals=totals)


def _decisions(record: Record, *, lively: bool) -> Iterator[Decision]:
    """Yield one decision in each phase, with all marks in turn; without faults if not lively."""
    marks = cycle(MARKS if lively else MARKS[:2])
    phases = [(phase.ply, phase.state.copy()) for phase in play_back(record)]
    for (ply, state), (end, _) in pairwise(phases):
        for at in range(ply, end):
            seat, move = record.moves[at]
            others = [state.moves.texts[action] for action in state.legal(seat)]
            if len(others) < 2:
                continue
            mark = next(marks)
            best = move if mark == MARKS[0] else next(text for text in others if text != move)
            loss = _LOSSES[mark]
            results = {text: 0.5 - (loss if text == move else 0.0) for text in others}
            phase = move.partition(" ")[0]
            yield Decision(at, seat, phase, move, best, loss, 0.0, mark, False, None, results)
            break


def _chances(
    record: Record, decisions: tuple[Decision, ...], most: float, rng: Random
) -> Iterator[Chance]:
    """Yield the chances after the deal and after each phase."""
    plies = [phase.ply for phase in play_back(record)]
    seats = [1 / record.seats] * record.seats
    yield Chance(0, tuple(seats))
    for number, (ply, end) in enumerate(pairwise(plies)):
        decider = next((each.seat for each in decisions if ply <= each.ply < end), None)
        moved = seats = _shifted(seats, most * rng.random(), rng)
        has_cards = number % 3 == 2
        if has_cards:
            seats = _shifted(seats, most * rng.random(), rng)
        yield Chance(end, tuple(seats), tuple(moved) if has_cards else None, decider)


def _shifted(seats: list[float], share: float, rng: Random) -> list[float]:
    """Return chances of which a share has gone to one seat."""
    gains = rng.randrange(len(seats))
    return [(1 - share) * chance + share * (seat == gains) for seat, chance in enumerate(seats)]


def _total(seat: int, result: float, rng: Random) -> Total:
    deal, draws, play = (rng.uniform(-0.2, 0.2) for _ in range(3))
    others = result - 0.5 - deal - draws - play
    return Total(seat, deal, draws, play, others, result, 0.02, 0.02, 0.3)
