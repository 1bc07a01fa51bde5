"""The modules beside the files of several bots in one match."""

from pathlib import Path

import pytest

from bots_sdk.arena import matches
from bots_sdk.arena.contestants import PlayerFactory
from tests.bots_sdk.arena.test_arena import FIRST, TABLE, written


def test_each_player_finds_its_own_module_also_during_a_move(tmp_path: Path) -> None:
    bots = []
    for name, which in (("old", 0), ("new", -1)):
        source = "def choose(o):\n    import of_move\n    return of_move.pick(o['legal_moves'])\n"
        bots.append(written(tmp_path, source, f"{name}/bot.py"))
        pick = f"def pick(moves): return moves[{which}]\n"
        (tmp_path / name / "of_move.py").write_text(pick)
    factory = PlayerFactory([*bots, written(tmp_path, FIRST, "rival/rival.py")])
    players = [factory.player(index, matches.info_for(TABLE, 0)) for index in (0, 1, 2)]
    seen = {"legal_moves": ["give 1", "give 2"]}
    for _ in "ab":
        assert [each(seen) for each in players] == ["give 1", "give 2", "give 1"]


@pytest.mark.parametrize(
    "importing",
    [
        "from lib import pick",
        "import os, sys; sys.path.insert(0, os.path.dirname(__file__) + '/lib'); import pick",
    ],
)
def test_each_player_finds_its_own_modules_in_a_folder_without_init(
    tmp_path: Path, importing: str
) -> None:
    bots = []
    for name, which in (("old", 0), ("new", -1)):
        source = f"{importing}\ndef choose(o): return pick.pick(o['legal_moves'])\n"
        bots.append(written(tmp_path, source, f"{name}/bot.py"))
        (tmp_path / name / "lib").mkdir()
        pick = f"def pick(moves): return moves[{which}]\n"
        (tmp_path / name / "lib" / "pick.py").write_text(pick)
    factory = PlayerFactory(bots)
    players = [factory.player(index, matches.info_for(TABLE, 0)) for index in (0, 1)]
    seen = {"legal_moves": ["give 1", "give 2"]}
    for _ in "ab":
        assert [each(seen) for each in players] == ["give 1", "give 2"]
