"""Exact expected results, by enumeration instead of playouts, where few possibilities are left.

"Exact" means: the mean of infinitely many playouts. All seats choose by the policy of the playouts,
whose probabilities are known: each of its variants is equally likely. Hidden cards have the
probabilities of `State.sample`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import comb, prod
from random import Random
from typing import Any

from engine.games.game import Observation, State
from engine.games.partridge import Partridge
from engine.games.partridge_hidden import known_hands, unseen_cards
from engine.games.partridge_moves import RANKS
from engine.games.twelve_days import TwelveDays
from engine.playouts.luck import Luck
from engine.playouts.plain import choices, may_pass
from engine.playouts.policies import VARIANTS, PartridgeTable, PolicyTable
from engine.playouts.results import FIRST_PLACE, first_share, half_points

MAX_POSITIONS = 2000
"""Enumerate at most so many positions, all legal moves together."""
_MAX_CARDS = 8
"""In ``partridge``, don't begin to enumerate while more cards are in hands."""


class TooManyError(Exception):
    """More than `MAX_POSITIONS` positions are possible."""


class Count:
    """Counts the positions of one enumeration."""

    def __init__(self) -> None:
        self.positions = 0

    def add(self) -> None:
        """Count a position.

        Raises:
            TooManyError: there are more than `MAX_POSITIONS`.
        """
        self.positions += 1
        if self.positions > MAX_POSITIONS:
            raise TooManyError


def win_shares(scores: Sequence[int]) -> list[float]:
    """Return each seat's mean pair result from final scores."""
    return [half_points(scores, seat) / (2 * (len(scores) - 1)) for seat in range(len(scores))]


def outcome(scores: Sequence[int]) -> list[float]:
    """Return each seat's win share from final scores, and after these its share of first place."""
    firsts = [first_share(scores, seat) / FIRST_PLACE for seat in range(len(scores))]
    return win_shares(scores) + firsts


def expected(state: State, policy: PolicyTable) -> list[float] | None:
    """Return the expected `outcome` of a position, undrawn cards in random order.

    Returns None if too many positions are possible.
    """
    if state.scores is not None:
        return outcome(state.scores)
    if not _may_be_few(state):
        return None
    try:
        return _expected(state, policy, Count())
    except TooManyError:
        return None


def expected_after(
    state: State, actions: Mapping[int, int], policy: PolicyTable
) -> list[float] | None:
    """Return the expected `outcome` after the moves of a phase, before its cards are drawn.

    Returns None if too many positions are possible.
    """
    if not _may_be_few(state):
        return None
    try:
        return _after(state, actions, policy, Count())
    except TooManyError:
        return None


def expected_of_moves(observation: Observation, policy: PolicyTable) -> dict[str, float] | None:
    """Return the expected win share of the observing seat after each of its legal moves.

    Returns None if too many positions are possible. In ``twelve-days`` that is always so: on the
    last day of the shortest preset, with three seats, at least 17 000 combinations of hands fit an
    observation (counted in 40 random matches).
    """
    if observation["game"] != Partridge.game or observation["round"] < observation["rounds"]:
        return None
    if sum(observation["hand_sizes"]) > _MAX_CARDS:
        return None
    seat = observation["seat"]
    if _most_deals(observation) * len(observation["legal_moves"]) > MAX_POSITIONS // 2:
        return None
    count = Count()
    results = dict.fromkeys(observation["legal_moves"], 0.0)
    try:
        for weight, state in _deals(observation, count):
            for text in results:
                action = {seat: state.moves.ids[text]}
                results[text] += weight * _after(state, action, policy, count)[seat]
    except TooManyError:
        return None
    return results


def move_chances(state: State, seat: int, policy: PolicyTable) -> dict[int, float]:
    """Return the probability of each action that the policy may choose for a seat."""
    if len(legal := state.legal(seat)) == 1:
        return {legal[0]: 1.0}
    if isinstance(state, Partridge) and isinstance(policy, PartridgeTable):
        found: Counter[int] = Counter()
        for action, times in _favourites(policy, legal).items():
            found[may_pass(state, seat, action)] += times
        return {action: times / VARIANTS for action, times in found.items()}
    others = {other for other in state.actors if other != seat}
    alone = state.copy()
    alone.actors = tuple([actor for actor in state.actors if actor not in others])
    found = Counter()
    for variant in range(VARIANTS):
        assert isinstance(alone, TwelveDays | Partridge)
        found[choices(alone, policy, _Variant(variant))[seat]] += 1
    return {action: times / VARIANTS for action, times in found.items()}


@cache
def _favourites(policy: PartridgeTable, legal: tuple[int, ...]) -> Mapping[int, int]:
    """Return how many variants of a table prefer each action."""
    return Counter(max(legal, key=worth.__getitem__) for worth in policy.worth)


# -- The tree of endings ------------------------------------------------------------------------


def _may_be_few(state: State) -> bool:
    """Return whether it makes sense to begin: only cards of the last day or round are left."""
    if isinstance(state, TwelveDays):
        return state.day == state.rules.days and state.phase != "give"
    assert isinstance(state, Partridge)
    return state.round == state.rules.rounds and sum(state.sizes) <= _MAX_CARDS


