"""The reference bots play every match to its end without a fault, and the thumb beats luck."""

import copy
from random import Random

import pytest

from bots_sdk.reference import HOUSE, make_player
from engine.games.catalogue import GAMES
from engine.rating.blocks import plan_block
from engine.referee import play
from tests.engine.tables import CASES, played, start


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize(("game", "rules", "seats"), CASES)
def test_a_reference_bot_plays_every_match_without_a_fault(
    name: str, game: str, rules: str, seats: int
) -> None:
    outcome = play(game, rules, bytes(32), [make_player(name)] * seats)
    assert outcome.incidents == ()


@pytest.mark.parametrize("name", HOUSE)
def test_a_reference_bot_answers_alike_to_the_same_and_leaves_what_it_is_shown_alone(
    name: str,
) -> None:
    for game in GAMES:
        rules = next(iter(GAMES[game].presets))
        for state in played(start(game, rules, 4), Random(1)):
            for seat in state.actors:
                shown = state.observe(seat)
                before = copy.deepcopy(shown)
                assert make_player(name)(shown) == make_player(name)(before)
                assert shown == before


@pytest.mark.parametrize(("game", "rules"), [("twelve-days", "calliope"), ("partridge", "eagle")])
def test_the_rule_of_thumb_beats_luck_by_far(game: str, rules: str) -> None:
    players = {0: "house-thumb", 1: "house-random", 2: "house-thumb", 3: "house-random"}
    places = {"house-thumb": 0, "house-random": 0}
    blocks = 20
    for number in range(blocks):
        for match in plan_block(number.to_bytes(32, "big"), players, duplicate=True).matches:
            seated = [players[bot] for bot in match.seating]
            outcome = play(game, rules, match.deal_seed, [make_player(name) for name in seated])
            for name, place in zip(seated, outcome.record.places, strict=True):
                places[name] += place
    mean = {name: total / (blocks * 4 * 2) for name, total in places.items()}
    assert mean["house-thumb"] < mean["house-random"] - 0.5


def test_a_name_that_is_no_house_bot_is_refused() -> None:
    with pytest.raises(KeyError, match="house-nobody"):
        make_player("house-nobody")
