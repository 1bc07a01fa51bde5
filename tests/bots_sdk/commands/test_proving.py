"""``twelfth-night verify --module``: the fuel of a WebAssembly bot in a finished match."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bots_sdk.bot import match_info
from bots_sdk.reference import make_player
from bots_sdk.wasm import machine
from bots_sdk.wasm.bot import ModulePlayer
from bots_sdk.wasm.machine import Machine, Program
from bots_sdk.wasm.proving import fuel_of_moves
from engine.games.game import Observation
from engine.rating.results import rated_places
from engine.record import Record, replay, write
from engine.referee import Player, TimeControl, play
from tests.bots_sdk.commands.test_replaying import serve
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague
from tests.bots_sdk.wasm.modules import FIRST_MOVE, late_after, module

CLOCK = TimeControl(move_seconds=0.01, bank_seconds=0.02)
NAMES = ("house-random", "late-bot", "ada")


def played(data: bytes, names: tuple[str, ...] = NAMES) -> Record:
    """Return a match of a module in seat 1 against random bots, in which only fuel counts."""
    info = match_info("partridge", "eagle-short", 3, 1, CLOCK)
    player = ModulePlayer(Machine(Program(data), print), info)
    players: list[Player] = [make_player("house-random", luck=luck) for luck in "ab"]
    players.insert(1, player)
    return play("partridge", "eagle-short", bytes(32), players, names=names).record


def save(record: Record, data: bytes, name: str = "late_bot.wasm") -> None:
    """Write ``match.jsonl`` and the module to the current directory."""
    Path("match.jsonl").write_text(write(record) + "\n")
    Path(name).write_bytes(data)


def test_a_match_with_timeouts_is_proven(cli: Cli) -> None:
    data = late_after(2)
    record = played(data)
    save(record, data)
    result = cli("verify", "match.jsonl", "--module", "late_bot.wasm", "--clock", "0.01+0.02")
    assert result.exit_code == 0, result.output
    moves = fuel_of_moves(record, 1, data, CLOCK)
    assert len(moves) == 9
    lines = result.stdout.splitlines()
    assert "Seat 1, late-bot, with the clock 0.01+0.02" in lines
    late = next(each for each in moves if each.fault)
    row = [str(late.ply), *late.move.split(), "3,000,000", "0.000", "s", "timeout"]
    assert row in [line.split() for line in lines]
    used = sum(each.fuel for each in moves)
    assert lines[-1] == (
        "ok   fuel: proven: late_bot.wasm makes the 9 decisions of seat 1 as in the record, "
        f"3 faults among them: {used:,} units"
    )


def test_another_module_is_refuted_at_the_first_move_that_differs(cli: Cli) -> None:
    record = played(late_after(2))
    save(record, late_after(1))
    words = ("verify", "match.jsonl", "--module", "late_bot.wasm", "--clock", "0.01 + 0.02")
    result = cli(*words)
    assert result.exit_code == 1
    *_, last = result.stdout.splitlines()
    own = [ply for ply, (seat, _) in enumerate(record.moves) if seat == 1]
    assert last.startswith(f"FAIL fuel: not proven: ply {own[1]}: the fault in the record is none,")
    assert "If late_bot.wasm did not play in seat 1, give the file that did. " in last
    assert "was not 0.01+0.02, give it with --clock. " in last
    assert "the league may start a bot's process again" in last  # a file may have such a match
    found = json.loads(cli(*words, "--json").stdout)
    assert not found["holds"]
    assert [move["ply"] for move in found["fuel"]["moves"]] == [own[0]]


def test_a_module_that_plays_another_move_is_refuted_with_both_moves(cli: Cli) -> None:
    record = played(module(FIRST_MOVE))
    save(record, module(FIRST_MOVE))
    result = cli("verify", "match.jsonl", "--module", "late_bot.wasm", "--seat", 2)
    assert result.exit_code == 1
    found = re.search(
        r"ply (\d+): the module plays another move, '(.+)'; the record has '(.+)'\. ", result.stdout
    )
    assert found
    ply, first, recorded = int(found[1]), *found.groups()[1:]
    assert record.moves[ply] == (2, recorded)
    assert replay(record, ply).legal_texts(2)[0] == first != recorded


def test_the_clock_of_a_league_s_match_is_the_league_s(logged_in: Cli, stub: StubLeague) -> None:
    data = late_after(2)
    record = played(data, ("thumb v1", "late-bot v2", "late-bot v1"))
    save(record, data, "other.wasm")
    serve(stub, record, move_seconds=CLOCK.move_seconds, bank_seconds=CLOCK.bank_seconds)
    match = stub.answers["GET matches/7"][1]
    for seat, (bot, version) in enumerate([("thumb", 1), ("late-bot", 2), ("late-bot", 1)]):
        match["seating"][seat] |= {"bot": bot, "version": version}
    for seat, place in enumerate(rated_places(record.places, [1])):
        match["seating"][seat]["place"] = place
    words = ("verify", 7, "--module", "other.wasm", "--seat", 1)
    found = json.loads(logged_in(*words, "--json").stdout)
    fuel = found["fuel"]
    assert found["holds"]
    assert found["checks"][-1]["subject"] == "fuel"
    assert (fuel["seat"], fuel["player"], fuel["clock_from"]) == (1, "late-bot v2", "match")
    assert (fuel["move_seconds"], fuel["bank_seconds"]) == (0.01, 0.02)
    assert [move["fault"] for move in fuel["moves"]].count("timeout") == 3
    assert fuel["moves"][-1]["bank_seconds"] == pytest.approx(0)
    Path("other.wasm").write_bytes(late_after(1))
    result = logged_in(*words)
    assert result.exit_code == 1
    assert "give the file that did: version 2 of late-bot" in result.stdout
    assert "--clock" not in result.stdout


@pytest.mark.parametrize("kind", ["remote", "hosted"])
def test_a_process_that_started_again_is_no_difference_at_a_table_with_remote_bots(
    kind: str, logged_in: Cli, stub: StubLeague
) -> None:
    """The bot counts its moves in its memory. Its process starts again before its third one."""
    data = late_after(3)
    info = match_info("partridge", "eagle-short", 3, 1, CLOCK)
    processes = [ModulePlayer(Machine(Program(data), print), info) for _ in range(2)]
    made: list[int] = []

    class Lost:
        """A player whose process is lost after two decisions."""

        @property
        def charged_seconds(self) -> float:
            return processes[len(made) > 2].charged_seconds

        def __call__(self, observation: Observation) -> str:
            made.append(1)
            return processes[len(made) > 2](observation)

    players: list[Player] = [make_player("house-random", luck=luck) for luck in "ab"]
    players.insert(1, Lost())
    names = ("thumb v1", "late-bot v2", "swan v1")
    record = play("partridge", "eagle-short", bytes(32), players, names=names).record
    save(record, data, "other.wasm")
    serve(stub, record, move_seconds=CLOCK.move_seconds, bank_seconds=CLOCK.bank_seconds)
    match = stub.answers["GET matches/7"][1]
    for seat, (bot, version) in enumerate([("thumb", 1), ("late-bot", 2), ("swan", 1)]):
        match["seating"][seat] |= {"bot": bot, "version": version}
        of_bot = {"name": bot, "kind": kind if bot == "swan" else "hosted"}
        stub.answers[f"GET bots/{bot}"] = (200, of_bot)
    for seat, place in enumerate(rated_places(record.places, [1])):
        match["seating"][seat]["place"] = place
    result = logged_in("verify", 7, "--module", "other.wasm", "--seat", 1)
    assert result.exit_code == 1
    *_, last = result.stdout.splitlines()
    if kind == "remote":
        assert last.startswith(
            "FAIL fuel: not proven, and not refuted: other.wasm makes the decisions of seat 1 as "
            "in the record only if its process started again before ply "
        )
    else:
        assert last.startswith("FAIL fuel: not proven: ply ")
        assert "start a bot's process again" not in last


def test_the_seat_is_that_of_the_player_with_the_name_of_the_file(cli: Cli) -> None:
    data = module(FIRST_MOVE)
    record = played(data, ("house-random", "bots/Late_Bot.wasm", "ada"))
    save(record, data)
    assert cli("verify", "match.jsonl", "--module", "late_bot.wasm").exit_code == 0
    for names, why in (
        (NAMES[:1] * 3, "No seat has the name"),
        (("late-bot", "late-bot", "ada"), "Several seats have the name"),
        (None, "No seat has the name"),
    ):
        save(replace(record, players=names), data)
        result = cli("verify", "match.jsonl", "--module", "late_bot.wasm")
        assert result.exit_code == 2
        assert f"{why} of late_bot.wasm." in result.stderr
        listed = [f"{at} ({name})" for at, name in enumerate(names or ("seat 0", "seat 1"))]
        assert f"with --seat: {', '.join(listed)}" in result.stderr
        assert cli("verify", "match.jsonl", "--module", "late_bot.wasm", "--seat", 1).exit_code == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["9" * 5000], "too large for the number of a match: it has 5000 digits"),
        (["match.jsonl", "--seat", 1], "--seat needs --module with the .wasm file"),
        (["match.jsonl", "--clock", "1+30"], "--clock needs --module with the .wasm file"),
        (["7", "--module", "late_bot.wasm", "--clock", "1+3"], "leave out --clock 1+3."),
        (["7", "--module", "late_bot.wasm", "--line", 2], "leave out --line 2."),
        (["match.jsonl", "--module", "late_bot.wasm", "--seat", 3], "has no seat 3. Choose one of"),
        (["match.jsonl", "--module", "late_bot.wasm", "--seat", -1], "has no seat -1."),
        (["match.jsonl", "--module", "late_bot.wasm", "--line", 2], "has 1 line, so no line 2"),
        (["match.jsonl", "--module", "late_bot.wasm", "--clock", "9"], "such as --clock 1+30"),
        (["match.jsonl", "--module", "late_bot.wasm", "--clock", "1+99999"], "at most 86,400 each"),
        (["none.jsonl", "--module", "late_bot.wasm"], "Can't read 'none.jsonl'"),
        (["late_bot.wasm", "--module", "late_bot.wasm"], "There is no record in line 1 of"),
        (["match.jsonl", "--module", "none.wasm"], "There is no file none.wasm"),
        (["match.jsonl", "--module", "first.py"], "first.py is not WebAssembly"),
        (["match.jsonl", "--module", "cut.wasm"], "damaged or cut off"),
    ],
)
def test_wrong_input_has_one_line_with_the_value_and_the_remedy(
    cli: Cli, words: list[object], problem: str
) -> None:
    data = module(FIRST_MOVE)
    save(played(data), data)
    Path("first.py").write_text("def choose(observation): return observation['legal_moves'][0]\n")
    Path("cut.wasm").write_bytes(data[:20])
    result = cli("verify", *words)
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert problem in line


def test_without_wasmtime_the_command_that_installs_it_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = module(FIRST_MOVE)
    save(played(data), data)
    monkeypatch.setattr(machine, "is_available", lambda: False)
    result = cli("verify", "match.jsonl", "--module", "late_bot.wasm")
    assert result.exit_code == 2
    assert "install wasmtime" in result.stderr


def test_a_record_that_is_not_finished_proves_nothing(cli: Cli) -> None:
    data = module(FIRST_MOVE)
    record = played(data)
    save(replace(record, moves=record.moves[:-1]), data)
    result = cli("verify", "match.jsonl", "--module", "late_bot.wasm")
    assert result.exit_code == 1
    first, last = result.stdout.splitlines()
    plies = len(record.moves) - 1
    assert first == f"FAIL deal and moves: ply {plies}: the moves stop before the match is over"
    assert last.startswith("FAIL fuel: not proven: the record is not of a finished match. ")


def test_a_noted_commitment_is_checked_of_a_file_too(cli: Cli) -> None:
    data = module(FIRST_MOVE)
    save(played(data), data)
    words = ("verify", "match.jsonl", "--module", "late_bot.wasm", "--commitment", "0" * 64)
    result = cli(*words)
    assert result.exit_code == 1
    assert "FAIL noted commitment: " in result.stdout
    assert "ok   fuel: proven: " in result.stdout
