"""Positions as numbers: what the kernel reads before it plays.

`words` writes the numbers in the order in which kernel.c takes them (`load`, `take_twelve`,
`take_partridge`). A position is a state with all its cards, an observation whose hidden cards the
kernel deals, or a match that is still to be dealt.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.games.catalogue import find
from engine.games.game import Observation, State
from engine.games.partridge import Partridge
from engine.games.partridge_hidden import known_hands, unseen_cards
from engine.games.partridge_moves import ACTION, hand_of
from engine.games.partridge_moves import cards_in as partridge_cards
from engine.games.partridge_presets import PartridgeRules
from engine.games.twelve_days import AWARD, GIVE, PLAY, TwelveDays
from engine.games.twelve_days_hidden import known_hands as known_to
from engine.games.twelve_days_hidden import own_hand
from engine.games.twelve_days_moves import AWARD_ID, PLAY_ID, RANKS
from engine.games.twelve_days_presets import TwelveDaysRules


class NewMatch(NamedTuple):
    """A match that is dealt anew for each playout."""

    game: str
    rules: str
    seats: int


Position = State | Observation | NewMatch

_GAMES = {TwelveDays.game: 0, Partridge.game: 1}
_PHASES = {GIVE: 0, PLAY: 1, AWARD: 2}
_EXACT, _SAMPLE, _DEAL = range(3)
_NEVER = -1


def game_and_seats(position: Position) -> tuple[str, int]:
    """Return the game and the number of seats of a position.

    Raises:
        UnknownRulesError: there is no such game or preset, or it does not allow that many seats.
    """
    if isinstance(position, State):
        return position.game, position.seats
    if isinstance(position, NewMatch):
        find(position.game).preset(position.rules).check_seats(position.seats)
        return position.game, position.seats
    return find(position["game"]).game, position["seats"]


def words(position: Position, actions: Sequence[int] = ()) -> list[int]:
    """Return a position that is not over, and actions of its observer to try, as numbers.

    Args:
        position: the position.
        actions: action ids; only for an observation.
    """
    if isinstance(position, TwelveDays):
        body, source, observer = _twelve_state(position), _EXACT, 0
    elif isinstance(position, Partridge):
        body, source, observer = _partridge_state(position), _EXACT, 0
    elif isinstance(position, NewMatch):
        body, source, observer = _new_match(position), _DEAL, 0
    else:
        assert isinstance(position, dict)
        is_twelve = position["game"] == TwelveDays.game
        body = _twelve_observation(position) if is_twelve else _partridge_observation(position)
        source, observer = _SAMPLE, position["seat"]
        actions = [_move(position, action) for action in actions]
    game, _ = game_and_seats(position)
    return [_GAMES[game], source, observer, *body, len(actions), *actions]


def _move(observation: Observation, action: int) -> int:
    """Return the kernel's number of an action: a rank or a seat in ``twelve-days``."""
    if observation["game"] == Partridge.game:
        return action
    return action - {GIVE: 0, PLAY: PLAY_ID, AWARD: AWARD_ID}[observation["phase"]]


def _new_match(match: NewMatch) -> list[int]:
    if match.game == TwelveDays.game:
        return _twelve_rules(TwelveDays.presets[match.rules], match.seats)
    rules = Partridge.presets[match.rules]
    gifts = [rules.starting_gifts] * match.seats
    return [*_partridge_rules(rules, match.seats), *gifts, 1, 0]


# -- twelve-days -------------------------------------------------------------------------------


def _twelve_rules(rules: TwelveDaysRules, seats: int) -> list[int]:
    return [seats, rules.days, rules.decks, rules.claus != "none", rules.claus == "award"]


def _twelve_state(state: TwelveDays) -> list[int]:
    choices = {} if state.phase == AWARD else state.chosen  # an award begins with today's plays
    first_id = PLAY_ID if state.phase == PLAY else 0
    chosen = [choices.get(seat, first_id + _NEVER) - first_id for seat in range(state.seats)]
    deck = state.deck[state.top :]
    return [
        *_twelve_rules(state.rules, state.seats),
        _PHASES[state.phase],
        state.day,
        state.first_in_pot,
        *_plays(state.plays if state.phase == AWARD else None, state.seats),
        *state.points,
        *_counts(state.discards),
        *[count for hand in state.hands for count in hand],
        *chosen,
        len(deck),
        *deck,
    ]


def _twelve_observation(seen: Observation) -> list[int]:
    rules, seats = TwelveDays.presets[seen["rules"]], seen["seats"]
    own = own_hand(seen)
    known = known_to(seen, rules.deck())
    placed, rest = known.placed(), known.rest()
    choice = {GIVE: seen["given"], PLAY: seen["played"]}.get(seen["phase"])
    chosen = [_NEVER] * seats
    if choice is not None:
        chosen[seen["seat"]] = choice
    draws = Counter(known.drawn or ())
    return [
        *_twelve_rules(rules, seats),
        _PHASES[seen["phase"]],
        seen["day"],
        seen["pot"][0],
        *_plays(seen["plays"], seats),
        *[sum(cards) for cards in seen["day_cards"]],
        *_counts(seen["discards"]),
        *_counts(own),
        *chosen,
        len(placed),
        *[number for card in placed for number in card],
        len(rest),
        *rest,
        *_counts([*known.held.elements(), *known.passed()]),
        known.drawn is not None,
        len(draws),
        *[number for (first, last), count in draws.items() for number in (first, last, count)],
    ]


def _plays(plays: Sequence[int] | None, seats: int) -> list[int]:
    """Return the seat that awards the pot, and the plays; zeros while nobody does."""
    return [plays.index(0), *plays] if plays else [0] * (1 + seats)


def _counts(cards: Iterable[int]) -> list[int]:
    found = [0] * RANKS
    for card in cards:
        found[card] += 1
    return found


# -- partridge ---------------------------------------------------------------------------------


def _partridge_rules(rules: PartridgeRules, seats: int) -> list[int]:
    return [seats, rules.rounds, rules.hand_size(seats)]


def _partridge_state(state: Partridge) -> list[int]:
    return [
        *_partridge_rules(state.rules, state.seats),
        *state.gifts,
        state.round,
        state.leader,
        len(state.trick),
        *state.trick,
        *state.sizes,
        *[count for hand in state.hands for count in _held(hand)],
        0,
    ]


def _partridge_observation(seen: Observation) -> list[int]:
    rules, seats, seat = Partridge.presets[seen["rules"]], seen["seats"], seen["seat"]
    hands = known_hands(seen)
    hands[seat] = Counter(seen["hand"])
    pool = unseen_cards(seen, hands)
    return [
        *_partridge_rules(rules, seats),
        *seen["gifts"],
        seen["round"],
        seen["leader"],
        len(seen["trick"]),
        *[ACTION[tuple(action["cards"])] for action in seen["trick"]],
        *seen["hand_sizes"],
        *[number for other in range(seats) for number in _known(hands, other)],
        len(pool),
        *[rank - 1 for rank in pool],
    ]


def _known(hands: Mapping[int, "Counter[int]"], seat: int) -> list[int]:
    """Return 0 for a hidden hand; 1 and the counts of a hand that is known."""
    return [1, *_held(hand_of(hands[seat].elements()))] if seat in hands else [0]


def _held(hand: int) -> list[int]:
    """Return a hand as counts of the ranks 1 to 12."""
    return _counts(partridge_cards(hand))[1:]
