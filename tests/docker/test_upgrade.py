"""The upgrade of containers: what it does in which order, and what a fault leaves running.

A program stands in for Docker here; ``make test-containers`` runs the upgrade with Docker itself.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from docker import upgrade
from tests.docs.documents import ROOT

DOCKER = """#!{python}
import json, sys
from pathlib import Path
place = Path({place!r})
state = json.loads(place.read_text())
words = sys.argv[1:]
state["calls"].append(words)
if words[0] == "compose":
    words = words[words.index("compose.yaml") + 1 :]
    if words[0] == "config":
        print("\\n".join(state["services"]))
    elif words[0] == "ps":
        print("\\n".join(each for each in state["running"] if each.startswith(words[-1] + "-")))
    elif words[0] == "up":
        state["running"].append(words[-1] + "-new")
    elif "migrate" in " ".join(words) and state["migration"] == "fails":
        print("a lock was not free")
        sys.exit(1)
elif words[0] == "inspect":
    sick = [each for each in words[1:] if each == state["sick"] + "-new"]
    health = {{"Status": "unhealthy" if sick else "healthy"}}
    print(json.dumps([{{"State": {{"Status": "running", "Health": health}}}}] * len(words[1:])))
elif words[0] in ("stop", "rm"):
    state["running"] = [each for each in state["running"] if each not in words]
elif words[0] == "logs":
    print("the log of", words[-1])
place.write_text(json.dumps(state))
"""
SERVICES = ["database", "broker", "prepare", "door", "front", "web", "gateway", "play"]


class Docker:
    """A stand-in for Docker, on whose state a league runs."""

    def __init__(self, directory: Path) -> None:
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
            "sick": "",
            "migration": "succeeds",
        }

    def upgrade(self) -> subprocess.CompletedProcess[str]:
        """Run the upgrade."""
        self._place.write_text(json.dumps(self.state))
        done = subprocess.run(
            [sys.executable, str(ROOT / "docker" / "upgrade.py"), "--file", "compose.yaml"],
            env={**os.environ, "PATH": f"{self._directory}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.state = json.loads(self._place.read_text())
        return done

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


def test_without_a_running_league_nothing_is_done(docker: Docker) -> None:
    docker.state["running"] = []
    done = docker.upgrade()
    assert done.returncode == 1
    assert "no part of the league runs here" in done.stderr


def test_the_services_that_the_upgrade_names_exist() -> None:
    services = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
    assert set(services) >= {*upgrade.STAY, *upgrade.LAST}
