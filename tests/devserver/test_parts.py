"""The parts that `make up` and the compose file run."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import loading
from devserver.forks import LEFT_OUT
from devserver.part import Part
from devserver.place import Place
from devserver.up import CannotStartError, _parts
from league.health import QUEUES
from tests.journeys.running import CHECKOUT

SERVERS = {"DATABASE_URL": "postgresql:///none", "REDIS_URL": "redis://localhost/0"}


def parts(tmp_path: Path) -> dict[str, Part]:
    options = argparse.Namespace(directory=tmp_path, host="127.0.0.1", port=8000)
    with (tmp_path / "alive").open("w") as alive:
        return {
            part.name: part
            for part in _parts(options, dict(SERVERS), Place(tmp_path, tmp_path, alive))
        }


def queues(command: list[str]) -> set[str]:
    if "--queues" not in command:
        return set()
    return set(command[command.index("--queues") + 1].split(","))


def test_the_clock_probes_the_address_that_the_setting_names(tmp_path: Path) -> None:
    options = argparse.Namespace(directory=tmp_path, host="127.0.0.1", port=8000)
    for given, probed in (
        ("", "http://127.0.0.1:8000/"),
        ("https://a.example", "https://a.example"),
    ):
        environment = SERVERS | {"PROBE_URL": given}
        with (tmp_path / "alive").open("w") as alive:
            _parts(options, environment, Place(tmp_path, tmp_path, alive))
        assert environment["PROBE_URL"] == probed


def test_every_queue_has_workers_and_slow_work_has_workers_of_its_own(tmp_path: Path) -> None:
    served = {name: queues(list(map(str, part.command))) for name, part in parts(tmp_path).items()}
    assert sorted(queue for each in served.values() for queue in each) == QUEUES
    assert served["clock"] == {"clock"}
    assert served["checks"] == {"checks", "trials"}
    assert served["play"] == {"placement", "play", "analysis"}
    assert served["ratings"] == {"ratings"}


def test_matches_and_checks_have_a_lower_priority_than_the_clock(tmp_path: Path) -> None:
    found = parts(tmp_path)
    nice = {name: each.command[-1] for name, each in found.items() if "--nice" in each.command}
    assert nice == {"play": "5", "checks": "5", "ratings": "5", "clock": "0", "seats": "0"}


def test_one_worker_runs_beat_and_not_the_clock(tmp_path: Path) -> None:
    found = parts(tmp_path)
    assert [name for name, each in found.items() if "--with-beat" in each.command] == ["checks"]


def test_processes_that_only_play_start_when_there_are_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAY_WORKERS", "7")
    assert "--autoscale=7,0" in parts(tmp_path)["play"].command


def test_the_supervisor_loads_no_large_library() -> None:
    """Its memory is its own: it shares none with the parts."""
    code = "import devserver.up, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.split()
    large = {"psycopg", "redis", "django", "celery", "urllib.request", "importlib.metadata"}
    assert large.isdisjoint(loaded)


def test_what_workers_import_by_name_is_loaded_before_the_fork() -> None:
    code = (
        "import sys; from devserver.forks import leave_out; leave_out();"
        "import config.loading; config.loading.load(); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env=os.environ | SERVERS | {"SECRET_KEY": "x", "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert set(loading.PROGRAMS) < set(loaded)
    assert {"celery.bin.worker", "celery.beat", "celery.worker.loops"} < set(loaded)
    assert {"prompt_toolkit", "rich", "requests.api", "numpy"}.isdisjoint(
        name for name in loaded if name not in LEFT_OUT
    )


def test_the_compose_file_serves_the_same_queues() -> None:
    text = (CHECKOUT / "docker" / "compose.yaml").read_text()
    words = " ".join(text.split())
    for each in (
        "clock",
        '"control,seats"',
        '"checks,trials"',
        '"placement,play,analysis"',
        "ratings",
    ):
        assert f"--queues, {each}," in words


def test_each_gateway_process_has_its_own_socket(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "gateway-2" not in parts(tmp_path)
    monkeypatch.setenv("GATEWAY_PROCESSES", "3")
    found = parts(tmp_path)
    gateways = [found[name] for name in ("gateway", "gateway-2", "gateway-3")]
    assert len({part.socket for part in gateways}) == 3
    assert all(part.socket in part.command for part in gateways)


@pytest.mark.parametrize("name", ["GATEWAY_PROCESSES", "PLAY_WORKERS", "WEB_WORKERS"])
@pytest.mark.parametrize("number", ["0", "-1", "two", ""])
def test_a_number_of_processes_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, number: str
) -> None:
    monkeypatch.setenv(name, number)
    with pytest.raises(CannotStartError, match=f"{name} must be 1 or more"):
        parts(tmp_path)
