"""`make restore`: a backup in the place of the data of a league that has ended."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from devserver import restore
from devserver.place import claimed, secret_key
from devserver.servers import local_servers
from tests.journeys.running import CHECKOUT


def manage(*words: str, env: Mapping[str, str]) -> str:
    """Run a command of manage.py; return what it prints."""
    command: list[str | Path] = [sys.executable, CHECKOUT / "manage.py", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def test_a_backup_comes_back_into_an_empty_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    lost, fresh = tmp_path / "lost", tmp_path / "fresh"
    create = "from league.models import Ladder; Ladder.objects.update(title='The old one')"
    with local_servers(lost, durable=False) as servers:
        env = {
            **os.environ,
            "DATABASE_URL": servers.database_url,
            "REDIS_URL": servers.redis_url,
            "SECRET_KEY": secret_key(lost),
            "BACKUP_DIRECTORY": str(lost / "backups"),
        }
        manage("set_up_league", "--migrate", env=env)
        manage("shell", "-c", create, env=env)
        manage("backup", env=env)
    [backup] = (lost / "backups").glob("*.dump")

    assert restore.main([str(backup), "--directory", str(fresh)]) == 0

    assert "Restored. `make up` starts the league." in capfd.readouterr().out
    with local_servers(fresh, durable=False) as servers:
        env |= {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
        look = "from league.models import Ladder; print(set(Ladder.objects.values_list('title')))"
        assert "{('The old one',)}" in manage("shell", "-c", look, env=env)


def test_without_a_file_the_backups_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--directory", str(tmp_path)]
    assert restore.main(words) == 2
    assert "Name a backup. There is none here." in capsys.readouterr().err
    backup = tmp_path / "backups" / "league-20261123T033000Z.dump"
    backup.parent.mkdir()
    backup.touch()
    assert restore.main([str(tmp_path / "none.dump"), *words]) == 2
    message = capsys.readouterr().err
    assert f"There is no file {tmp_path / 'none.dump'}." in message
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
    assert "manage.py restore ended with status" in capfd.readouterr().err
