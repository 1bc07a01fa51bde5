"""An archive in a directory of the test's own; rounds move into it after 30 days."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from league import archive_files


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    place = {
        "BACKEND": "league.archive_files.ArchiveDirectory",
        "OPTIONS": {"location": tmp_path},
    }
    settings.STORAGES = settings.STORAGES | {"archive": place}
    settings.ARCHIVE_DAYS = 30
    archive_files.forget()
    yield tmp_path
    archive_files.forget()
