"""Events of both games: what they contain, who sees it, and what they add up to."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

from engine.deals import seeded_shuffle
from engine.games import catalogue, events
from engine.games.events import Event, from_json
from engine.games.game import State
from engine.games.partridge import Partridge
from engine.playback import play_back, play_on
from engine.record import replay
from tests.engine.expected_events import expected_deal, expected_phase
from tests.engine.tables import move, no_shuffle, partridge, play_day, played, trick, twelve_days
from tests.engine.test_properties import every_phase, finished, matches, snapshot, somewhere

MANY = [12, 12, 12]


def dealt(state: State, seed: bytes) -> tuple[State, tuple[Event, ...]]:
    """Deal a new match of the same kind and return it with the events of the deal."""
    report: list[Event] = []
    shuffle = seeded_shuffle(seed)
    fresh = catalogue.start(state.game, state.rules.name, state.seats, shuffle, report)
    return fresh, tuple(report)


def phases(state: State, rng: Random) -> Iterator[tuple[dict[int, int], tuple[Event, ...]]]:
    """Play to the end; yield the actions and events of each phase, after it."""
    while state.actors:
        actions = {seat: rng.choice(state.legal(seat)) for seat in state.actors}
        yield actions, state.step(actions)


def views(state: State) -> dict[int | None, dict[str, Any]]:
    """Return what the public (None) and each seat see."""
    return {None: state.spectate(), **{seat: state.observe(seat) for seat in range(state.seats)}}


def seen(happened: Sequence[Event], seat: int | None) -> list[dict[str, Any]]:
    return [event.seen_by(seat).as_json() for event in happened]


# -- Who sees what -------------------------------------------------------------------------


@every_phase
@given(matches)
def test_the_public_and_each_seat_see_only_events_that_follow_from_their_views(
    match: tuple[State, Random],
) -> None:
    state, happened = dealt(match[0], match[1].randbytes(32))
    for viewer, view in views(state).items():
        assert seen(happened, viewer) == expected_deal(view, viewer)
    before = views(state)
    for actions, happened in phases(state, match[1]):
        after = views(state)
        # A play of partridge is public, also the last of a round, which no later view contains.
        cards = [state.moves.texts[action].split()[1:] for action in actions.values()]
        play = [int(card) for card in cards[0]] if state.game == "partridge" else None
        for viewer in before:
            expected = expected_phase(before[viewer], after[viewer], after[None], viewer, play)
            assert seen(happened, viewer) == expected
        before = after


@given(matches)
def test_nothing_is_reported_before_the_last_choice_of_a_phase_is_in(
    match: tuple[State, Random],
) -> None:
    state = somewhere(*match)
    twin = state.copy()
    actors = match[1].sample(state.actors, len(state.actors))
    actions = {seat: match[1].choice(state.legal(seat)) for seat in actors}
    together = state.step(actions)
    for seat in actors[:-1]:
        assert twin.step({seat: actions[seat]}) == ()
    if actors:
        assert twin.step({actors[-1]: actions[actors[-1]]}) == together
        assert together


def test_only_giver_and_receiver_see_a_given_card_and_only_the_drawer_a_drawn_one() -> None:
    given_card = events.CardGiven(seat=3, to=0, rank=7)
    assert [given_card.seen_by(seat).rank for seat in (0, 1, 2, 3, None)] == [
        7,
        None,
        None,
        7,
        None,
    ]
    drawn = events.CardDrawn(seat=1, rank=7)
    assert [drawn.seen_by(seat).rank for seat in (0, 1, None)] == [None, 7, None]
    hand = events.HandDealt(seat=1, hand_size=2, cards=(3, 7))
    assert [hand.seen_by(seat).cards for seat in (0, 1, None)] == [None, (3, 7), None]
    assert hand.seen_by(None).hand_size == 2


# -- What events add up to -----------------------------------------------------------------


class Folded:
    """A match as the public follows it, from events alone."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.scores: list[int] | None = None
        self.pot: list[int] = []
        self.day_cards: list[list[int]] = [[] for _ in range(seats)]
        self.ranks = [0] * seats
        self.gifts = [0] * seats
        self.hand_sizes = [0] * seats
        self.rounds_won: list[int] = []

    def add(self, event: dict[str, Any]) -> None:
        """Add an event in its JSON form."""
        match event:
            case {"kind": "hand_dealt", "seat": seat, "hand_size": size}:
                self.hand_sizes[seat] = size
            case {"kind": "day_started", "pot": pot}:
                self.pot = pot
            case {"kind": "card_given", "seat": seat, "to": to}:
                self.hand_sizes[seat] -= 1
                self.hand_sizes[to] += 1
            case {"kind": "card_played", "seat": seat}:
                self.hand_sizes[seat] -= 1
            case {"kind": "day_won" | "pot_awarded", "to": int(to), "pot": pot}:
                self.day_cards[to] += pot
                self.pot = []
            case {"kind": "card_drawn", "seat": seat}:
                self.hand_sizes[seat] += 1
            case {"kind": "rank_scored", "seats": seats, "points": points}:
                for seat in seats:
                    self.ranks[seat] += points
            case {"kind": "cards_led" | "cards_followed", "seat": seat, "cards": cards}:
                self.hand_sizes[seat] -= len(cards)
            case {"kind": "cards_returned", "seat": seat, "cards": cards}:
                self.hand_sizes[seat] += len(cards)
            case {"kind": "round_won", "seat": seat}:
                self.rounds_won.append(seat)
            case {"kind": "gift_moved", "giver": giver, "to": to}:
                self.gifts[to] += 1
                if giver is not None:
                    self.gifts[giver] -= 1
            case {"kind": "match_over", "scores": scores}:
                self.scores = scores


