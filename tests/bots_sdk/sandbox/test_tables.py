"""What one bot of a match can take from the others: memory, output, processes, files."""

import errno
import os
import time
from pathlib import Path

import pytest

from bots_sdk.sandbox.errors import BotMemoryError, BotTimeoutError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import TABLE_BYTES, Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source, read_source
from tests.bots_sdk.sandbox.conftest import Start

HOARDS = (
    "hoard = []\n"
    "def choose(observation):\n"
    "    try:\n"
    "        while True: hoard.append(bytearray(b'x' * (1 << 20)))\n"
    "    except MemoryError: pass\n"
    "    return str(len(hoard))\n"
)


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_the_bots_of_a_table_share_its_memory(jail: Jail, seats: int) -> None:
    limits = Limits().at_table(seats)
    source = Source(HOARDS.encode())
    with BotProcess(jail, source, {}, allowance=lambda: 20.0, limits=limits) as bot:
        filled = int(bot({})) << 20
        resident = bot.resident()
    assert filled < TABLE_BYTES / seats
    assert filled > min(limits.memory_bytes, TABLE_BYTES / seats) / 2
    assert resident > filled


UNCOUNTED = (
    "from bots_sdk.sandbox.canary_calls import ctypes_names, system_call\n"
    "LENGTH = 120 << 20\n"
    "def choose(way):\n"
    "    names = ctypes_names()\n"
    "    if way == 'stack':\n"
    "        top = names['c_void_p'].in_dll(names['CDLL'](None), '__libc_stack_end').value\n"
    "        page = (top & -4096) - (64 << 10)\n"
    "        at, error = system_call((25, 216), page, 4096, LENGTH, 1, 0)\n"
    "    else:\n"
    "        at, error = system_call((9, 222), 0, LENGTH, 3, way, -1, 0)\n"
    "    return 'mapped' if at != -1 else str(error)\n"
)


@pytest.mark.parametrize(
    ("way", "refusal"),
    [
        pytest.param(0x22, errno.ENOMEM, id="plain"),
        pytest.param(0x122, errno.EPERM, id="grows down"),
        pytest.param(0x40022, errno.EPERM, id="huge pages"),
        pytest.param("stack", errno.ENOMEM, id="a page of the stack that is made longer"),
    ],
)
def test_a_bot_gets_no_memory_that_its_table_does_not_count(
    jail: Jail, way: int | str, refusal: int
) -> None:
    source, limits = Source(UNCOUNTED.encode()), Limits().at_table(8)
    with BotProcess(jail, source, {}, allowance=lambda: 20.0, limits=limits) as bot:
        assert bot(way) == str(refusal)  # type: ignore[arg-type]


def test_a_table_of_two_does_not_raise_the_limit_of_a_bot() -> None:
    assert Limits().at_table(2).data_bytes == Limits().memory_bytes


def test_a_bot_that_fills_its_part_of_the_table_reads_the_limit(start: Start) -> None:
    source = "def choose(o):\n    return bytes(b'x' * (100 << 20))\n"
    with pytest.raises(BotMemoryError, match="more than its 80 MB"):
        start(source, data_bytes=80 << 20)({})


def test_a_bot_has_no_thread_that_could_think_while_others_do(start: Start) -> None:
    bot = start(
        "import threading\n"
        "def choose(o):\n"
        "    threads = [threading.Thread(target=choose, args=(o,)) for _ in range(4)]\n"
        "    try:\n"
        "        threads[0].start()\n"
        "    except RuntimeError as error:\n"
        "        return str(error)\n"
        "    return 'started'\n"
    )
    assert bot({}) == "can't start new thread"


def test_a_bot_cannot_stop_itself_out_of_its_clock(start: Start) -> None:
    bot = start(
        "import os, signal\n"
        "def choose(o):\n"
        "    for stop in (lambda: os.kill(os.getpid(), signal.SIGSTOP),\n"
        "                 lambda: signal.raise_signal(signal.SIGSTOP)):\n"
        "        try:\n"
        "            stop()\n"
        "        except OSError:\n"
        "            continue\n"
        "        return 'stopped'\n"
        "    return 'refused'\n"
    )
    assert bot({}) == "refused"


def test_a_bot_that_ends_leaves_no_process_to_reap(jail: Jail) -> None:
    source = Source(b"import os\ndef choose(o):\n    while True: pass\n")
    with BotProcess(jail, source, {}, allowance=lambda: 0.2) as bot:
        bot.ready()
        assert bot._process is not None
        pids = bot._process._meter.pids
        with pytest.raises(BotTimeoutError):
            bot({})
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end
        os.sched_yield()


def test_a_bots_argument_list_and_environment_hold_no_configuration(start: Start) -> None:
    bot = start(
        "import sys\n"
        "def choose(o):\n"
        "    left = next(kind for kind in object.__subclasses__() if kind.__name__ == 'CDLL')\n"
        "    c = left.__init__.__globals__\n"
        "    count, words = c['c_int'](), c['POINTER'](c['c_wchar_p'])()\n"
        "    c['PyDLL'](None).Py_GetArgcArgv(c['byref'](count), c['byref'](words))\n"
        "    environ = c['POINTER'](c['c_char_p']).in_dll(c['CDLL'](None), 'environ')\n"
        "    found = [words[at] for at in range(1, count.value)]\n"
        "    return ' '.join(found) + '|' + str(environ and environ[0])\n"
    )
    words, _, environment = bot({}).partition("|")
    assert words.startswith("-I -S -B -c import json, os, sys;")
    assert "{" not in words
    assert environment in ("None", "False")


