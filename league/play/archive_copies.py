"""Copies of the archive's files beside the backups of the database, and faults of the files.

Files never change, so each is copied once.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from league import archive_files
from league.archive_files import ArchiveError
from league.models import RoundArchive

DIRECTORY = "archive"
"""In the directory of backups."""


def faults() -> dict[str, str]:
    """Read every file; return the fault of each that is missing or damaged, by its name."""
    return {archive.file: str(error) for archive, error in _faulty()}


def copy(directory: Path) -> int:
    """Copy the files that a directory of backups lacks; return how many these were.

    Raises:
        ArchiveError: a file is missing or damaged, or can't be copied. The others are copied.
    """
    copied, failed = 0, []
    for archive in RoundArchive.objects.order_by("pk").iterator():
        path = directory / DIRECTORY / archive.file
        if path.is_file() and path.stat().st_size == archive.size:
            continue
        try:
            _write(path, archive_files.read(archive.file, archive.sha256))
            copied += 1
        except (ArchiveError, OSError) as error:
            failed.append(str(error))
    if failed:
        raise ArchiveError("\n".join(failed))
    return copied


def restore(directory: Path) -> int:
    """Put missing and damaged files back from a directory of backups; return their number.

    Raises:
        ArchiveError: the directory lacks one of them, or its copy is damaged. The others are
            restored.
    """
    restored, failed = 0, []
    for archive, _ in _faulty():
        path = directory / DIRECTORY / archive.file
        try:
            data = path.read_bytes()
            if sha256(data).hexdigest() != archive.sha256:
                failed.append(f"The copy {path} is damaged: its hash differs.")
                continue
            archive_files.put_back(archive.file, data)
            restored += 1
        except OSError as error:
            failed.append(f"{path}: {error.strerror}.")
        except ArchiveError as error:
            failed.append(str(error))
    archive_files.forget()
    if failed:
        raise ArchiveError("\n".join(failed))
    return restored


def _faulty() -> Iterator[tuple[RoundArchive, ArchiveError]]:
    for archive in RoundArchive.objects.order_by("pk").iterator():
        try:
            data = archive_files.read(archive.file, archive.sha256)
            archive_files.packs_in(archive.file, data)
        except ArchiveError as error:
            yield archive, error


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