def _expected(state: State, policy: PolicyTable, count: Count) -> list[float]:
    count.add()
    if state.scores is not None:
        return outcome(state.scores)
    each = [move_chances(state, seat, policy).items() for seat in state.actors]
    count_here = prod(map(len, each))
    if count_here > MAX_POSITIONS:
        raise TooManyError
    found = [0.0] * (2 * state.seats)
    for moves in product(*each):
        weight = prod(chance for _, chance in moves)
        actions = dict(zip(state.actors, (action for action, _ in moves), strict=True))
        _add(found, weight, _after(state, actions, policy, count))
    return found


def _after(
    state: State, actions: Mapping[int, int], policy: PolicyTable, count: Count
) -> list[float]:
    """Return the expected outcome after moves; the draws that they cause are all enumerated."""
    after = state.copy()
    after.step_unchecked(actions)
    if not (isinstance(state, TwelveDays) and isinstance(after, TwelveDays) and after.is_over):
        return _expected(after, policy, count)
    undrawn, draws_of = _before_draws(state, after)
    found = [0.0] * (2 * state.seats)
    for weight, drawn in draws_of:
        count.add()
        twin = undrawn.copy()
        for hand, card in zip(twin.hands, drawn, strict=True):
            hand[card] += 1
        twin.score_hands()
        _add(found, weight, outcome(twin.points))
    return found


def _add(sums: list[float], weight: float, values: Sequence[float]) -> None:
    for seat, value in enumerate(values):
        sums[seat] += weight * value


def _before_draws(
    before: TwelveDays, over: TwelveDays
) -> tuple[TwelveDays, Iterator[tuple[float, tuple[int, ...]]]]:
    """Return the match before its last draws, and the probability and ranks of all such draws.

    Args:
        before: the match before the last moves.
        over: the match at its end, with any draws.
    """
    [*_, (_day, pot, _plays, _winner, to, _gives, drawn)] = over.history
    undrawn = over.copy()
    undrawn.points = before.points[:]
    if to is not None:
        undrawn.points[to] += sum(pot)
    for hand, card in zip(undrawn.hands, drawn, strict=True):
        assert card is not None, "the draws of the last day are known"
        hand[card] -= 1
    deck = Counter(before.deck[before.top :])
    first = min(deck.total(), before.seats)
    # Once the deck is empty, all discards become the new deck, those of the last day too.
    discards = Counter(over.deck) if first < before.seats else Counter[int]()

    def both() -> Iterator[tuple[float, tuple[int, ...]]]:
        for weight, early in draws(deck, first):
            for again, late in draws(discards, before.seats - first):
                yield weight * again, early + late

    return undrawn, both()


def draws(cards: Counter[int], count: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the probability and the ranks, in order, of each way to draw some cards."""
    if not count:
        yield 1.0, ()
        return
    total = cards.total()
    for rank, held in sorted(cards.items()):
        if held:
            for weight, rest in draws(cards - Counter([rank]), count - 1):
                yield weight * held / total, (rank, *rest)


# -- Hidden hands of partridge ------------------------------------------------------------------


def _most_deals(observation: Observation) -> int:
    """Return a bound of the number of deals that `_deals` yields."""
    known = {*known_hands(observation), observation["seat"]}
    sizes = [size for seat, size in enumerate(observation["hand_sizes"]) if seat not in known]
    return prod(comb(RANKS + size - 1, size) for size in sizes)


def _deals(observation: Observation, count: Count) -> Iterator[tuple[float, State]]:
    """Yield the probability and a state for each deal of the hidden cards."""
    hands = known_hands(observation)
    hands[observation["seat"]] = Counter(observation["hand"])
    pool = Counter(unseen_cards(observation, hands))
    sizes = [size for seat, size in enumerate(observation["hand_sizes"]) if seat not in hands]
    for weight, dealt in _hands(pool, sizes):
        count.add()
        rest = pool - Counter(dealt)
        # `sample` takes cards from the end of the shuffled pool.
        yield weight, Partridge.sample(observation, _Laid([*rest.elements(), *dealt[::-1]]))


def _hands(pool: Counter[int], sizes: Sequence[int]) -> Iterator[tuple[float, list[int]]]:
    """Yield the probability and the cards of hands of some sizes, one hand after the other."""
    if not sizes:
        yield 1.0, []
        return
    ways = comb(pool.total(), sizes[0])
    for hand in _multisets(sorted(pool), pool, sizes[0]):
        weight = prod(comb(pool[rank], held) for rank, held in Counter(hand).items()) / ways
        for other, rest in _hands(pool - Counter(hand), sizes[1:]):
            yield weight * other, [*hand, *rest]


def _multisets(ranks: Sequence[int], pool: Counter[int], size: int) -> Iterator[list[int]]:
    if not size:
        yield []
        return
    for at, rank in enumerate(ranks):
        for held in range(1, min(size, pool[rank]) + 1):
            for rest in _multisets(ranks[at + 1 :], pool, size - held):
                yield [rank] * held + rest


class _Variant(Luck):
    """Luck that always draws one variant of a policy."""

    def __init__(self, variant: int) -> None:
        super().__init__(0)
        self._variant = variant

    def below(self, n: int) -> int:
        return self._variant


class _Laid(Random):
    """Random numbers whose shuffle lays cards in a given order."""

    def __init__(self, cards: Sequence[int]) -> None:
        super().__init__(0)
        self._cards = cards

    def shuffle(self, x: Any) -> None:
        x[:] = self._cards
