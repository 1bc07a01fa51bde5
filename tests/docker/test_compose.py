"""The compose file passes on all settings, and each container has a health check."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.environment import defaults
from tests.docs.documents import ROOT, plain, table

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
WORKERS: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.workers.yaml").read_text())
PARTS: dict[str, dict[str, Any]] = {
    name: service
    for name, service in COMPOSE["services"].items()
    if "LEAGUE_IMAGE" in service["image"] and name not in ("prepare", "backup", "backups")
}


KEY_OF_S3 = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
"""Variables of boto3, not of the league."""


NOT_FOR_WORKERS = {
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "HTTPS", "HSTS_SECONDS", "TRUSTED_PROXIES"),
    *("SHARED_PAGE_SECONDS", "TRY_IN_BROWSER", "METRICS_TOKEN", "DEBUG", "HOUSE_BOTS", "PROBE_URL"),
    *("RATE_GENERAL", "RATE_PLAY", "RATE_ACCOUNTS", "RATE_PASSWORDS", "RATE_PICTURES"),
    *("RATE_GUESSES", "RATE_ACCOUNT_GUESSES", "RATE_EXPORTS", "RATE_ANALYSES", "RATE_TRIALS"),
    *("RATE_TABLES", "MAX_BOTS_PER_DAY", "MAX_UPLOADS_PER_DAY", "MAX_RENAMES_PER_DAY"),
    *("MAX_CHALLENGES_PER_DAY", "MAX_PLAYER_TABLES", "PLAYER_MATCH_DAYS", "WEB_THREADS"),
    *("FAIR_THREADS", "MAX_HASHES", "MAX_WAITING_REQUESTS", "MAX_WAITING_PER_ADDRESS"),
    *("MAX_WAITING_IN_ALL", "MAX_STREAMS_PER_BOT", "MAX_STREAMS_PER_ADDRESS", "MAX_QUEUED_MOVES"),
    *("FAIR_QUEUED_MOVES", "KEEP_BACKUPS", "BACKUP_DIRECTORY", "ARCHIVE_DAYS", "ARCHIVE_DIRECTORY"),
}
"""Settings that `play` and `checks` on another host do not read: those of calls, pages and backups,
and of a disk that such a host does not have."""


def documented() -> dict[str, str]:
    """Return the default of each setting that docs/operate.md lists, as its cell."""
    rows = table("operate.md", "Settings")
    return {plain(row["variable"]): row["default"] for row in rows}


def read_by_settings() -> dict[str, str]:
    """Return the settings that `config.settings` reads; other tests read variables of their own."""
    source = (ROOT / "config" / "settings.py").read_text()
    names = re.findall(r"environment\.[a-z_]+\(\s*\"([A-Z_]+)\"", source)
    return {name: defaults[name] for name in names}


def test_the_table_of_settings_has_each_setting_of_the_code_and_its_default() -> None:
    found = documented()
    assert set(found) == set(read_by_settings())
    for name, default in read_by_settings().items():
        if re.fullmatch(r"\d+(/[a-z]+)?|yes|no|line", default):
            assert found[name].strip("`") == default, name


def test_each_secret_can_come_from_a_file() -> None:
    text = (ROOT / "docs" / "operate.md").read_text()
    files = {name for name in defaults if name.endswith("_FILE") and name != "ALIVE_FILE"}
    assert files == set(re.findall(r"`([A-Z_]+_FILE)`", text)) - {"ALIVE_FILE"}


def test_compose_passes_on_every_setting() -> None:
    environment = COMPOSE["x-league"]["environment"]
    assert set(environment) - set(KEY_OF_S3) == set(documented())
    for name, value in environment.items():
        given = {
            "DATABASE_URL",
            "REDIS_URL",
            "ALIVE_FILE",
            "BACKUP_DIRECTORY",
            "ARCHIVE_DIRECTORY",
        }  # by the file itself
        assert value is None or f"${{{name}:" in value or name in given, name


def test_every_service_that_runs_on_has_a_health_check() -> None:
    for compose in (COMPOSE, WORKERS):
        for name, service in compose["services"].items():
            if service["restart"] != "no":
                assert service["healthcheck"]["test"], name


def test_every_part_has_time_to_end() -> None:
    for name, part in PARTS.items():
        if ("celery" in part["command"] and "beat" not in part["command"]) or name == "web":
            assert part["stop_grace_period"] in ("40s", "1m"), name


def test_the_workers_that_play_take_as_many_processes_as_the_setting() -> None:
    command = PARTS["play"]["command"]
    assert command[command.index("--concurrency") + 1] == "${PLAY_WORKERS:-0}"


def test_everything_starts_again_after_docker_was_killed() -> None:
    for name, service in COMPOSE["services"].items():
        expected = "no" if name in ("prepare", "backup") else "always"
        assert service["restart"] == expected, name


def test_backups_go_on_after_one_that_failed_and_a_stop_ends_them_at_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    programs = {
        "python": 'echo backup >> "$LOG"; exit 1',
        # The first pause ends at once, and the second one lasts.
        "sleep": 'echo "sleep $1" >> "$LOG"\n'
        f'[ -e "$LOG.slept" ] && exec {shutil.which("sleep")} 60\n'
        'touch "$LOG.slept"',
        "date": "echo $((86400 * 20000 + 16200 - 90))",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "backups").mkdir()
    command = [word.replace("$$", "$") for word in COMPOSE["services"]["backups"]["command"]]
    given = {"LOG": str(log), "BACKUP_DIRECTORY": str(tmp_path / "backups")}
    given["ALIVE_FILE"] = str(tmp_path / "alive")
    path = f"{tmp_path}:{os.environ['PATH']}"
    with subprocess.Popen(
        command, env={**given, "PATH": path}, stderr=subprocess.PIPE, text=True, process_group=0
    ) as backups:
        lines = ["backup", "sleep 90", "backup", "sleep 90"]  # the first one, as there is none
        until = time.monotonic() + 20
        while not (log.exists() and log.read_text().splitlines() == lines):
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.02)
        backups.send_signal(signal.SIGTERM)
        assert backups.wait(5) == 0
        assert backups.stderr
        assert backups.stderr.read().count("The backup failed") == 2


def is_healthy(
    service: str, environment: dict[str, str], domain: str = "", **replaced: str
) -> bool:
    """Return what the health check of a service finds here.

    Args:
        service: its name.
        environment: its variables.
        domain: the setting DOMAIN.
        replaced: texts of the check, as keys, that are other texts here.
    """
    kind, test = COMPOSE["services"][service]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    test = re.sub(r"\$\{DOMAIN:\+(\w+)\}", r"\1" if domain else "", test.replace("$$", "$"))
    for old, new in replaced.items():
        assert old in test
        test = test.replace(old, new)
    given = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(["sh", "-c", test], env=given, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("works", [True, False])
def test_backups_are_healthy_if_the_last_one_succeeded_and_is_young(
    works: bool, tmp_path: Path
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho done >> {tmp_path}/log; {'true' if works else 'false'}\n")
    program.chmod(0o755)
    alive = tmp_path / "alive"
    given = {"ALIVE_FILE": str(alive), "BACKUP_DIRECTORY": str(tmp_path)}
    command = [word.replace("$$", "$") for word in COMPOSE["services"]["backups"]["command"]]
    path = f"{tmp_path}:{os.environ['PATH']}"
    with subprocess.Popen(
        command, env={**given, "PATH": path}, stderr=subprocess.DEVNULL, process_group=0
    ) as backups:
        until = time.monotonic() + 20
        while not (tmp_path / "log").exists() or is_healthy("backups", given) != works:
            assert time.monotonic() < until
            time.sleep(0.02)
        backups.send_signal(signal.SIGTERM)
    if works:
        long_ago = time.time() - 27 * 3600
        os.utime(alive, (long_ago, long_ago))
        assert not is_healthy("backups", given)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_the_door_is_healthy_while_a_front_listens(host: str) -> None:
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    for domain, of_front in {"": 8000, "league.example": 443}.items():
        usual = f"{of_front:04X}"
        with socket.socket(kind) as front:
            front.bind((host, 0))
            port = f"{front.getsockname()[1]:04X}"
            assert not is_healthy("door", {}, domain=domain, **{usual: port})
            front.listen()
            assert is_healthy("door", {}, domain=domain, **{usual: port})
        assert not is_healthy("door", {}, domain=domain, **{usual: port})


def test_each_part_that_runs_uploaded_bots_gets_the_seccomp_profile() -> None:
    profile = json.loads((ROOT / "docker" / "seccomp.json").read_text())
    allowed = {name for calls in profile["syscalls"] for name in calls["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"unshare", "mount", "landlock_restrict_self", "process_vm_readv"} <= allowed
    assert not {"bpf", "init_module", "keyctl", "ptrace", "reboot", "io_uring_setup"} & allowed
    queues = {"play", "seats", "checks", "clock", "trials"}
    for name, part in PARTS.items():
        served = {queue for word in part["command"] for queue in word.split(",")}
        runs_bots = "celery" in served and bool(queues & served)
        assert runs_bots == any("seccomp" in word for word in part.get("security_opt", [])), name


def test_workers_on_other_hosts_are_those_of_the_league() -> None:
    text = (ROOT / "docker" / "compose.workers.yaml").read_text()
    workers = yaml.safe_load(text)["services"]
    passed_on = COMPOSE["x-league"]["environment"]
    for name, worker in workers.items():
        same = (
            "command",
            "healthcheck",
            "security_opt",
            "shm_size",
            "stop_grace_period",
            "restart",
        )
        for key in same:
            given = worker[key]
            if key == "command":
                given = [
                    word.replace("${ARCHIVE_STORAGE:+,analysis}", ",analysis") for word in given
                ]
            assert given == PARTS[name][key], (name, key)
        assert set(worker["environment"]) == set(passed_on) - NOT_FOR_WORKERS
        for setting in set(worker["environment"]) - {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}:
            assert worker["environment"][setting] == passed_on[setting], setting
        assert not {"volumes", "ports", "networks"} & set(worker)
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        assert f"${{{name}:?" in text


def test_workers_on_other_hosts_analyse_only_with_an_archive_that_they_can_read() -> None:
    text = (ROOT / "docker" / "compose.workers.yaml").read_text()
    served = yaml.safe_load(text)["services"]["play"]["command"]
    assert "placement,play${ARCHIVE_STORAGE:+,analysis}" in served


def test_secrets_have_no_default() -> None:
    text = (ROOT / "docker" / "compose.yaml").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert uses, name
        assert set(uses) == {":?run make secrets"}


def test_secrets_are_random_for_their_owner_alone_and_stay(tmp_path: Path) -> None:
    def write(path: Path) -> int:
        command = [sys.executable, str(ROOT / "docker" / "make_secrets.py"), str(path)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    first, second = tmp_path / "first", tmp_path / "second"
    assert (write(first), write(second)) == (0, 0)
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    lines = first.read_text().splitlines()
    assert [line.partition("=")[0] for line in lines] == [
        "SECRET_KEY",
        "POSTGRES_PASSWORD",
        "METRICS_TOKEN",
    ]
    assert not set(lines) & set(second.read_text().splitlines())
    assert all(re.fullmatch(r"[A-Z_]+=[A-Za-z0-9_-]{64}", line) for line in lines)
    assert write(first) == 1
    assert first.read_text().splitlines() == lines


def test_secrets_that_find_no_room_leave_no_empty_file(tmp_path: Path) -> None:
    file = tmp_path / "env"
    limit = f"ulimit -f 0; exec {sys.executable} {ROOT / 'docker' / 'make_secrets.py'} {file}"
    done = subprocess.run(["sh", "-c", limit], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{file} can't be written: File too large.\n"
    assert not file.exists()


def test_the_front_trusts_the_ranges_of_the_setting(tmp_path: Path) -> None:
    caddy = tmp_path / "caddy"
    caddy.write_text('#!/bin/sh\necho "$FRONT_TRUSTED_PROXIES"\n')
    caddy.chmod(0o755)
    command: list[str] = [word.replace("$$", "$") for word in PARTS["front"]["command"]]
    done = subprocess.run(
        command,
        env={
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "FRONT_TRUSTED_PROXIES": "10.0.0.0/8,192.0.2.7",
            "DOOR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "10.0.0.0/8 192.0.2.7\n"
    variable = PARTS["front"]["environment"]["FRONT_TRUSTED_PROXIES"]
    assert variable == "${TRUSTED_PROXIES:-192.0.2.0/32}"


def test_the_image_has_neither_pip_nor_a_database_server() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()
    last = text[text.index("FROM scratch") :]
    assert "COPY --from=system / /" in last
    assert "pip" not in last
    assert "venv --without-pip" in text
    assert "! -name pg_dump ! -name pg_restore -delete" in text
