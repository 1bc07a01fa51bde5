"""Packed records: they return every record, they are small, and no damage goes unnoticed."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RecordError
from engine.games.game import Observation
from engine.packing import pack, unpack
from engine.record import Record, read, verify, write
from engine.referee import play
from tests.engine.tables import CASES

SHORT = ("twelve-days", "eight-nights", 3)


def record_of(
    case: tuple[str, str, int], seed: int, *, faulty: float = 0.0, names: list[str] | None = None
) -> Record:
    """Play a match at random; so many of the answers are faults."""
    game, rules, seats = case
    rng = Random(seed)

    def choose(observation: Observation) -> str:
        if rng.random() < faulty:
            raise rng.choice([ValueError, TimeoutError])
        text: str = rng.choice(observation["legal_moves"])
        return "nonsense" if rng.random() < faulty else text

    return play(game, rules, rng.randbytes(32), [choose] * seats, names=names).record


def again(packed: bytes, record: Record) -> Record:
    return unpack(
        packed,
        game=record.game,
        rules=record.rules,
        seats=record.seats,
        deal_seed=record.deal_seed,
    )


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("faulty", [0.0, 0.02])
def test_a_pack_returns_the_record_byte_for_byte(case: tuple[str, str, int], faulty: float) -> None:
    record = record_of(case, 0, faulty=faulty)
    assert write(again(pack(record), record)) == write(record)


@given(
    st.sampled_from(CASES),
    st.integers(0, 2**32),
    st.floats(0, 0.3),
    st.none() | st.lists(st.text(max_size=20), min_size=8, max_size=8),
)
def test_a_pack_returns_faults_and_any_names(
    case: tuple[str, str, int], seed: int, faulty: float, names: list[str] | None
) -> None:
    record = record_of(case, seed, faulty=faulty, names=names and names[: case[2]])
    assert again(pack(record), record) == record


@given(st.integers(0, 2**32), st.data())
def test_a_changed_byte_is_noticed(seed: int, data: st.DataObject) -> None:
    record = record_of(SHORT, seed, faulty=0.1)
    packed = bytearray(pack(record))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RecordError, match="damaged"):
        again(bytes(packed), record)


@given(st.integers(0, 2**32), st.data())
def test_a_lost_byte_is_noticed(seed: int, data: st.DataObject) -> None:
    record = record_of(SHORT, seed)
    packed = pack(record)
    with pytest.raises(RecordError):
        again(packed[: data.draw(st.integers(0, len(packed) - 1))], record)


CHANGES: dict[str, Callable[[Record], Record]] = {
    "another seed": lambda record: replace(record, deal_seed=bytes(32)),
    "another preset": lambda record: replace(record, rules="eight-nights-eight-players"),
    "another number of seats": lambda record: replace(record, seats=4),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_pack_belongs_to_one_deal(change: str) -> None:
    record = record_of(SHORT, 1)
    with pytest.raises(RecordError, match="damaged"):
        again(pack(record), CHANGES[change](record))


def test_a_name_of_half_a_letter_is_packed() -> None:
    record = record_of(SHORT, 1, names=["\ud800", "\udfff\ud83d", "ada"])
    assert verify(read(write(record).encode())) is not None
    assert again(pack(record), record) == record


def test_a_record_that_its_moves_do_not_give_is_not_packed() -> None:
    record = record_of(SHORT, 1)
    with pytest.raises(RecordError, match="scores"):
        pack(replace(record, scores=(0, 0, 0)))


def test_a_match_of_random_moves_takes_so_many_bytes() -> None:
    names = ["house-random", "ada-1", "kettle-counting", "grace-2"]
    sizes = [
        len(pack(record_of(case, 1, names=names)))
        for case in [("twelve-days", "calliope", 4), ("partridge", "eagle", 4)]
    ]
    assert sizes[0] < 80
    assert sizes[1] < 200
