import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from engine import bench, cli, progress
from engine.cli import Policy
from engine.deals import seeded_shuffle
from engine.playouts import is_fast

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


def test_records_that_simulate_prints_verify(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    assert reasons[0].startswith("line 2: ply 3: 'dance' is not a move")
    assert reasons[1].startswith("line 3: an empty line")
    assert reasons[2].startswith("line 4: not JSON")


def test_verify_names_the_file_if_there_are_several(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n")
    out, reasons = run(capsys, "verify", str(records), str(other), expect=1)
    assert out == ["2 ok, 1 refused"]
    assert reasons == [f"{other}, line 1: the record has no 'format'"]


def test_verify_skips_the_rest_of_a_file_without_records(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pretty = tmp_path / "pretty.json"
    document = json.loads(records.read_text().splitlines()[0])
    pretty.write_text(json.dumps(document, indent=1))
    out, reasons = run(capsys, "verify", str(pretty), str(records), expect=1)
    assert out == ["2 ok, 10 refused"]
    assert len(reasons) == 11
    assert "the first 10 lines are not records, so the rest of the file is skipped" in reasons[10]


def test_verify_reads_on_after_damaged_records(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = records.read_text()
    records.write_text(good.replace('"moves"', '"moves" ').replace("{", "{,") * 10 + good)
    out, _ = run(capsys, "verify", str(records), expect=1)
    assert out == ["2 ok, 20 refused"]


def test_verify_accepts_an_empty_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert run(capsys, "verify", str(empty)) == (["0 ok, 0 refused"], [])


def test_observe_prints_the_observation_of_a_seat(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--line", "2", "--ply", "1", "--seat"]
    out, _ = run(capsys, "observe", str(records), *where, "0")
    assert json.loads(out[0])["given"] is not None
    out, _ = run(capsys, "observe", str(records), *where, "1")
    assert json.loads(out[0])["given"] is None


def test_show_prints_a_line_a_day_with_the_reason_of_its_result(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = run(capsys, "show", str(records), "--line", "1")
    assert sum(" the lowest" in line or "no card is left" in line for line in out) == 12
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
def test_a_command_that_cannot_be_done_prints_one_line_and_exits_with_2(
    arguments: list[str], records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [str(records) if argument == "RECORDS" else argument for argument in arguments]
    out, reasons = run(capsys, *filled, expect=2)
    assert out == []
    assert len(reasons) == 1


def test_observe_refuses_a_record_that_does_not_verify_and_names_its_line(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records.write_text("{}\n")
    where = ["--line", "1", "--ply", "0", "--seat", "0"]
    out, reasons = run(capsys, "observe", str(records), *where, expect=2)
    assert out == []
    assert reasons == [f"{records}, line 1: the record has no 'format'"]


def test_bench_prints_a_line_for_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    out, notes = run(capsys, "bench", "--seconds", "0")
    engine = [line for line in out if not line.endswith(" fast")]
    kernel = [line.removesuffix(" fast") for line in out if line.endswith(" fast")]
    assert len(engine) == 10
    assert len(kernel) == (10 if is_fast() else 0)
    for line in engine + kernel:
        _game, _preset, seats, matches, moves = line.split()
        assert seats == "4"
        assert float(moves) > float(matches) > 0
    assert "an empty Python loop of 10**7 passes takes" in notes[0]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.replace("ENGINE", f"{sys.executable} -m engine")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_the_program_reads_standard_input_and_writes_to_pipes() -> None:
    done = shell(f"ENGINE {' '.join(SIMULATE)} --matches 3 --seed {SEED} | ENGINE verify -")
    assert (done.stdout, done.stderr) == ("3 ok, 0 refused\n", "")
    done = shell(f"ENGINE {' '.join(SIMULATE)} --matches 100000 --seed {SEED} | head -n 1")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "status", "reasons"),
    [
        ("echo {} | { ENGINE verify - | true; exit ${PIPESTATUS[0]}; }", (1, 141), 1),
        (
            "yes '{\"moves\": 0}' | head -n 99999 |"
            " { ENGINE verify - 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}; }",
            (141,),
            0,
        ),
        ("ENGINE verify - <&-", (0,), 0),
        ("echo {} | ENGINE verify - >&-", (1, 2), 1),
        ("echo {} | ENGINE verify - 2>&-", (1,), 0),
        ("ENGINE bench --seconds 0 >/dev/full", (2,), 2),
    ],
)
def test_a_closed_or_full_stream_causes_an_error_status_without_a_traceback(
    command: str, status: tuple[int, ...], reasons: int
) -> None:
    done = shell(command)
    assert done.returncode in status, done.stderr
    assert done.stderr.count("\n") == reasons
    assert "Traceback" not in done.stderr


def test_verify_opens_one_file_at_a_time(records: Path) -> None:
    done = shell(f"ulimit -n 40; ENGINE verify {f'{records} ' * 100}")
    assert done.stdout == "200 ok, 0 refused\n"


def test_ctrl_c_stops_a_command_with_one_line() -> None:
    command = [sys.executable, "-m", "engine", *SIMULATE, "--matches", "10000000", "--seed", SEED]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A background process of a shell inherits an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, reasons = running.communicate(timeout=30)
    assert running.returncode == 130
    assert reasons == "engine: stopped\n"


def test_show_names_a_refused_record_and_goes_on(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records.write_text("{}\n" + records.read_text())
    out, reasons = run(capsys, "show", str(records), expect=1)
    assert reasons == [f"{records}, line 1: the record has no 'format'"]
    assert sum(line.startswith("deal seed") for line in out) == 2


def test_show_stops_reading_after_the_given_line(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    simulate = f"ENGINE {' '.join(SIMULATE)} --matches 1 --seed {SEED}"
    writer = f"{{ {simulate}; exec sleep 25; }} > {pipe} 2>/dev/null"
    done = shell(f"{writer} & ENGINE show {pipe} --line 1; kill $!")
    assert "place 1" in done.stdout


def test_every_match_of_a_simulation_has_a_different_policy_seed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[bytes] = []
    policy = cli._policy

    def noted(name: str, seed: bytes) -> Policy:
        seeds.append(seed)
        return policy(name, seed)

    monkeypatch.setattr(cli, "_policy", noted)
    simulated(capsys, 5)
    assert len(set(seeds)) == 5


def test_bench_counts_every_move_once() -> None:
    shuffle = seeded_shuffle(bytes(32))
    moves = bench.play_out("partridge", "eagle-short", 3, shuffle, Random(5).random)
    random = Random(5).random
    record = cli.simulate(
        "partridge", "eagle-short", 3, bytes(32), lambda ids: ids[int(random() * len(ids))], "x"
    )
    assert moves == len(record.moves)


def test_an_unprintable_argument_appears_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    _, reasons = run(capsys, "bench", "--\x1b[31m", expect=2)
    assert "\\x1b[31m" in reasons[0]


class Terminal(StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_progress_bar_shows_on_a_terminal_and_makes_room_for_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", StringIO())
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0)
    monkeypatch.setattr(progress, "_BETWEEN_SECONDS", 0)
    with progress.Progress("records", 4) as shown:
        shown.advance()
        shown.complain("1: no")
        shown.advance()
    text = stderr.getvalue()
    assert "1 records" in text
    assert "[#######" in text
    assert "\r1: no\n" in text
    assert text.endswith("\r")


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    modules = [
        str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        for path in (ROOT / "engine").rglob("*.py")
        if "import numpy" not in path.read_text() and "pair_results" not in path.read_text()
    ]
    assert len(modules) > 15
    done = subprocess.run(
        [
            *(sys.executable, "-I", "-S", "-c"),
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {', '.join(modules)}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stderr == ""


def test_an_unknown_game_is_named_even_if_other_arguments_are_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, [reason] = run(capsys, "simulate", "--game", "whist", expect=2)
    assert "there is no game 'whist'; the games are twelve-days, partridge" in reason
