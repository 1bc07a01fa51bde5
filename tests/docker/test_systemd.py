"""The systemd units run the commands of the containers, and the example of their settings works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from deploy import upgrade
from devserver.up import BIN, CADDYFILE
from tests.docs.documents import ROOT, blocks

DEPLOY = ROOT / "deploy"
UNITS = DEPLOY / "systemd"
PARTS = sorted(
    path.stem.removeprefix("twelfth-night-").removesuffix("@")
    for path in UNITS.glob("*.service")
    if "WantedBy=twelfth-night.target" in path.read_text()
)
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
FILLED = {"SECRET_KEY": "a secret key that is long enough, and differs from all others: 1234567890"}


def example() -> dict[str, str]:
    """Return the variables of the example, with a secret key."""
    lines = (DEPLOY / "league.env.example").read_text().splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs} | FILLED


def unit_of(part: str) -> str:
    """Return the text of a part's unit."""
    [path] = UNITS.glob(f"twelfth-night-{part}*.service")
    return path.read_text()


def words_of(part: str) -> list[str]:
    """Return the command of a unit as words, sorted: options may come in any order."""
    found = re.search(r"^ExecStart=/opt/twelfth-night/.venv/bin/(.*)$", unit_of(part), re.MULTILINE)
    assert found, part
    return sorted(shlex.split(found[1].replace("%%", "%")))


def test_every_part_of_the_containers_has_a_unit() -> None:
    others = {"database", "broker", "door", "prepare", "backup", "backups"}
    assert set(PARTS) == set(COMPOSE) - others


@pytest.mark.parametrize("part", [part for part in PARTS if part != "front"])
def test_a_unit_runs_the_command_of_its_container(part: str) -> None:
    local = {
        "0.0.0.0": "127.0.0.1",
        "/tmp/beat-schedule": "/var/lib/twelfth-night/beat-schedule",
        "${PLAY_WORKERS:-0}": "${PLAY_WORKERS}",
        "${WEB_THREADS:-16}": "${WEB_THREADS}",
    }
    assert words_of(part) == sorted(local.get(word, word) for word in COMPOSE[part]["command"])


def test_the_web_server_has_as_many_threads_as_the_setting() -> None:
    """Else the league would keep no thread free for clients that hold fewer than others."""
    assert "\nEnvironment=WEB_THREADS=16\n" in unit_of("web")


def test_the_unit_that_plays_has_the_default_of_the_containers() -> None:
    [default] = [
        found[1]
        for word in COMPOSE["play"]["command"]
        if (found := re.fullmatch(r"\$\{PLAY_WORKERS:-(\d+)\}", word))
    ]
    assert f"\nEnvironment=PLAY_WORKERS={default}\n" in unit_of("play")


@pytest.mark.parametrize("part", [*PARTS, "prepare"])
def test_a_stop_of_the_target_stops_a_part_and_waits_for_it(part: str) -> None:
    assert "\nPartOf=twelfth-night.target\n" in unit_of(part)
    assert "\nAfter=twelfth-night.target" in unit_of(part)


@pytest.mark.parametrize("part", [part for part in PARTS if "security_opt" in COMPOSE[part]])
def test_a_unit_whose_part_plays_bots_takes_nothing_from_the_sandbox(part: str) -> None:
    common = (UNITS / "twelfth-night-.service.d" / "common.conf").read_text()
    for text in (unit_of(part), common):
        for name in ("RestrictSUIDSGID", "RestrictNamespaces", "SystemCallFilter"):
            assert f"\n{name}=" not in text


def test_the_guide_enables_every_part() -> None:
    [text] = [
        block.text for block in blocks("operate.md") if "systemctl enable --now" in block.text
    ]
    [names] = re.findall(r"twelfth-night-\{([a-z,]+)\}\.service", text)
    assert {*names.split(","), *re.findall(r"(front)@\{1,2\}\.service", text)} == set(PARTS)


