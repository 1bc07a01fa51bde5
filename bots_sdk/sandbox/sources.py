"""Uploads, read without trusting them: a Python file, an archive with a bot.py, or WebAssembly.

Nothing is compiled here; the jail does that. The limits hold at home and at the league.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox import archives
from bots_sdk.wasm.binary import check_module, is_module

MAX_BYTES = 8 << 20
MAIN = "bot.py"


@dataclass(frozen=True, slots=True)
class Source:
    """A bot's files.

    Attributes:
        main: the content of ``bot.py``, or a WebAssembly module.
        files: the content of all files in the archive, by path with ``/``. Empty if the upload is
            one file.
    """

    main: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_module(self) -> bool:
        """Whether the bot is a WebAssembly module."""
        return is_module(self.main)

    def names(self, word: str) -> bool:
        """Return whether a Python file of the bot contains a word."""
        if self.is_module:
            return False
        letters = word.encode()
        whole = re.compile(rb"\b" + re.escape(letters) + rb"\b")
        files = self.files or {MAIN: self.main}
        return any(
            letters in data and whole.search(data) is not None  # the first is fast
            for name, data in files.items()
            if name.endswith(".py")
        )


def read_source(data: bytes) -> Source:
    """Return the files of an upload.

    Args:
        data: a Python file, a zip archive or a WebAssembly module; the first bytes decide.

    Raises:
        SourceRefusedError: the upload is too large, not safe to unpack, or a module that breaks its
            contract.
    """
    _check_size(data)
    if is_module(data):
        check_module(data)
    if not archives.is_archive(data):
        return Source(data)
    _check_main(data)
    files = archives.unpack(data)
    return Source(files[MAIN], files)


def check_source(data: bytes) -> None:
    """Check an upload as `read_source` does, without keeping its files in memory.

    Raises:
        SourceRefusedError: as for `read_source`.
    """
    _check_size(data)
    if is_module(data):
        check_module(data)
    elif archives.is_archive(data):
        _check_main(data)
        archives.check(data)


def _check_size(data: bytes) -> None:
    if len(data) > MAX_BYTES:
        raise SourceRefusedError(f"it has {len(data):,} bytes; a bot has at most {MAX_BYTES:,}")


def _check_main(data: bytes) -> None:
    if MAIN not in archives.paths(data):
        raise SourceRefusedError(
            f"the archive has no {MAIN} at its top; pack the files, not the folder around them"
        )
