import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine import cli

SEED = "ab" * 32
ROOT = Path(__file__).parents[2]
SIMULATE = ["simulate", "--game", "twelve-days", "--rules", "calliope", "--seats", "3"]


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str, expect: int = 0
) -> tuple[list[str], list[str]]:
    """Run a command and return the lines of its output and of its reasons."""
    status = cli.main(arguments)
    out, err = capsys.readouterr()
    assert status == expect, err
    return out.splitlines(), err.splitlines()


def simulated(capsys: pytest.CaptureFixture[str], matches: int = 2) -> list[str]:
    out, _ = run(capsys, *SIMULATE, "--matches", str(matches), "--seed", SEED)
    return out


@pytest.fixture
def records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A file of two valid records."""
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(simulated(capsys)) + "\n")
    return path


def test_simulate_is_reproducible_from_its_seed_in_either_case(
    capsys: pytest.CaptureFixture[str],
) -> None:
    again, _ = run(capsys, *SIMULATE, "--matches", "2", "--seed", SEED.upper())
    assert again == simulated(capsys)
    assert len(set(again)) == 2


def test_what_simulate_prints_verifies(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "verify", str(records)) == (["2 ok, 0 refused"], [])


def test_verify_names_line_ply_and_reason_of_each_refused_record(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = records.read_text().splitlines()
    bad = json.loads(good[0])
    bad["moves"][3][1] = "dance"
    records.write_text("\n".join([good[0], json.dumps(bad), "", "\ufeff" + good[1]]))
    out, reasons = run(capsys, "verify", str(records), expect=1)
    assert out == ["1 ok, 3 refused"]
    assert reasons[0].startswith("2: ply 3: 'dance' is not a move")
    assert reasons[1].startswith("3: an empty line")
    assert reasons[2].startswith("4: not JSON")


def test_verify_names_the_file_where_several_are_given(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n")
    out, reasons = run(capsys, "verify", str(records), str(other), expect=1)
    assert out == ["2 ok, 1 refused"]
    assert reasons == [f"{other}:1: the record has no 'format'"]


def test_an_empty_file_is_nothing_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert run(capsys, "verify", str(empty)) == (["0 ok, 0 refused"], [])


def test_observe_prints_what_a_seat_saw(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--line", "2", "--ply", "1", "--seat"]
    out, _ = run(capsys, "observe", str(records), *where, "0")
    assert json.loads(out[0])["given"] is not None
    out, _ = run(capsys, "observe", str(records), *where, "1")
    assert json.loads(out[0])["given"] is None


def test_show_tells_a_line_a_day(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "show", str(records), "--line", "1")
    assert sum(" seat " in line or "nobody" in line for line in out) == 12
    assert any("place 1" in line for line in out)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["verify"],
        ["verify", "no/such/file"],
        ["verify", "."],
        ["verify", "a\0b"],
        ["verify", "no\nsuch"],
        ["observe", "RECORDS", "--line", "0", "--ply", "0", "--seat", "0"],
        ["observe", "RECORDS", "--line", "3", "--ply", "0", "--seat", "0"],
        ["observe", "RECORDS", "--line", "1", "--ply", "999", "--seat", "0"],
        ["observe", "RECORDS", "--line", "1", "--ply", "-1", "--seat", "0"],
        ["observe", "RECORDS", "--line", "1", "--ply", "0", "--seat", "3"],
        ["observe", "RECORDS", "--line", "1", "--ply", "0"],
        ["show", "RECORDS", "--line", "3"],
        [*SIMULATE, "--matches", "1", "--seed", "xy"],
        [*SIMULATE, "--matches", "1", "--seed", SEED + "0"],
        [*SIMULATE, "--matches", "-1", "--seed", SEED],
        [*SIMULATE, "--matches", "1_0", "--seed", SEED],
        [*SIMULATE, "--matches", "\u0661", "--seed", SEED],
        [*SIMULATE, "--matches", "1", "--seed", SEED, "--rules", "uno"],
        [*SIMULATE, "--matches", "1", "--seed", SEED, "--game", "chess"],
        [*SIMULATE, "--matches", "1", "--seed", SEED, "--seats", "6"],
        [*SIMULATE, "--matches", "1", "--seed", SEED, "--policy", "best"],
        ["bench", "--seconds", "nan"],
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(
    arguments: list[str], records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [str(records) if argument == "RECORDS" else argument for argument in arguments]
    out, reasons = run(capsys, *filled, expect=2)
    assert out == []
    assert len(reasons) == 1


def test_observing_a_record_that_does_not_verify_is_refused_with_its_line(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records.write_text("{}\n")
    where = ["--line", "1", "--ply", "0", "--seat", "0"]
    out, reasons = run(capsys, "observe", str(records), *where, expect=2)
    assert out == []
    assert reasons == ["1: the record has no 'format'"]


def test_bench_prints_a_line_for_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    out, notes = run(capsys, "bench", "--seconds", "0")
    assert len(out) == 10
    for line in out:
        _game, _preset, seats, matches, moves = line.split()
        assert seats == "4"
        assert float(moves) > float(matches) > 0
    assert "plain loop" in notes[0]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.replace("ENGINE", f"{sys.executable} -m engine")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_it_runs_as_a_program_from_standard_input_and_in_pipes() -> None:
    done = shell(f"ENGINE {' '.join(SIMULATE)} --matches 3 --seed {SEED} | ENGINE verify -")
    assert (done.stdout, done.stderr) == ("3 ok, 0 refused\n", "")
    done = shell(f"ENGINE {' '.join(SIMULATE)} --matches 100000 --seed {SEED} | head -n 1")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_ctrl_c_stops_it_in_one_line() -> None:
    done = shell(
        f"timeout --preserve-status -s INT 1 ENGINE {' '.join(SIMULATE)}"
        f" --matches 10000000 --seed {SEED} >/dev/null"
    )
    assert done.returncode == 130
    assert done.stderr == "engine: stopped\n"


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    done = shell(f"cd {ROOT} && ENGINE bench --help >/dev/null".replace("ENGINE", "ENGINE -h") + "")
    assert done.returncode == 0
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
            "import engine.__main__, engine.referee",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stderr == ""
