"""The kernel of playouts in the sandbox: who gets it, its memory and the time of its start."""

import io
import zipfile
from pathlib import Path
from statistics import median

import pytest

from bots_sdk.bot import match_info
from bots_sdk.reference import search_bot
from bots_sdk.sandbox import playout_files
from bots_sdk.sandbox.errors import BotMemoryError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source
from engine.playouts import NewMatch, is_fast, play
from engine.referee import TimeControl
from tests.bots_sdk.sandbox.conftest import Start
from tests.engine.tables import start as deal

if not is_fast():
    pytest.skip("the extra `fast` is not installed", allow_module_level=True)

PLAYS = (
    "from engine.playouts import NewMatch, is_fast, play\n"
    "def choose(observation):\n"
    "    done = play(NewMatch('twelve-days', 'calliope', 4), 2000, seed=3)\n"
    "    return f'{is_fast()} {done.moves} {done.scores}'\n"
)


def expected() -> str:
    done = play(NewMatch("twelve-days", "calliope", 4), 2000, seed=3)
    return f"True {done.moves} {done.scores}"


@pytest.mark.parametrize("seats", [2, 8])
def test_a_bot_plays_out_by_the_kernel_at_any_table(jail: Jail, seats: int) -> None:
    limits = Limits().at_table(seats)
    with BotProcess(jail, Source(PLAYS.encode()), {}, allowance=lambda: 20.0, limits=limits) as bot:
        assert bot({}) == expected()


def test_numpy_and_the_kernel_fit_together_at_the_largest_table(jail: Jail) -> None:
    main = "import numpy as np\n" + PLAYS.replace(
        "    return", "    square = np.ones((300, 300)); square @ square\n    return"
    )
    limits = Limits().at_table(8)
    with BotProcess(jail, Source(main.encode()), {}, allowance=lambda: 20.0, limits=limits) as bot:
        assert bot({}) == expected()


def test_the_search_bot_plays_by_the_kernel(jail: Jail) -> None:
    source = Source(Path(search_bot.__file__).read_bytes())
    info = match_info("twelve-days", "calliope", 4, 0, TimeControl(60.0, 60.0))
    seen = deal("twelve-days", "calliope", 4).observe(0)
    with BotProcess(jail, source, dict(info), allowance=lambda: 60.0) as bot:
        assert bot(seen) == search_bot.choose(seen)


def test_a_bot_that_does_not_name_playouts_gets_the_engine(start: Start) -> None:
    hidden = PLAYS.replace("engine.playouts import", "engine.PLAY import").replace("2000", "2")
    source = hidden.replace(
        "from engine.PLAY import NewMatch, is_fast, play\n",
        "import importlib\nmodule = importlib.import_module('engine.play' + 'outs')\n"
        "NewMatch, is_fast, play = module.NewMatch, module.is_fast, module.play\n",
    )
    done = play(NewMatch("twelve-days", "calliope", 4), 2, seed=3)
    assert start(source)({}) == f"False {done.moves} {done.scores}"


def test_no_memory_of_a_bot_with_the_kernel_is_writable_and_executable(start: Start) -> None:
    bot = start(PLAYS, seconds=30.0)
    assert bot({}) == expected()
    rows = Path(f"/proc/{bot.process_ids[-1]}/maps").read_text().splitlines()
    assert len(rows) > 50
    assert [row for row in rows if row.split()[1].startswith("rwx")] == []


def test_a_bot_may_import_ctypes_too(start: Start) -> None:
    """A second instance of this module would break the calls of the kernel."""
    assert start("import ctypes\n" + PLAYS, seconds=30.0)({}) == expected()


def test_no_file_of_the_bot_runs_before_the_lock(start: Start) -> None:
    spy = "import builtins, os\nbuiltins.early = os.getuid()\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(
            "bot.py",
            "import builtins\nfrom engine.playouts import is_fast\n"
            "def choose(observation): return f'{hasattr(builtins, \"early\")} {is_fast()}'\n",
        )
        for path in ("wasmtime/__init__.py", "wasmtime.py", "engine/__init__.py", "platform.py"):
            archive.writestr(path, spy)
    assert start(stream.getvalue())({}) == "False True"


def test_the_process_has_one_thread(start: Start) -> None:
    bot = start(PLAYS, seconds=60.0)
    assert bot({}) == expected()
    assert bot._process is not None
    for pid in bot._process._meter.pids:
        assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1


def test_the_kernels_memory_counts_and_has_a_limit(jail: Jail) -> None:
    hoards = (
        "import engine.playouts\nhoard = []\n"
        "def choose(observation):\n"
        "    while True: hoard.append(bytes(1 << 20))\n"
    )
    limits = Limits().at_table(8)
    source = Source(hoards.encode())
    with BotProcess(jail, source, {}, allowance=lambda: 20.0, limits=limits) as bot:
        with pytest.raises(BotMemoryError, match="more than its 104 MB"):
            bot({})
        assert bot.resident() < 2 * (104 << 20)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"bot.py": b"from engine.playouts import evaluate"}, True),
        ({"bot.py": b"import helper", "helper.py": b"import engine.playouts"}, True),
        ({"bot.py": b"PLAYOUTS = 100"}, False),
        ({"bot.py": b"import json", "notes.txt": b"playouts"}, False),
    ],
)
def test_a_bot_gets_the_kernel_if_a_python_file_names_it(
    files: dict[str, bytes], named: bool
) -> None:
    assert playout_files.is_named(Source(files["bot.py"], files)) == named


def test_a_worker_without_the_kernel_runs_its_bots_in_plain_python(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playout_files, "places", dict)
    done = play(NewMatch("twelve-days", "calliope", 4), 2, seed=3)
    assert start(PLAYS.replace("2000", "2"))({}) == f"False {done.moves} {done.scores}"


def test_the_kernel_lengthens_the_start_by_little(jail: Jail) -> None:
    def start_seconds(source: bytes) -> float:
        with BotProcess(jail, Source(source), {}, allowance=lambda: 20.0) as bot:
            bot.ready()
            assert bot._process is not None
            return bot._process._meter.cpu()

    plain, loaded = (
        median(start_seconds(source) for _ in range(5))
        for source in (b"def choose(o): return ''", PLAYS.encode())
    )
    print(plain, loaded)
    assert loaded - plain < 10 * plain
