"""Matches in the terminal: shown with their reasons, and verified."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from engine.cli import simulate
from engine.deals import commitment
from engine.rating.results import rated_places
from engine.record import Record, write
from engine.referee import play
from tests.bots_sdk.conftest import Cli
from tests.bots_sdk.stub import StubLeague


def simulated() -> Record:
    record = simulate("partridge", "eagle-short", 3, bytes(32), lambda legal: legal[0], "ada")
    return record


def serve(stub: StubLeague, record: Record, **changes: Any) -> None:
    """Have the stub serve a match with a record."""
    seating = [
        {
            "seat": seat,
            "bot": "ada",
            "score": record.scores[seat],
            "place": record.places[seat],
            "faults": 15 if seat == 1 else 0,
            "forfeited": seat == 1,
        }
        for seat in range(record.seats)
    ]
    match = {
        "game": record.game,
        "rules": record.rules,
        "seats": record.seats,
        "seating": seating,
        "commitment": commitment(record.deal_seed),
    }
    stub.answers["GET matches/7"] = (200, {**match, **changes})
    stub.answers["GET matches/7/record"] = (200, json.loads(write(record)))


def test_a_public_match_is_shown_with_the_reason_of_each_result(
    logged_in: Cli, stub: StubLeague
) -> None:
    record = simulated()
    shown = {"ladder": None, "status": "finished", "deal_seed": record.deal_seed.hex()}
    serve(stub, record, **shown)
    result = logged_in("match", 7)
    assert result.exit_code == 0
    assert "15, forfeited" in result.stdout
    assert re.search(
        r"^  trick 1: \S+ leads .*\n    \d+ is the lowest card, so \S+ wins the trick$",
        result.stdout,
        re.M,
    )
    scores = record.scores
    serve(stub, replace(record, scores=(scores[0] + 1, *scores[1:])), **shown)
    assert "The record is not valid" in logged_in("match", 7).stdout


def test_a_match_with_a_secret_record_is_shown_without_reasons(
    logged_in: Cli, stub: StubLeague
) -> None:
    serve(stub, simulated(), ladder=None, status="finished", deal_seed=None)
    del stub.answers["GET matches/7/record"]
    result = logged_in("match", 7)
    assert result.exit_code == 0
    assert result.stdout.startswith("Match 7: partridge eagle-short, unrated, finished\n")
    assert "wins the trick" not in result.stdout


def test_a_match_that_holds_is_verified(logged_in: Cli, stub: StubLeague) -> None:
    record = simulated()
    serve(stub, record)
    result = logged_in("verify", 7, "--commitment", commitment(bytes(32)).upper(), "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["holds"]
    assert [check["subject"] for check in found["checks"]] == [
        "commitment",
        "noted commitment",
        "rules",
        "players",
        "deal and moves",
        "scores",
        "places",
    ]


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"commitment": "0" * 64}, "commitment"),
        ({"rules": "eagle"}, "rules"),
        ({"seating": []}, "players"),
    ],
)
def test_a_match_that_does_not_hold_is_refused_with_what_is_wrong(
    logged_in: Cli, stub: StubLeague, changes: dict[str, Any], wrong: str
) -> None:
    serve(stub, simulated(), **changes)
    result = logged_in("verify", 7)
    assert result.exit_code == 1
    assert f"FAIL {wrong}: " in result.stdout


def test_a_match_with_a_seat_that_forfeited_holds(logged_in: Cli, stub: StubLeague) -> None:
    def broken(_: object) -> str:
        raise RuntimeError

    players = [broken, lambda observation: observation["legal_moves"][0]]
    for deal in range(20):
        outcome = play("partridge", "eagle-short", bytes([deal] * 32), players, names=["ada"] * 2)
        places = rated_places(outcome.record.places, outcome.forfeited)
        if places != outcome.record.places:
            break
    record = outcome.record
    assert outcome.forfeited == (0,)
    assert places == (2, 1) != record.places
    serve(stub, replace(record, places=places))
    stub.answers["GET matches/7/record"] = (200, json.loads(write(record)))
    result = logged_in("verify", 7)
    assert result.exit_code == 0, result.stdout
    assert "ok   places: replayed: 2 1\n" in result.stdout


def test_a_match_of_two_versions_of_a_bot_holds(logged_in: Cli, stub: StubLeague) -> None:
    record = replace(simulated(), players=("ada v1", "ada v2", "bob v1"))
    serve(stub, record)
    seating = stub.answers["GET matches/7"][1]["seating"]
    for seat, (bot, version) in zip(seating, [("ada", 1), ("ada", 2), ("bob", 1)], strict=True):
        seat |= {"bot": bot, "version": version}
    assert "ok   players: the record has ada v1 ada v2 bob v1\n" in logged_in("verify", 7).stdout
    seating[1]["version"] = 3
    assert "FAIL players: " in logged_in("verify", 7).stdout


@pytest.mark.parametrize("mark", ["", " v1"])
def test_a_match_that_ended_before_a_bot_was_renamed_is_verified(
    logged_in: Cli, stub: StubLeague, mark: str
) -> None:
    serve(
        stub, replace(simulated(), players=tuple(f"{each}{mark}" for each in ("old", "ada", "x")))
    )
    for seat, bot in zip(
        stub.answers["GET matches/7"][1]["seating"], ["new", "ada", "x"], strict=True
    ):
        seat |= {"bot": bot, "version": 1}
    stub.answers["GET bots/old"] = (308, "/api/v1/bots/new")
    stub.answers["GET bots/new"] = (200, {"name": "new"})
    result = logged_in("verify", 7)
    assert result.exit_code == 0, result.stdout
    assert (
        f"the record has old{mark} ada{mark} x{mark}; since then bots were renamed: "
        in result.stdout
    )
    stub.answers["GET bots/new"] = (200, {"name": "another"})
    assert "FAIL players: " in logged_in("verify", 7).stdout


def test_a_record_with_another_deal_is_refused(logged_in: Cli, stub: StubLeague) -> None:
    serve(stub, simulated())
    _, record = stub.answers["GET matches/7/record"]
    record["deal_seed"] = "ff" * 32
    result = logged_in("verify", 7)
    assert result.exit_code == 1
    assert "FAIL commitment" in result.stdout
    assert "FAIL deal and moves: ply" in result.stdout


def test_verify_of_a_file_points_to_the_command_for_files(cli: Cli) -> None:
    result = cli("verify", "match-7.json")
    assert result.exit_code == 2
    assert "match-7.json is not the number of a match" in result.stderr
    assert "`python -m engine verify FILE`" in result.stderr
    assert "add --module BOT.wasm" in result.stderr
