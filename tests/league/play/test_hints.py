"""Hints for players: their reasons are true in each preset."""

import re
from random import Random
from typing import Any

import pytest

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.twelve_days_presets import PRESETS
from league.play.hints import hint

CLAUSES = [name for name, preset in PRESETS.items() if preset.claus != "none"]


def observed(rules: str, phase: str, game: str = "twelve-days") -> list[dict[str, Any]]:
    """Return the observations in a phase of matches with random moves, for seats with a choice."""
    rng, found = Random(7), []
    for _ in range(3):
        state = catalogue.start(game, rules, 4, seeded_shuffle(rng.randbytes(32)))
        while state.actors:
            found += [state.observe(seat) for seat in state.actors]
            state.step({seat: rng.choice(state.legal(seat)) for seat in state.actors})
    return [each for each in found if each["phase"] == phase and len(each["legal_moves"]) > 1]


@pytest.mark.parametrize("rules", CLAUSES)
def test_a_hint_to_play_a_claus_states_that_it_never_scores_and_who_gets_the_points(
    rules: str,
) -> None:
    for phase in ("give", "play"):
        hints = [hint(each) for each in observed(rules, phase)]
        reasons = [each.why for each in hints if each.move == f"{phase} 0"]
        if PRESETS[rules].claus == "award":
            assert reasons
        for reason in reasons:
            assert "A Claus never scores at the end." in reason
            assert "of its rank" not in reason
            assert ("another seat" in reason) == (PRESETS[rules].claus == "award")


def test_a_hint_to_award_names_the_fewest_points_only_if_no_seat_has_fewer() -> None:
    [observation] = observed("calliope", "award")[:1]
    seat, reasons = observation["seat"], set()
    poor, other, _ = (each for each in range(4) if each != seat)
    for pot in range(1, 200):
        cards: list[list[int]] = [[40]] * 4
        cards[poor], cards[other] = [3], [4]
        found = hint({**observation, "day_cards": cards, "pot": [pot]})
        says_fewest = "the fewest of all" in found.why
        assert says_fewest == (found.move == f"award {poor}")
        assert re.search(r"has [34] points", found.why)
        reasons.add(says_fewest)
    assert reasons == {True, False}


@pytest.mark.parametrize("phase", ["lead", "follow"])
def test_a_hint_on_the_last_cards_tells_what_becomes_of_them(phase: str) -> None:
    reasons: dict[bool, set[str]] = {True: set(), False: set()}
    for observation in observed("eagle", phase, "partridge"):
        plays = [move.split()[1:] for move in observation["legal_moves"] if move != "pass"]
        hand = len(observation["hand"])
        found = hint(observation)
        is_last = all(len(cards) == hand for cards in plays)
        if phase == "lead":
            is_last = len(found.move.split()[1:]) == hand
        elif found.move != "pass":
            continue
        reasons[is_last].add(found.why)
    if phase == "lead":
        assert reasons[True] == {
            "It empties your hand: you win the round if no other seat wins the trick."
        }
        assert all("in your hand. Many cards" in why for why in reasons[False])
    else:
        assert reasons[True] == {
            "You could only play your last cards, and you take them back if another seat wins the "
            "trick."
        }
        assert all(why.startswith("Each play would cost a card") for why in reasons[False])
