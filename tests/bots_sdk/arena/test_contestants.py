"""The modules beside the files of several bots in one match."""

from pathlib import Path

import pytest

from bots_sdk.arena import matches
from bots_sdk.arena.contestants import Contestant, PlayerFactory
from bots_sdk.arena.pool import Pool
from bots_sdk.arena.worker import WorkerSetup
from tests.bots_sdk.arena.test_arena import FIRST, TABLE, trial, written


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


def test_files_that_the_bots_have_read_are_named_if_they_change(tmp_path: Path) -> None:
    source = """
import helper
from pathlib import Path
def start(info): Path(__file__).with_name("weights.txt").read_text()
def choose(observation): return helper.pick(observation["legal_moves"])
"""
    bot = written(tmp_path, source, "bot/bot.py")
    beside = tmp_path / "bot"
    helper, weights, notes = (beside / name for name in ("helper.py", "weights.txt", "notes.txt"))
    helper.write_text("def pick(moves): return moves[0]\n")
    for path in (weights, notes):
        path.write_text("1")
    planned = trial(bot, "random", blocks=3)
    pool = Pool(WorkerSetup(planned.table, planned.contestants), 1)
    changes = iter([beside / "bot.py", notes, helper, weights])
    seen = []
    with pool:
        for _ in pool.play(planned.fixtures()):
            seen.append(sorted(Path(file).name for file in pool.changed))
            if changed := next(changes, None):
                changed.write_text(changed.read_text() + "\n")
    assert (seen[0], seen[-1]) == ([], ["helper.py", "weights.txt"])
    assert all("helper.py" in files for files in seen[5:])


def changed_files(bot: Contestant, other: str, change: Path | None = None) -> set[str]:
    """Return the files that are named after matches between which a file is changed."""
    planned = trial(bot, other, blocks=2)
    pool = Pool(WorkerSetup(planned.table, planned.contestants), 1)
    with pool:
        for _ in pool.play(planned.fixtures()):
            if change is not None:
                change.write_text(change.read_text() + "\n")
    return {Path(file).name for file in pool.changed}


def test_a_bot_that_another_bot_imports_is_named_if_it_changes(tmp_path: Path) -> None:
    old = written(tmp_path, FIRST, "old.py")
    new = written(tmp_path, "from old import choose\n", "new.py")
    assert changed_files(new, old.name, old.path) == {"old.py"}
    assert changed_files(old, "random", old.path) == set()


def test_a_file_that_a_bot_writes_itself_is_not_named(tmp_path: Path) -> None:
    source = f"""
from pathlib import Path
COUNT = Path(__file__).with_name("count.txt")
def start(info):
    COUNT.write_text(COUNT.read_text() + "1" if COUNT.exists() else "1")
{FIRST}"""
    assert changed_files(written(tmp_path, source), "random") == set()
