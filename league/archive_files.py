"""The files of the archive: the records of a round, in a format that needs no database.

A file is gzip over lines of JSON: ``round``; a ``block`` for each block, with its finished matches
in their order; ``end`` with the SHA-256 of all lines before it. docs/data.md shows how to read it.

The name of a file contains the hash of its bytes, so a file is written once and never changed. The
storage ``archive`` of Django's settings keeps the files: a directory, or another storage.
"""

import base64
import gzip
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Error
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage, storages

FORMAT = "twelfth-night-round/1"
_LEVEL = 9
_ROUNDS_A_DIRECTORY = 1000
_FILES_KEPT = 8
"""Files whose packs a process keeps in memory; a round of 192 matches takes about 40 kB."""
_REMEDY = "Restore it from the backup: manage.py archive --restore DIRECTORY."


class ArchiveError(ValueError):
    """A file of the archive is missing, damaged, or can't be written; the text has the remedy."""


class ArchiveDirectory(FileSystemStorage):
    """A directory whose files survive a loss of power as soon as they have their names."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name itself: a file with the same name has the same content."""
        return name

    def _save(self, name: str, content: "File[Any]") -> str:
        path = Path(self.path(name))
        missing = [each for each in (path.parent, *path.parents) if not each.is_dir()]
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.part")
        with unfinished.open("wb") as file:
            for chunk in content.chunks():
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        for directory in {path.parent, *(each.parent for each in missing)}:
            _sync(directory)
        return name


def _sync(directory: Path) -> None:
    """Write the names in a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage() -> Storage:
    """Return the storage of the archive."""
    return storages["archive"]


def check_storage(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the settings of the storage, as a check of Django."""
    try:
        storage()
    except Exception as error:  # each storage has its own errors
        reason = " ".join(str(error).split())
        return [Error(f"ARCHIVE_STORAGE or its options are wrong: {reason}", id="league.E001")]
    return []


def encode(round_: Mapping[str, Any], blocks: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a file; the same content gives the same bytes.

    Args:
        round_: what the first line has, beside its type and the format.
        blocks: what the lines of the blocks have. Each match has its pack as bytes in ``pack``.
    """
    lines = [_line("round", {"format": FORMAT, **round_})]
    lines += [_line("block", block) for block in blocks]
    text = b"".join(lines)
    end = _line("end", {"lines": len(lines), "sha256": sha256(text).hexdigest()})
    return gzip.compress(text + end, _LEVEL, mtime=0)


def _line(kind: str, content: Mapping[str, Any]) -> bytes:
    return json.dumps({"type": kind, **content}, default=_as_text).encode("ascii") + b"\n"


def _as_text(value: Any) -> str:
    """Return bytes as Base64, for JSON."""
    return base64.b64encode(value).decode("ascii")


def _checked(data: bytes) -> list[dict[str, Any]]:
    """Return the lines of a file without the last one, checked.

    Raises:
        ArchiveError: the bytes are no file of the archive, or they are damaged.
    """
    try:
        lines = gzip.decompress(data).splitlines(keepends=True)
        end = json.loads(lines[-1])
        found = [json.loads(line) for line in lines[:-1]]
    except (EOFError, IndexError, OSError, ValueError, zlib.error) as error:
        raise ArchiveError(f"it can't be unpacked: {error}") from error
    whole = {
        "type": "end",
        "lines": len(found),
        "sha256": sha256(b"".join(lines[:-1])).hexdigest(),
    }
    if end != whole:
        raise ArchiveError("its last line does not fit the lines before it")
    if not found or found[0].get("format") != FORMAT:
        raise ArchiveError(f"its format is not {FORMAT}")
    return found


def name_of(round_id: int, data: bytes) -> str:
    """Return the name of the file of a round with these bytes."""
    directory = round_id // _ROUNDS_A_DIRECTORY
    return f"{directory:06}/round-{round_id}-{sha256(data).hexdigest()[:16]}.jsonl.gz"


def write(name: str, data: bytes) -> str:
    """Write a file, read it back and compare; return its name.

    A file that is there already with these bytes stays.

    Raises:
        ArchiveError: the file can't be written, or the storage has other bytes afterwards.
    """
    try:
        place = storage()
        if place.exists(name) and _bytes_of(name) == data:
            return name
        stored = place.save(name, ContentFile(data))
        read_back = _bytes_of(stored)
    except Exception as error:  # each storage has its own errors
        raise ArchiveError(f"the archive file {name} can't be written: {error}") from error
    if read_back != data:
        raise ArchiveError(f"the archive file {stored} has other bytes than were written to it")
    return stored


def put_back(name: str, data: bytes) -> None:
    """Write a file under its own name; replace a damaged file, in any kind of storage.

    Raises:
        ArchiveError: as `write`.
    """
    stored = write(name, data)
    if stored == name:
        return
    try:
        for each in (name, stored):
            storage().delete(each)
    except Exception as error:  # each storage has its own errors
        raise ArchiveError(f"the archive file {name} can't be replaced: {error}") from error
    if write(name, data) != name:
        raise ArchiveError(f"the archive file {name} can't be replaced: its name is not free")


def read(name: str, digest: str) -> bytes:
    """Return the bytes of a file.

    Args:
        name: of the file.
        digest: SHA-256 of its bytes as hex digits.

    Raises:
        ArchiveError: the file is missing, can't be read or has other bytes.
    """
    try:
        data = _bytes_of(name)
    except FileNotFoundError as error:
        raise ArchiveError(f"the archive file {name} is missing. {_REMEDY}") from error
    except Exception as error:  # each storage has its own errors
        raise ArchiveError(f"the archive file {name} can't be read ({error}). {_REMEDY}") from error
    if sha256(data).hexdigest() != digest:
        raise ArchiveError(f"the archive file {name} is damaged: its hash differs. {_REMEDY}")
    return data


def packs(name: str, digest: str) -> Mapping[int, bytes]:
    """Return the packs of a file by the ids of the matches; the last files are kept in memory.

    Raises:
        ArchiveError: as `read`.
    """
    return _packs(name, digest)


def forget() -> None:
    """Read every file anew from now on."""
    _packs.cache_clear()


@lru_cache(_FILES_KEPT)
def _packs(name: str, digest: str) -> Mapping[int, bytes]:
    return packs_in(name, read(name, digest))


def packs_in(name: str, data: bytes) -> Mapping[int, bytes]:
    """Return the packs in the bytes of a file by the ids of the matches.

    Raises:
        ArchiveError: the bytes are no file of the archive, or they are damaged.
    """
    try:
        return {
            match["id"]: base64.b64decode(match["pack"], validate=True)
            for line in _checked(data)[1:]
            for match in line["matches"]
        }
    except (LookupError, TypeError, ValueError) as error:
        raise ArchiveError(f"the archive file {name} is damaged: {error}. {_REMEDY}") from error


def _bytes_of(name: str) -> bytes:
    with storage().open(name) as file:
        data: bytes = file.read()
    return data
