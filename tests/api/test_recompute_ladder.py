"""The page of Python with which a stranger recomputes a ladder: what it notices and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import RecordError
from engine.record import read, verify
from tests.api.exports import exported as exported
from tests.api.exports import ladder as ladder
from tests.api.exports import run, run_script, sealed

pytestmark = pytest.mark.django_db(transaction=True)


def forge(kind: str, change: Callable[[dict[str, Any]], object]) -> Callable[[list[Any]], None]:
    def falsify(lines: list[Any]) -> None:
        line = next(
            line
            for line in lines
            if line["type"] == kind and line.get("deltas", {0: 1}) and line.get("rated", True)
        )
        change(line)

    return falsify


def swap_scores(line: dict[str, Any]) -> None:
    record = next(
        match["record"] for match in line["matches"] if len({*match["record"]["scores"]}) > 1
    )
    for key in ("scores", "places"):  # a reversed list may be the same one: 22, 17, 22
        record[key].append(record[key].pop(0))


def swap_seats(line: dict[str, Any]) -> None:
    line["matches"][0]["seating"].reverse()


def shift(numbers: dict[str, Any]) -> None:
    first, second = list(numbers)[:2]
    numbers[first] += 1
    numbers[second] -= 1


def drop_a_round(lines: list[Any]) -> None:
    last = max(line["round"] for line in lines if line["type"] == "round")
    lines[:] = [line for line in lines if line.get("round") != last]
    lines[0]["rounds"] -= 1


def forfeit(line: dict[str, Any]) -> None:
    match = max(line["matches"], key=lambda match: match["record"]["scores"][0])
    seat = match["record"]["places"].index(1)
    match["record"]["faults"] = [{"ply": ply, "seat": seat, "kind": "crash"} for ply in range(3)]


FORGERIES: dict[str, Callable[[list[Any]], object]] = {
    "scores": forge("block", swap_scores),
    "seats": forge("block", swap_seats),
    "a deal": forge("block", lambda line: line["matches"][0]["record"].update(deal_seed=64 * "0")),
    "a forfeit": forge("block", forfeit),
    "a block's gift": forge("block", lambda line: shift(line["deltas"])),
    "a block left out": forge("block", lambda line: line.update(void=True, deltas={})),
    "a version": lambda lines: forge(
        "block", lambda line: line["bots"].update({min(line["bots"]): 3})
    )(lines[::-1]),
    "a round's seed": forge("round", lambda line: line.update(seed=64 * "0")),
    "K": forge("round", lambda line: line.update(k_steps=[[10, 256], [20, 64]])),
    "a standing": forge("standing", lambda line: line.update(rating=line["rating"] + 1)),
    "a bot's blocks": forge("standing", lambda line: line.update(blocks=20)),
    "a bot that is not there": lambda lines: lines.insert(-1, {**lines[-2], "bot": "ghost"}),
    "a rating after a round": forge(
        "applied", lambda line: min(line["ratings"].values()).reverse()
    ),
    "a round left out": drop_a_round,
    "a block twice": lambda lines: lines.insert(3, next(of for of in lines if of.get("deltas"))),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_noticed_even_with_the_right_checksum(
    exported: bytes, tmp_path: Path, forgery: str
) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    before = json.dumps(lines)
    FORGERIES[forgery](lines)
    assert json.dumps(lines) != before
    done = run(tmp_path / "forged.jsonl", sealed(lines))
    assert done.returncode == 1
    assert done.stderr.startswith("line ")
    assert "Traceback" not in done.stderr


def test_a_file_with_a_new_but_correct_checksum_passes(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    assert run(tmp_path / "right.jsonl", sealed(lines)).returncode == 0


def test_a_changed_move_or_a_file_cut_short_is_noticed_by_the_checksum(
    exported: bytes, tmp_path: Path
) -> None:
    data = exported
    block = next(line for line in data.splitlines() if b'"moves": [[0, "' in line)
    changed = data.replace(block, block.replace(b'"moves": [[0, "', b'"moves": [[1, "', 1))
    done = run(tmp_path / "changed.jsonl", changed)
    assert (done.returncode, "changed or are missing" in done.stderr) == (1, True)
    cut = b"\n".join(data.splitlines()[:-1]) + b"\n"
    assert "changed or are missing" in run(tmp_path / "cut.jsonl", cut).stderr


def test_only_the_engine_finds_a_change_of_moves(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    record = next(line for line in lines if line.get("matches"))["matches"][0]["record"]
    assert verify(read(json.dumps(record).encode())).is_over
    record["moves"].reverse()
    with pytest.raises(RecordError):
        verify(read(json.dumps(record).encode()))
    forged = tmp_path / "forged.jsonl"
    assert run(forged, sealed(lines)).returncode == 0
    done = run(forged, sealed(lines), with_engine=True)
    assert done.returncode == 1
    assert "the moves of a match don't lead to its result: " in done.stderr


def test_places_must_follow_from_scores(exported: bytes, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in exported.splitlines()]
    block = next(line for line in lines if line.get("matches") and line["rated"])
    records = [match["record"] for match in block["matches"]]
    places = next(record["places"] for record in records if len({*record["places"]}) > 1)
    places.append(places.pop(0))
    done = run(tmp_path / "forged.jsonl", sealed(lines))
    assert "the places of a match don't follow from its scores" in done.stderr


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'{"type": "ladder"}\n{"type": "round"}\n',
        b'{"type": "round", "seed": 5}\n',
        b'{"type": "applied", "round": 1}\n',
        b'{"type": "standing", "bot": "a"}\n',
        b'{"type": "block", "void": false, "matches": 7}\n',
        b"[" * 100_000,
        b"9" * 10_000,
        b"<!DOCTYPE html>\n<title>Not found</title>\n",
    ],
)
def test_a_file_that_is_no_export_is_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    done = run(tmp_path / "other.jsonl", data)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("line ")
    assert len(done.stderr.splitlines()) == 1


def test_the_script_names_a_missing_file_and_its_usage(tmp_path: Path) -> None:
    done = run_script(str(tmp_path / "none.jsonl"))
    assert done.stderr == f"{tmp_path / 'none.jsonl'} can't be read: No such file or directory\n"
    for arguments in ((), ("a", "b")):
        done = run_script(*arguments)
        assert (done.returncode, done.stderr) == (1, "usage: recompute_ladder.py EXPORT.jsonl\n")
