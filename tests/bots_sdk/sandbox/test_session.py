import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest

from bots_sdk.sandbox import session, zygotes
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError, SandboxBrokenError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source, read_source
from bots_sdk.sandbox.starts import FreshStart
from engine.errors import MatchInterruptedError
from engine.referee import MatchClock, TimeControl, play
from tests.bots_sdk.sandbox.conftest import JAILS, Start

FIRST = "def choose(observation): return observation['legal_moves'][0]\n"
COUNTER = (
    "count = 0\n"
    "def choose(observation):\n"
    "    global count\n"
    "    count += 1\n"
    "    exec(observation.get('code', ''))\n"
    "    return str(count)\n"
)


def test_start_gets_the_match_info_and_state_lasts_for_the_match(start: Start) -> None:
    bot = start(
        "def start(info):\n    global known\n    known = [info['seat']]\n"
        "def choose(observation):\n    known.append(observation['day'])\n    return str(known)\n",
        info={"seat": 3},
    )
    assert [bot({"day": 1}), bot({"day": 2})] == ["[3, 1]", "[3, 1, 2]"]


def test_a_class_bot_plays_too(start: Start) -> None:
    bot = start("class Bot:\n    def choose(self, observation): return type(self).__name__\n")
    assert bot({}) == "Bot"


def test_bots_import_the_engine_and_the_standard_library(start: Start) -> None:
    bot = start(
        "import collections, dataclasses, datetime, decimal, enum, fractions, functools, hashlib\n"
        "import heapq, itertools, json, math, pickle, random, re, statistics, typing, zlib\n"
        "from engine.games.catalogue import GAMES\n"
        "from bots_sdk.reference import thumb_bot\n"
        "def choose(observation):\n"
        "    import textwrap, uuid, argparse, csv, concurrent.futures, encodings.idna\n"
        "    random.random(), hashlib.sha256(b'').hexdigest()\n"
        "    return ' '.join(sorted(GAMES))\n"
    )
    assert bot({}) == "partridge twelve-days"


def test_what_a_bot_prints_is_kept_with_the_traceback_of_its_error(start: Start) -> None:
    bot = start(
        "import sys\nprint('loaded')\ndef choose(o):\n    print('é', file=sys.stderr)\n    o()"
    )
    with pytest.raises(BotCrashError, match=r"TypeError: .* \(bot\.py, line 5\)"):
        bot({})
    assert bot.printed.startswith("loaded\né\nTraceback")
    assert 'File "bot.py", line 5, in choose\n    o()\n' in bot.printed


@pytest.mark.parametrize("code", ["import socket", "from json import nothing"])
def test_a_traceback_names_no_directory_of_the_machine(start: Start, code: str) -> None:
    bot = start(f"def choose(o):\n    {code}")
    with pytest.raises(BotCrashError, match=r"ImportError: ") as caught:
        bot({})
    shown = f"{caught.value}\n{bot.printed}"
    assert "python3." in shown  # the file is named, below Python's own directory
    assert str(Path(os.__file__).parents[1]) not in shown
    assert '"/' not in shown


def test_long_output_is_cut_without_harm_to_the_bot(start: Start) -> None:
    bot = start("def choose(o):\n    print('x' * 50_000)\n    if o: 1 / 0\n    return 'ok'")
    assert [bot({}) for _ in range(5)] == ["ok"] * 5
    with pytest.raises(BotCrashError):
        bot({"fail": True})
    assert 49_000 < len(bot.printed) <= 64 << 10
    assert "ZeroDivisionError" in bot.printed


def test_a_bot_keeps_its_state_after_an_exception(start: Start) -> None:
    bot = start(COUNTER)
    with pytest.raises(BotCrashError):
        bot({"code": "1 / 0"})
    assert bot({}) == "2"