@every_phase
@given(matches)
def test_public_events_add_up_to_the_public_view_after_every_phase(
    match: tuple[State, Random],
) -> None:
    state, happened = dealt(match[0], match[1].randbytes(32))
    folded = Folded(state.seats)
    for event in seen(happened, None):
        folded.add(event)
    for _, happened in phases(state, match[1]):
        for event in seen(happened, None):
            folded.add(event)
        public = state.spectate()
        assert folded.hand_sizes == [len(state.hand(seat)) for seat in range(state.seats)]
        assert folded.scores == public["scores"]
        if state.game == "partridge":
            assert (folded.gifts, folded.rounds_won) == (public["gifts"], public["rounds_won"])
        else:
            assert folded.day_cards == public["day_cards"]
            if state.phase != "award":
                assert folded.pot == public["pot"]
    assert folded.scores == list(state.scores or ())
    if state.game == "partridge":
        assert folded.gifts == folded.scores
    else:
        sums = [sum(cards) for cards in folded.day_cards]
        assert [a + b for a, b in zip(sums, folded.ranks, strict=True)] == folded.scores


@every_phase
@given(matches)
def test_a_playout_with_and_without_a_report_goes_the_same_way(match: tuple[State, Random]) -> None:
    state = somewhere(*match)
    silent, stepped = state.copy(), state.copy()
    while state.actors:
        actions = {seat: match[1].choice(state.legal(seat)) for seat in state.actors}
        report: list[Event] = []
        state.step_unchecked(actions, report)
        silent.step_unchecked(actions)
        assert stepped.step(actions) == tuple(report)
        # All views take fifty times as long as a step.
        if not state.actors or match[1].random() < 0.1:
            assert snapshot(silent) == snapshot(stepped) == snapshot(state)


# -- Playing back --------------------------------------------------------------------------


