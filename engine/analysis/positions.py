"""Expected results of positions with open hands, as means of several independent groups.

The cards that nobody has drawn have a random order in each sample, so these values hold what the
hands are worth, and not what luck is still to come.
"""

from collections.abc import Callable, Mapping
from operator import add
from random import Random

from engine.analysis import exact
from engine.deals import fast_shuffle
from engine.games.game import State
from engine.games.twelve_days import TwelveDays
from engine.playouts import play
from engine.playouts.policies import PolicyTable
from engine.playouts.results import FIRST_PLACE

GROUPS = 8
"""Independent groups of playouts; their spread is the error of a mean."""
_ORDERS = 3
"""The orders of undrawn cards in a group, each with its share of the playouts."""

Values = list[list[float]]
"""Expected results by group: the win shares of all seats, then their shares of the first place."""


def before_moves(state: State, policy: PolicyTable, playouts: int, seed: int) -> Values:
    """Return the values of a position.

    Args:
        state: the position; not changed.
        policy: how all seats choose.
        playouts: how many, over all groups.
        seed: of all cards and choices.
    """
    if (found := exact.expected(state, policy)) is not None:
        return [found] * GROUPS
    return _sampled(lambda rng: _shuffled(state, rng), policy, playouts, seed)


def before_cards(
    state: State, actions: Mapping[int, int], policy: PolicyTable, playouts: int, seed: int
) -> Values:
    """Return the values after the moves of a phase, before the cards that come then.

    Args:
        state: the position before the moves; not changed.
        actions: the moves of all seats that must decide.
        policy: how all seats choose.
        playouts: how many, over all groups.
        seed: of all cards and choices.
    """
    if (found := exact.expected_after(state, actions, policy)) is not None:
        return [found] * GROUPS

    def sample(rng: Random) -> State:
        twin = _shuffled(state, rng)
        twin.step_unchecked(actions)
        return twin

    return _sampled(sample, policy, playouts, seed)


def _sampled(
    sample: Callable[[Random], State], policy: PolicyTable, playouts: int, seed: int
) -> Values:
    found = []
    rng = Random(seed)
    for _ in range(GROUPS):
        first = sample(rng)
        orders = _ORDERS if _has_order(first) else 1
        if first.is_over:
            orders = max(1, playouts // GROUPS)
        each = max(1, playouts // GROUPS // orders)
        halves, firsts = [0] * first.seats, [0] * first.seats
        for order in range(orders):
            state = sample(rng) if order else first
            played = play(state, each, policy, rng.getrandbits(64))
            halves = list(map(add, halves, played.half_points))
            firsts = list(map(add, firsts, played.firsts))
        count = orders * each
        found.append(
            [total / (count * 2 * (first.seats - 1)) for total in halves]
            + [total / (count * FIRST_PLACE) for total in firsts]
        )
    return found


def _has_order(state: State) -> bool:
    """Return whether a position holds the order of cards that are still to be drawn."""
    return isinstance(state, TwelveDays)


def _shuffled(state: State, rng: Random) -> State:
    """Return the position with undrawn cards in random order."""
    twin = state.copy()
    assert hasattr(twin, "shuffle")
    twin.shuffle = fast_shuffle(Random(rng.getrandbits(64)).random)
    if isinstance(twin, TwelveDays):
        rest = sorted(twin.deck[twin.top :])
        rng.shuffle(rest)
        twin.deck, twin.top = rest, 0
    return twin