@pytest.mark.parametrize("end", ["while True: pass", "import os; os._exit(1)"])
def test_an_ended_bot_starts_again(jail: Jail, end: str) -> None:
    allowances = iter([0.5, 10.0])
    source = Source(COUNTER.encode())
    with BotProcess(jail, source, {}, allowance=lambda: next(allowances)) as bot:
        bot.ready()
        with pytest.raises((BotTimeoutError, BotCrashError)):
            bot({"code": end})
        assert bot({}) == "1"


def test_a_bot_that_cannot_be_loaded_is_not_tried_again(start: Start) -> None:
    bot = start("raise ValueError('no')")
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(BotCrashError, match=r"ValueError: no \(bot\.py, line 1\)"):
            bot({})
    assert time.monotonic() - began < 0.01
    assert bot.printed.count("Traceback") == 1


def test_a_large_request_reaches_a_slow_reader(start: Start) -> None:
    bot = start("def choose(observation): return str(len(observation['long']))")
    assert bot({"long": "x" * 1_000_000}) == "1000000"


def test_a_bot_that_does_not_read_is_out_of_time(start: Start) -> None:
    bot = start(
        "import os\ndef choose(o):\n    os.write(5, b'')\n    while True: pass", seconds=0.5
    )
    bot.ready()
    with pytest.raises((BotTimeoutError, BotCrashError)):
        bot({"long": "x" * 1_000_000})


def test_nothing_is_left_after_the_end(jail: Jail) -> None:
    def there() -> set[Path | int]:
        return {*Path("/proc/self/fd").iterdir(), *_descendants(os.getpid())}

    def bots() -> set[Path]:
        return set(Path(tempfile.gettempdir()).glob("bot-*/own-of-this-test"))

    zygotes.end_all()  # those of other tests may end meanwhile
    source = Source(FIRST.encode(), {"bot.py": FIRST.encode(), "own-of-this-test": b""})
    with BotProcess(jail, source, {}, allowance=lambda: 5):
        pass  # the first one makes the folder of this process, which stays
    before = there()
    for _ in range(3):
        with BotProcess(jail, source, {}, allowance=lambda: 5) as bot:
            bot({"legal_moves": ["a"]})
        with BotProcess(jail, source, {}, allowance=lambda: 5):
            pass
    assert bots() == set()
    end = time.monotonic() + 60
    # The kernel removes namespaces after the bot's end; what earlier tests left may end meanwhile.
    while left := there() - before:
        assert time.monotonic() < end, left
        time.sleep(0.01)


def test_a_bot_dies_with_its_worker(jail: Jail) -> None:
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\n"
            "from bots_sdk.sandbox.jail import jails\n"
            "from bots_sdk.sandbox.session import BotProcess\n"
            "from bots_sdk.sandbox.sources import Source\n"
            f"jail = [jail for jail in jails() if jail.tier == {jail.tier}][0]\n"
            "source = Source(b'def choose(o):\\n    while True: pass')\n"
            "bot = BotProcess(jail, source, {}, allowance=lambda: 60)\n"
            "bot.ready()\n"
            "print(flush=True)\n"
            "bot({})\n",
        ],
        stdout=subprocess.PIPE,
        cwd=Path.cwd(),
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"\n"
    family = _descendants(worker.pid)
    assert family
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    end = time.monotonic() + 60
    while alive := [pid for pid in family if _runs(pid)]:
        assert time.monotonic() < end, alive
        time.sleep(0.01)


