"""The upgrade of containers: what it does in which order, and what a fault leaves running.

A program stands in for Docker here; ``make test-containers`` runs the upgrade with Docker itself.
"""

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from docker import upgrade
from tests.docs.documents import ROOT
from tests.journeys.running import wait_for

DOCKER = """#!{python}
import fcntl, json, sys
from pathlib import Path
place = Path({place!r})
lock = open(str(place) + ".lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)  # containers are stopped while others start
state = json.loads(place.read_text())
words = sys.argv[1:]
state["calls"].append(words)
if words[0] == "compose":
    words = words[words.index("compose.yaml") + 1 :]
    if words[0] == "config":
        print("\\n".join(state["services"]))
    elif words[0] == "ps":
        there = state["running"] + (state["stopped"] if "--all" in words else [])
        print("\\n".join(each for each in there if each.startswith(words[-1] + "-")))
    elif words[0] == "up":
        stopped = [each for each in state["stopped"] if each.startswith(words[-1] + "-")]
        state["stopped"] = [each for each in state["stopped"] if each not in stopped]
        if words[-1] != state["scaled to 0"]:
            state["running"] += stopped or [words[-1] + "-new"]
        if words[-1] == state["up fails for"]:
            place.write_text(json.dumps(state))
            sys.exit(1)
    elif words[0] == "rm":
        state["stopped"] = [each for each in state["stopped"] if not each.startswith(words[-1])]
    elif words[0] == "exec":
        faults = state["faults"].pop(0) if state["faults"] else {{}}
        print(json.dumps({{"status": "not ready" if faults else "ready", "faults": faults}}))
    elif "migrate" in " ".join(words) and state["migration"] == "fails":
        print("a lock was not free")
        sys.exit(1)
elif words[0] == "inspect":
    sick = [each for each in words[1:] if each == state["sick"] + "-new"]
    slow = [each for each in words[1:] if each == state["slow"] + "-new"]
    health = {{"Status": "unhealthy" if sick else "starting" if slow else "healthy"}}
    print(json.dumps([{{"State": {{"Status": "running", "Health": health}}}}] * len(words[1:])))
elif words[0] in ("stop", "rm"):
    state["running"] = [each for each in state["running"] if each not in words]
elif words[0] == "logs":
    print("the log of", words[-1])
place.write_text(json.dumps(state))
"""
SERVICES = ["database", "broker", "prepare", "door", "front", "web", "gateway", "play"]


