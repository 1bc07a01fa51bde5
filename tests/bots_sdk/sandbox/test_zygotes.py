"""Zygotes: how long they live, what their bots share, and what is lost when one is killed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from bots_sdk.sandbox import process, timing, zygotes
from bots_sdk.sandbox.errors import SandboxBrokenError
from bots_sdk.sandbox.jail import Jail, jails
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source
from bots_sdk.sandbox.starts import ForkedStart
from bots_sdk.sandbox.zygotes import Zygote
from tests.bots_sdk.sandbox.conftest import JAILS, BreakLayer

FORKING = [jail for jail in JAILS if jail.forks]
FINGERPRINT = "import sys\ndef choose(observation): return repr((id(sys), hash('text')))\n"
LUCK = (
    "import random, {}sys\n"
    "def choose(observation):\n"
    "    found = [random.random()]\n"
    "    if 'numpy' in globals():\n"
    "        found = [numpy.random.random(), numpy.random.default_rng().random()]\n"
    "    return repr(found)\n"
)


@pytest.fixture(params=FORKING, ids=[f"tier-{jail.tier}" for jail in FORKING])
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    """Each tier whose bots are forked, with no zygote from another test."""
    zygotes.end_all()
    found: Jail = request.param
    yield found
    zygotes.end_all()


Play = Callable[..., BotProcess]


@pytest.fixture
def play(jail: Jail) -> Iterator[Play]:
    """Return a function that starts bots; the test's end ends them."""
    with ExitStack() as bots:
        yield lambda source="def choose(o): return 'x'", seconds=20.0: bots.enter_context(
            BotProcess(jail, Source(source.encode()), {}, allowance=lambda: seconds)
        )


def _zygote(bot: BotProcess) -> Zygote:
    assert bot._process is not None
    start = bot._process._start
    assert isinstance(start, ForkedStart)
    return start._zygote


def _kill(zygote: Zygote, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a zygote's own process, inside bubblewrap in tier 1."""
    os.kill(_processes(zygote)[-1], number)


def _processes(zygote: Zygote) -> list[int]:
    """Return bubblewrap's two processes, if it has them, and the zygote."""
    assert zygote._popen is not None
    found = [zygote._popen.pid]
    _wait_until(lambda: _leads_to_zygote(found))
    return found


def _leads_to_zygote(found: list[int]) -> bool:
    """Return whether the last process is the zygote; if not, add its child if it has one.

    The zygote is called "bwrap" too until it has executed Python, and later it has children of its
    own. So the name is read after the children.
    """
    last = Path(f"/proc/{found[-1]}")
    children = (last / f"task/{last.name}/children").read_text().split()
    if "bwrap" not in (last / "comm").read_text():
        return True
    found += [int(pid) for pid in children[:1]]
    return False


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_the_bots_of_a_worker_share_a_zygote_for_each_need_of_libraries(play: Play) -> None:
    first, second, third = play(), play(), play("import numpy\ndef choose(o): return 'x'")
    assert [bot({}) for bot in (first, second, third)] == ["x"] * 3
    assert _zygote(first) is _zygote(second)
    assert _zygote(third) is not _zygote(first)


def test_a_zygote_keeps_nothing_of_its_bots(play: Play) -> None:
    """Its memory, which later bots share, changes by counters and old addresses only."""
    secret = "text of one bot"
    zygote = _processes(_zygote(play()))[-1]

    def reported() -> None:
        """Wait until the zygote has reported the ends of all bots but the first."""
        _wait_until(lambda: len(_children_of(zygote)) == 1 and timing._state(zygote) == "S")

    for _ in range(10):  # the interpreter changes a loop that runs often
        with play() as bot:
            bot({})
        reported()
    before = _writable_memory(zygote)
    with play(f"SECRET = '{secret}'\ndef choose(o): return o['text']") as bot:
        assert bot({"text": secret}) == secret
    reported()
    with play("def choose(o): return SECRET") as noisy, pytest.raises(Exception, match="NameErr"):
        noisy({})
    reported()
    after = _writable_memory(zygote)
    assert before.keys() == after.keys()
    changed = sum(_difference(before[place], after[place]) for place in before)
    assert changed < 4000
    assert all(secret.encode() not in data for data in after.values())


def _difference(before: bytes, after: bytes) -> int:
    """Return how many bytes differ."""
    return int(np.count_nonzero(np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)))


