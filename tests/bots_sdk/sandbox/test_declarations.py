import pytest

from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.declarations import declared_games
from bots_sdk.sandbox.sources import Source


@pytest.mark.parametrize(
    ("line", "games"),
    [
        (b"", ()),
        (b'GAMES = ["partridge"]', ("partridge",)),
        (b"GAMES=('twelve-days', 'partridge')", ("twelve-days", "partridge")),
        (b'GAMES: list[str] = [\n    "partridge",  # the one with tricks\n]', ("partridge",)),
        (b"GAMES = []", ()),
        (b'\xef\xbb\xbfGAMES = ["partridge"]\r', ("partridge",)),
        (b"    GAMES = ['chess']", ()),
        (b"MORE_GAMES = ['chess']", ()),
    ],
)
def test_games_are_declared_at_the_start_of_a_line(line: bytes, games: tuple[str, ...]) -> None:
    assert declared_games(Source(b"import math\n" + line + b"\nx = 1\n")) == games


@pytest.mark.parametrize("line", [b"GAMES = ['chess']", b"GAMES = other()", b"GAMES = [1, 2]"])
def test_a_declaration_of_no_game_is_refused_with_the_names(line: bytes) -> None:
    with pytest.raises(SourceRefusedError, match='write a list of names from "partridge"'):
        declared_games(Source(line))
