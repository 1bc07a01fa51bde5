"""Uploads: one Python file, or an archive with a bot.py, read without trusting it.

Nothing is compiled here; the jail does that.
"""

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bots_sdk.sandbox.errors import SourceRefusedError
from engine.errors import quote

MAX_BYTES = 1 << 20
MAX_UNPACKED = 4 << 20
MAX_FILES = 200
MAIN = "bot.py"


@dataclass(frozen=True, slots=True)
class Source:
    """A bot's files.

    Attributes:
        main: the content of ``bot.py``.
        files: the content of all files in the archive, by path with ``/``. Empty if the upload is
            one file.
    """

    main: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)


def read_source(data: bytes) -> Source:
    """Return the files of an upload.

    Args:
        data: a Python file or a zip archive; the first bytes decide.

    Raises:
        SourceRefusedError: the upload is too large, or not safe to unpack.
    """
    if len(data) > MAX_BYTES:
        raise SourceRefusedError(f"{len(data):,} bytes; a bot has {MAX_BYTES:,} at most")
    if not data.startswith(b"PK"):
        return Source(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = _unpack(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise SourceRefusedError(f"the archive can't be read: {quote(str(error))}") from None
    if MAIN not in files:
        raise SourceRefusedError(f"the archive has no {MAIN} at its top")
    return Source(files[MAIN], files)


def _unpack(archive: zipfile.ZipFile) -> dict[str, bytes]:
    members = archive.infolist()
    if len(members) > MAX_FILES:
        raise SourceRefusedError(f"{len(members):,} entries; an archive has {MAX_FILES} at most")
    files: dict[str, bytes] = {}
    room = MAX_UNPACKED
    for member in members:
        path = _safe_path(member)
        if member.is_dir():
            continue
        if path in files:
            raise SourceRefusedError(f"{quote(path)} is in the archive twice")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SourceRefusedError(f"{quote(path)} is packed in a way that isn't deflate")
        if member.flag_bits & 1:
            raise SourceRefusedError(f"{quote(path)} is encrypted")
        with archive.open(member) as stream:
            files[path] = stream.read(room + 1)  # the size in the archive may be wrong
        room -= len(files[path])
        if room < 0:
            raise SourceRefusedError(f"unpacked it has more than {MAX_UNPACKED:,} bytes")
    for path in files:
        for parent in PurePosixPath(path).parents:
            if str(parent) in files:
                raise SourceRefusedError(f"{quote(str(parent))} is both a file and a directory")
    return files


def _safe_path(member: zipfile.ZipInfo) -> str:
    """Return the path of a member, which is below the archive's top."""
    name = member.filename
    parts = name.removesuffix("/").split("/")
    if (
        any(part in ("", ".", "..") for part in parts)
        or not name.isprintable()
        or any(letter in name for letter in "\\:")
        or len(name.encode()) > 200
    ):
        raise SourceRefusedError(f"{quote(name)} is no path below the archive's top")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise SourceRefusedError(f"{quote(name)} is neither a file nor a directory")
    return "/".join(parts)
