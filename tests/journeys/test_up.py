"""The whole product: from nothing to a rated tournament in one command, twice."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bots_sdk.reference import HOUSE
from tests.docs.listings import TOOLS, listings, save, why_not
from tests.docs.running_blocks import wrong_at_league
from tests.journeys.running import PAUSE, SECONDS, League, free_port, league, sign_up, wait_for

pytestmark = pytest.mark.timeout(600)

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def standings(running: League, ladder: str) -> list[tuple[str, int]]:
    """Return the bots of a ladder and their ratings in thousandths of an Elo point."""
    return [(row["bot"], row["rating"]) for row in running.all(f"ladders/{ladder}/standings")]


def demo(address: str, saved: Path) -> list[dict[str, Any]]:
    """Run the demo bot until both its matches are over; return its output, one object a line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bots_sdk.demo", address, "--saved", str(saved), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    reports: list[dict[str, Any]] = []
    try:
        assert process.stdout
        for line in process.stdout:
            reports.append(json.loads(line))
            ends = sum(event["event"] == "finished" for event in reports)
            if ends == 2 and reports[-1]["event"] == "finished":
                process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        _, errors = process.communicate()
    assert reports[-1]["event"] == "stopped", errors
    return reports


def check_demo_bot(running: League, home: Path) -> None:
    """Have ``make demo-bot``'s bot play two matches, open their pages, and verify them offline."""
    saved = home / "demo-bot.json"
    reports = demo(running.address, saved)
    assert not [event for event in reports if event["event"] in ("fault", "refused", "warning")]
    (bot,) = json.loads(saved.read_text())["leagues"][running.address]["bots"]
    for event in reports:
        if event["event"] != "finished":
            continue
        assert bot in [row["bot"] for row in event["table"]]
        page = running.client.get(f"{running.address}/matches/{event['match']}/").text
        assert f"/bots/{bot}/" in page
        done = subprocess.run(
            [sys.executable, "-m", "bots_sdk", "verify", str(event["match"]), "--json"],
            env={
                **os.environ,
                "TWELFTH_NIGHT_URL": running.address,
                "XDG_CONFIG_HOME": str(home),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["holds"]


def check_listings(running: League, directory: Path) -> None:
    """Have the bots of the page about remote bots play one match without a fault."""
    directory.mkdir()
    owner = sign_up(running, "listings")
    can_run = [name for name in TOOLS if not why_not(name)]
    bots = {
        f"in-{name.lower()}": listing for name, listing in listings().items() if name in can_run
    }
    processes = []
    try:
        for name, listing in bots.items():
            token = running.post("bots", owner, name=name, kind="remote")["token"]
            process = subprocess.Popen(
                save(listing, directory, running.address),
                cwd=directory,
                env={**os.environ, "BOT_TOKEN": token},
                start_new_session=True,  # `go run` starts the bot as its own child
            )
            processes.append(process)
        # A compiler may need a minute.
        wait_for(lambda: all(running.get(f"bots/{name}")["online"] for name in bots), running.log)
        table = {"game": "twelve-days", "rules": "calliope", "bots": [*bots, "house-thumb"]}
        match = running.post("matches", owner, **table)
        path = f"matches/{match['id']}"
        wait_for(lambda: running.get(path)["status"] == "finished", running.log)
        assert [seat["faults"] for seat in running.get(path)["seating"]] == [0] * (len(bots) + 1)
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@needs_curl
@pytest.mark.timeout(600)
def test_a_second_start_keeps_the_first_tournament_and_there_the_pages_and_the_demo_bot_work(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    directory, port = tmp_path / "var", free_port()
    # One of each kind: twins would make it fifteen tables instead of one.
    kinds = [bot for bot in HOUSE if not bot.endswith("-2")]
    with league(directory, port, {"HOUSE_BOTS": ",".join(kinds)}) as running:
        running.manage("shell", "-c", PAUSE)  # but for the tournament, which is what we watch
        wait_for(lambda: standings(running, "twelve-days"), running.log)
        rounds = "ladders/twelve-days/rounds"
        wait_for(lambda: all(row["applied_at"] for row in running.all(rounds)), running.log)
        rated = standings(running, "twelve-days")
        assert {bot for bot, _ in rated} == set(kinds)
        assert sum(rating for _, rating in rated) == 1_500_000 * len(rated)
        page = running.client.get(f"{running.address}/ladders/twelve-days/").text
        assert all(bot in page for bot, _ in rated)
        assert running.client.get(f"{running.address}/nothing").status_code == 404
        wait_for(
            lambda: running.client.get(f"{running.address}/readyz").status_code == 200, running.log
        )
    assert running.variables() == {}
    # To be called from other machines; HOST as some shells export it means nothing here.
    variables = {"LEAGUE_HOST": "0.0.0.0", "HOST": "x86_64-conda-linux-gnu"}
    with league(directory, port, variables) as running:
        assert standings(running, "twelve-days") == rated
        for name in ("192.168.7.7", "classroom.local"):
            home = running.client.get(f"{running.address}/", headers={"Host": f"{name}:{port}"})
            assert home.status_code == 200
        # Workers start after the front, and a page that is run at once would read "not ready".
        wait_for(
            lambda: running.client.get(f"{running.address}/readyz").status_code == 200, running.log
        )
        readers = tmp_path / "readers"
        wrong = wrong_at_league(
            running.address, running.log(), directory, readers, capsys, monkeypatch
        )
        assert not wrong, "\n\n".join(wrong)
        check_demo_bot(running, tmp_path)
        check_listings(running, tmp_path / "listings")


def test_a_port_that_is_taken_is_named_with_the_way_round_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "devserver.up"),
                *("--directory", str(tmp_path), "--port", str(port)),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 1
    assert f"Port {port}" in done.stderr
    assert done.stderr.count("\n") == 1
