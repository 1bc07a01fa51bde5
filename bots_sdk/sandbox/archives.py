"""Zip archives of uploads, read without trusting them.

An archive is judged by its central directory before any file is unpacked. Unpacking counts again,
because the sizes in an archive may be wrong. Every archive is read or refused with a reason: this
module raises `SourceRefusedError` and nothing else. Format: PKWARE's APPNOTE.TXT, sections 4.3-4.4.
"""

import stat
import struct
import unicodedata
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from bots_sdk.refusals import SourceRefusedError
from engine.errors import quote

MAX_UNPACKED = 32 << 20
MAX_FILES = 200
MAX_FOLDER_LEVELS = 8

_MAX_ENTRIES = MAX_FILES * (MAX_FOLDER_LEVELS + 1)
"""Files and the entries of their folders."""
_MAX_NAME_BYTES = 200
_CHUNK = 64 << 10

_SIGNATURES = (b"PK\3\4", b"PK\5\6", b"PK\7\x08")
_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_MAX_COMMENT = 0xFFFF
_STORED, _DEFLATED = 0, 8
_ENCRYPTED_BITS = 0x2041
"""Encryption, strong encryption, encrypted directory."""
_ZIP64_16, _ZIP64_32 = 0xFFFF, 0xFFFFFFFF


class _Entry(NamedTuple):
    """A file or folder in the central directory.

    Attributes:
        path: below the archive's top, with ``/``.
        is_directory: whether it is a directory.
        method: the number of the compression.
        crc: the checksum of the unpacked data.
        packed: the size in the archive.
        unpacked: the size that the archive declares.
        offset: the place of its local header.
    """

    path: str
    is_directory: bool
    method: int
    crc: int
    packed: int
    unpacked: int
    offset: int


def is_archive(data: bytes) -> bool:
    """Return whether an upload is an archive, by its first bytes."""
    return data.startswith(_SIGNATURES)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive by path.

    Raises:
        SourceRefusedError: the archive is damaged, not safe to unpack, or beyond a limit.
    """
    return {path: b"".join(chunks) for path, chunks in _files(data)}


def check(data: bytes) -> None:
    """Unpack an archive without keeping it.

    Raises:
        SourceRefusedError: as `unpack`.
    """
    for _, chunks in _files(data):
        for _ in chunks:
            pass


def paths(data: bytes) -> list[str]:
    """Return the paths of an archive's files.

    Raises:
        SourceRefusedError: the central directory is damaged, or beyond a limit.
    """
    return [entry.path for entry in _entries(data) if not entry.is_directory]


def _files(data: bytes) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each file's path and its data in chunks, to be read before the next file."""
    entries = _entries(data)
    starts = _starts(data, entries)
    for entry, start in zip(entries, starts, strict=True):
        if not entry.is_directory:
            yield entry.path, _inflated(data, entry, start)


def _entries(data: bytes) -> list[_Entry]:
    """Return the entries of the central directory, checked against all limits."""
    count, offset, end = _end_record(data)
    if count > _MAX_ENTRIES:
        raise SourceRefusedError(
            f"it has {count:,} files and folders; an archive has at most {MAX_FILES}. Remove files "
            "that the bot does not need, such as tests and caches"
        )
    entries = []
    for _ in range(count):
        entry, offset = _entry(data, offset, end)
        entries.append(entry)
    if offset != end:
        raise _damaged("the central directory has more data than its entries")
    _check_limits(entries)
    _check_names(entries)
    return entries


def _end_record(data: bytes) -> tuple[int, int, int]:
    """Return the number of entries, and the start and end of the central directory."""
    at = len(data) - _END.size
    lowest = max(0, at - _MAX_COMMENT)
    while (at := data.rfind(b"PK\5\6", lowest, at + 4)) >= 0:
        if len(data) - at >= _END.size:
            _, disk, first_disk, here, count, size, offset, comment = _END.unpack_from(data, at)
            if at + _END.size + comment == len(data):
                break
        at -= 1
    else:
        raise _damaged("its end is missing, or other data follow its end")
    if count == _ZIP64_16 or offset == _ZIP64_32 or size == _ZIP64_32:
        raise SourceRefusedError("the archive uses ZIP64; pack it again without it")
    if disk or first_disk or here != count:
        raise SourceRefusedError("the archive is a part of several; upload one whole archive")
    if offset + size != at:
        raise _damaged("the central directory is not where its end record places it")
    return count, offset, at