@every_phase
@given(matches)
def test_a_record_played_back_yields_the_deal_and_every_phase_with_its_state(
    match: tuple[State, Random],
) -> None:
    record = finished(*match)
    plies = []
    for phase in play_back(record):
        plies.append(phase.ply)
        if match[1].random() < 0.1:
            assert snapshot(phase.state) == snapshot(replay(record, phase.ply))
    assert plies[0] == 0
    assert plies[-1] == len(record.moves)
    assert phase.state.scores == record.scores
    assert phase.events[-1] == events.MatchOver(record.scores, record.places)


@every_phase
@given(matches)
def test_playing_on_in_portions_of_whole_phases_yields_the_same_events(
    match: tuple[State, Random],
) -> None:
    record = finished(*match)
    whole = [(phase.ply, phase.events) for phase in play_back(record)]
    state, ply = record.start(), 0
    portions: list[tuple[int, tuple[Event, ...]]] = []
    for end, _ in whole[1:]:
        if end == len(record.moves) or match[1].random() < 0.2:
            moves = record.moves[ply:end]
            portions += [(phase.ply, phase.events) for phase in play_on(state, moves, ply)]
            ply = end
    assert portions == whole[1:]


def test_moves_that_stop_within_a_phase_are_refused_after_the_last_whole_phase() -> None:
    state = twelve_days([[1], [2], [3]])
    gives = [(0, "give 1"), (1, "give 2"), (2, "give 3")]
    with pytest.raises(ValueError, match="no whole phase at ply 3"):
        list(play_on(state, [*gives, (0, "play 3")]))
    assert state.phase == "play"
    assert state.actors == (0, 1, 2)


def test_moves_after_the_end_are_refused() -> None:
    *_, end = played(twelve_days([[1], [2], [3]]), Random(1))
    with pytest.raises(ValueError, match="ply 99, after the end"):
        list(play_on(end, [(0, "give 1")], 99))


# -- JSON ----------------------------------------------------------------------------------


@every_phase
@given(matches)
def test_an_event_does_not_change_when_written_to_json_and_read(
    match: tuple[State, Random],
) -> None:
    for phase in play_back(finished(*match)):
        for event in phase.events:
            for form in (event, event.seen_by(None)):
                assert from_json(json.loads(json.dumps(form.as_json()))) == form


@pytest.mark.parametrize(
    "document", [{}, {"kind": 7}, {"kind": "dance"}, {"kind": "seat_passed"}, {"kind": [1]}]
)
def test_a_document_that_is_not_an_event_is_refused_in_one_line(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="event") as refusal:
        from_json(document)
    assert "\n" not in str(refusal.value)


def test_the_engine_document_lists_every_kind_with_its_fields_and_secrets() -> None:
    lines = (
        (Path(__file__).parents[2] / "docs" / "engine.md").read_text(encoding="utf-8").splitlines()
    )
    for kind, event in events.KINDS.items():
        [row] = [line for line in lines if line.startswith(f"| `{kind}`")]
        assert all(f"`{field.name}`" in row for field in fields(event))
        assert all(f"`{secret}` by" in row for secret in event.secrets)


# -- Reasons of results --------------------------------------------------------------------


def of_kind(happened: Sequence[Event], *kinds: str) -> list[Event]:
    return [event for event in happened if event.kind in kinds]


def day(state: State, plays: Sequence[int]) -> tuple[Event, ...]:
    """Give filler cards, play these, and return the events of the plays."""
    move(state, ["give 12"] * state.seats)
    texts = {seat: f"play {rank}" for seat, rank in enumerate(plays)}
    return state.step({seat: state.parse(seat, text) for seat, text in texts.items()})


def test_a_won_day_names_the_ranks_that_cancelled_and_the_points() -> None:
    state = twelve_days([[7, 4], [7, 4], [3, 4], [9, 4]])
    day(state, [4, 4, 4, 4])
    won = of_kind(day(state, [7, 7, 3, 9]), "day_won")
    assert won == [events.DayWon(2, 2, 3, (7, 7), (1, 2), 3, 2)]