def _writable_memory(pid: int) -> dict[str, bytes]:
    """Return the content of the writable memory of a process, by its place."""
    found = {}
    with Path(f"/proc/{pid}/mem").open("rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, access, *_ = line.split()
            start, end = (int(each, 16) for each in place.split("-"))
            if access.startswith("rw"):
                memory.seek(start)
                found[place] = memory.read(end - start)
    return found


@pytest.mark.parametrize("names", ["", "numpy, "], ids=["random", "numpy"])
def test_bots_of_one_zygote_draw_different_random_numbers(play: Play, names: str) -> None:
    drawn = {play(LUCK.format(names))({}) for _ in range(3)}
    assert len(drawn) == 3


def test_a_new_zygote_has_other_addresses_and_hashes(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygotes, "MAX_STARTS", 2)
    bots = [play(FINGERPRINT) for _ in range(4)]
    assert len({_zygote(bot) for bot in bots}) == 2
    found = [bot({}) for bot in bots]
    assert found[0] == found[1] != found[2] == found[3]


def test_a_zygote_is_replaced_after_some_time(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first = play()
    monkeypatch.setattr(zygotes, "MAX_SECONDS", 0.0)
    assert _zygote(play()) is not _zygote(first)


def test_an_old_zygote_ends_with_its_last_bot(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zygotes, "MAX_STARTS", 1)
    first, second = play(), play()
    assert [first({}), second({})] == ["x", "x"]
    old = _zygote(first)
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
    zygote = _zygote(bot)
    assert not zygote.has_ended(0.3)  # it has a bot
    bot.close()
    assert zygote.has_ended(20)
    assert play()({}) == "x"


def test_a_bot_whose_zygote_was_killed_before_its_start_plays(play: Play) -> None:
    zygote = _zygote(play())
    _kill(zygote)
    assert zygote.has_ended(20)
    assert play()({}) == "x"


def test_a_zygote_that_is_killed_in_a_match_ends_it_without_blame(play: Play) -> None:
    bot, other = play(), play()
    assert [bot({}), other({})] == ["x", "x"]
    processes = [Path(f"/proc/{pid}") for each in (bot, other) for pid in each.process_ids]
    _kill(_zygote(bot))
    _wait_until(lambda: not any(each.exists() for each in processes))
    for each in (bot, other):
        with pytest.raises(SandboxBrokenError, match="the zygote ended"):
            each({})
    assert play()({}) == "x"


def test_a_bot_that_kills_itself_is_to_blame_although_its_zygote_lives(play: Play) -> None:
    bot = play("import os\ndef choose(o): os._exit(137)")
    with pytest.raises(Exception, match="SIGKILL"):
        bot({})
    assert not _zygote(play()).has_ended(0)


@pytest.mark.parametrize("jail", [each for each in FORKING if each.tier == 2], indirect=True)
def test_a_bot_whose_file_broker_is_killed_is_not_to_blame(play: Play) -> None:
    bot = play()
    assert bot({}) == "x"
    pid = bot.process_ids[-1]
    os.kill(_parent_of(pid), signal.SIGKILL)
    _wait_until(lambda: not Path(f"/proc/{pid}").exists())
    with pytest.raises(SandboxBrokenError, match="ended without a report"):
        bot({})


def test_a_zygote_that_hangs_is_replaced(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first = play()
    first.ready()
    hanging = _zygote(first)
    _kill(hanging, signal.SIGSTOP)
    monkeypatch.setattr(process, "_SETUP_SECONDS", 1.0)
    bot = play()
    with pytest.MonkeyPatch.context() as patience:
        patience.setattr("bots_sdk.sandbox.starts._DYING_SECONDS", 0.2)
        _lengthen_setup_after(patience, hanging)
        assert bot({}) == "x"
    assert _zygote(bot) is not hanging
    assert hanging.has_ended(20)


def _lengthen_setup_after(patch: pytest.MonkeyPatch, hanging: Zygote) -> None:
    """Give the zygote that replaces a hanging one the usual time."""
    kill = hanging.kill

    def kill_and_wait() -> None:
        patch.setattr(process, "_SETUP_SECONDS", 30.0)
        kill()

    patch.setattr(hanging, "kill", kill_and_wait)


def test_no_bot_is_blamed_whenever_its_zygote_is_killed(jail: Jail) -> None:
    """A bot plays on, or its match ends without a result; no process stays."""
    luck = random.Random(15)
    lost = kept = 0
    for _ in range(12):
        with ExitStack() as stack:
            bots = [
                stack.enter_context(
                    BotProcess(jail, Source(b"def choose(o): return 'x'"), {}, allowance=lambda: 20)
                )
                for _ in range(2)
            ]
            zygote = _zygote(bots[0])
            killer = threading.Timer(luck.random() * 0.05, zygote.kill)
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
    _wait_until(lambda: not _children())


def _children() -> list[str]:
    return [
        child
        for path in Path("/proc/self/task").glob("*/children")
        for child in path.read_text().split()
    ]


def _children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_process_that_a_worker_forks_uses_its_own_zygote(play: Play, jail: Jail) -> None:
    bot = play()
    assert bot({}) == "x"
    child = os.fork()
    if not child:
        try:
            with BotProcess(
                jail, Source(b"def choose(o): return 'y'"), {}, allowance=lambda: 20
            ) as own:
                os._exit(0 if own({}) == "y" and _zygote(own) is not _zygote(bot) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert bot({}) == "x"


def test_the_bots_of_a_worker_see_each_other_in_no_namespace_of_tier_1(play: Play) -> None:
    bots = [play("import os\ndef choose(o): return f'{os.getpid()} {os.getppid()}'") for _ in "12"]
    numbers = [bot({}) for bot in bots]
    spaces = [
        {kind: Path(f"/proc/{bot.process_ids[-1]}/ns/{kind}").readlink() for kind in KINDS}
        for bot in bots
    ]
    zygote = _processes(_zygote(bots[0]))[-1]
    spaces.append({kind: Path(f"/proc/{zygote}/ns/{kind}").readlink() for kind in KINDS})
    if bots[0]._jail.tier == 1:
        assert numbers == ["1 0", "1 0"]
        assert all(len({space[kind] for space in spaces}) == 3 for kind in KINDS)
    else:
        assert len(set(numbers)) == 2


KINDS = ("ipc", "mnt", "net", "pid", "uts")


def test_a_worker_that_ends_in_the_usual_way_leaves_no_zygote(jail: Jail) -> None:
    script = (
        "from bots_sdk.sandbox import zygotes\n"
        "from bots_sdk.sandbox.jail import jails\n"
        "from bots_sdk.sandbox.session import BotProcess\n"
        "from bots_sdk.sandbox.sources import Source\n"
        f"jail = [each for each in jails() if each.forks and each.tier == {jail.tier}][0]\n"
        "bot = BotProcess(jail, Source(b'def choose(o): return 1'), {}, allowance=lambda: 20)\n"
        "bot.ready()\n"
        "print(*bot.process_ids, *(each._popen.pid for each in zygotes._alive))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) >= 2
    _wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


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


def test_a_worker_that_ignores_the_ends_of_children_has_zygotes_that_do_not(jail: Jail) -> None:
    """A program keeps this choice of its parent."""
    script = (
        "import signal\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from bots_sdk.sandbox import zygotes\n"
        "from bots_sdk.sandbox.jail import jails\n"
        "from bots_sdk.sandbox.session import BotProcess\n"
        "from bots_sdk.sandbox.sources import Source\n"
        f"jail = [each for each in jails() if each.forks and each.tier == {jail.tier}][0]\n"
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
