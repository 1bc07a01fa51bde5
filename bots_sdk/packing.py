"""The command that packs a bot's file, and what it needs beside it, into an archive."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from bots_sdk.invoking import command_word, python_word


def how_to_pack(file: Path, beside: Sequence[Path]) -> str:
    """Return how to pack a bot that needs something beside its file, and how to check the archive.

    Args:
        file: the bot's file, which may have any name.
        beside: the files and directories that the bot needs; a directory is packed as a whole.
    """
    main, archive, copying = file, file.with_suffix(".zip"), ""
    if file.name != "bot.py":  # an archive needs this name, and the directory may have a bot.py
        main = file.with_suffix("") / "bot.py"
        copying = f"mkdir {_quoted(main.parent)} && cp {_quoted(file)} {_quoted(main)} && "
    elif file.parent.name not in ("", ".."):
        archive = file.parent.with_name(f"{file.parent.name}.zip")
    packed = " ".join(map(_quoted, (archive, main, *beside)))
    packing = f"{python_word()} -m zipfile -c {packed}"
    which = "both" if len(beside) == 1 else "them together"
    return (
        f"`check` and `upload` take this file alone, without the files beside it. Pack {which}: "
        f"`{copying}{packing}`. Then check the archive: "
        f"`{command_word()} check {_quoted(archive)}`."
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
