"""The reference has the engine's fields, no more and no fewer, and its examples are true."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from engine.errors import RecordError
from engine.games import catalogue
from engine.games.game import Observation, State
from engine.record import FAULT_KINDS, FORMAT, read, write
from engine.referee import FAULTS_TO_FORFEIT, play
from tests.docs.documents import DOCS, Row, blocks, example, plain, table, tables

OBSERVATIONS, MOVES, RECORDS = (
    "reference/observations.md",
    "reference/moves.md",
    "reference/records.md",
)
GAMES = list(catalogue.GAMES)

Is = Callable[[Any], bool]


def is_integer(value: Any) -> bool:
    return type(value) is int


def is_text(value: Any) -> bool:
    return type(value) is str


def is_object(value: Any) -> bool:
    return type(value) is dict


def list_of(is_entry: Is) -> Is:
    return lambda value: type(value) is list and all(map(is_entry, value))


TYPES: dict[str, Is] = {
    "integer": is_integer,
    "text": is_text,
    "list of integers": list_of(is_integer),
    "list of texts": list_of(is_text),
    "list of objects": list_of(is_object),
    "list of lists of integers": list_of(list_of(is_integer)),
    "list of lists": list_of(list_of(lambda _: True)),
}


def states(game: str) -> Iterator[State]:
    """Yield the states of random matches of every preset, with the fewest and the most seats.

    Seats that choose together do so one by one.
    """
    rng = Random(12)
    state_class = catalogue.find(game)
    for name, preset in state_class.presets.items():
        for seats in (preset.min_seats, preset.max_seats):
            state = catalogue.start(game, name, seats, lambda _k, cards: rng.shuffle(cards))
            while not state.is_over:
                yield state
                seat = rng.choice(state.actors)
                state.step({seat: rng.choice(state.legal(seat))})
            yield state


def check_fields(rows: list[Row], objects: list[dict[str, Any]]) -> None:
    """Compare a table of fields with objects that have these fields."""
    assert objects
    for entry in objects:
        assert set(entry) == {plain(row["Key"]) for row in rows}
    for row in rows:
        key = plain(row["Key"])
        values = [entry[key] for entry in objects]
        there = [value for value in values if value is not None]
        is_right = TYPES[row["Type"]]
        assert there, f"{key} was always null"
        assert all(map(is_right, there)), f"{key} is not always: {row['Type']}"
        assert (len(there) < len(values)) == (row["Null"] != "never"), f"{key} null: {row['Null']}"


@pytest.fixture(scope="module", params=GAMES)
def game(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def observations(game: str) -> list[Observation]:
    return [state.observe(seat) for state in states(game) for seat in range(state.seats)]


# -- observations.md ---------------------------------------------------------------------------


def test_the_tables_have_every_key_of_an_observation(
    game: str, observations: list[Observation]
) -> None:
    common = table(OBSERVATIONS, "Keys of both games")
    own, _ = tables(OBSERVATIONS, game)
    check_fields(common + own, observations)


def test_the_tables_have_every_key_of_the_history(
    game: str, observations: list[Observation]
) -> None:
    entries = [entry for seen in observations for entry in seen["history"]]
    check_fields(table(OBSERVATIONS, f"History of {game}"), entries)


def test_the_table_has_every_key_of_an_action() -> None:
    actions = [
        action
        for state in states("partridge")
        for seen in [state.observe(0)]
        for trick in [seen["trick"], *[past["actions"] for past in seen["history"]]]
        for action in trick
    ]
    check_fields(table(OBSERVATIONS, "Actions of partridge"), actions)


def test_the_phases_are_those_of_the_engine(game: str, observations: list[Observation]) -> None:
    _, phases = tables(OBSERVATIONS, game)
    assert {plain(row["Phase"]) for row in phases} == {seen["phase"] for seen in observations}


def test_the_values_that_are_null_are_null_in_the_phases_named(
    game: str, observations: list[Observation]
) -> None:
    for seen in observations:
        over = seen["phase"] == "over"
        assert (seen["scores"] is None) == (not over)
        if game == "partridge":
            assert (seen["lead_low"] is None) == (seen["phase"] in ("lead", "over"))
            continue
        chose = not seen["legal_moves"]
        assert (seen["given"] is None) == (over or (seen["phase"] == "give" and not chose))
        assert (seen["received"] is None) == (over or seen["phase"] == "give")
        assert (seen["played"] is None) == (
            over or seen["phase"] == "give" or (seen["phase"] == "play" and not chose)
        )
        assert (seen["plays"] is None) == (seen["phase"] != "award")
        for day in seen["history"]:
            assert (day["winner"] is None) == (day["to"] is None)


def test_the_lists_are_in_the_order_and_of_the_length_that_the_tables_give(
    game: str, observations: list[Observation]
) -> None:
    by_seat = [
        plain(row["Key"])
        for row in table(OBSERVATIONS, "Keys of both games") + tables(OBSERVATIONS, game)[0]
        if row["Range"].startswith("by seat")
    ]
    for seen in observations:
        assert seen["hand"] == sorted(seen["hand"])
        assert seen["discards"] == sorted(seen["discards"])
        for key in by_seat:
            assert seen[key] is None or len(seen[key]) == seen["seats"]


def test_a_spectator_sees_the_keys_that_the_page_names(
    game: str, observations: list[Observation]
) -> None:
    [row] = table(OBSERVATIONS, "Spectators")
    hidden = {"seat", "hand", "legal_moves", "given", "received", "played"}
    for state in states(game):
        seen = state.spectate()
        assert set(seen) == set(observations[0]) - hidden | {plain(row["Key"])}
        assert (seen["hands"] is None) == (not state.is_over)
        for entry in seen["history"]:
            assert not {"given", "received", "drawn"} & set(entry)


def test_each_phase_of_each_game_has_an_example() -> None:
    shown = {
        (seen["game"], seen["phase"])
        for block in blocks(OBSERVATIONS)
        if block.language == "json"
        for seen in [json.loads(block.text)]
    }
    assert shown == {
        (game, plain(row["Phase"])) for game in GAMES for row in tables(OBSERVATIONS, game)[1]
    }


# -- moves.md ----------------------------------------------------------------------------------


def test_the_tables_of_moves_have_every_verb_in_its_phases(
    game: str, observations: list[Observation]
) -> None:
    shown = {
        (plain(row["Move"]).split()[0], plain(phase))
        for row in table(MOVES, game)
        for phase in row["Phase"].split(", ")
    }
    offered = {
        (move.split()[0], seen["phase"]) for seen in observations for move in seen["legal_moves"]
    }
    assert shown == offered


def order_of(move: str) -> tuple[int, ...]:
    """Return what the page sorts moves by."""
    verb, *rest = move.split()
    cards = [int(card) for card in rest]
    if verb == "pass":
        return (0,)
    kind = 1 if len(cards) == 1 else 2 if cards[0] == cards[-1] else 3
    return (kind, cards[-1], len(cards))


def test_legal_moves_are_in_the_order_of_the_page(observations: list[Observation]) -> None:
    for seen in observations:
        assert seen["legal_moves"] == sorted(seen["legal_moves"], key=order_of)


# -- records.md --------------------------------------------------------------------------------


def test_the_tables_have_every_key_of_a_record_and_of_a_fault() -> None:
    def broken(_: Observation) -> str:
        raise RuntimeError

    outcome = play("partridge", "eagle-short", bytes(32), [broken, broken], names=["A", "B"])
    document = json.loads(write(outcome.record))
    for heading, entries in (("Keys", [document]), ("Faults", document["faults"])):
        rows = tables(RECORDS, heading)[0]
        for entry in entries:
            assert set(entry) == {plain(row["Key"]) for row in rows}
            assert all(TYPES[row["Type"]](entry[plain(row["Key"])]) for row in rows)
    kinds = tables(RECORDS, "Faults")[1]
    assert tuple(plain(row["Kind"]) for row in kinds) == FAULT_KINDS


def test_the_keys_that_may_be_missing_are_those_of_the_table() -> None:
    document = json.loads(write(example("partridge")))
    for row in table(RECORDS, "Keys"):
        key = plain(row["Key"])
        less = json.dumps({name: value for name, value in document.items() if name != key})
        if row["Required"] == "no":
            read(less.encode())
            continue
        with pytest.raises(RecordError):
            read(less.encode())


def test_the_page_has_the_formats_name_and_the_faults_until_a_forfeit() -> None:
    text = (DOCS / RECORDS).read_text(encoding="utf-8")
    assert f"always `{FORMAT}`" in text
    assert FAULTS_TO_FORFEIT == 3
    assert "After three faults a seat **forfeits**" in text


def test_the_record_shown_is_the_example_match() -> None:
    [shown] = [block.text for block in blocks(RECORDS) if block.language == "json"]
    file = DOCS / "rules" / "partridge-example.jsonl"
    assert json.loads(shown) == json.loads(file.read_text(encoding="utf-8"))
