"""``make demo-bot``: from nothing to finished matches of a remote bot, over real HTTP."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.running import league

pytestmark = pytest.mark.timeout(150)


def demo(address: str, saved: Path) -> list[dict[str, Any]]:
    """Run the demo bot until both its matches are over and return what it told."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bots_sdk.demo", address, "--saved", str(saved), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told: list[dict[str, Any]] = []
    try:
        assert process.stdout
        for line in process.stdout:
            told.append(json.loads(line))
            ends = sum(event["event"] == "finished" for event in told)
            if ends == 2 and told[-1]["event"] == "finished":
                process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        _, complaints = process.communicate()
    assert told[-1]["event"] == "stopped", complaints
    return told


def test_the_demo_bot_plays_and_its_matches_are_verified_offline(
    tmp_path: Path, own_database: dict[str, str]
) -> None:
    with league(tmp_path / "var", variables=own_database) as running:
        address = running.address
        saved = tmp_path / "demo-bot.json"
        told = demo(address, saved)
        assert not [event for event in told if event["event"] in ("fault", "refused", "warning")]
        finished = [event for event in told if event["event"] == "finished"]
        (bot,) = json.loads(saved.read_text())["leagues"][address]["bots"]
        for event in finished:
            assert bot in [row["bot"] for row in event["table"]]
            done = subprocess.run(
                [sys.executable, "-m", "bots_sdk", "verify", str(event["match"]), "--json"],
                env={**os.environ, "TWELFTH_NIGHT_URL": address, "XDG_CONFIG_HOME": str(tmp_path)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert json.loads(done.stdout)["holds"]
        # The second time it is the same bot.
        demo(address, saved)
        assert list(json.loads(saved.read_text())["leagues"][address]["bots"]) == [bot]
