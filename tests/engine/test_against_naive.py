"""The engine against `naive`, an independent implementation written from the spec alone."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import cli
from engine.deals import derive, seeded_shuffle
from engine.errors import RecordError
from engine.games import catalogue
from engine.record import read, verify
from tests.engine import mangle, naive
from tests.engine.tables import CASES
from tests.engine.test_properties import every_phase

cases = st.sampled_from(CASES)
seeds = st.binary(min_size=32, max_size=32)


@every_phase
@given(cases, seeds, st.integers(0, 2**32))
def test_observations_legal_moves_scores_and_places_agree_throughout_a_match(
    case: tuple[str, str, int], seed: bytes, luck: int
) -> None:
    game, rules, seats = case
    rng = Random(luck)
    ours = catalogue.start(game, rules, seats, seeded_shuffle(seed))
    theirs = naive.GAMES[game](rules, seats, seed)
    while ours.actors:
        assert list(ours.actors) == theirs.turn()
        if rng.random() < 0.1:
            for seat in range(seats):
                assert ours.observe(seat) == theirs.observation(seat)
        seat = rng.choice(ours.actors)
        assert ours.legal_texts(seat) == theirs.legal(seat)
        text = rng.choice(ours.legal_texts(seat))
        ours.step({seat: ours.parse(seat, text)})
        theirs.move(seat, text)
    for seat in range(seats):
        assert ours.observe(seat) == theirs.observation(seat)
    assert (list(ours.scores or ()), list(ours.places or ())) == (theirs.scores, theirs.places)


@pytest.mark.parametrize(("game", "rules", "seats"), CASES)
@pytest.mark.parametrize(("policy", "matches"), [("first", 2), ("last", 1)])
def test_the_policies_first_and_last_print_the_same_moves_and_scores(
    game: str,
    rules: str,
    seats: int,
    policy: str,
    matches: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seed = bytes(range(32))
    command = f"simulate --game {game} --rules {rules} --seats {seats} --matches {matches}"
    assert cli.main([*command.split(), "--seed", seed.hex(), "--policy", policy]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == matches
    for number, line in enumerate(lines):
        record = json.loads(line)
        theirs = naive.simulate(
            game,
            rules,
            seats,
            derive(seed, f"deal/{number}"),
            lambda legal, _seat, _ply: legal[0 if policy == "first" else -1],
        )
        assert {key: record[key] for key in theirs} == theirs
        assert naive.verify(line.encode()) is None


def verdict(line: bytes) -> tuple[bool, int | None]:
    """Return whether the engine refuses a line, and the ply that it names."""
    try:
        verify(read(line))
    except RecordError as error:
        reason, ply = str(error), error.ply
    else:
        return False, None
    assert len(reason) < 800
    assert reason.isprintable()
    assert reason.isascii()
    return True, ply


# A thousand broken records take time, so these tests use short matches.
short = cases.filter(lambda case: case[1] in ("eight-nights", "calliope", "eagle-short"))


@settings(max_examples=settings().max_examples // 20)
@given(short, seeds, st.integers(0, 2**32))
def test_both_implementations_refuse_broken_records_and_name_the_same_ply(
    case: tuple[str, str, int], seed: bytes, luck: int
) -> None:
    rng = Random(luck)
    record = naive.simulate(*case, seed, lambda legal, _seat, _ply: rng.choice(legal))
    if rng.random() < 0.7:
        record = mangle.with_faults(record, rng)
    lines = [("whole", json.dumps(record).encode()), *mangle.broken_records(record, rng)]
    for label, line in [lines[0], *rng.sample(lines, 60)]:
        theirs = naive.verify(line)
        assert verdict(line) == (theirs is not None, theirs and theirs[0]), label


def test_both_implementations_agree_on_every_way_to_break_a_record() -> None:
    rng = Random(12)
    record = naive.simulate(
        "twelve-days", "eight-nights", 3, bytes(32), lambda legal, _seat, _ply: rng.choice(legal)
    )
    refused = 0
    for label, line in mangle.broken_records(mangle.with_faults(record, rng), rng):
        theirs = naive.verify(line)
        assert verdict(line) == (theirs is not None, theirs and theirs[0]), label
        refused += theirs is not None
    assert refused > 1000
