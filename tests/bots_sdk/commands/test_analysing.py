"""``twelfth-night analyse``: tables and JSON of an analysis, and bad input."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bots_sdk.commands import analysing
from engine.analysis import Analysis, Decision, Total, analyse
from engine.analysis.results import signed
from engine.cli import simulate
from engine.games.game import Observation
from engine.record import Record, write
from engine.referee import play
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague


@pytest.fixture
def record() -> Record:
    return simulate("partridge", "eagle-short", 2, bytes(32), lambda legal: legal[0], "ada")


@pytest.fixture
def file(tmp_path: Path, record: Record) -> Path:
    path = tmp_path / "matches.jsonl"
    path.write_text(write(record) + "\n")
    return path


def test_a_file_is_analysed_as_by_the_engine(cli: Cli, file: Path, record: Record) -> None:
    result = cli("analyse", file, "--playouts", 8, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == analyse(record, 8).as_json()


def test_the_text_has_decisions_chances_and_parts(cli: Cli, file: Path) -> None:
    result = cli("analyse", file, "--playouts", 8, "--all")
    assert result.exit_code == 0
    for text in (
        "round 1, trick 1 ",
        "after ",
        "The most expensive decisions",
        "Each bot's chance of the first place",
        "places lost",
        "±",
    ):
        assert text in result.stdout


def test_a_name_in_a_record_gives_the_terminal_no_command(
    cli: Cli, file: Path, record: Record
) -> None:
    file.write_text(write(replace(record, players=("\x1b[2J\x1b]0;title\a", "\ud800\n"))) + "\n")
    for words in (("--playouts", 8), ("--bot", "ada")):
        result = cli("analyse", file, *words)
        assert "title" in result.output
        assert not {"\x1b", "\a", "\ud800"} & {*result.output}


def test_a_match_of_the_league_is_analysed(
    logged_in: Cli, stub: StubLeague, record: Record
) -> None:
    stub.answers["GET matches/7/record"] = (200, json.loads(write(record)))
    result = logged_in("analyse", 7, "--playouts", 8, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == analyse(record, 8).as_json()


@pytest.mark.parametrize(
    ("content", "arguments", "problem", "remedy"),
    [
        (None, [], "No such file", "Give a file of records, or the number of a match."),
        ("", [], "bad.jsonl' is empty", "Give a file with a record."),
        ("hello\n", [], "not JSON", "A record is one JSON object on one line"),
        ("{}\n", ["--line", "3"], "has 1 line, so no line 3", "Choose another --line."),
    ],
)
def test_bad_input_has_one_line_with_the_remedy(
    cli: Cli, tmp_path: Path, content: str | None, arguments: list[str], problem: str, remedy: str
) -> None:
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_text(content)
    result = cli("analyse", path, *arguments)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert problem in line
    assert remedy in line


def test_a_number_that_no_match_has_is_refused_in_one_line(cli: Cli) -> None:
    result = cli("analyse", "9" * 5000)
    assert result.exit_code == 2
    assert result.stderr.startswith("twelfth-night: '9999999999999999999... is too large for the")


def test_a_record_that_does_not_verify_is_refused(cli: Cli, file: Path) -> None:
    document = json.loads(file.read_text())
    document["scores"][0] += 1
    file.write_text(json.dumps(document))
    result = cli("analyse", file)
    assert result.exit_code == 2
    assert "The record is not valid: scores are" in result.stderr


@pytest.fixture
def all_shown(cli: Cli, tmp_path: Path) -> str:
    """Return what ``analyse --all`` prints of a match of 12 Days."""
    match = simulate("twelve-days", "calliope", 3, bytes(32), lambda legal: legal[-1], "ada")
    path = tmp_path / "matches.jsonl"
    path.write_text(write(match) + "\n")
    return cli("analyse", path, "--playouts", 8, "--all").stdout


def test_decisions_and_chances_have_the_day_that_other_commands_show(all_shown: str) -> None:
    _, chances = all_shown.split("Each bot's chance")
    for name in ("the deal", "day 1", "day 12"):
        assert f"\n{name} " in chances
    assert "\nday 12 " in all_shown


def test_marked_decisions_lose_at_least_what_the_text_and_the_error_bar_say(
    all_shown: str,
) -> None:
    shown = all_shown
    assert "A mistake loses 0.06 to 0.20 places, a blunder more. A loss\nwithin its error" in shown
    rows = re.findall(r"(\d\.\d\d) ± (\d\.\d\d) +(best|fine|mistake|blunder)", shown)
    assert {mark for *_, mark in rows} >= {"fine", "mistake", "blunder"}
    for loss, bar, mark in rows:
        if mark in ("mistake", "blunder"):
            assert float(loss) >= max(0.06, float(bar))
        else:
            assert float(loss) <= max(0.06, float(bar))


@pytest.mark.parametrize(
    ("game", "rules", "column"),
    [("twelve-days", "calliope", "draws"), ("partridge", "eagle-short", "later deals")],
)
def test_the_column_of_later_cards_has_the_word_of_the_game(
    cli: Cli, tmp_path: Path, game: str, rules: str, column: str
) -> None:
    match = simulate(game, rules, 3, bytes(32), lambda legal: legal[-1], "ada")
    path = tmp_path / "matches.jsonl"
    path.write_text(write(match) + "\n")
    shown = cli("analyse", path, "--playouts", 8).stdout
    assert f"{column}: by the " in shown
    assert ("draws" in shown) == (column == "draws")


def test_ply_and_seat_of_an_expensive_decision_are_those_of_its_move(
    cli: Cli, tmp_path: Path
) -> None:
    match = simulate("twelve-days", "calliope", 3, bytes(32), lambda legal: legal[-1], "ada")
    path = tmp_path / "matches.jsonl"
    path.write_text(write(match) + "\n")
    shown = cli("analyse", path, "--playouts", 8).stdout
    listed = re.findall(
        r"^  day \d+ \(ply (\d+), seat \d\), ada: “(\w+ \d+)” lost .* best move was “", shown, re.M
    )
    assert listed
    assert all(match.moves[int(ply)][1] == text for ply, text in listed)


@pytest.mark.parametrize(
    ("parts", "others", "loss", "summary"),
    [
        (
            (0.1, -0.5, 0.2, -0.3),
            (1, 2 / 3, 1 / 3),
            0.0,
            "took fourth place, mostly because of luck (-1.2).",
        ),
        (
            (-0.1, -0.1, 0.0, -0.3),
            (1, 2 / 3, 1 / 3),
            0.01,
            "took fourth place, mostly because of the moves of others (-0.9).",
        ),
        (
            (-0.1, 0.0, -0.1, 1 / 30),
            (1, 2 / 3, 0),
            0.0,
            "took third place, mostly because of luck and its own moves (-0.3 each).",
        ),
        (
            (0.3, 0.2, 0.1, -0.1),
            (2 / 3, 1 / 3, 0),
            0.1,
            "took first place, mostly because of luck (+1.5).",
        ),
        (
            (0.0, 0.0, 0.1, 1 / 15),
            (1, 1 / 3, 0),
            0.1,
            "took second place, mostly because of its own moves (+0.3). "
            "2 of its decisions were worse than the best moves. Together they lost 0.3 places.",
        ),
        (
            (0.1, 0.0, 0.2, -0.3),
            (1, 0.5, 0),
            0.8,  # more than one place above 2.5: later moves lose again what is already lost
            "shared second place. 2 of its decisions were worse than the best moves. Together they "
            "lost 2.4 places.",
        ),
    ],
)
def test_the_summary_of_a_bot_has_the_largest_part_in_the_direction_of_its_place(
    parts: tuple[float, float, float, float],
    others: tuple[float, float, float],
    loss: float,
    summary: str,
) -> None:
    total = Total(0, *parts, result=0.5 + sum(parts), luck_error=0, play_error=0, loss=loss)
    rest = [replace(total, seat=seat, result=each) for seat, each in enumerate(others, 1)]
    lost = [(0, loss / 2), (0, 0.0), (1, 0.3), (0, loss / 2)]
    decisions = tuple(
        Decision(ply, seat, "play", "play 1", "play 2", each, 0, "fine", False, None, {})
        for ply, (seat, each) in enumerate(lost)
    )
    found = Analysis(1, 8, (), decisions, (total, *rest))
    assert analysing._summary(found, total) == summary


def test_the_decisions_of_one_bot_are_listed_alone(cli: Cli, tmp_path: Path) -> None:
    match = simulate("twelve-days", "calliope", 3, bytes(32), lambda legal: legal[-1], "ada")
    path = tmp_path / "matches.jsonl"
    path.write_text(write(replace(match, players=("ada", "bea", "cyd"))) + "\n")
    shown = cli("analyse", path, "--playouts", 8, "--all", "--bot", "bea").stdout
    decisions, _ = shown.split("\nEach bot's chance")
    assert "The most expensive decisions of bea:" in decisions
    assert "bea" in decisions
    assert not {"ada", "cyd"} & set(re.findall(r"\w+", decisions.replace("points to", "")))
    unknown = cli("analyse", path, "--bot", "dan")
    assert unknown.exit_code == 2
    assert "did not play in this match. Its bots are ada, bea, cyd." in unknown.stderr


@pytest.mark.parametrize(
    ("gained", "text"), [(0.04, "0.0"), (-0.04, "0.0"), (0.06, "+0.1"), (-1.2, "-1.2")]
)
def test_a_gain_that_rounds_to_nothing_has_no_sign(gained: float, text: str) -> None:
    assert signed(gained) == text


def test_the_summary_of_a_bot_that_forfeited_states_that_it_is_last(
    cli: Cli, tmp_path: Path
) -> None:
    def fail(observation: Observation) -> str:
        raise ValueError

    def first(observation: Observation) -> str:
        move: str = observation["legal_moves"][0]
        return move

    names = ["clumsy", "ada", "goose", "swan"]
    played = play("partridge", "eagle-short", bytes(32), [fail, first, first, first], names=names)
    path = tmp_path / "match.jsonl"
    path.write_text(write(played.record) + "\n")
    text = " ".join(cli("analyse", path, "--playouts", 8).stdout.split())
    assert text.count("It forfeited, so it is last.") == 1
    assert re.search(r"clumsy took fourth place, [^.]*\..*It forfeited", text)
