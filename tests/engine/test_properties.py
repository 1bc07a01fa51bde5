"""Properties of both games, for every preset, number of seats and sequence of moves."""

import json
import marshal
from collections import Counter
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.deals import seeded_shuffle
from engine.errors import IllegalMoveError
from engine.games import catalogue
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.games.partridge_moves import cards_in as partridge_cards
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import cards_in as twelve_days_cards
from engine.record import Record, read, verify, write
from tests.engine.tables import CASES, played, start

LONGEST = {"twelve-days": 12 * (2 * 8 + 1), "partridge": 12 * (9 * 8) * 8}


def begun(case: tuple[str, str, int], seed: int, chance: int) -> tuple[State, Random]:
    """Return a new match and the generator that plays it."""
    return start(*case, seed), Random(chance)


matches = st.builds(
    begun,
    st.sampled_from(CASES),
    st.integers(0, 2**64),
    st.integers(0, 2**64),
)
"""A match just dealt, and a source of random numbers to play it."""

every_phase = settings(max_examples=max(settings().max_examples // 3, 20))
"""Settings for properties that examine each phase of a whole match: 20 matches have hundreds."""


def somewhere(state: State, rng: Random) -> State:
    """Play on to a random ply of the match, the end included."""
    luck = rng.random()
    length = sum(1 for _ in played(state.copy(), Random(luck)))
    return next(islice(played(state, Random(luck)), rng.randrange(length), None))


@every_phase
@given(matches)
def test_no_seat_exceeds_the_moves_of_its_preset(match: tuple[State, Random]) -> None:
    moves = Counter(state.actors[0] for state in played(*match) if state.actors)
    assert max(moves.values()) <= match[0].rules.max_moves(match[0].seats)


@every_phase
@given(matches)
def test_no_card_is_lost_or_made(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    for _ in played(state, match[1]):
        if isinstance(state, TwelveDays):
            cards = Counter(state.deck[state.top :]) + Counter(state.discards)
            for hand in state.hands:
                cards.update(twelve_days_cards(hand))
            if state.phase == "award":
                cards.update(state.plays)
            assert cards == Counter(state.rules.deck())
        elif isinstance(state, Partridge):
            hands = [partridge_cards(hand) for hand in state.hands]
            assert [len(hand) for hand in hands] == state.sizes
            seen = Counter(partridge_cards(state.discards))
            for hand in hands:
                seen.update(hand)
            for action in state.observe(0)["trick"]:
                seen.update(action["cards"])
            assert all(seen[rank] <= rank for rank in seen)
            assert sum(seen.values()) == state.rules.hand_size(state.seats) * state.seats


@given(matches)
def test_only_the_legal_moves_are_accepted(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    before = snapshot(state)
    for seat in range(-1, state.seats + 1):
        legal = state.legal(seat)
        assert list(legal) == sorted(set(legal))
        assert bool(legal) == (seat in state.actors)
        for action in [*range(len(state.moves)), -1, len(state.moves)]:
            if action in legal:
                state.copy().step({seat: action})
                continue
            with pytest.raises(IllegalMoveError) as refusal:
                state.step({seat: action})
            assert refusal.value.legal_moves == tuple(state.legal_texts(seat))
            assert "\n" not in str(refusal.value)
    assert snapshot(state) == before


@given(matches)
def test_one_illegal_move_among_several_changes_nothing(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    before = snapshot(state)
    actions = {seat: state.legal(seat)[0] for seat in state.actors}
    with pytest.raises(IllegalMoveError):
        state.step({**actions, state.seats: 0})
    assert snapshot(state) == before


@given(matches)
def test_a_copy_and_its_original_do_not_affect_each_other(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    before = snapshot(state)
    twin = state.copy()
    assert snapshot(twin) == before
    for _ in played(twin, match[1]):
        pass
    assert snapshot(state) == before
    same = state.copy()
    *_, end = played(state, Random(5))
    shown = snapshot(end)
    *_, same_end = played(same, Random(5))
    assert snapshot(same_end) == shown
    assert snapshot(end) == shown


@given(matches)
def test_every_match_ends_with_consistent_places(match: tuple[State, Random]) -> None:
    state, rng = match
    length = sum(1 for _ in played(state, rng)) - 1
    assert length <= LONGEST[state.game]
    assert state.is_over
    scores, places = state.scores, state.places
    assert scores is not None
    assert places is not None
    assert len(scores) == len(places) == state.seats
    assert min(places) == 1
    for a in range(state.seats):
        assert places[a] == 1 + sum(score > scores[a] for score in scores)


@given(matches)
def test_every_action_id_has_one_text_in_any_order_and_spacing(match: tuple[State, Random]) -> None:
    state, rng = match
    for action, text in enumerate(state.moves.texts):
        assert state.moves.parse(text) == action
        verb, *cards = text.split()
        rng.shuffle(cards)
        loose = "  ".join(["", verb, *cards, ""])
        assert state.moves.parse(loose) == action


@given(st.text() | st.from_regex(r"\A(play|give|award|pass)[ 0-9,+-]*\Z"))
def test_a_text_is_read_as_the_move_with_the_same_parts_or_refused_in_one_line(text: str) -> None:
    for state_class in catalogue.GAMES.values():
        try:
            action = state_class.moves.parse(text)
        except ValueError as error:
            reason = str(error)
        else:
            assert Counter(text.split()) == Counter(state_class.moves.texts[action].split())
            continue
        assert "\n" not in reason


@pytest.mark.parametrize(
    "text",
    [
        "play 07",
        "play +7",
        "play 7.0",
        "play \u0667",
        "play 7\n",
        "play\t7",
        "PLAY 7",
        "play7",
        "play 7,7",
        " ",
    ],
)
def test_numbers_are_ascii_digits_without_sign_or_leading_zero(text: str) -> None:
    for state_class in catalogue.GAMES.values():
        with pytest.raises(ValueError, match="is not a move"):
            state_class.moves.parse(text)


@given(matches)
def test_an_observation_is_fresh_data_of_json_and_marshal(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    for seat in range(state.seats):
        seen = state.observe(seat)
        text = json.dumps(seen)
        assert json.loads(text) == seen
        assert marshal.loads(marshal.dumps(seen, 2)) == seen  # how a hosted bot gets it
        scribble(seen)
        assert json.dumps(state.observe(seat)) == text


@given(matches)
def test_a_record_does_not_change_when_written_and_read(match: tuple[State, Random]) -> None:
    state, rng = match
    record = finished(state, rng)
    line = write(record)
    assert read(line.encode()) == record
    assert verify(record).scores == record.scores


@given(matches)
def test_the_seed_and_the_moves_determine_everything(match: tuple[State, Random]) -> None:
    state, rng = match
    record = finished(state, rng)
    again = record.start()
    for seat, text in record.moves:
        again.step({seat: again.parse(seat, text)})
    assert snapshot(again) == snapshot(verify(record))


def finished(state: State, rng: Random) -> Record:
    """Play a new match of the same kind, with a known seed, and return its record."""
    seed = rng.randbytes(32)
    state = catalogue.start(state.game, state.rules.name, state.seats, seeded_shuffle(seed))
    moves = []
    while state.actors:
        seat = state.actors[0]
        action = rng.choice(state.legal(seat))
        moves.append((seat, state.moves.texts[action]))
        state.step({seat: action})
    return Record(
        game=state.game,
        rules=state.rules.name,
        seats=state.seats,
        deal_seed=seed,
        moves=tuple(moves),
        scores=state.scores or (),
        places=state.places or (),
        players=tuple(rng.choice(["Zoë", "", 'a "name"\n', "\ud800"]) for _ in range(state.seats)),
    )


def snapshot(state: State) -> list[Any]:
    """Return all views of a state: of the public and of each seat."""
    return [state.spectate(), state.actors, *map(state.observe, range(state.seats))]


def scribble(value: Any) -> None:
    """Change a JSON value in every place that can be changed."""
    if isinstance(value, dict):
        for inner in value.values():
            scribble(inner)
        value["scribble"] = 1
    elif isinstance(value, list):
        for inner in value:
            scribble(inner)
        value.append("scribble")
