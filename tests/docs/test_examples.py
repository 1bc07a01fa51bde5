"""The rules pages show what the engine plays."""

from collections import Counter

import pytest

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.record import replay, verify
from tests.docs.documents import example, numbers, plain, table, tables

TWELVE_DAYS, PARTRIDGE = "rules/twelve-days.md", "rules/partridge.md"
NAMES = ("Ana", "Ben", "Chen", "Dora")


def by_seat(row: dict[str, str]) -> list[int]:
    return [int(row[name]) for name in NAMES]


def names(cell: str) -> list[str]:
    return [] if cell == "-" else cell.split(", ")


# -- twelve-days -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def twelve_days() -> TwelveDays:
    record = example("twelve-days")
    assert record.players == NAMES
    end = verify(record)
    assert isinstance(end, TwelveDays)
    return end


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("Day 1: two cards cancel", 1),
        ("Day 2: nobody wins", 2),
        ("Day 3: a Claus wins a carried pot", 3),
    ],
)
def test_a_worked_day_is_the_day_of_the_match(
    twelve_days: TwelveDays, heading: str, number: int
) -> None:
    day = twelve_days.history[number - 1]
    rows = {row[f"Day {number}"]: by_seat(row) for row in table(TWELVE_DAYS, heading)}
    assert rows == {
        "Gives": list(day.gives),
        "Receives": [day.gives[seat - 1] for seat in range(4)],
        "Plays": list(day.plays),
        "Draws": list(day.draws),
    }


def test_the_worked_days_show_a_cancelled_rank_a_carried_pot_and_an_award(
    twelve_days: TwelveDays,
) -> None:
    first, second, third = twelve_days.history[:3]
    assert (first.winner, first.plays[1]) == (1, 7)
    assert Counter(first.plays)[min(first.plays)] == 2
    assert (second.winner, third.pot) == (None, (2, 3))
    assert (third.plays[3], third.winner, third.to) == (0, 3, 0)


def test_the_worked_count_is_the_count_of_the_match(twelve_days: TwelveDays) -> None:
    hands = [Counter(hand) for hand in twelve_days.spectate()["hands"]]
    counts, points = tables(TWELVE_DAYS, "The example, counted")
    scored = dict.fromkeys(NAMES, 0)
    for row in counts:
        rank = int(row["Rank"])
        held = [hand[rank] for hand in hands]
        assert by_seat(row) == held
        most = [name for name, count in zip(NAMES, held, strict=True) if count == max(held)]
        assert names(row["Who scores"]) == most
        for name in most:
            scored[name] += rank
    assert {int(row["Rank"]) for row in counts} == set().union(*hands) - {0}
    day_cards = [sum(cards) for cards in twelve_days.observe(0)["day_cards"]]
    assert {row["Points"]: by_seat(row) for row in points} == {
        "Day cards": day_cards,
        "Gift cards": list(scored.values()),
        "Score": list(twelve_days.scores or ()),
        "Place": list(twelve_days.places or ()),
    }


def test_ana_would_have_lost_without_the_award(twelve_days: TwelveDays) -> None:
    scores = twelve_days.scores or ()
    assert twelve_days.observe(0)["day_cards"][0] == [2, 3, 6, 9, 12]
    assert scores[0] > scores[1] > scores[0] - 5


def test_the_presets_of_twelve_days_are_those_of_the_engine() -> None:
    shown = table(TWELVE_DAYS, "Presets")
    presets = TwelveDays.presets
    assert [plain(row["Preset"]) for row in shown] == list(presets)
    for row in shown:
        preset = presets[plain(row["Preset"])]
        assert int(row["Days"]) == preset.days
        assert int(row["Gift cards"]) == len(preset.deck())
        assert row["Seats"] == f"{preset.min_seats}-{preset.max_seats}"
        assert ("keeps the pot" in row["What differs"]) == (preset.claus == "keep")
        assert ("two gift decks" in row["What differs"]) == (preset.decks == 2)


