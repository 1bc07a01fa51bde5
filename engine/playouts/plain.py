"""Playouts in plain Python, over the engine; the kernel returns the same numbers, faster."""

from collections.abc import Sequence

from engine.deals import fast_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import LOW, PASS, SIZE
from engine.games.twelve_days import AWARD, TwelveDays
from engine.games.twelve_days_moves import AWARD_ID, RANKS
from engine.playouts.luck import Luck
from engine.playouts.policies import (
    HELD,
    VARIANTS,
    PartridgeTable,
    Policy,
    TwelveDaysTable,
    Uniform,
)
from engine.playouts.positions import NewMatch, Position, game_and_seats
from engine.playouts.results import Played, Sums, first_share, half_points


def play(position: Position, playouts: int, policy: Policy, seed: int, this_round: bool) -> Played:
    """Play a position on and return the totals; see `engine.playouts.play`."""
    _, seats = game_and_seats(position)
    seeds = Luck(seed)
    moves, scores, halves, firsts = 0, [0] * seats, [0] * seats, [0] * seats
    for _ in range(playouts):
        state, rest = _set_out(position, seeds.word())
        moves += _finish(state, policy, Luck(rest), this_round)
        final = _scores(state)
        for seat in range(seats):
            scores[seat] += final[seat]
            halves[seat] += half_points(final, seat)
            firsts[seat] += first_share(final, seat)
    return Played(moves, tuple(scores), tuple(halves), tuple(firsts))


def evaluate(
    position: Position,
    seat: int,
    actions: Sequence[int],
    playouts: int,
    policy: Policy,
    seed: int,
    this_round: bool,
) -> list[Sums]:
    """Play a position on after each of a seat's actions; see `engine.playouts.evaluate`."""
    seeds = Luck(seed)
    sums = [[0] * len(Sums._fields) for _ in actions]
    for _ in range(playouts):
        deal, rest = _set_out(position, seeds.word())
        for action, total in zip(actions, sums, strict=True):
            state = deal.copy()
            luck = Luck(rest)
            state.shuffle = fast_shuffle(luck.random)
            played = len(state.rounds_won) if isinstance(state, Partridge) else 0
            state.step_unchecked({**choices(state, policy, luck, but=seat), seat: action})
            if not (this_round and isinstance(state, Partridge) and _is_new(state, played)):
                _finish(state, policy, luck, this_round)
            final = _scores(state)
            half, lead = half_points(final, seat), len(final) * final[seat] - sum(final)
            gained = (half, half * half, final[seat], lead, lead * lead)
            total[:] = [now + more for now, more in zip(total, gained, strict=True)]
    return [Sums(*total) for total in sums]


def _set_out(position: Position, seed: int) -> tuple[TwelveDays | Partridge, int]:
    """Return a state to play on, and the seed for what follows."""
    luck = Luck(seed)
    rest = luck.word()
    if isinstance(position, NewMatch):
        game, rules, seats = position
        state = catalogue.start(game, rules, seats, fast_shuffle(luck.random))
    elif isinstance(position, State):
        state = position.copy()
    else:
        state = catalogue.view_from(position).sample(luck)
    assert isinstance(state, TwelveDays | Partridge)
    return state, rest


def _finish(state: TwelveDays | Partridge, policy: Policy, luck: Luck, this_round: bool) -> int:
    """Play to the end of the match, or of the round; return the number of moves."""
    state.shuffle = fast_shuffle(luck.random)
    played = len(state.rounds_won) if isinstance(state, Partridge) else 0
    moves = 0
    while state.actors:
        made = choices(state, policy, luck)
        state.step_unchecked(made)
        moves += len(made)
        if this_round and isinstance(state, Partridge) and _is_new(state, played):
            break
    return moves


def _is_new(state: Partridge, rounds: int) -> bool:
    return len(state.rounds_won) > rounds


def _scores(state: TwelveDays | Partridge) -> list[int]:
    return state.points if isinstance(state, TwelveDays) else state.gifts


def choices(
    state: TwelveDays | Partridge, policy: Policy, luck: Luck, but: int | None = None
) -> dict[int, int]:
    """Return an action by seat for all seats that must decide, except for one."""
    seats = [seat for seat in state.actors if seat != but]
    if isinstance(policy, Uniform):
        legal = {seat: state.legal(seat) for seat in seats}
        return {seat: ids[luck.below(len(ids))] for seat, ids in legal.items()}
    if isinstance(policy, PartridgeTable):
        assert isinstance(state, Partridge)
        return {seat: _combination(state, seat, policy, luck) for seat in seats}
    assert isinstance(state, TwelveDays)
    return _cards(state, seats, policy, luck)


def _cards(
    state: TwelveDays, seats: list[int], policy: TwelveDaysTable, luck: Luck
) -> dict[int, int]:
    if state.phase == AWARD:
        points = state.points
        return {
            seat: min(state.legal(seat), key=lambda action: points[action - AWARD_ID])
            for seat in seats
        }
    stake = sum(range(state.first_in_pot, state.day + 1))
    on_day = policy.on_day[state.day - 1]
    values = [stake * each + more for each, more in zip(policy.at_stake, on_day, strict=True)]

    def choose(seat: int) -> int:
        taste, hand, held = policy.taste[luck.below(VARIANTS)], state.hands[seat], policy.held

        def worth(action: int) -> int:
            count = min(hand[action % RANKS], HELD)
            return values[action] + taste[action] + held[count - 1][action]

        return max(state.legal(seat), key=worth)

    return {seat: choose(seat) for seat in seats}


def _combination(state: Partridge, seat: int, policy: PartridgeTable, luck: Luck) -> int:
    worth = policy.worth[luck.below(VARIANTS)]
    return may_pass(state, seat, max(state.legal(seat), key=worth.__getitem__))


def may_pass(state: Partridge, seat: int, action: int) -> int:
    """Return the action, or a pass if the seat would play its last cards and take them back."""
    comes_back = SIZE[action] == state.sizes[seat] and LOW[action] > state.best_low
    return PASS if comes_back else action
