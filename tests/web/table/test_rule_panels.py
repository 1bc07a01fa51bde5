"""The rules beside the table: what the panel behind "?" says for each preset."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from web.table.tables import Table


def twelve_days(rules: str) -> str:
    """Return the panel's text, with single spaces."""
    table = SimpleNamespace(preset=TwelveDays.presets[rules])
    return " ".join(render_to_string("web/table/rule_twelve_days.html", {"table": table}).split())


def partridge(rules: str) -> str:
    """Return the panel's text, with single spaces."""
    table = SimpleNamespace(preset=Partridge.presets[rules], undealt=30)
    return " ".join(render_to_string("web/table/rule_partridge.html", {"table": table}).split())


def test_the_rules_of_partridge_say_who_acts_and_what_may_answer() -> None:
    text = partridge("eagle-short")
    for rule in (
        "1 and 12 are not in a row",
        "clockwise from the leader, acts once",
        "Any number of cards may answer a set or a straight",
        "if seats tie, the last of them to play wins",
        "The pool is a common store of gifts, one for each round.",
        "Seat 0 leads the first trick of the match",
        "Only a single answers a single.",
        "“Passes by choice”: the seat could have played.",
        "Cards that are not dealt are out of the round, and nobody sees them: here 30 of 78.",
    ):
        assert rule in text


@pytest.mark.parametrize(
    ("rules", "gifts"),
    [("eagle", "without gifts."), ("eagle-short", "with 1 gift, not from the pool.")],
)
def test_the_rules_of_partridge_have_the_gifts_of_the_preset(rules: str, gifts: str) -> None:
    assert f"Each seat begins {gifts}" in partridge(rules)


@pytest.mark.parametrize(("seats", "undealt"), [(2, 54), (6, 6), (8, 6)])
def test_the_table_counts_the_cards_that_nobody_gets(seats: int, undealt: int) -> None:
    match: Any = SimpleNamespace(rules="eagle-short")
    table = Table(match, "replay", "", ["ada"] * seats, parts=3, steps=[], number=1)
    assert table.undealt == undealt


@pytest.mark.parametrize(
    ("rules", "claus", "cards"),
    [
        ("calliope", "you must award the day cards", "up to twelve 12s, and two Claus cards."),
        ("cheapass", "you keep the day cards", "up to twelve 12s, and two Claus cards."),
        ("eight-players", "you must award", "The cards: two decks, each with one 1, two 2s"),
        ("eight-nights", "on day 8, the last, nobody gets them", "up to eight 8s."),
    ],
)
def test_the_rules_are_those_of_the_preset(rules: str, claus: str, cards: str) -> None:
    text = twelve_days(rules)
    assert claus in text
    assert cards in text
    assert ("Claus" in text) == (TwelveDays.presets[rules].claus != "none")