def test_an_upgrade_restarts_every_part_and_each_front_while_the_other_one_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: list[str] = []
    runs = dict.fromkeys(upgrade.FRONTS, 1)

    def run(*words: str) -> str:
        if words[:2] == ("systemctl", "show"):
            front = words[-1].removeprefix("twelfth-night-")
            return f"ActiveState=active\nInvocationID={runs[front]}\n"
        if words[:2] == ("systemctl", "restart"):
            called.append(words[-1].removeprefix("twelfth-night-"))
        else:
            called.append(Path(words[0]).name)
        if called[-1] == "gateway":  # its end is that of the old front's last stream
            runs[called[-2]] += 1
        return ""

    monkeypatch.setattr(upgrade, "run", run)
    monkeypatch.setattr(upgrade, "is_ready", lambda: True)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(upgrade, "_MIGRATE_REQUESTS", Path("/nowhere"))
    upgrade.upgrade()
    first = called.index("beat")
    assert called[:first] == ["pip", "python", "cp", "systemctl", "manage", "prepare"]
    fronts = [word for front in upgrade.FRONTS for word in (front, "gateway")]
    assert called[first:] == [*upgrade.PARTS, *fronts]
    assert {*upgrade.PARTS, "gateway", "front"} == set(PARTS)


def test_an_upgrade_that_fails_says_which_command_and_goes_no_further() -> None:
    with pytest.raises(upgrade.UpgradeError, match="sh -c echo no; exit 3:\nno"):
        upgrade.run("sh", "-c", "echo no; exit 3")


def test_an_upgrade_waits_until_an_ending_front_accepts_no_connection_any_more() -> None:
    [delay] = re.findall(
        r"^Environment=FRONT_SHUTDOWN_DELAY=(\d+)s$", unit_of("front"), re.MULTILINE
    )
    assert int(delay) < upgrade.DELAY_SECONDS


def test_manage_runs_a_command_as_a_unit_that_reads_the_settings(tmp_path: Path) -> None:
    program = tmp_path / "systemd-run"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o700)
    done = subprocess.run(
        [str(DEPLOY / "manage"), "make_organiser", "viola the first"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.splitlines()
    assert words[-3:] == ["manage.py", "make_organiser", "viola the first"]
    assert any(word.startswith("--unit=twelfth-night-") for word in words)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    shutil.copytree(UNITS, tmp_path / "units")
    shutil.copy(DEPLOY / "league-containers.service", tmp_path / "units")
    for path in (tmp_path / "units").glob("*.service"):
        text = path.read_text().replace("ExecStart=docker ", "ExecStart=/bin/true ")
        path.write_text(text.replace("/opt/twelfth-night/.venv/bin", str(BIN)))
    units = [str(path) for path in (tmp_path / "units").iterdir() if path.is_file()]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}/units:"},
        capture_output=True,
        text=True,
        check=False,
    )
    names = ("twelfth-night", "league-containers")
    ours = [line for line in done.stderr.splitlines() if any(name in line for name in names)]
    assert (done.returncode, ours) == (0, [])


def test_the_example_of_the_settings_passes_the_check_for_deployment() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        env=os.environ | example() | {"LEAGUE_DIRECTORY": "/nowhere"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "given",
    [
        example(),
        example() | {"FRONT_TRUSTED_PROXIES": "10.0.0.0/8 192.0.2.7"},
        example() | {"FRONT_RETRY": "20s", "FRONT_SHUTDOWN_DELAY": "10s"},
        example() | {"FRONT_ADDRESS": "http://:8000", "FRONT_AUTO_HTTPS": "off"},
    ],
)
def test_caddy_accepts_the_front_of_a_public_league(given: dict[str, str], tmp_path: Path) -> None:
    words = ["validate", "--adapter", "caddyfile", "--config", str(ROOT / CADDYFILE)]
    given = given | {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [str(BIN / "caddy"), *words],
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
