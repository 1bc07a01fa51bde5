"""What bots do wrong, each tried in every jail and, as the control, without one."""

import contextlib
from dataclasses import dataclass
from typing import Any

import pytest

from bots_sdk.sandbox.errors import BotCrashError, BotMemoryError, BotTimeoutError
from tests.bots_sdk.sandbox import unconfined
from tests.bots_sdk.sandbox.conftest import Start

SECONDS = 0.3
OBSERVATION = {"legal_moves": ["play 1", "play 2"]}


@dataclass(frozen=True)
class Misdeed:
    """What a bot does, how that is found, and what it does to one who believes it."""

    source: str | bytes
    error: type[Exception] | tuple[type[Exception], ...]
    reason: str
    unconfined: str


def in_choose(body: str, before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{before}\ndef choose(observation):\n{lines}"


def into_protocol(data: str) -> str:
    """Write bytes wherever they can be written, in place of an answer."""
    return in_choose(
        f"data = {data}\n"
        "for descriptor in range(1, 32):\n"
        "    try: os.write(descriptor, data)\n"
        "    except OSError: pass\n"
        "while True: pass",
        "import os",
    )


FLOOD = "    try: os.write({}, b'x' * 65536)\n    except OSError: pass\n"

MISDEEDS = {
    "endless loop at import": Misdeed("while True: pass", BotTimeoutError, "in time", "hangs"),
    "endless loop in start": Misdeed(
        "def start(info):\n    while True: pass\ndef choose(o): return 'play 1'",
        *(BotTimeoutError, "in time", "hangs"),
    ),
    "endless loop in a move": Misdeed(
        in_choose("while True: pass"), BotTimeoutError, "in time", "hangs"
    ),
    "sleeping": Misdeed(
        in_choose("time.sleep(99)", "import time"), BotTimeoutError, "in time", "hangs"
    ),
    "ignoring SIGTERM": Misdeed(
        in_choose("while True: pass", "import signal\nsignal.signal(15, signal.SIG_IGN)"),
        *(BotTimeoutError, "in time", "hangs"),
    ),
    "catching everything": Misdeed(
        in_choose("while True:\n  try:\n    while True: pass\n  except BaseException: pass"),
        *(BotTimeoutError, "in time", "hangs"),
    ),
    "os._exit": Misdeed(in_choose("os._exit(0)", "import os"), BotCrashError, "status 0", "dies"),
    "sys.exit": Misdeed(in_choose("sys.exit()", "import sys"), BotCrashError, "SystemExit", "dies"),
    "raising": Misdeed(in_choose("return 1 / 0"), BotCrashError, "by zero.*line 3", "dies"),
    "deep recursion": Misdeed(
        in_choose("return choose(observation)"), BotCrashError, "RecursionError", "dies"
    ),
    "deeper recursion": Misdeed(
        in_choose("return choose(observation)", "import sys\nsys.setrecursionlimit(10**8)"),
        # Where frames are on the heap, unwinding a million of them takes its time.
        *((BotCrashError, BotTimeoutError), "memory|SIGSEGV|in time", "dies|hangs"),
    ),
    "recursion in C": Misdeed(
        in_choose(
            "kept = []\nfor _ in range(10**5): kept = [kept]\nreturn repr(kept)",
            "import sys\nsys.setrecursionlimit(10**8)",
        ),
        *(BotCrashError, "SIGSEGV|RecursionError|memory", "dies|hangs"),
    ),
    "parser bomb of brackets": Misdeed("(" * 200_000, BotCrashError, "parenthes|memory", "dies"),
    "parser bomb of signs": Misdeed("-" * 500_000 + "1", BotCrashError, "", "dies"),
    "constant that is huge": Misdeed("x = 3 ** 3 ** 99", BotTimeoutError, "in time", "hangs"),
    "NUL bytes": Misdeed("def choose(o): return 1\0", BotCrashError, "null byte", "dies"),
    "no UTF-8": Misdeed(b"x = '\xff\xfe'", BotCrashError, "SyntaxError", "dies"),
    "unknown encoding": Misdeed(b"# coding: none\n", BotCrashError, "unknown encoding", "dies"),
    "no choose": Misdeed("x = 1", BotCrashError, "no function choose", "dies"),
    "memory at once": Misdeed(
        in_choose("while True: hoard.append(bytes(300 << 20))", "hoard = []"),
        *(BotMemoryError, "MemoryError", "hangs"),
    ),
    "memory bit by bit": Misdeed(
        in_choose("while True: hoard.append(bytearray(1 << 18))", "hoard = []"),
        *(BotMemoryError, "MemoryError", "hangs"),
    ),
    "memory at import": Misdeed("x = bytes(1 << 60)", BotMemoryError, "MemoryError", "dies"),
    "endless output by print": Misdeed(
        in_choose("while True: print('x' * 70_000)"), BotTimeoutError, "in time", "floods"
    ),
    "endless output on stdout": Misdeed(
        in_choose("while True:\n" + FLOOD.format(1), "import os"),
        *(BotTimeoutError, "in time", "floods"),
    ),
    "endless output on both": Misdeed(
        in_choose("while True:\n" + FLOOD.format(1) + FLOOD.format(2), "import os"),
        *(BotTimeoutError, "in time", "floods"),
    ),
    "endless output into the protocol": Misdeed(
        in_choose("while True:\n  for d in [*range(3, 32), 1]:\n" + FLOOD.format("d"), "import os"),
        *(BotCrashError, "more than 65,536 bytes", "floods"),
    ),
    "giant answer": Misdeed(
        in_choose("return 'x' * 20_000_000"), BotCrashError, "more than 65,536 bytes", "floods"
    ),
    "answer over the limit": Misdeed(
        in_choose("return 'x' * 65_537"), BotCrashError, "more than 65,536 bytes", "floods"
    ),
    "deep JSON": Misdeed(
        into_protocol("b'[' * 60_000 + b'\\n'"), BotCrashError, "channel for moves", "lies"
    ),
    "NaN": Misdeed(
        into_protocol('b\'{"id": NaN, "move": "play 2"}\\n\''), BotCrashError, "NaN", "lies"
    ),
    "key twice": Misdeed(
        into_protocol('b\'{"id": 1, "id": 1, "move": "play 2"}\\n\''),
        *(BotCrashError, "a key twice", "lies"),
    ),
    "huge number": Misdeed(
        into_protocol("b'{\"id\": ' + b'9' * 60_000 + b'}\\n'"), BotCrashError, "", "lies"
    ),
    "no UTF-8 in the protocol": Misdeed(
        into_protocol("b'\\xff\\xfe\\n'"), BotCrashError, "channel for moves", "lies"
    ),
    "no object": Misdeed(into_protocol("b'[1]\\n'"), BotCrashError, "channel for moves", "lies"),
    "true for one": Misdeed(
        into_protocol('b\'{"id": true, "move": "play 2"}\\n\''),
        *(BotCrashError, "channel for moves", "lies"),
    ),
    "other id": Misdeed(
        into_protocol('b\'{"id": 2, "move": "play 2"}\\n\''),
        *(BotCrashError, "channel for moves", "lies"),
    ),
    "move that is a list": Misdeed(
        into_protocol('b\'{"id": 1, "move": ["play 2"]}\\n\''),
        *(BotCrashError, "channel for moves", "lies"),
    ),
    "unknown member": Misdeed(
        into_protocol('b\'{"id": 1, "move": "play 2", "score": 9}\\n\''),
        *(BotCrashError, "channel for moves", "lies"),
    ),
    "two answers": Misdeed(
        into_protocol('b\'{"id": 1, "move": "play 2"}\\n\' * 2'),
        *(BotCrashError, "sent other data on the channel", "lies"),
    ),
    "closing all": Misdeed(
        in_choose("os.closerange(0, 32)\nwhile True: pass", "import os"),
        # With bubblewrap around it a process can't close them all.
        *((BotCrashError, BotTimeoutError), "closed the file descriptor|in time", "dies"),
    ),
    "tampering with the harness": Misdeed(
        in_choose(
            "harness = sys.modules.get('harness') or sys.modules['__main__']\n"
            'harness.json.dumps = lambda message: \'{"move": "play 2", "id": 7}\'\n'
            "return 'play 1'",
            "import sys",
        ),
        *(BotCrashError, "channel for moves", "lies"),
    ),
    "stack of the harness": Misdeed(
        in_choose(
            "frame = sys._getframe(2)\nframe.f_locals['request']['id'] = 99\nreturn 'play 1'",
            "import sys",
        ),
        *(BotCrashError, "channel for moves", "dies"),
    ),
}
misdeeds = pytest.mark.parametrize("misdeed", MISDEEDS.values(), ids=MISDEEDS)


@misdeeds
def test_a_misdeed_is_the_bots_fault_and_costs_no_more_than_its_time(
    misdeed: Misdeed, start: Start
) -> None:
    seconds = 60.0 if misdeed.error in (BotCrashError, BotMemoryError) else SECONDS
    bot = start(misdeed.source, seconds=seconds, start_seconds=seconds)
    with contextlib.suppress(BotTimeoutError, BotCrashError):
        bot.ready()  # the failure comes again with the first move, where it counts
    with pytest.raises(misdeed.error, match=f"(?i){misdeed.reason}"):
        bot(OBSERVATION)
    assert bot.move_time is not None
    assert bot.move_time.charged_seconds < seconds + 2  # a busy machine ends it later
    assert len(bot.printed.encode()) <= 3 * (64 << 10)


@misdeeds
def test_a_misdeed_does_harm_without_a_jail(misdeed: Misdeed) -> None:
    source = misdeed.source if isinstance(misdeed.source, bytes) else misdeed.source.encode()
    seconds = SECONDS if "hangs" in misdeed.unconfined else 5.0
    how, output = unconfined.run(source, OBSERVATION, seconds=seconds)
    if how == "answers" and output != b'"play 1"':
        how = "lies"
    assert how in misdeed.unconfined.split("|")


def test_what_is_printed_is_no_answer(start: Start) -> None:
    lie = 'print(\'{"id": 1, "move": "play 2"}\', flush=True)'
    source = in_choose(f"{lie}\nreturn 'play 1'")
    assert unconfined.run(source.encode(), OBSERVATION)[0] == "lies"
    bot = start(source)
    assert bot(OBSERVATION) == "play 1"
    assert "play 2" in bot.printed


def test_an_answer_before_its_request_is_a_fault(start: Start) -> None:
    bot = start(
        "import os, time\n"
        "def start(info):\n"
        "    for d in range(1, 32):\n"
        "        try: os.write(d, b'{\"ready\": true}\\n')\n"
        "        except OSError: pass\n"
        "    time.sleep(0.1)\n"
        "def choose(observation): return 'play 1'\n"
    )
    bot.ready()
    # The harness also reports that it is ready: beside the bot's line if it is quick, else as soon
    # as the bot may run again.
    with pytest.raises(BotCrashError, match="sent other data on the channel for moves"):
        bot(OBSERVATION)


@pytest.mark.parametrize("ignores", [False, True], ids=["", "ignoring the warning"])
def test_cpu_time_is_limited_below_the_clock(start: Start, ignores: bool) -> None:
    ignoring = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)" if ignores else ""
    bot = start(in_choose("while True: pass", ignoring), seconds=30, cpu_seconds=1)
    with pytest.raises(BotCrashError, match="SIGKILL" if ignores else "more than 1 s of CPU"):
        bot(OBSERVATION)


@pytest.mark.parametrize(
    ("answer", "described"),
    [("7", "7"), ("None", "None"), ("['play 1']", r"\['play 1'\]"), ("b'play 1'", "b'play 1'")],
)
def test_an_answer_that_is_not_a_text_keeps_its_description(
    start: Start, answer: str, described: str
) -> None:
    given: Any = start(in_choose(f"return {answer}"))(OBSERVATION)
    assert not isinstance(given, str)
    assert repr(given) == described.replace("\\", "")


def test_a_text_subclass_is_read_as_its_text(start: Start) -> None:
    bot = start(
        in_choose(
            "return Text('play 2')",
            "class Text(str):\n    __str__ = encode = lambda *_: 'play 1'",
        )
    )
    assert bot(OBSERVATION) == "play 2"


def test_an_import_of_a_network_module_fails_with_a_sentence(start: Start) -> None:
    with pytest.raises(BotCrashError, match=r"no module _socket, because bots can't use the netw"):
        start("import socket\n" + in_choose("return 'play 1'"))(OBSERVATION)
