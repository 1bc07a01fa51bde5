"""The reference bots play every match to its end without a fault, and the thumb beats luck."""

import copy
import json
from random import Random

import pytest

from bots_sdk.reference import HOUSE, make_player, search_bot
from engine.games.catalogue import GAMES
from engine.rating.blocks import plan_block
from engine.referee import play
from tests.engine.tables import CASES, played, start


@pytest.fixture(autouse=True)
def hasty_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_bot, "PLAYOUTS", 4)


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize(("game", "rules", "seats"), CASES)
def test_a_reference_bot_plays_every_match_without_a_fault(
    name: str, game: str, rules: str, seats: int
) -> None:
    others = ["house-random"] * (seats - 2)
    players = [make_player(player) for player in [name, *others, name]]
    assert play(game, rules, bytes(32), players).incidents == ()


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize("game", GAMES)
def test_a_reference_bot_answers_alike_to_the_same_and_leaves_what_it_is_shown_alone(
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


@pytest.mark.parametrize(
    ("strong", "weak", "margin"),
    [("house-thumb", "house-random", 0.5), ("house-counting", "house-thumb", 0.3)],
)
@pytest.mark.parametrize(("game", "rules"), [("twelve-days", "calliope"), ("partridge", "eagle")])
def test_a_bot_that_knows_more_is_placed_better(
    game: str, rules: str, strong: str, weak: str, margin: float
) -> None:
    players = {0: strong, 1: weak, 2: strong, 3: weak}
    places = {strong: 0, weak: 0}
    blocks = 20
    for number in range(blocks):
        for match in plan_block(number.to_bytes(32, "big"), players, duplicate=True).matches:
            seated = [players[bot] for bot in match.seating]
            outcome = play(game, rules, match.deal_seed, [make_player(name) for name in seated])
            for name, place in zip(seated, outcome.record.places, strict=True):
                places[name] += place
    mean = {name: total / (blocks * 4 * 2) for name, total in places.items()}
    assert mean[strong] < mean[weak] - margin


def test_the_search_takes_as_many_playouts_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    play_on = search_bot.play_on
    monkeypatch.setattr(search_bot, "PLAYOUTS", 60)
    monkeypatch.setattr(
        search_bot, "play_on", lambda *given: counted.append(given[2]) or play_on(*given)
    )
    observation = start("twelve-days", "calliope", 4).observe(0)
    search_bot.choose(observation)
    assert set(counted) == set(observation["legal_moves"])
    assert 30 <= len(counted) <= 60


def test_a_name_that_is_no_house_bot_is_refused() -> None:
    with pytest.raises(KeyError, match="house-nobody"):
        make_player("house-nobody")


def test_twins_with_luck_differ_on_the_same_cards() -> None:
    first, second = make_player("house-random"), make_player("house-random-2")
    shown = [state.observe(0) for state in played(start("twelve-days", "calliope", 4), Random(1))]
    asked = [seen for seen in shown if seen["legal_moves"]]
    assert [first(seen) for seen in asked] != [second(seen) for seen in asked]
