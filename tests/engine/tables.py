"""Matches for tests: with chosen hands, or played to some point."""

from collections.abc import Iterator, Sequence
from random import Random

from engine.deals import seeded_shuffle
from engine.games.catalogue import GAMES
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import hand_of, ranks_held
from engine.games.twelve_days import TwelveDays

CASES = [
    (game, preset.name, seats)
    for game, state_class in GAMES.items()
    for preset in state_class.presets.values()
    for seats in range(preset.min_seats, preset.max_seats + 1)
]
"""Every game, preset and number of seats."""


def no_shuffle(_k: int, _cards: list[int]) -> None:
    """Leave the cards as they are."""


def twelve_days(
    hands: Sequence[Sequence[int]], deck: Sequence[int] = (), rules: str = "calliope"
) -> TwelveDays:
    """Return a match at the start of day 1 with these hands, each filled up to size."""
    preset = TwelveDays.presets[rules]
    filler = preset.days
    filled = [[*hand, *[filler] * (preset.days - len(hand))] for hand in hands]
    draws = [*deck, *[filler] * (200 - len(deck))]
    return TwelveDays(preset, filled, draws, no_shuffle)


def play_day(state: TwelveDays, plays: Sequence[int], gives: Sequence[int] | None = None) -> None:
    """Give and play; without ``gives`` every seat gives a filler card."""
    filler = state.rules.days
    move(state, [f"give {rank}" for rank in gives or [filler] * state.seats])
    move(state, [f"play {rank}" for rank in plays])


def move(state: State, texts: Sequence[str]) -> None:
    """Make a move for each actor, in their order."""
    state.step(
        {seat: state.parse(seat, text) for seat, text in zip(state.actors, texts, strict=True)}
    )


def partridge(hands: Sequence[Sequence[int]], leader: int = 0, rules: str = "eagle") -> Partridge:
    """Return a match in its first round in which the seats hold exactly these cards."""
    state = Partridge.start(rules, len(hands), no_shuffle)
    state.hands = [hand_of(hand) for hand in hands]
    state.masks = [ranks_held(hand) for hand in state.hands]
    state.sizes = [len(hand) for hand in hands]
    state.leader = state.best = leader
    state.actors = (leader,)
    return state


def trick(state: Partridge, *texts: str) -> None:
    """Play moves in order, each by the seat whose turn it is."""
    for text in texts:
        move(state, [text])


def start(game: str, rules: str, seats: int, seed: int = 0) -> State:
    """Deal the match with a small integer for its seed."""
    return GAMES[game].start(rules, seats, seeded_shuffle(seed.to_bytes(32, "big")))


def played(state: State, rng: Random) -> Iterator[State]:
    """Yield a match before each of its moves, made one seat at a time, and at the end."""
    while state.actors:
        yield state
        seat = state.actors[0]
        state.step({seat: rng.choice(state.legal(seat))})
    yield state
