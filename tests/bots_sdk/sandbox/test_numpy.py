"""NumPy in the sandbox: who gets it, its thread, its memory and the time of its start."""

import io
import subprocess
import zipfile
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from bots_sdk.sandbox import numpy_files
from bots_sdk.sandbox.errors import BotCrashError, BotMemoryError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source, read_source
from tests.bots_sdk.sandbox.conftest import Start

MULTIPLIES = (
    "import numpy as np\n"
    "def choose(observation):\n"
    "    square = np.full((300, 300), 2.0, np.float32)\n"
    "    return str((square @ square).sum())\n"
)
SUM = str((300 * 300 * 300) * 4.0)


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_a_bot_multiplies_matrices_at_any_table(jail: Jail, seats: int) -> None:
    limits = Limits().at_table(seats)
    source = Source(MULTIPLIES.encode())
    with BotProcess(jail, source, {}, allowance=lambda: 20.0, limits=limits) as bot:
        assert float(bot({})) == float(SUM)


def test_the_parts_of_numpy_with_c_extensions_work(start: Start) -> None:
    bot = start(
        "import numpy as np\n"
        "def choose(observation):\n"
        "    random = np.random.default_rng(1).random(3)\n"
        "    old = np.random.RandomState(1).rand()\n"
        "    inverse = np.linalg.inv(np.eye(3) * 2)\n"
        "    waves = np.fft.fft(np.ones(8))\n"
        "    fitted = np.polynomial.Polynomial.fit([0, 1, 2], [0, 1, 2], 1)(3)\n"
        "    return ' '.join(f'{each:.3f}' for each in "
        "(random[0], old, inverse[1, 1], waves[0].real, fitted))\n"
    )
    assert bot({}) == f"{np.random.default_rng(1).random():.3f} 0.417 0.500 8.000 3.000"


def test_a_bot_reads_its_weights_from_its_archive(start: Start) -> None:
    weights, stream = io.BytesIO(), io.BytesIO()
    np.savez_compressed(weights, first=np.arange(6.0).reshape(2, 3))
    plain = io.BytesIO()
    np.save(plain, np.arange(4))
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(
            "bot.py",
            "import numpy as np\nfrom pathlib import Path\n"
            "HERE = Path(__file__).parent\n"
            "W = np.load(HERE / 'weights.npz')['first']\n"
            "V = np.load(HERE / 'plain.npy')\n"
            "def choose(observation): return f'{W.sum()} {V.sum()}'\n",
        )
        archive.writestr("weights.npz", weights.getvalue())
        archive.writestr("plain.npy", plain.getvalue())
    assert start(stream.getvalue())({}) == "15.0 6"


def test_no_file_of_the_bot_runs_before_the_lock(start: Start) -> None:
    # NumPy's import looks for `org`, which Python does not have.
    spy = "import builtins, os, resource\nbuiltins.early = os.getuid()\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(
            "bot.py",
            "import builtins, sys\n"
            "import numpy as np\n"
            "def choose(observation):\n"
            "    early = [name for name in ('org', 'threadpoolctl') if name in sys.modules]\n"
            "    return f'{early} {hasattr(builtins, \"early\")} {np.ones(3).sum()}'\n",
        )
        for path in ("org.py", "threadpoolctl.py", "numpy/__init__.py", "secrets.py"):
            archive.writestr(path, spy)
    assert start(stream.getvalue())({}) == "[] False 3.0"


def test_numpy_has_one_thread(start: Start) -> None:
    bot = start(
        "import numpy as np\n"
        "def choose(observation):\n"
        "    square = np.ones((700, 700))\n"
        "    square @ square\n"
        "    return 'done'\n",
        seconds=60.0,
    )
    assert bot({}) == "done"
    assert bot._process is not None
    for pid in bot._process._meter.pids:
        assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1


def test_numpy_loads_no_openssl(start: Start) -> None:
    bot = start(
        "import sys, numpy.random\n"
        "def choose(observation):\n"
        "    import hashlib\n"
        '    return f\'{"_hashlib" in sys.modules} {hashlib.sha256(b"").hexdigest()[:4]}\'\n'
    )
    assert bot({}) == "False e3b0"


