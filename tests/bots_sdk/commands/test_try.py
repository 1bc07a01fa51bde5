"""``twelfth-night try``: what it prints, saves and exits with."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from bots_sdk.arena.contestants import contestant
from bots_sdk.arena.figures import Share
from bots_sdk.arena.matches import FaultReport, MatchType, PlayedMatch
from bots_sdk.arena.trials import Trial, TrialResults
from bots_sdk.bot_files import load
from bots_sdk.commands import replaying, trying
from bots_sdk.commands.progress import PrintLine
from bots_sdk.invoking import command_word
from engine.record import read, verify
from tests.bots_sdk.conftest import BOTS, Home
from tests.bots_sdk.stub import StubLeague

HOUSE = contestant("thumb"), (contestant("random"),)
SMALL = ("--against", "thumb,random", "--blocks", 6, "--seed", "x", "--jobs", 2)


def test_it_prints_places_elo_and_times(home: Home) -> None:
    result = home("try", "first.py", *SMALL)
    assert result.exit_code == 0
    assert re.search(r"^win share +\d+\.\d % \(", result.stdout, re.M)
    assert re.search(r"^Elo +[-+]\d+ \(.*\), compared with the opponents; ", result.stdout, re.M)
    assert re.search(r"^places +1st \d+ %", result.stdout, re.M)
    assert re.search(r"^first\.py +24 ", result.stdout, re.M)
    assert "99 % take at most" in result.stdout
    assert "faults       none" in result.stdout


def test_json_is_one_object_and_the_same_for_any_number_of_processes(home: Home) -> None:
    found = []
    for jobs in (1, 2):
        result = home("try", "last.py", *SMALL[:-1], jobs, "--json", "--rules", "eagle-short")
        assert result.exit_code == 0
        found.append(json.loads(result.stdout))
        found[-1].pop("seconds_a_move")
    assert found[0] == found[1]
    assert found[0]["game"] == "partridge"
    assert found[0]["matches"] == 24
    assert found[0]["blocks"] == 6
    assert found[0]["win_share"]["elo_interval"][0] < found[0]["win_share"]["elo"]


def test_a_block_has_as_many_matches_as_seats(home: Home) -> None:
    result = home("try", "first.py", *SMALL[:2], "--blocks", 2, "--seats", 3, "--json")
    assert json.loads(result.stdout)["matches"] == 6


def test_a_crash_is_shown_and_saved_ready_for_a_test(home: Home, tmp_path: Path) -> None:
    result = home("try", "crash.py", *SMALL)
    assert result.exit_code == 1
    assert 'crash.py", line 2, in choose' in result.stderr
    assert result.stderr.count("Traceback") == 3
    assert "faults       72 crashes\nforfeits     24 matches: after three faults" in result.stdout
    saved = sorted((tmp_path / "faults").iterdir())
    assert len(saved) == 72
    seen = json.loads(saved[0].read_text())
    with pytest.raises(KeyError, match="no such key"):
        load("crash.py")(seen["info"])(seen["observation"])


def test_the_printed_test_of_a_fault_runs_when_it_is_pasted_into_a_file(
    home: Home, tmp_path: Path
) -> None:
    shown = home("try", "crash.py", *SMALL).stdout
    pasted = shown.partition("This test repeats the first saved fault of crash.py:\n\n")[2]
    pasted = pasted.partition("\n\nNext:")[0]
    (tmp_path / "pasted.py").write_text(pasted)

    def run_it() -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "pasted.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(trying.__file__).parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    status, reason = run_it()
    assert (status, reason.splitlines()[-1]) == (1, "KeyError: 'no such key'")
    (tmp_path / "crash.py").write_text(BOTS["first.py"])
    assert run_it() == (0, "")
    (tmp_path / "crash.py").write_text("def choose(observation): return 'no move'\n")
    assert "AssertionError" in run_it()[1]


def test_an_answer_that_is_no_text_names_what_to_return(home: Home, tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("def choose(observation):\n    pass\n")
    result = home("try", "nothing.py", *SMALL)
    assert result.exit_code == 1
    assert "legal_moves; `choose` may have no `return`" in result.stderr
    assert "If it plays" not in result.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["no.py"], "There is no file no.py, and no house bot of that name"),
        (["first.py", "--against", "nobody"], "no file nobody"),
        (["first.py", "--against", "thum"], "no house bot of that name. Did you mean thumb?"),
        (["first.py", "--against", ","], "--against names no opponent"),
        (["typo.py"], "typo.py: the line 'GAMES = [\"twelve-day\"]' declares no games"),
        (["first.py", "--ladder", "x", "--seats", 3], "--ladder sets game, preset and seats"),
        (["first.py", "--rules", "eagl"], "no preset 'eagl'. The presets are calliope"),
        (["first.py", "--rules", "eagle", "--game", "twelve-days"], "no preset 'eagle'"),
        (["first.py", "--seats", 9], "calliope takes 3 to 5 seats, not 9"),
        (["first.py", "--seats", 0], "calliope takes 3 to 5 seats, not 0"),
        (
            ["first.py", "--blocks", 0],
            "Invalid value for '--blocks': 0 is too small. The smallest allowed number is 1.",
        ),
        (["first.py", "--blocks", 300_000], "The largest allowed number is 250000."),
        (["first.py", "--blocks", "many"], "'--blocks': 'many' is not a whole number."),
        (["first.py", "--blocks", "9" * 5000], "9999... is too large: it has 5000 digits."),
        (["first.py", "--jobs", 0], "'--jobs': 0 is too small."),
        (["first.py", "--replay", 0], "'--replay': 0 is too small."),
        (["first.py", "--all"], "--all needs --replay"),
        (["first.py", "--replay", 401], "no match 401: the run has 400 matches"),
        (["first.py", "--replays"], "There is no option --replays. Did you mean --replay"),
    ],
)
def test_wrong_arguments_name_a_remedy(home: Home, words: list[str], found: str) -> None:
    result = home("try", *words, "--json")
    assert result.exit_code == 2
    assert found in json.loads(result.stderr)["detail"]
    assert result.stdout == ""


def test_a_match_of_the_run_is_shown_step_by_step(home: Home) -> None:
    shown = home("try", "first.py", *SMALL, "--replay", 3, "--all")
    assert shown.exit_code == 0
    title = "twelve-days calliope, match 3 of --seed x\n"
    assert shown.stdout.startswith(f"{title}Each step first shows the seats")
    assert "\n- * marks the row of first.py.\n" in shown.stdout
    assert f"\n{title}day 1: each seat gives" in shown.stdout
    assert re.search(r"^\d+ is the lowest.*, so .* wins \d+ points?$", shown.stdout, re.M)
    record = read(home("try", "first.py", *SMALL, "--replay", 3, "--json").stdout.encode())
    verify(record)
    assert record.players is not None
    assert "first.py" in record.players
    piped = home("try", "first.py", *SMALL, "--replay")
    assert piped.exit_code == 2
    assert "it needs a terminal" in piped.stderr
    assert "match 1 of" in home("try", "first.py", *SMALL, "--replay", "--all").stdout


def test_keys_step_forward_back_and_quit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = iter(["\r", "\x1b[C", "\x1b[D", "?", " ", "\n"])
    monkeypatch.setattr(replaying, "read_key", lambda: next(keys))
    replaying._step_through(["one", "two", "three"])
    assert re.findall(r"one|two|three", capsys.readouterr().out) == [
        *("one", "two", "three", "two", "two", "three")
    ]
    assert not list(keys)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("key", ["\x1b[C", "q", "\n"])
def test_a_key_is_read_as_it_is_pressed(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    pressed, terminal = os.openpty()
    with os.fdopen(pressed, "wb", buffering=0) as keyboard, os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        # Held back until a line is whole, unless a program waits for keys: earlier keys count.
        keyboard.write(key.encode())
        assert replaying.read_key() == key


def test_without_a_number_of_blocks_it_plays_whole_blocks_until_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("bots_sdk.commands.trying.time.monotonic", lambda: now)
    trial = Trial(MatchType("twelve-days", "calliope", 4), *HOUSE, blocks=50, seed=bytes(32))
    taken = []
    for fixture in trying.in_time(trial.fixtures(), 4, until=106.0):
        taken.append(fixture.number)
        now += 0.5  # so a block takes two seconds
    assert taken == list(range(1, 13))


def test_without_a_number_of_blocks_it_plays_at_least_one_block(
    monkeypatch: pytest.MonkeyPatch, home: Home
) -> None:
    monkeypatch.setattr(trying, "FIRST_VERDICT_SECONDS", 0.0)
    result = home("try", "first.py", "--against", "thumb", "--jobs", 1)
    assert result.exit_code == 0
    assert "verdict      none yet: 1 block can't show a difference" in result.stdout
    assert "  twelfth-night try first.py --against thumb --blocks 8 " in result.stdout


def test_a_slow_first_block_shows_what_its_first_matches_say(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    add = TrialResults.add

    @contextmanager
    def watched(line: Callable[[], str], *, quiet: bool) -> Iterator[PrintLine]:
        def add_and_look(results: TrialResults, played: PlayedMatch) -> list[FaultReport]:
            faults = add(results, played)
            shown.append(line())
            return faults

        monkeypatch.setattr(TrialResults, "add", add_and_look)
        yield lambda text: None

    monkeypatch.setattr(trying, "progress", watched)
    monkeypatch.setattr(trying, "FIRST_VERDICT_SECONDS", 0.0)
    home("try", "first.py", "--against", "thumb", "--jobs", 1)
    place = "(1st|2nd|3rd|4th)"
    assert re.fullmatch(
        rf"2 of 4 matches of the first block; so far your bot finished {place}, {place}; "
        r"it takes \S+ ms a move",
        shown[1],
    )


def test_the_first_verdict_needs_no_slow_opponent(home: Home) -> None:
    found = json.loads(home("try", "first.py", "--blocks", 1, "--json").stdout)
    assert found["field"] == ["house-random", "house-thumb", "house-counting"]


def test_the_file_declares_its_game_and_the_ladder_of_that_game_sets_the_rules(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "bird.py").write_text(f'GAMES = ["partridge"]\n{BOTS["first.py"]}')
    result = home("try", "bird.py", *SMALL[:2], "--blocks", 1)
    assert "\npartridge eagle-short, 4 seats: " in result.stdout
    assert re.search(r"twelfth-night watch bird.py +# ", result.stdout)
    result = home("try", "bird.py", *SMALL[:2], "--blocks", 1, "--game", "twelve-days")
    assert (
        "bird.py declares GAMES = ['partridge'], so perhaps it can't play twelve-days. Leave out "
        "--game, or write a bot for twelve-days: `twelfth-night new NAME --game twelve-days`.\n"
    ) in result.stderr
    result = home("try", "bird.py", *SMALL[:2], "--blocks", 1, "--rules", "calliope")
    assert "can't play twelve-days. Leave out --rules, or write a bot" in result.stderr


def test_an_opponent_of_another_game_is_noted(home: Home, tmp_path: Path) -> None:
    (tmp_path / "bird.py").write_text(f'GAMES = ["partridge"]\n{BOTS["first.py"]}')
    result = home("try", "first.py", "--blocks", 1, "--against", "typo.py,bird.py")
    assert result.stderr.count("Note: ") == 1
    assert (
        "Note: bird.py declares GAMES = ['partridge'], so perhaps it can't play twelve-days. "
        "Choose an opponent that plays twelve-days; `twelfth-night new NAME --game twelve-days` "
        "writes such a bot.\n"
    ) in result.stderr


def test_blocks_that_all_end_equal_give_no_interval_and_the_verdict_says_why(home: Home) -> None:
    # A match of four copies of one bot gives each block the same share.
    result = home("try", "first.py", "--against", "first.py", "--blocks", 5)
    assert "none yet: the win share was the same in all 5 blocks" in result.stdout
    assert "win share    50.0 % of the opponents" in result.stdout
    assert "+0 (no error bar yet: all blocks have the same win share)" in result.stdout
    assert "# play more blocks, to get error bars" in result.stdout


def test_next_commands_begin_with_the_word_that_works_here(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "twelfth-night").touch()
    monkeypatch.setattr("bots_sdk.invoking.shutil.which", lambda name: None)
    python = SimpleNamespace(executable=str(tmp_path / "bin" / "python"))
    monkeypatch.setattr("bots_sdk.invoking.sys", python)
    command_word.cache_clear()
    result = home("try", "first.py", *SMALL[:2], "--blocks", 1)
    assert re.search(r"\n  bin/twelfth-night watch first.py +# ", result.stdout)
    missing = home("check", "nothing.py")
    assert "`bin/twelfth-night new nothing`" in missing.stderr


def test_a_bot_that_forfeits_all_matches_gets_the_command_for_the_other_game(home: Home) -> None:
    result = home("try", "crash.py", *SMALL[:2], "--blocks", 1)
    assert re.search(
        r"\n  twelfth-night try crash.py --game partridge +# if the bot", result.stdout
    )
    assert 'GAMES = ["partridge"]' in result.stdout


def test_a_bot_with_faults_gets_the_check_as_its_next_command(home: Home) -> None:
    Path("some.py").write_text(
        "def choose(o): return o['legal_moves'][0] if o['seat'] else 'nothing'\n"
    )
    shown = home("try", "some.py", *SMALL[:2], "--blocks", 1).stdout
    assert re.search(
        r"Next:\n  twelfth-night check some.py +# find the causes of the faults first\n", shown
    )
    assert "check first.py" not in home("try", "first.py", *SMALL[:2], "--blocks", 1).stdout


def test_without_an_elo_the_reason_is_printed() -> None:
    won = Share(blocks=2, mean=1.0, low=None, high=None)
    assert trying.spelled_elo(won) == "all won (an error bar needs 5 blocks)"


def test_a_ladder_of_the_league_sets_the_rules(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    league = StubLeague()
    league.answers["GET ladders/duel"] = (
        200,
        {"slug": "duel", "game": "partridge", "rules": "eagle", "seats": 2},
    )
    with league.serving() as url:
        monkeypatch.setenv("TWELFTH_NIGHT_URL", url)
        result = home("try", "first.py", *SMALL[:2], "--ladder", "duel", "--blocks", 1)
    assert "\npartridge eagle, 2 seats: " in result.stdout


def stopped_by(number: signal.Signals, tmp_path: Path) -> tuple[int, str, str]:
    """Begin a long trial, send a signal; return the exit status and the two outputs."""
    (tmp_path / "touches.py").write_text(
        "import pathlib\n"
        "def choose(observation):\n"
        "    pathlib.Path('begun').touch()\n"
        "    return observation['legal_moves'][0]\n"
    )
    words = ["try", "touches.py", "--against", "random", "--blocks", "250000", "--json"]
    running = subprocess.Popen(
        [sys.executable, "-m", "bots_sdk", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a shell would inherit that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while not (tmp_path / "begun").exists():
            assert running.poll() is None
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    finally:
        running.kill()
        running.wait()
    return running.returncode, out, err


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_prints_the_results_so_far(home: Home, tmp_path: Path) -> None:
    status, out, err = stopped_by(signal.SIGINT, tmp_path)
    assert (status, err) == (130, "")
    found = json.loads(out)
    assert found["stopped"]
    assert found["matches"] < 1_000_000


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_trial_that_a_signal_ends_leaves_no_tracebacks(home: Home, tmp_path: Path) -> None:
    assert stopped_by(signal.SIGTERM, tmp_path) == (-signal.SIGTERM, "", "")
