"""The house bots play every match without a fault, each better than the one before it."""

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from types import ModuleType
from typing import Any

import pytest

from bots_sdk.bot import match_info
from bots_sdk.reference import HOUSE, counting_bot, make_player, random_bot, search_bot
from engine.blocks import plan_block
from engine.games.catalogue import GAMES
from engine.games.game import State
from engine.games.twelve_days import TwelveDays
from engine.playouts import Evaluation
from engine.referee import MatchClock, Player, TimeControl, play
from tests.engine.tables import CASES, partridge, played, start, trick


@pytest.fixture(autouse=True)
def hasty_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_bot, "PLAYOUTS", 4)
    monkeypatch.setattr(search_bot, "FAST_PLAYOUTS", 4)


@pytest.mark.parametrize("name", [name for name in HOUSE if not name.endswith("-2")])
@pytest.mark.parametrize(("game", "rules", "seats"), CASES)
def test_a_reference_bot_plays_every_match_without_a_fault(
    name: str, game: str, rules: str, seats: int
) -> None:
    others = [make_player("house-random")] * (seats - 1)
    # A search takes long even with few playouts, so it plays one move in six.
    player = now_and_then(make_player(name)) if name == "house-search" else make_player(name)
    assert play(game, rules, bytes(32), [player, *others]).fault_reports == ()


def now_and_then(player: Player) -> Player:
    numbers = count()
    other = make_player("house-random")
    return lambda observation: (other if next(numbers) % 6 else player)(observation)


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize("game", GAMES)
def test_a_reference_bot_repeats_its_answer_and_does_not_change_the_observation(
    name: str, game: str
) -> None:
    rules = next(iter(GAMES[game].presets))
    for number, state in enumerate(played(start(game, rules, 4), Random(1))):
        if number % 5:
            continue
        for seat in state.actors:
            shown = state.observe(seat)
            before = copy.deepcopy(shown)
            move = make_player(name)(shown)
            assert shown == before
            assert move in before["legal_moves"]
            # As another server might send it: the keys in another order.
            assert make_player(name)(json.loads(json.dumps(before, sort_keys=True))) == move


# A hurried search in few matches: it shows a broken search, and that the search beats the rule of
# thumb, but not that it beats counting. benchmarks/reference_bots.py has the figures.
@pytest.mark.parametrize(
    ("strong", "weak", "blocks", "margin"),
    [
        ("house-thumb", "house-random", 12, 0.5),
        ("house-counting", "house-thumb", 12, 0.3),
        ("house-search", "house-thumb", 1, 0.3),
    ],
)
@pytest.mark.parametrize(
    ("game", "rules"), [("twelve-days", "calliope"), ("partridge", "eagle-short")]
)
def test_a_stronger_reference_bot_gets_better_places(
    game: str,
    rules: str,
    strong: str,
    weak: str,
    blocks: int,
    margin: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_bot, "PLAYOUTS", 30)
    monkeypatch.setattr(search_bot, "FAST_PLAYOUTS", 300)
    players = {0: strong, 1: weak, 2: strong, 3: weak}
    places = {strong: 0, weak: 0}
    for number in range(blocks):
        for match in plan_block(number.to_bytes(32, "big"), players, duplicate=True).matches:
            seated = [players[bot] for bot in match.seating]
            outcome = play(game, rules, match.deal_seed, [make_player(name) for name in seated])
            for name, place in zip(seated, outcome.record.places, strict=True):
                places[name] += place
    mean = {name: total / (blocks * 4 * 2) for name, total in places.items()}
    assert mean[strong] < mean[weak] - margin


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("bot", [random_bot, counting_bot, search_bot])
def test_twins_with_luck_differ_on_the_same_cards(bot: ModuleType, game: str) -> None:
    rules = next(iter(GAMES[game].presets))
    shown = [state.observe(state.actors[0]) for state in decisions(game, rules, 4)][::8]
    first, second = [[bot.choose(seen, luck) for seen in shown] for luck in ("house", "house-2")]
    assert first != second


def test_a_name_that_is_no_house_bot_is_refused() -> None:
    with pytest.raises(KeyError, match="house-nobody"):
        make_player("house-nobody")


# -- What the counting bot remembers -----------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "seats"), [(rules, seats) for game, rules, seats in CASES if game == "twelve-days"]
)
def test_unseen_cards_cover_all_cards_in_other_hands(rules: str, seats: int) -> None:
    for state in decisions("twelve-days", rules, seats):
        if state.phase != "award" and len(state.actors) == seats:
            days = TwelveDays.presets[rules].days
            unseen, shares = counting_bot.cards_out(state.observe(0), days)
            counts = [count * share for count, share in zip(unseen, shares, strict=True)]
            assert sum(counts) == pytest.approx(days)
            for seat in range(1, seats):
                held = state.observe(seat)["hand"]
                assert all(shares[rank] > 0 and unseen[rank] >= held.count(rank) for rank in held)