def test_two_starts_of_a_bot_see_the_same_paths_and_times(jail: Jail) -> None:
    """Nothing in the files of a bot differs from match to match, or from tier to tier."""
    code = (
        b"import os\n"
        b"def choose(o):\n"
        b"    for place in (os.__file__, os.path.dirname(os.__file__), '/bot', '/jail/engine'):\n"
        b"        found = os.stat(place)\n"
        b"        if found.st_atime_ns != found.st_mtime_ns and o['masked']: return place\n"
        b"    return ' '.join([__file__, os.getcwd(), *sorted(os.listdir('/bot'))])\n"
    )
    source = Source(code, {"bot.py": code, "data/weights.txt": b"1"})
    for _ in range(2):
        with BotProcess(jail, source, {}, allowance=lambda: 20.0) as bot:
            assert bot({"masked": jail.tier == 2}) == "/bot/bot.py / bot.py data"


def test_a_bot_reads_its_files_in_every_usual_way(jail: Jail) -> None:
    code = (
        b"import glob, json, os, pathlib\n"
        b"import helper\n"
        b"from package import inner\n"
        b"HERE = pathlib.Path(__file__).parent\n"
        b"def choose(o):\n"
        b"    found = [json.load(open(HERE / 'data' / 'weights.json'))['w'], helper.NAME]\n"
        b"    found += [inner.NAME, (HERE / 'data').is_dir(), os.path.realpath(__file__)]\n"
        b"    found += sorted(os.path.relpath(p, HERE) for p in glob.glob(f'{HERE}/**/*.json',\n"
        b"                                                                recursive=True))\n"
        b"    found += [os.path.exists(HERE / 'none'), os.access(HERE / 'data', os.R_OK)]\n"
        b"    directory = os.open(HERE / 'data', os.O_RDONLY)\n"
        b"    found += [os.stat('weights.json', dir_fd=directory).st_size]\n"
        b"    os.close(directory)\n"
        b"    with os.scandir(HERE) as entries:\n"
        b"        found += [sum(entry.stat().st_size > 0 for entry in entries)]\n"
        b"    return repr(found)\n"
    )
    files = {
        "bot.py": code,
        "helper.py": b"NAME = 'helper'",
        "package/__init__.py": b"",
        "package/inner.py": b"NAME = 'inner'",
        "data/weights.json": b'{"w": 7}',
    }
    with BotProcess(jail, Source(code, files), {}, allowance=lambda: 20.0) as bot:
        assert bot({}) == repr(
            [7, "helper", "inner", True, "/bot/bot.py", "data/weights.json", False, True, 8, 4]
        )


def test_the_broker_refuses_bad_addresses_and_descriptors(start: Start) -> None:
    bot = start(
        "import errno, os\n"
        "def choose(o):\n"
        "    left = next(kind for kind in object.__subclasses__() if kind.__name__ == 'CDLL')\n"
        "    c = left.__init__.__globals__\n"
        "    libc = c['CDLL'](None, use_errno=True)\n"
        "    P = c['c_void_p']\n"
        "    found = []\n"
        "    for call in (lambda: libc.access(P(1), 0), lambda: libc.access(P(-8), 0),\n"
        "                 lambda: libc.fstat(99, P(8)), lambda: libc.fstat(-5, P(8)),\n"
        "                 lambda: libc.fstat(0, P(8)), lambda: libc.access(b'x' * 9999, 0),\n"
        "                 lambda: libc.access(b'', 0), lambda: libc.readlink(b'/', P(1), 9)):\n"
        "        assert call() == -1\n"
        "        found.append(errno.errorcode[c['get_errno']()])\n"
        "    return ' '.join(found)\n"
    )
    assert bot({}) == "EFAULT EFAULT EBADF EBADF EFAULT ENAMETOOLONG ENOENT EINVAL"


def test_a_bot_that_opens_too_many_files_gets_an_error(start: Start) -> None:
    bot = start(
        "import os\n"
        "def choose(o):\n"
        "    kept = []\n"
        "    try:\n"
        "        while True: kept.append(os.open(os.__file__, os.O_RDONLY))\n"
        "    except OSError as error:\n"
        "        for each in kept: os.close(each)\n"
        "        read = open(os.__file__).read()\n"
        "        return f'{len(kept) < 32} {error.strerror} {len(read) > 1000}'\n"
    )
    assert bot({}) == "True Too many open files True"


def test_an_import_after_the_lock_reads_the_library(start: Start) -> None:
    source = read_source(b"def choose(o):\n    import fractions\n    return fractions.__file__\n")
    assert start(source)({}).endswith("/fractions.py")


def test_a_bot_that_crashes_leaves_no_core_dump(start: Start) -> None:
    bot = start("def choose(o): pass")
    bot.ready()
    assert bot._process is not None
    for pid in bot._process._meter.pids:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
        [limit] = [line.split()[4:6] for line in lines if line.startswith("Max core file size")]
        assert limit == ["1", "1"]


def test_modules_that_need_the_machine_still_load(start: Start) -> None:
    bot = start(
        "import logging, os, platform, tempfile, uuid\n"
        "def choose(o): return ' '.join([*os.uname()[:3], platform.system(), platform.node()])\n"
    )
    assert bot({}) == "Linux bot  Linux bot"


def test_modules_for_the_network_do_not_load(start: Start) -> None:
    bot = start(
        "def choose(o):\n"
        "    try:\n"
        "        import socket\n"
        "    except ImportError as error:\n"
        "        return 'refused'\n"
    )
    assert bot({}) == "refused"