@pytest.mark.skipif(
    not any(each.bubblewrap and not each.forks for each in JAILS), reason="no bubblewrap here"
)
def test_a_bot_whose_bubblewrap_is_killed_is_not_to_blame() -> None:
    jail = next(each for each in JAILS if each.bubblewrap and not each.forks)
    source = Source(b"def choose(o): return 'x'")
    with BotProcess(jail, source, {}, allowance=lambda: 20) as bot:
        assert bot({}) == "x"
        assert bot._process is not None
        start = bot._process._start
        assert isinstance(start, FreshStart)
        os.kill(start._popen.pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while _runs(bot.process_ids[-1]):  # the kernel ends what is below bubblewrap
            assert time.monotonic() < end
            time.sleep(0.01)
        with pytest.raises(SandboxBrokenError, match="bubblewrap was ended by signal 9"):
            bot({})


def test_a_jail_that_cannot_be_set_up_ends_the_match_without_a_result() -> None:
    broken = Jail(1, ("/bin/false",), None)
    with (
        BotProcess(broken, Source(b""), {}, allowance=lambda: 5) as bot,
        pytest.raises(MatchInterruptedError, match=r"can't be set up: .*status 1"),
    ):
        bot({})
    with pytest.raises(SandboxBrokenError, match="can't be started"):
        BotProcess(Jail(1, ("/nowhere",), None), Source(b""), {}, allowance=lambda: 5)


@pytest.mark.parametrize(
    ("evil", "kind"),
    [
        ("def choose(observation):\n    while True: pass\n", "timeout"),
        ("import os\ndef choose(observation): os._exit(0)\n", "crash"),
        ("def choose(observation): return 7\n", "illegal"),
        ("def choose(observation): return 'play \\ud800'\n", "illegal"),
        ("hoard = []\ndef choose(o):\n    while True: hoard.append(bytes(1 << 26))\n", "crash"),
        ("(" * 999, "crash"),
    ],
)
def test_the_others_match_goes_on_beside_a_bot_that_misbehaves(
    jail: Jail, evil: str, kind: str
) -> None:
    # With a bank, as the machine may be busy; short where all of it will be used up.
    control = TimeControl(0.3, 1.5) if kind == "timeout" else TimeControl(5.0)
    clock = MatchClock(control, 4, time.monotonic)
    players = [
        BotProcess(
            jail,
            read_source((evil if seat == 1 else FIRST).encode()),
            {"seat": seat},
            allowance=partial(clock.allowance, seat),
        )
        for seat in range(4)
    ]
    try:
        for seat, player in enumerate(players):
            if seat != 1:
                player.ready()
        outcome = play("twelve-days", "calliope", bytes(32), players, clock=clock)
    finally:
        for player in players:
            player.close()
    assert outcome.forfeited == (1,)
    assert {fault.seat for fault in outcome.record.faults} == {1}
    assert [report.fault.kind for report in outcome.fault_reports] == [kind] * 3
    last = players[1].move_time
    assert last is not None
    assert last.charged_seconds < control.move_seconds + 1  # the bank is used up by then


def _descendants(pid: int) -> list[int]:
    found = []
    for name in Path("/proc").iterdir():
        if name.name.isdigit() and _parent(name) == pid:
            found += [int(name.name), *_descendants(int(name.name))]
    return found


def _parent(process: Path) -> int:
    try:
        return int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_list_that_is_used_twice_reaches_the_bot_as_two(start: Start) -> None:
    hand = [1, 2]
    bot = start(
        "def choose(observation):\n"
        "    observation['hand'].append(3)\n"
        "    return str(observation['held'])\n"
    )
    assert bot({"hand": hand, "held": hand}) == "[1, 2]"


def test_a_long_observation_arrives_whole(start: Start) -> None:
    texts = [f"play {number}" for number in range(50_000)]
    bot = start("def choose(observation): return str(hash(tuple(observation['legal_moves'])) != 0)")
    assert bot({"legal_moves": texts}) == "True"


def test_a_worker_whose_files_are_upgraded_while_it_plays_makes_no_bot_faulty(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of the version before `messages.framed` send a line of JSON."""
    monkeypatch.setattr(session, "framed", lambda request: json.dumps(request).encode() + b"\n")
    bot = start("def choose(observation): return observation['legal_moves'][-1]")
    assert [bot({"legal_moves": ["give 1", f"give {n}"]}) for n in (2, 3)] == ["give 2", "give 3"]
