"""The games that a bot declares in its file, which is read and not compiled outside the jail."""

import re

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.sources import Source
from bots_sdk.wasm.binary import check_module
from engine.errors import quote
from engine.games import catalogue

_DECLARATION = re.compile(
    rb"^(?:\xef\xbb\xbf)?GAMES[ \t]*"
    rb"(?::[^=\n]{0,80})?=[ \t]*(?:[\[({]([^\])}]{0,500})[\])}]|(.{0,80}))",
    re.MULTILINE,
)
"""Editors on Windows begin a file with a byte order mark."""
_NAME = re.compile(rb"""\s*(["'])([^"'\n]*)\1\s*""")
_COMMENT = re.compile(rb"#[^\n]*")


def declared_games(source: Source) -> tuple[str, ...]:
    """Return the games that a bot declares, in order; empty if it declares none.

    A bot declares them at the start of a line of its main file: ``GAMES = ["partridge"]``. A
    WebAssembly module declares them by its exports, such as ``plays_partridge``.

    Raises:
        SourceRefusedError: the declaration is not a list of names of games, or the module breaks
            its contract.
    """
    if source.is_module:
        return check_module(source.main).games
    found = _DECLARATION.search(source.main)
    if found is None:
        return ()
    games = []
    items = _COMMENT.sub(b"", found[1] if found[1] is not None else b"?").rstrip(b", \t\r\n")
    for item in items.split(b",") if items.strip() else ():
        name = _NAME.fullmatch(item)
        game = name[2].decode("ascii", "replace") if name else ""
        if game not in catalogue.GAMES:
            line = found[0].decode("utf-8", "replace").splitlines()[0]
            known = ", ".join(f'"{game}"' for game in sorted(catalogue.GAMES))
            raise SourceRefusedError(
                f"the line {quote(line, 80)} declares no games of the league; write a list of "
                f"names from {known}, or remove it"
            )
        games.append(game)
    return tuple(dict.fromkeys(games))