# -- partridge ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_round() -> list[dict[str, str]]:
    """The tricks of round 1, in the words of the page; a seat acts once in each."""
    record = example("partridge")
    assert record.players == NAMES
    tricks = []
    for number in range(6):
        plies = range(4 * number, 4 * number + 4)
        cells = []
        for ply in plies:
            seat, text = record.moves[ply]
            did = "passes" if text == "pass" else text.removeprefix("play ")
            cells.append(f"{NAMES[seat]} {did}")
        after = replay(record, 4 * number + 4)
        assert isinstance(after, Partridge)
        returned = after.history[-1].returned if after.history else ()
        tricks.append(
            {
                "Trick": str(number + 1),
                **dict(zip(("Leader", "Second", "Third", "Fourth"), cells, strict=True)),
                "Winner": NAMES[after.leader],
                "Takes back": ", ".join(NAMES[seat] for seat in returned) or "-",
            }
        )
    assert replay(record, 24).observe(0)["round"] == 2
    assert replay(record, 23).observe(0)["round"] == 1
    return tricks


def test_the_worked_round_is_the_round_of_the_match(first_round: list[dict[str, str]]) -> None:
    start = example("partridge").start()
    hands, tricks = tables(PARTRIDGE, "A round as an example")
    for seat, row in enumerate(hands):
        assert row["Player"] == NAMES[seat]
        assert numbers(row["Hand at the start of round 1"]) == start.observe(seat)["hand"]
    assert tricks == first_round


def test_a_worked_trick_shows_a_play_that_is_taken_back(first_round: list[dict[str, str]]) -> None:
    trick = first_round[4]
    assert (trick["Leader"], trick["Third"]) == ("Chen 6 5", "Ana 6 5")
    assert (trick["Winner"], trick["Takes back"]) == ("Ana", "Chen")


def test_nobody_can_follow_in_the_last_trick_of_the_worked_round() -> None:
    record = example("partridge")
    for ply in (21, 22, 23):
        state = replay(record, ply)
        assert [state.legal_texts(seat) for seat in state.actors] == [["pass"]]


def test_the_gifts_after_the_worked_round_are_those_of_the_match() -> None:
    record = example("partridge")
    before, after = replay(record, 23), replay(record, 24)
    for seat, row in enumerate(table(PARTRIDGE, "Trick 6: the end of the round")):
        hand = before.observe(seat)["hand"]
        assert row["Player"] == NAMES[seat]
        assert numbers(row["Cards left"]) == ([] if seat == 0 else hand)
        gifts = [state.observe(0)["gifts"][seat] for state in (before, after)]
        assert [int(row["Gifts before"]), int(row["Gifts after"])] == gifts
        assert int(row["Change"]) == gifts[1] - gifts[0]


def test_the_table_of_rounds_is_the_match() -> None:
    record = example("partridge")
    state = record.start()
    gifts = [state.observe(0)["gifts"]]
    for seat, text in record.moves:
        state.step({seat: state.parse(seat, text)})
        if len(state.observe(0)["rounds_won"]) == len(gifts):
            gifts.append(state.observe(0)["gifts"])
    won = state.observe(0)["rounds_won"]
    rows = table(PARTRIDGE, "The whole match")
    assert [by_seat(row) for row in rows] == gifts[1:]
    assert [row["Winner"] for row in rows] == [NAMES[seat] for seat in won]
    for row, then, now in zip(rows, gifts, gifts[1:], strict=False):
        fewer = [name for name, a, b in zip(NAMES, then, now, strict=True) if b < a]
        assert names(row["Gives a gift"]) == fewer
    assert tuple(gifts[-1]) == record.scores


def test_the_presets_of_partridge_are_those_of_the_engine() -> None:
    shown = table(PARTRIDGE, "Presets")
    assert [plain(row["Preset"]) for row in shown] == list(Partridge.presets)
    for row in shown:
        preset = Partridge.presets[plain(row["Preset"])]
        assert int(row["Rounds"]) == preset.rounds
        assert int(row["Gifts at the start"]) == preset.starting_gifts
        assert row["Seats"] == f"{preset.min_seats}-{preset.max_seats}"
        sizes = {preset.hand_size(n): [n] for n in range(7, preset.max_seats + 1)}
        shown_sizes = {
            size: seats for size, *seats in map(numbers, row["Cards in hand"].split(";"))
        }
        assert shown_sizes == {12: [], **sizes}
