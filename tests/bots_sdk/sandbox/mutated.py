"""Archives with random damage, each of which must get a verdict.

``MUTATED_ARCHIVES=100000 pytest tests/bots_sdk/sandbox/test_sources.py -k mutated`` tries more:
of 100 000 archives, 88 571 were refused and 11 429 read in 20 s, with no other error.
"""

import io
import os
import random
import struct
import zipfile
from collections.abc import Callable, Mapping

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.sources import check_source, read_source

BOT = b"def choose(observation): return 'play 1'\n"
_FIELDS = ((b"PK\1\2", 46), (b"PK\3\4", 30), (b"PK\5\6", 22))
"""Signatures and lengths of the headers in an archive."""
_VALUES = (0, 1, 8, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def packed(files: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def outcomes_of_mutated_archives(count: int, *, seed: str) -> tuple[int, int]:
    """Read damaged archives; return how many were read and how many were refused.

    Any other error passes to the caller.
    """
    luck = random.Random(seed)
    wholes = [
        packed({"bot.py": BOT, "data/weights.json": b"[1]", "a/b/c/ä.txt": os.urandom(200)}),
        packed({"bot.py": BOT * 50, "folder/": b"", "zeros": bytes(100_000)}),
        packed({"bot.py": BOT, "own.txt": b"own"}, zipfile.ZIP_STORED),
    ]
    read = refused = 0
    for _ in range(count):
        data = _damaged(bytearray(luck.choice(wholes)), luck)
        reasons = [_reason(reader, data) for reader in (read_source, check_source)]
        assert reasons[0] == reasons[1]
        assert reasons[0].isprintable()
        read, refused = read + (not reasons[0]), refused + bool(reasons[0])
    return read, refused


def _reason(read: Callable[[bytes], object], data: bytes) -> str:
    """Return why an archive is refused; empty if it is read."""
    try:
        read(data)
    except SourceRefusedError as error:
        return str(error)
    return ""


def _damaged(data: bytearray, luck: random.Random) -> bytes:
    for _ in range(luck.choice((1, 1, 1, 2, 4, 16))):
        at = luck.randrange(len(data))
        match luck.randrange(6):
            case 0:
                data[at] ^= 1 << luck.randrange(8)
            case 1:
                data[at : at + luck.randrange(1, 9)] = luck.randbytes(luck.randrange(9))
            case 2:
                data[at : at + 4] = struct.pack("<I", luck.choice(_VALUES))
            case 3:
                end = at + luck.randrange(1, 100)
                place = luck.randrange(len(data))
                data[place:place] = data[at:end]
            case 4:
                _change_field(data, luck)
            case _:
                if luck.random() < 0.2:
                    del data[at:]
        if len(data) < 5:
            return b"PK\3\4" + bytes(data)
    data[:4] = luck.choice((b"PK\3\4", b"PK\3\4", b"PK\5\6"))
    return bytes(data)


def _change_field(data: bytearray, luck: random.Random) -> None:
    """Change a field of a header, where most of the reader's decisions are."""
    signature, length = luck.choice(_FIELDS)
    places = [at for at in range(len(data)) if data[at : at + 4] == signature]
    if places:
        at = luck.choice(places) + luck.randrange(4, length)
        width = luck.choice((1, 2, 4))
        value = luck.choice((*_VALUES, luck.getrandbits(32))) & ((1 << 8 * width) - 1)
        data[at : at + width] = value.to_bytes(width, "little")