def test_a_bot_that_does_not_name_numpy_starts_without_it(start: Start) -> None:
    source = (
        "import sys\n"
        "def choose(observation):\n"
        "    name = 'num' + 'py'\n"
        "    try:\n"
        "        __import__(name)\n"
        "    except ImportError as error:\n"
        "        return str(error)\n"
        "    return 'imported'\n"
    )
    assert start(source)({}) == "No module named 'numpy'"


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"bot.py": b"import numpy as np"}, True),
        ({"bot.py": b"from numpy.linalg import inv"}, True),
        ({"bot.py": b"import helper", "helper.py": b"import numpy"}, True),
        ({"bot.py": b"import numpyro"}, False),
        ({"bot.py": b"import json", "notes.txt": b"numpy"}, False),
    ],
)
def test_a_bot_gets_numpy_if_a_python_file_names_it(files: dict[str, bytes], named: bool) -> None:
    assert numpy_files.is_named(Source(files["bot.py"], files)) == named


def test_numpys_memory_counts_and_has_a_limit(jail: Jail) -> None:
    hoards = (
        "import numpy as np\nhoard = []\n"
        "def choose(observation):\n"
        "    while True: hoard.append(np.ones(1 << 17))\n"
    )
    limits = Limits().at_table(8)
    source = Source(hoards.encode())
    with BotProcess(jail, source, {}, allowance=lambda: 20.0, limits=limits) as bot:
        with pytest.raises(BotMemoryError, match="more than its 144 MB"):
            bot({})
        assert bot.resident() < 2 * (144 << 20)
        memory = bot.memory()
    assert memory is not None
    assert 120 << 20 < memory <= 144 << 20


def test_a_worker_without_numpy_runs_other_bots(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numpy_files, "places", dict)
    assert start("def choose(observation): return 'plays'")({}) == "plays"
    with pytest.raises(BotCrashError, match="No module named 'numpy'"):
        start(MULTIPLIES)({})


def test_numpy_that_cannot_be_loaded_is_the_bots_import_error(
    start: Start, monkeypatch: pytest.MonkeyPatch, readable_path: Path
) -> None:
    broken = readable_path / "numpy"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise RuntimeError('broken')\n")
    monkeypatch.setattr(numpy_files, "places", lambda: {"numpy": broken})
    with pytest.raises(BotCrashError, match="RuntimeError: broken"):
        start(MULTIPLIES)({})


def test_numpy_lengthens_the_start_by_little(jail: Jail) -> None:
    def start_seconds(source: bytes) -> float:
        with BotProcess(jail, Source(source), {}, allowance=lambda: 20.0) as bot:
            bot.ready()
            assert bot._process is not None
            return bot._process._meter.cpu()

    plain, loaded = (
        median(start_seconds(source) for _ in range(5))
        for source in (b"def choose(o): return ''", MULTIPLIES.encode())
    )
    # CPU time, which a busy machine does not lengthen much. Measured: 0.17 s, about two starts.
    assert loaded - plain < 6 * plain


def test_numpy_is_compiled_before_the_first_bot_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(subprocess, "run", lambda *words, **_: ran.append(words))
    numpy_files._compile(tmp_path)
    assert ran
    ran.clear()
    numpy_files._compile(Path(np.__file__).parent)
    assert not ran


def test_the_jail_of_numpy_reads_only_numpy_in_addition(jail: Jail) -> None:
    listing = (
        "import os\n"
        "def choose(observation):\n"
        "    import numpy\n"
        "    above = os.path.dirname(os.path.dirname(numpy.__file__))\n"
        "    try:\n"
        "        return ' '.join(os.listdir(above))\n"
        "    except OSError:\n"
        "        return 'refused'\n"
    )
    with BotProcess(jail, Source(listing.encode()), {}, allowance=lambda: 20.0) as bot:
        assert bot({}) == "refused"


def test_archives_of_the_documented_size_are_read() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bot.py", "def choose(o): return ''")
        archive.writestr("weights.bin", bytes(31 << 20))
    assert len(read_source(stream.getvalue()).files["weights.bin"]) == 31 << 20
