"""The file with saved tokens: several commands change it at once."""

import errno
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import NoReturn

import pytest

from bots_sdk.saved import Saved, SavedError, SavedLeague

URL = "http://127.0.0.1:8000"


def test_no_token_is_lost_if_many_commands_save_one_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config" / "leagues.json"
    together = Barrier(8)

    def save(number: int) -> None:
        together.wait()
        with Saved.changing(path) as saved:
            saved.league(URL).bots[f"bot-{number}"] = str(number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(save, range(8)))
    assert Saved.read(path).leagues[URL].bots == {f"bot-{n}": str(n) for n in range(8)}
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_error_while_the_file_is_changed_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "leagues.json"
    with Saved.changing(path) as saved:
        saved.url = URL
    with pytest.raises(ZeroDivisionError), Saved.changing(path) as saved:
        saved.url = str(1 / len(saved.leagues))
    assert Saved.read(path).url == URL


def test_a_change_that_changes_nothing_writes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "leagues.json"
    with Saved.changing(path) as saved:
        saved.leagues.pop(URL, SavedLeague())
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        '{"url": 5, "leagues": {}}',
        '{"url": "", "leagues": {"x": {"token": null}}}',
        '{"url": "", "leagues": {"x": {"bots": null}}}',
        '{"url": "", "leagues": {"x": {"bots": {"mybot": 7}}}}',
    ],
)
def test_a_file_with_a_value_of_another_type_is_damaged(tmp_path: Path, content: str) -> None:
    path = tmp_path / "leagues.json"
    path.write_text(content)
    with pytest.raises(SavedError, match=r"is damaged. Remove it"):
        Saved.read(path)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EACCES, "Check the permissions of the file and its directory"),
        (errno.ENOSPC, "Free some space on its disk"),
        (errno.EROFS, "Make its disk writable"),
        (errno.EEXIST, "Move away what stands in its place"),
    ],
)
def test_a_file_that_cannot_be_used_has_a_remedy(
    number: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    path = tmp_path / "leagues.json"
    monkeypatch.setattr(tempfile, "mkstemp", fail)
    with pytest.raises(SavedError) as refused, Saved.changing(path) as saved:
        saved.league("http://a").token = "x"
    assert str(refused.value).startswith(
        f"{path} can't be written: {os.strerror(number)}. {remedy}, or set XDG_CONFIG_HOME"
    )
    monkeypatch.setattr(Path, "read_text", fail)
    with pytest.raises(SavedError, match=f"can't be read: .*{remedy}"):
        Saved.read(path)