def test_a_seat_that_took_its_cards_back_is_known_to_hold_them() -> None:
    state = partridge([[6, 6, 12, 12], [5, 5, 12], [6, 6]])
    trick(state, "play 6 6", "play 5 5", "play 6 6")
    assert hands_known(state, 0) == {0: [12, 12], 2: [6, 6]}


def hands_known(state: State, seat: int) -> dict[int, list[int]]:
    hands = counting_bot.hands_out(state.observe(seat))
    return {other: sorted(may.elements()) for other, (may, share) in enumerate(hands) if share == 1}


# -- How much the search does ------------------------------------------------------------------


@dataclass
class FakeEngine:
    """An engine that only counts, on a separate clock.

    Attributes:
        seconds: of a playout.
        now: time of the clock.
        playouts: by move.
    """

    seconds: float
    now: float = 0.0
    playouts: Counter[str] = field(default_factory=Counter)

    def evaluate(
        self,
        observation: dict[str, Any],
        playouts: int,
        policy: object,
        seed: int,
        *,
        moves: list[str],
        this_round: bool,
    ) -> list[Evaluation]:
        self.now += self.seconds * playouts * len(moves)
        self.playouts.update(dict.fromkeys(moves, playouts))
        return [Evaluation(move, playouts, 0.5, None, 0.0, len(move), None) for move in moves]


@pytest.fixture(params=[False, True], ids=["plain", "kernel"])
def fake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine(1e-4 if request.param else 0.0)
    monkeypatch.setattr(search_bot, "is_fast", lambda: request.param)
    return installed(engine, monkeypatch)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Return an engine on a stalled machine without the kernel."""
    monkeypatch.setattr(search_bot, "is_fast", lambda: False)
    return installed(FakeEngine(0.2), monkeypatch)


def installed(engine: FakeEngine, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    monkeypatch.setattr(search_bot, "evaluate", engine.evaluate)
    monkeypatch.setattr(search_bot, "monotonic", lambda: engine.now)
    monkeypatch.setattr(search_bot, "_clock", None)
    return engine


@pytest.mark.parametrize("seconds", [float("inf"), 10.0])
def test_the_search_runs_the_given_number_of_playouts(seconds: float, fake: FakeEngine) -> None:
    observation = start("twelve-days", "calliope", 4).observe(0)
    search_bot.choose(observation, playouts=600, seconds=seconds)
    assert set(fake.playouts) == set(observation["legal_moves"])
    assert 450 <= fake.playouts.total() <= 600


def test_the_search_stops_when_its_time_is_up(fake: FakeEngine) -> None:
    fake.seconds = 0.001
    observation = start("twelve-days", "calliope", 4).observe(0)
    search_bot.choose(observation, playouts=10**9, seconds=20)
    assert set(fake.playouts) == set(observation["legal_moves"])
    a_call = 0.001 * 200 * len(observation["legal_moves"])
    assert 20 - 4 * a_call <= fake.now <= 20 + a_call


def test_the_last_round_compares_the_two_best_moves(fake: FakeEngine) -> None:
    observation = start("twelve-days", "calliope", 4).observe(0)
    move = search_bot.choose(observation, playouts=6000)
    often = [each for each, _ in fake.playouts.most_common(2)]
    assert move in often
    assert min(map(len, often)) == max(map(len, observation["legal_moves"]))


def test_a_slow_search_ends_one_playout_after_its_time_even_before_it_tried_all_moves(
    slow: FakeEngine,
) -> None:
    observation = start("twelve-days", "calliope", 4).observe(0)
    move = search_bot.choose(observation, seconds=0.5)
    assert 0.5 <= slow.now <= 0.5 + 2 * slow.seconds
    tried = observation["legal_moves"][:3]
    assert move == max(tried, key=len)


def test_a_slow_search_never_uses_up_the_clock_of_its_match(slow: FakeEngine) -> None:
    """With a bank of 2 s and 2.4 s for trying each move once, no move may be late."""
    search_bot.start(match_info("twelve-days", "calliope", 4, 0, TimeControl(1.0, 2.0)))
    clock = MatchClock(TimeControl(1.0, 2.0), 4, lambda: slow.now)
    for state in decisions("twelve-days", "calliope", 4):
        began = slow.now
        observation = state.observe(state.actors[0])
        assert search_bot.choose(observation) in observation["legal_moves"]
        assert clock.charge(0, slow.now - began)


def test_a_house_bot_fits_its_search_to_what_is_left_on_its_clock(slow: FakeEngine) -> None:
    observation = start("twelve-days", "calliope", 4).observe(0)
    left = [31.0, 4.0]
    player = make_player("house-search", allowance=lambda: left[0])
    for allowance in (31.0, 4.0):
        began = slow.now
        left[0] = allowance
        assert player(observation) in observation["legal_moves"]
        assert slow.now - began <= search_bot.SHARE * allowance + 2 * slow.seconds


def decisions(game: str, rules: str, seats: int) -> Iterator[State]:
    """Yield a match of random moves before each of its moves."""
    return (state for state in played(start(game, rules, seats), Random(1)) if state.actors)