def test_a_day_on_which_all_ranks_cancel_carries_its_pot_over() -> None:
    happened = day(twelve_days([[4], [4], [4]]), [4, 4, 4])
    assert events.DayCarried(1, (4, 4, 4), (1,), 1) in happened
    assert of_kind(happened, "day_started") == [events.DayStarted(2, (1, 2), 3)]


def test_a_pot_that_no_seat_wins_on_the_last_day_is_lost() -> None:
    state = twelve_days([[]] * 3)
    for _ in range(11):
        play_day(state, [12, 12, 12])
    happened = day(state, [12, 12, 12])
    assert events.PotLost(12, (12, 12, 12), tuple(range(1, 13)), 78) in happened
    assert events.RankScored(12, (0, 1, 2), 12, 12) in happened
    assert happened[-1] == events.MatchOver((12, 12, 12), (1, 1, 1))


def test_a_claus_wins_the_day_first_and_awards_the_pot_in_the_next_phase() -> None:
    state = twelve_days([[0], [9], [9]])
    happened = day(state, [0, 9, 9])
    assert happened[-1] == events.DayWon(1, 0, 0, (9, 9), (1,), 1, None)
    awarded = state.step({0: state.parse(0, "award 2")})
    assert awarded[0] == events.PotAwarded(1, 0, 2, (1,), 1)
    assert [event.kind for event in awarded[1:]] == ["card_drawn"] * 3 + ["day_started"]


def test_a_reshuffle_is_reported_just_before_the_draw_that_needs_it() -> None:
    state = twelve_days([[1], [2], [3]])
    state.deck, state.shuffle = [5, 6], no_shuffle
    drawn = of_kind(day(state, [1, 2, 3]), "card_drawn", "discards_reshuffled")
    assert drawn == [
        events.CardDrawn(0, 5),
        events.CardDrawn(1, 6),
        events.DiscardsReshuffled(3),
        events.CardDrawn(2, 1),
    ]


def acted(state: Partridge, *texts: str) -> tuple[Event, ...]:
    """Make moves in order and return the events of the last."""
    trick(state, *texts[:-1])
    return state.step({state.actors[0]: state.parse(state.actors[0], texts[-1])})


def test_a_led_combination_is_named() -> None:
    for text, name, low in (("4", "single", 4), ("4 4", "set", 4), ("5 4 3", "straight", 3)):
        state = partridge([[3, 4, 4, 5, *MANY], MANY])
        cards = tuple(map(int, text.split()))
        assert acted(state, f"play {text}") == (events.CardsLed(0, cards, name, low),)


def test_a_tied_trick_names_the_seats_that_tie() -> None:
    state = partridge([[4, *MANY], [4, *MANY], MANY, [4, *MANY]])
    happened = acted(state, "play 4", "play 4", "pass", "play 4")
    assert happened == (events.CardsFollowed(3, (4,), 4), events.TrickWon(3, 4, (0, 1)))


def test_cards_taken_back_are_reported_after_the_trick() -> None:
    state = partridge([[11, 10, 9, 8, 7], [8, 7, 6, *MANY]])
    happened = acted(state, "play 11 10 9 8 7", "play 8 7 6")
    assert happened[1:] == (
        events.TrickWon(1, 6, ()),
        events.CardsReturned(0, (11, 10, 9, 8, 7)),
    )


def test_a_won_round_reports_each_gift_with_the_cards_of_its_giver() -> None:
    state = partridge([[1], [5, 5, 5], [6, 6, 6], [7]])
    state.gifts = [0, 2, 0, 4]
    happened = acted(state, "play 1", "pass", "pass", "pass")
    assert of_kind(happened, "round_won", "gift_moved", "round_dealt") == [
        events.RoundWon(1, 0),
        events.GiftMoved(None, 0, None),
        events.GiftMoved(1, 0, 3),
        events.RoundDealt(2, 0),
    ]
    assert [event.kind for event in happened[-4:]] == ["hand_dealt"] * 4