class Docker:
    """A stand-in for Docker, on whose state a league runs.

    Attributes:
        state: what runs, and which commands fail.
        waits: the seconds of each wait of upgrades in this process; none of them lasts.
    """

    def __init__(self, directory: Path) -> None:
        self.waits: list[float] = []
        self._place = directory / "state.json"
        self._directory = directory
        program = directory / "docker"
        program.write_text(DOCKER.format(python=sys.executable, place=str(self._place)))
        program.chmod(0o755)
        running = [f"{name}-old" for name in SERVICES if name != "prepare"]
        self.state: dict[str, Any] = {
            "services": SERVICES,
            "running": running,
            "calls": [],
            "stopped": [],
            "scaled to 0": "",
            "up fails for": "",
            "sick": "",
            "slow": "",
            "migration": "succeeds",
            "faults": [],  # in the next answers of /readyz
        }

    def upgrade(self) -> subprocess.CompletedProcess[str]:
        """Run the upgrade in this process, without its waits."""
        self.store()
        out, errors = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", f"{self._directory}:{os.environ['PATH']}")
            clock = SimpleNamespace(monotonic=time.monotonic, sleep=self._wait)
            patch.setattr(upgrade, "time", clock)
            with redirect_stdout(out), redirect_stderr(errors):
                status = upgrade.main(["--file", "compose.yaml"])
        self.state = json.loads(self._place.read_text())
        return subprocess.CompletedProcess([], status, out.getvalue(), errors.getvalue())

    def _wait(self, seconds: float) -> None:
        """Note a wait; the long one lasts until the command stops the old front."""
        self.waits.append(seconds)
        until = time.monotonic() + 60
        while seconds == upgrade.DELAY_SECONDS and '"front-old"]' not in self._stops():
            assert time.monotonic() < until, "the old front is not stopped before the wait"
            time.sleep(0.01)

    def _stops(self) -> str:
        """Return the calls so far that stop a container."""
        return self._calls("stop")

    def _calls(self, word: str) -> str:
        """Return the calls so far that begin with a word."""
        with Path(f"{self._place}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            calls = json.loads(self._place.read_text())["calls"]
        return json.dumps([call for call in calls if call[0] == word])

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run the upgrade as a program."""
        self.store()
        done = subprocess.run(
            [sys.executable, str(ROOT / "docker" / "upgrade.py"), "--file", "compose.yaml"],
            env={**os.environ, "PATH": f"{self._directory}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.state = json.loads(self._place.read_text())
        return done

    def interrupt(self, number: signal.Signals) -> subprocess.CompletedProcess[str]:
        """Run the upgrade as a program until it waits for a container, and send it a signal."""
        self.store()
        program = subprocess.Popen(
            [sys.executable, str(ROOT / "docker" / "upgrade.py"), "--file", "compose.yaml"],
            env={**os.environ, "PATH": f"{self._directory}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(
            lambda: f'"{self.state["slow"]}-new"]' in self._calls("inspect"), self._place.read_text
        )
        program.send_signal(number)
        out, errors = program.communicate(timeout=30)
        self.state = json.loads(self._place.read_text())
        return subprocess.CompletedProcess([], program.returncode, out, errors)

    def store(self) -> None:
        """Write the state for the program."""
        self._place.write_text(json.dumps(self.state))

    def running(self) -> set[str]:
        """Return the running containers."""
        return set(self.state["running"])

    def calls(self, word: str) -> list[str]:
        """Return all calls with a word, each as text."""
        return [" ".join(call) for call in self.state["calls"] if word in call]


@pytest.fixture
def docker(tmp_path: Path) -> Docker:
    return Docker(tmp_path)


def test_each_part_is_replaced_and_servers_and_door_stay(docker: Docker) -> None:
    done = docker.upgrade()
    assert done.returncode == 0, done.stderr
    stay = {"database-old", "broker-old", "door-old"}
    assert docker.running() == stay | {
        f"{name}-new" for name in ("front", "web", "gateway", "play")
    }


def test_the_database_is_migrated_before_any_part_is_replaced(docker: Docker) -> None:
    docker.state["migration"] = "fails"
    done = docker.upgrade()
    assert done.returncode == 1
    assert "a lock was not free" in done.stderr
    assert not any("new" in each for each in docker.running())
    assert not docker.calls("stop")


def test_old_fronts_pass_streams_to_old_gateways_only(docker: Docker) -> None:
    """So these end all streams that the old fronts still hold."""
    docker.upgrade()
    assert docker.waits == [upgrade.DELAY_SECONDS]
    words = [" ".join(call) for call in docker.state["calls"]]
    new_front = next(n for n, call in enumerate(words) if "inspect front-new" in call)
    ends_old_front = words.index("stop --time 300 front-old")
    new_gateway = next(n for n, call in enumerate(words) if call.endswith("gateway=2 gateway"))
    assert new_front < ends_old_front < new_gateway < words.index("stop gateway-old")


def test_a_new_container_that_is_not_healthy_goes_and_the_old_one_stays(docker: Docker) -> None:
    docker.state["sick"] = "web"
    done = docker.upgrade()
    assert done.returncode == 1
    assert "the log of web-new" in done.stderr
    assert {"web-old", "front-old", "gateway-old"} <= docker.running()
    assert "web-new" not in docker.running()


def test_a_backup_that_fails_stops_no_upgrade(docker: Docker) -> None:
    docker.state |= {"services": [*SERVICES, "backups"], "sick": "backups"}
    docker.state["running"].append("backups-old")
    done = docker.upgrade()
    assert done.returncode == 0, done.stderr
    assert {"backups-new", "front-new"} <= docker.running()
    assert "backups-old" not in docker.running()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_an_interrupted_upgrade_leaves_no_new_container_beside_an_old_one(
    docker: Docker, number: signal.Signals
) -> None:
    docker.state["slow"] = "play"
    done = docker.interrupt(number)
    assert done.returncode == 130
    assert done.stderr.startswith("upgrade: interrupted. ")
    assert {"web-new", "play-old", "front-old"} <= docker.running()
    assert not {"web-old", "play-new", "front-new"} & docker.running()


def test_containers_of_a_start_that_fails_half_way_are_removed(docker: Docker) -> None:
    docker.state["up fails for"] = "play"
    assert docker.upgrade().returncode == 1
    assert "play-old" in docker.running()
    assert "play-new" not in docker.running()


def test_a_stopped_container_of_an_old_version_is_not_taken_for_a_new_one(docker: Docker) -> None:
    docker.state["stopped"] = ["web-stopped"]  # by an upgrade that was interrupted
    assert docker.upgrade().returncode == 0
    assert {each for each in docker.running() if each.startswith("web-")} == {"web-new"}


def test_a_part_that_the_new_version_adds_is_started(docker: Docker) -> None:
    docker.state["services"] = [*SERVICES, "lookout"]
    done = docker.upgrade()
    assert done.returncode == 0, done.stderr
    assert "lookout (new)" in done.stdout
    assert "lookout-new" in docker.running()


def test_a_new_part_that_is_not_healthy_goes_and_all_old_ones_stay(docker: Docker) -> None:
    docker.state |= {"services": [*SERVICES, "lookout"], "sick": "lookout"}
    done = docker.upgrade()
    assert done.returncode == 1
    assert "the log of lookout-new" in done.stderr
    assert not any("new" in each for each in docker.running())
    assert {"web-old", "front-old", "play-old"} <= docker.running()


def test_parts_that_are_stopped_or_scaled_to_0_are_not_started(docker: Docker) -> None:
    docker.state["services"] = [*SERVICES, "stopped", "none"]
    docker.state |= {"stopped": ["stopped-old"], "scaled to 0": "none"}
    done = docker.upgrade()
    assert done.returncode == 0, done.stderr
    assert not {"stopped-new", "none-new"} & docker.running()


def test_the_end_is_a_league_that_is_ready(docker: Docker) -> None:
    docker.state["faults"] = [{"clock": "silent"}, {"clock": "silent"}]
    done = docker.upgrade()
    assert done.returncode == 0, done.stderr
    assert docker.state["faults"] == []
    assert len(docker.calls("exec")) == 3


def test_a_league_that_does_not_become_ready_shows_what_is_missing(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker.state["faults"] = [{"clock": "no worker serves this queue"}] * 2
    docker.store()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("READY_SECONDS", "DELAY_SECONDS"):
        monkeypatch.setattr(upgrade, name, 0)
    with pytest.raises(upgrade.UpgradeError, match="not ready") as failure:
        upgrade.upgrade(upgrade.Compose(["--file", "compose.yaml"]))
    assert "\nclock: no worker serves this queue\n" in str(failure.value)


def test_without_a_running_league_nothing_is_done(docker: Docker) -> None:
    docker.state["running"] = []
    done = docker.run()
    assert done.returncode == 1
    assert "no part of the league runs here" in done.stderr


def test_the_services_that_the_upgrade_names_exist() -> None:
    services = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
    assert set(services) >= {*upgrade.STAY, *upgrade.LAST}
