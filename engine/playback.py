"""Play moves back phase by phase, with the events and the state after each phase.

`play_back` takes a finished record, `deal` and `play_on` a match in play. All of them include
secrets: pass events through `Event.seen_by` before they leave for a seat or the public.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.events import Event, MatchOver, TrickWon
from engine.games.game import State
from engine.games.twelve_days import TwelveDays
from engine.record import Record


class Phase(NamedTuple):
    """A phase of a match that is complete.

    Attributes:
        ply: number of moves up to its end; 0 for the deal.
        events: what happened in it, secrets included.
        state: the match after it. The same object for every phase; copy it to keep it.
    """

    ply: int
    events: tuple[Event, ...]
    state: State


def steps_of(record: Record) -> list[tuple[int, str]]:
    """Return number and name of the step that has each ply, such as 3 and "day 3".

    Steps are days, or the tricks of rounds. The page of a match and the command line show them.
    """
    steps: list[tuple[int, str]] = []
    tricks, trick, round_ = 0, 0, 1
    day = 1
    for ply, events, state in play_back(record):
        if record.game == TwelveDays.game:
            steps += [(day, f"day {day}")] * (ply - len(steps))
            assert isinstance(state, TwelveDays)
            day = state.day
            continue
        steps += [(tricks + 1, f"round {round_}, trick {trick + 1}")] * (ply - len(steps))
        if any(isinstance(event, TrickWon) for event in events):
            tricks, trick = tricks + 1, trick + 1
        if (now := getattr(state, "round", 1)) != round_:
            round_, trick = now, 0
    return steps


def play_back(record: Record) -> Iterator[Phase]:
    """Yield the deal, then each phase, of a record that `engine.record.verify` accepts."""
    dealt = deal(record.game, record.rules, record.seats, record.deal_seed)
    yield dealt
    yield from play_on(dealt.state, record.moves)


def with_places(events: Iterable[Event], places: Sequence[int]) -> tuple[Event, ...]:
    """Return events, with other places at the end of the match.

    The engine knows the scores alone. As rated, a seat that forfeited is last whatever its score.
    """
    return tuple(
        replace(event, places=tuple(places)) if isinstance(event, MatchOver) else event
        for event in events
    )


def deal(game: str, rules: str, seats: int, deal_seed: bytes) -> Phase:
    """Return the deal of a match as its first phase.

    Raises:
        ValueError: game, preset, number of seats or seed are not allowed.
    """
    events: list[Event] = []
    state = catalogue.start(game, rules, seats, seeded_shuffle(deal_seed), events)
    return Phase(0, tuple(events), state)


def play_on(state: State, moves: Sequence[tuple[int, str]], ply: int = 0) -> Iterator[Phase]:
    """Make the moves of whole phases and yield each phase.

    Args:
        state: the match; it changes with each phase.
        moves: seat and canonical text of legal moves, in canonical order.
        ply: number of moves before the first of these.

    Raises:
        ValueError: the moves stop within a phase, go on after the end, or are not those of the
            seats that must decide. The state stays as it was after the last whole phase.
    """
    ids = state.moves.ids
    done = 0
    while done < len(moves):
        phase = moves[done : done + len(state.actors)]
        if state.is_over:
            raise ValueError(f"a move at ply {ply + done}, after the end of the match")
        if tuple(seat for seat, _ in phase) != state.actors:
            raise ValueError(f"no whole phase at ply {ply + done}: seats {state.actors} must move")
        events: list[Event] = []
        state.step_unchecked({seat: ids[text] for seat, text in phase}, events)
        done += len(phase)
        yield Phase(ply + done, tuple(events), state)
