"""The kernel checks every number that it takes: nothing that arrives can make it fail."""

import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.playouts import NewMatch, is_fast, rule_of_thumb, wasm
from engine.playouts.positions import words
from tests.engine.tables import CASES, played, start

ROOT = Path(__file__).parents[3]
COMPILER = "14."
"""The versions of clang and lld that wrote the committed module; others write other bytes."""
OK, FAULT = 0, -1


def kernel() -> wasm.Kernel:
    if not is_fast():
        pytest.skip("the extra `fast` is not installed")
    machine = wasm.Kernel()
    for number, (game, rules) in enumerate([("twelve-days", "calliope"), ("partridge", "eagle")]):
        machine.give_table(rule_of_thumb(game, rules), number)
    return machine


def positions(case: tuple[str, str, int], rng: Random) -> list[list[int]]:
    """Return some position of a match as numbers: as a state, and as an observation."""
    states = [
        (words(state), words(state.observe(state.actors[0]), state.legal(state.actors[0])))
        for state in played(start(*case, rng.randrange(1000)), rng)
        if state.actors and rng.random() < 0.2
    ]
    return [words(NewMatch(*case)), *rng.choice(states)] if states else [words(NewMatch(*case))]


NUMBERS = st.one_of(
    st.integers(-2, 200), st.sampled_from([-(2**31), 2**31 - 1, 1 << 20, -(1 << 20)])
)


@given(
    st.sampled_from(CASES),
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(0, 1 << 16), NUMBERS), max_size=4),
)
def test_a_changed_position_is_refused_or_played(
    case: tuple[str, str, int], chance: int, changes: list[tuple[int, int]]
) -> None:
    machine = kernel()
    for position in positions(case, Random(chance)):
        for place, number in changes:
            position[place % len(position)] = number
        machine.give(position)
        loaded = machine.call("load")
        for name in ("play", "evaluate"):
            result = machine.call(name, 1, chance % 2, 0, chance)
            assert result in (OK, FAULT)
            assert loaded == OK or result == FAULT


def test_a_position_that_never_ends_is_refused() -> None:
    """A rank that is too large would be an index far outside of a hand."""
    machine = kernel()
    machine.give([0, 2, 0, 99, 12, 1, 1, 1])
    assert machine.call("load") == FAULT
    assert machine.call("play", 1, 0, 0, 1) == FAULT


def test_unknown_policies_and_negative_counts_are_refused() -> None:
    machine = kernel()
    machine.give(words(NewMatch("partridge", "eagle", 4)))
    assert machine.call("load") == OK
    assert machine.call("play", 1, 2, 0, 1) == FAULT
    assert machine.call("evaluate", -1, 0, 0, 1) == FAULT


def test_a_table_with_a_value_out_of_range_is_refused() -> None:
    machine = kernel()
    machine.give([10**6 + 1] * (16 * 145))
    assert machine.call("load_table", 1) == FAULT


def test_a_view_outside_of_the_memory_is_refused() -> None:
    machine = kernel()
    with pytest.raises(ValueError, match="no 1 bytes at"):
        machine.view(1 << 30, 1)


def test_the_committed_module_is_compiled_from_the_source(tmp_path: Path) -> None:
    for tool, option in (("clang", "-dumpversion"), ("wasm-ld", "--version"), ("make", "-v")):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
        shown = subprocess.run([tool, option], capture_output=True, text=True, check=True).stdout
        if tool != "make" and not any(word.startswith(COMPILER) for word in shown.split()):
            pytest.skip(f"{tool} is not version {COMPILER}")
    built = tmp_path / "kernel.wasm"
    command = ["make", "kernel", f"KERNEL={built}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    assert built.read_bytes() == (ROOT / "engine/playouts/kernel.wasm").read_bytes()
