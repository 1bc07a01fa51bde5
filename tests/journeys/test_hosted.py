"""Uploaded bots from their upload to the ladder, beside remote ones and those of the house."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.running import (
    CHECKOUT,
    League,
    league,
    remote_bot,
    sign_up,
    tournament,
    wait_for,
)
from tests.journeys.running import wait_for_end as wait_for_tournament
from tests.journeys.test_survival import TWO, check_all_is_whole, finished, kill, set_up
from tests.league.bots.uploaded import LOUD, RAISES

pytestmark = pytest.mark.timeout(600)


def upload(running: League, owner: str, bot: str, source: bytes) -> Any:
    """Upload a version and return it after its check."""
    sent = running.client.post(
        f"bots/{bot}/versions",
        files={"source": ("bot.py", source)},
        headers={"Authorization": f"Bearer {owner}"},
    )
    assert sent.status_code == 202, sent.text
    path = f"bots/{bot}/versions/{sent.json()['number']}"
    assert sent.json()["state"] == "checking"
    wait_for(lambda: running.get(path)["state"] != "checking", running.log)
    return running.get(path)


def cli(running: League, owner: str, *words: str) -> tuple[int, Any]:
    """Run a command of ``twelfth-night`` as the owner; return its exit status and its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "bots_sdk", *words, "--json"],
        env={
            **os.environ,
            "TWELFTH_NIGHT_URL": running.address,
            "TWELFTH_NIGHT_TOKEN": owner,
            # Tokens of bots are saved; those of the developer stay as they are.
            "XDG_CONFIG_HOME": str(running.directory / "config"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=CHECKOUT,
    )
    return done.returncode, json.loads(done.stdout or done.stderr)


def test_uploaded_bots_play_remote_ones_and_lose_no_match_when_workers_are_killed(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database | TWO) as running:
        organiser = set_up(running)
        owner = sign_up(running, "maria")
        running.post("bots", owner, name="maria-1", kind="hosted")
        assert upload(running, owner, "maria-1", RAISES)["state"] == "refused"
        assert running.get("bots/maria-1")["version"] is None
        assert upload(running, owner, "maria-1", LOUD)["state"] == "ready"
        file = tmp_path / "maria_2.py"  # a bot that there is not yet is made, named as the file
        file.write_bytes(RAISES)
        status, refused = cli(running, owner, "upload", str(file))
        assert (status, refused["state"]) == (1, "refused")
        assert refused["qualifying"][0]["printed"][:9] == "about to\n"
        assert running.client.get("bots/maria-2").status_code == 404  # it leaves no bot behind
        file.write_bytes(LOUD)
        status, ready = cli(running, owner, "upload", str(file))
        assert (status, ready["state"], ready["number"]) == (0, "ready", 1)
        status, log = cli(running, owner, "logs", "maria-2", "--version", "1")
        assert (status, log["qualifying"][0]["passed"]) == (0, True)
        assert running.get("bots/maria-1")["version"] == 2

        feste = sign_up(running, "feste")
        remote = remote_bot(running, feste, "feste-1")
        entered = {"maria-1": owner, "feste-1": feste}
        number = tournament(running, organiser, entered, ladder="quick", house_bots=True)
        wait_for(lambda: finished(running, number) >= 1, running.log)
        kill(running, "play@")
        wait_for(lambda: finished(running, number) >= 4, running.log)
        kill(running, "seats@")
        assert wait_for_tournament(running, number, seconds=150)["state"] == "finished"
        remote.stop()
        matches = check_all_is_whole(running, number, [remote])
        assert not any(seat["faults"] for match in matches for seat in match["seating"])

        mixed = [
            match["id"]
            for match in matches
            if {"maria-1", "feste-1"} <= {seat["bot"] for seat in match["seating"]}
        ]
        assert mixed
        logs = running.client.get(
            f"matches/{mixed[0]}/log", headers={"Authorization": f"Bearer {owner}"}
        ).json()["results"]
        assert "asked 1" in logs[0]["printed"]
        _, reports = cli(running, owner, "logs", "maria-1", "--match", str(mixed[0]))
        assert reports[0]["printed"] == logs[0]["printed"]
        assert running.client.get(f"matches/{mixed[0]}/log").status_code == 401
        remote.join(30)
