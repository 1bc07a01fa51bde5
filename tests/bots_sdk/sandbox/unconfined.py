"""The control: a bot without a sandbox, whose output is trusted."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bots_sdk.sandbox import canary

_RUNNER = """
import json, sys
sys.path.insert(0, sys.argv[3])
module = sys.modules["bot"] = type(sys)("bot")
module.__file__ = sys.argv[1]
bot = module.__dict__
exec(compile(open(sys.argv[1], "rb").read(), "bot.py", "exec"), bot)
if "start" in bot:
    bot["start"]({})
answer = bot["choose"](json.loads(sys.argv[2]))
print(json.dumps(answer), flush=True)
"""

_SECONDS_FOR_MORE = 0.3
"""The time after a bot's first output, to finish its line or write more."""


def run(
    source: bytes, observation: dict[str, Any], *, seconds: float = 1.0, inherit: bool = False
) -> tuple[str, bytes]:
    """Return how a bot without a jail behaves, and the start of its output.

    It ``answers`` with one line of JSON and no more, ``hangs``, ``floods`` with a line beyond
    64 kB, ``dies`` without an answer, or ``lies``: its output is not one answer.
    """
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bot.py"
        path.write_bytes(source)
        for own, data in canary.OWN_FILES.items():
            path.with_name(own).write_bytes(data)
        bot = subprocess.Popen(
            [sys.executable, "-c", _RUNNER, path, json.dumps(observation), Path.cwd()],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            close_fds=not inherit,
            cwd=name,
            start_new_session=True,
        )
        try:
            return _judge(bot, seconds)
        finally:
            if bot.poll() is None:
                os.killpg(bot.pid, signal.SIGKILL)
                bot.wait()
            assert bot.stdout is not None
            bot.stdout.close()


def _output(bot: "subprocess.Popen[bytes]") -> bytes | None:
    """Return the new output, ``b""`` after its end, or None if there is none yet."""
    assert bot.stdout is not None
    return bot.stdout.read(1 << 20)


def _judge(bot: "subprocess.Popen[bytes]", seconds: float) -> tuple[str, bytes]:
    assert bot.stdout is not None
    os.set_blocking(bot.stdout.fileno(), False)
    output, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and len(output) < 1 << 20:
        more = _output(bot)
        if more and not output:
            end = min(end, time.monotonic() + _SECONDS_FOR_MORE)
        output += more or b""
        if more == b"":
            break
        time.sleep(0.005)
    first = output.split(b"\n")[0]
    if len(first) > 1 << 16:
        return "floods", first[:80]
    if output and output.count(b"\n") != 1:
        return "lies", first
    if not output:
        bot.terminate()
        time.sleep(0.05)
        return ("hangs" if bot.poll() in (None, -signal.SIGTERM) and more is None else "dies"), b""
    return "answers", first
