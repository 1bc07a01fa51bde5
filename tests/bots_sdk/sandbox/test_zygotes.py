"""Zygotes: how long they live, what their bots share, and what is lost when one is killed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from bots_sdk.sandbox import process, zygotes
from bots_sdk.sandbox.errors import SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, jails
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source
from bots_sdk.sandbox.zygotes import Zygote
from tests.bots_sdk.sandbox.conftest import FORKING, BreakLayer
from tests.bots_sdk.sandbox.forked import Play, processes_of, wait_until, zygote_of


def _kill(zygote: Zygote, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a zygote's own process, inside bubblewrap in tier 1."""
    os.kill(processes_of(zygote)[-1], number)


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_zygote_is_replaced_after_some_time(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first = play()
    monkeypatch.setattr(zygotes, "MAX_SECONDS", 0.0)
    assert zygote_of(play()) is not zygote_of(first)


def test_an_old_zygote_ends_with_its_last_bot(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygotes, "MAX_STARTS", 1)
    first, second = play(), play()
    assert [first({}), second({})] == ["x", "x"]
    old = zygote_of(first)
    assert not old.has_ended(0)
    first.close()
    assert old.has_ended(20)
    assert second({}) == "x"


def test_a_zygote_without_bots_ends_and_the_next_bot_gets_a_new_one(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygotes, "MAX_IDLE_SECONDS", 0.05)
    bot = play()
    bot.ready()
    zygote = zygote_of(bot)
    assert not zygote.has_ended(0.3)  # it has a bot
    bot.close()
    assert zygote.has_ended(20)
    assert play()({}) == "x"


def test_a_bot_whose_zygote_was_killed_before_its_start_plays(play: Play) -> None:
    zygote = zygote_of(play())
    _kill(zygote)
    assert zygote.has_ended(20)
    assert play()({}) == "x"


def test_a_zygote_that_is_killed_in_a_match_ends_it_without_blame(play: Play) -> None:
    bot, other = play(), play()
    assert [bot({}), other({})] == ["x", "x"]
    processes = [Path(f"/proc/{pid}") for each in (bot, other) for pid in each.process_ids]
    _kill(zygote_of(bot))
    wait_until(lambda: not any(each.exists() for each in processes))
    for each in (bot, other):
        with pytest.raises(SandboxBrokenError, match="the zygote ended"):
            each({})
    assert play()({}) == "x"


def test_a_bot_that_kills_itself_is_to_blame_although_its_zygote_lives(play: Play) -> None:
    bot = play("import os\ndef choose(o): os._exit(137)")
    with pytest.raises(Exception, match="SIGKILL"):
        bot({})
    assert not zygote_of(play()).has_ended(0)


@pytest.mark.parametrize("forking", [each for each in FORKING if each.tier == 2], indirect=True)
def test_a_bot_whose_file_broker_is_killed_is_not_to_blame(play: Play) -> None:
    bot = play()
    assert bot({}) == "x"
    pid = bot.process_ids[-1]
    os.kill(_parent_of(pid), signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    with pytest.raises(SandboxBrokenError, match="ended without a report"):
        bot({})


def test_a_zygote_that_hangs_is_replaced(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first = play()
    first.ready()
    hanging = zygote_of(first)
    _kill(hanging, signal.SIGSTOP)
    monkeypatch.setattr(process, "_SETUP_SECONDS", 1.0)
    bot = play()
    with pytest.MonkeyPatch.context() as patience:
        patience.setattr("bots_sdk.sandbox.starts._DYING_SECONDS", 0.2)
        _lengthen_setup_after(patience, hanging)
        assert bot({}) == "x"
    assert zygote_of(bot) is not hanging
    assert hanging.has_ended(20)


def _lengthen_setup_after(patch: pytest.MonkeyPatch, hanging: Zygote) -> None:
    """Give the zygote that replaces a hanging one the usual time."""
    kill = hanging.kill

    def kill_and_wait() -> None:
        patch.setattr(process, "_SETUP_SECONDS", 30.0)
        kill()

    patch.setattr(hanging, "kill", kill_and_wait)


def test_no_bot_is_blamed_whenever_its_zygote_is_killed(forking: Jail) -> None:
    """A bot plays on, or its match ends without a result; no process stays."""
    luck = random.Random(15)
    sources = [Source(b"def choose(o): return 'x'")] * 2
    began = time.monotonic()
    with ExitStack() as stack:
        for source in sources:
            stack.enter_context(BotProcess(forking, source, {}, allowance=lambda: 20))({})
    longest = 2 * (time.monotonic() - began)  # as long as a start and some moves, on any machine
    lost = kept = 0
    for number in range(60):
        if number >= 12 and lost and kept:
            break
        with ExitStack() as stack:
            bots = [
                stack.enter_context(BotProcess(forking, source, {}, allowance=lambda: 20))
                for source in sources
            ]
            zygote = zygote_of(bots[0])
            killer = threading.Timer(luck.random() * longest, zygote.kill)
            killer.start()
            try:
                while killer.is_alive():
                    assert [bot({}) for bot in bots] == ["x", "x"]
                for bot in bots * 20:
                    assert bot({}) == "x"
                kept += 1
            except SandboxBrokenError:
                lost += 1
            killer.join()
    assert lost > 0
    assert kept > 0
    zygotes.end_all()
    wait_until(lambda: not _children())


def _children() -> list[str]:
    return [
        child
        for path in Path("/proc/self/task").glob("*/children")
        for child in path.read_text().split()
    ]


def test_a_process_that_a_worker_forks_uses_its_own_zygote(play: Play, forking: Jail) -> None:
    bot = play()
    assert bot({}) == "x"
    child = os.fork()
    if not child:
        try:
            with BotProcess(
                forking, Source(b"def choose(o): return 'y'"), {}, allowance=lambda: 20
            ) as own:
                os._exit(0 if own({}) == "y" and zygote_of(own) is not zygote_of(bot) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert bot({}) == "x"


def test_a_worker_that_ends_in_the_usual_way_leaves_no_zygote(forking: Jail) -> None:
    script = (
        "from bots_sdk.sandbox import zygotes\n"
        "from bots_sdk.sandbox.jail import jails\n"
        "from bots_sdk.sandbox.session import BotProcess\n"
        "from bots_sdk.sandbox.sources import Source\n"
        f"jail = [each for each in jails() if each.forks and each.tier == {forking.tier}][0]\n"
        "bot = BotProcess(jail, Source(b'def choose(o): return 1'), {}, allowance=lambda: 20)\n"
        "bot.ready()\n"
        "print(*bot.process_ids, *(each._popen.pid for each in zygotes._alive))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) >= 2
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


SLOW_ZYGOTE = """
import time
_send = passing.Sender.send
def _send_late(self, channel, descriptor):
    time.sleep(0.3)
    _send(self, channel, descriptor)
passing.Sender.send = _send_late
"""


@pytest.mark.parametrize("tier", [jail.tier for jail in FORKING])
def test_a_bot_that_is_ready_before_its_zygote_has_run_again_is_measured_and_paused(
    break_layer: BreakLayer, tier: int
) -> None:
    break_layer("zygote", SLOW_ZYGOTE)
    [slow] = [each for each in jails() if each.forks and each.tier == tier]
    with BotProcess(slow, Source(b"def choose(o): return 'x'"), {}, allowance=lambda: 20) as bot:
        bot.ready()
        assert len(bot.process_ids) == tier  # in tier 2 with its file broker
        assert bot({}) == "x"


ZYGOTE_THAT_FAILS_ONCE = """
import mmap, time
_open, _step = os.pidfd_open, STEP
_called, _waits = [], mmap.mmap(-1, 1)  # children share its byte
def _step_and_wait(*arguments):
    _step(*arguments)
    if len(_called) == 2:  # in the second bot
        _waits[0] = 1
        time.sleep(60)  # until it is killed
def _fail_once(pid):
    _called.append(pid)
    if len(_called) == 3:  # after its own and the first bot's
        while not _waits[0]:
            time.sleep(0.001)
        raise OSError(12, "no memory")
    return _open(pid)
os.pidfd_open, STEP = _fail_once, _step_and_wait
"""


@pytest.mark.skipif(not any(jail.tier == 1 for jail in FORKING), reason="there is no tier 1 here")
@pytest.mark.parametrize(
    "step", ["os.nice", "rights.drop_capabilities"], ids=["with its rights", "without rights"]
)
def test_a_start_that_the_kernel_refuses_harms_no_other_bot_of_the_zygote(
    break_layer: BreakLayer, step: str
) -> None:
    break_layer("zygote", ZYGOTE_THAT_FAILS_ONCE.replace("STEP", step))
    [failing] = [each for each in jails() if each.forks and each.tier == 1]
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(
                BotProcess(failing, Source(b"def choose(o): return 'x'"), {}, allowance=lambda: 20)
            )
            for _ in range(2)
        )
        assert [first({}), second({})] == ["x", "x"]  # the second has begun again
        assert zygote_of(first) is zygote_of(second)


def test_a_worker_that_ignores_the_ends_of_children_has_zygotes_that_do_not(forking: Jail) -> None:
    """A program keeps this choice of its parent."""
    script = (
        "import signal\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from bots_sdk.sandbox import zygotes\n"
        "from bots_sdk.sandbox.jail import jails\n"
        "from bots_sdk.sandbox.session import BotProcess\n"
        "from bots_sdk.sandbox.sources import Source\n"
        f"jail = [each for each in jails() if each.forks and each.tier == {forking.tier}][0]\n"
        "source = Source(b'def choose(o): return str(o)')\n"
        "for number in range(3):\n"
        "    with BotProcess(jail, source, {}, allowance=lambda: 20) as bot:\n"
        "        print(bot({'n': number}))\n"
        "print(len(zygotes._alive))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=Path.cwd()
    )
    assert done.stdout.split("\n")[:4] == ["{'n': 0}", "{'n': 1}", "{'n': 2}", "1"], done.stderr


NO_PROGRAMS = (
    "mount -o remount,bind,noexec /dev/shm && mount -t tmpfs -o noexec none $TMPDIR && "
    'exec unshare --user --map-user=1000 --map-group=1000 "$@"'
)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a folder without programs")
def test_a_zygote_works_where_no_program_may_run_from_the_folders_of_bots(tmp_path: Path) -> None:
    """Containers mount /tmp and /dev/shm like that."""
    script = (
        "from bots_sdk.sandbox import canary\n"
        "print(canary.proven_jail(1))  # raises if none holds\n"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", NO_PROGRAMS, "-", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path.cwd(),
        env={**os.environ, "PYTHONPATH": str(Path.cwd()), "TMPDIR": str(tmp_path)},
    )
    assert "forks=True" in done.stdout, done.stderr