def _entry(data: bytes, at: int, end: int) -> tuple[_Entry, int]:
    """Return the entry at an offset of the central directory, and the offset of the next one."""
    if at + _ENTRY.size > end:
        raise _damaged("its central directory is cut off")
    fields = _ENTRY.unpack_from(data, at)
    signature, _, _, flags, method, _, _, crc, packed, unpacked = fields[:10]
    name_length, extra, comment, disk, _, attributes, offset = fields[10:]
    name_at = at + _ENTRY.size
    following = name_at + name_length + extra + comment
    if signature != b"PK\1\2" or following > end:
        raise _damaged("an entry of its central directory is cut off or has a wrong signature")
    raw = data[name_at : name_at + name_length]
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise SourceRefusedError(
            f"the name {quote(raw.decode('latin-1'), 80)} is not UTF-8; rename the file, best with "
            "letters a-z, and pack it again"
        ) from None
    path = _safe_path(name)
    if flags & _ENCRYPTED_BITS:
        raise SourceRefusedError(f"{quote(path)} is encrypted; pack it without a password")
    if disk or _ZIP64_32 in (packed, unpacked, offset):
        raise SourceRefusedError("the archive uses ZIP64 or several parts; pack it as one archive")
    kind = stat.S_IFMT(attributes >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise SourceRefusedError(
            f"{quote(path)} is neither a file nor a directory; replace links by their files"
        )
    if method not in (_STORED, _DEFLATED):
        raise SourceRefusedError(
            f"{quote(path)} is packed with method {method}, and the league reads only deflate; the "
            "command zip uses deflate by default"
        )
    is_directory = name.endswith("/")
    if is_directory and unpacked:
        raise _damaged(f"the directory {quote(path)} has data, which only a file may have")
    return _Entry(path, is_directory, method, crc, packed, unpacked, offset), following


def _safe_path(name: str) -> str:
    """Return the path of an entry, which is below the archive's top."""
    parts = name.removesuffix("/").split("/")
    if (
        any(part in ("", ".", "..") for part in parts)
        or not name.isprintable()
        or any(letter in name for letter in "\\:")
        or len(name.encode()) > _MAX_NAME_BYTES
    ):
        raise SourceRefusedError(
            f"{quote(name)} is no path below the archive's top; use relative paths with / of at "
            f"most {_MAX_NAME_BYTES} bytes, without control characters, backslashes and colons"
        )
    if len(parts) - (not name.endswith("/")) > MAX_FOLDER_LEVELS:
        raise SourceRefusedError(
            f"{quote(name)} is {len(parts) - 1} folders deep; {MAX_FOLDER_LEVELS} at most are "
            "allowed"
        )
    return "/".join(parts)


def _check_limits(entries: list[_Entry]) -> None:
    files = sum(not entry.is_directory for entry in entries)
    if files > MAX_FILES:
        raise SourceRefusedError(
            f"it has {files:,} files; an archive has at most {MAX_FILES}. Remove files that the "
            "bot does not need, such as tests and caches"
        )
    unpacked = sum(entry.unpacked for entry in entries)
    if unpacked > MAX_UNPACKED:
        raise SourceRefusedError(
            f"unpacked it has {unpacked:,} bytes; {MAX_UNPACKED:,} at most are allowed"
        )


def _check_names(entries: list[_Entry]) -> None:
    """Refuse names that a file system could take for the same, and files that are folders too."""
    files: dict[str, str] = {}
    for entry in entries:
        if entry.is_directory:
            continue
        if (other := files.get(_folded(entry.path))) is not None:
            if other == entry.path:
                raise SourceRefusedError(f"{quote(entry.path)} is in the archive twice")
            raise SourceRefusedError(
                f"{quote(other)} and {quote(entry.path)} differ in case only; rename one"
            )
        files[_folded(entry.path)] = entry.path
    for entry in entries:
        parts = _folded(entry.path).split("/")
        for level in range(1, len(parts) + entry.is_directory):
            if (file := files.get("/".join(parts[:level]))) is not None:
                raise SourceRefusedError(f"{quote(file)} is both a file and a directory")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _starts(data: bytes, entries: list[_Entry]) -> list[int]:
    """Return where each entry's data start; refuse entries that overlap."""
    starts = []
    for entry in entries:
        start = entry.offset + _LOCAL.size
        if start > len(data):
            raise _damaged(f"{quote(entry.path)} begins after the archive's end")
        signature, *_, name_length, extra = _LOCAL.unpack_from(data, entry.offset)
        start += name_length + extra
        if signature != b"PK\3\4" or start + entry.packed > len(data):
            raise _damaged(f"{quote(entry.path)} is not where the central directory places it")
        starts.append(start)
    spans = sorted(
        (entry.offset, start + entry.packed, entry.path)
        for entry, start in zip(entries, starts, strict=True)
    )
    for (_, end, path), (begin, _, other) in pairwise(spans):
        if begin < end:
            raise SourceRefusedError(
                f"{quote(path)} and {quote(other)} overlap in the archive; pack it again"
            )
    return starts


def _inflated(data: bytes, entry: _Entry, start: int) -> Iterator[bytes]:
    """Yield the unpacked data of a file, never more than the declared size."""
    packed = memoryview(data)[start : start + entry.packed]
    left, crc = entry.unpacked, 0
    for chunk in _stored(packed) if entry.method == _STORED else _deflated(packed, entry.path):
        left -= len(chunk)
        if left < 0:
            break
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if left or crc != entry.crc:
        raise _damaged(f"{quote(entry.path)} has another size or checksum than declared")


def _stored(packed: memoryview) -> Iterator[bytes]:
    for at in range(0, len(packed), _CHUNK):
        yield bytes(packed[at : at + _CHUNK])


def _deflated(packed: memoryview, path: str) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    at = 0
    while not inflater.eof:
        # In pieces, because zlib copies the part of its input that it did not use.
        waiting = inflater.unconsumed_tail
        if not waiting:
            waiting = bytes(packed[at : at + _CHUNK])
            at += _CHUNK
        try:
            chunk = inflater.decompress(waiting, _CHUNK)
        except zlib.error as error:
            raise _damaged(f"{quote(path)}: {quote(str(error))}") from None
        if not chunk and not waiting and not inflater.eof:
            raise _damaged(f"the data of {quote(path)} are cut off")
        yield chunk
    if inflater.unused_data or at < len(packed):
        raise _damaged(f"other data follow the data of {quote(path)}")


def _damaged(how: str) -> SourceRefusedError:
    return SourceRefusedError(f"the archive can't be read: {how}. Pack it again")
