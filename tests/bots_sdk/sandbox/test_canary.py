import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bots_sdk.sandbox import canary, landlock, seccomp
from bots_sdk.sandbox import jail as jail_module
from bots_sdk.sandbox.canary_attempts import ATTEMPTS, ONLY_ROOT
from bots_sdk.sandbox.canary_calls import NEW_CALLS
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.session import BotProcess
from tests.bots_sdk.sandbox import unconfined
from tests.bots_sdk.sandbox.conftest import JAILS, BreakLayer, Start

SOURCE = canary.source()
BROKER_OF_ALL_FILES = """
_checked = Broker._found
def _unchecked(self, directory, address):
    try:
        return _checked(self, directory, address)
    except RefusedError:
        return os.open("/", os.O_PATH), self._text(address).lstrip("/")
Broker._found = _unchecked
"""
ZYGOTE_THAT_READS = """
_kept = []
_receive = passing.Receiver.receive
def _reading(self):
    length = _receive(self)
    if len(self.descriptors()) == 5:
        source = self.descriptors()[0]
        _kept.append(os.read(source, 1 << 16))
        copy, end = os.pipe()
        os.write(end, _kept[-1])
        os.close(end)
        os.dup2(copy, source)
        os.close(copy)
    return length
passing.Receiver.receive = _reading
"""
ZYGOTE_WITH_OPEN_DESCRIPTORS = """
def _arrange(descriptors):
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, 100 + number)
    for number in range(len(descriptors)):
        os.dup2(100 + number, number)
"""


@pytest.fixture(scope="module")
def got_out() -> set[str]:
    """The escapes of the canary without a jail."""
    with canary.planted() as plants:
        how, output = unconfined.run(SOURCE.main, {"plants": plants}, seconds=30, inherit=True)
    assert how == "answers"
    return set(json.loads(output).split())


@pytest.fixture(scope="module")
def got_through(jail: Jail) -> set[str]:
    """Return the attempts that succeed in a jail."""
    with (
        canary.planted(jail) as plants,
        BotProcess(jail, SOURCE, {}, allowance=lambda: canary.SECONDS) as bot,
    ):
        return set(bot({"plants": plants}).split())


def test_every_attempt_gets_through_without_a_jail(got_out: set[str]) -> None:
    excused = set()
    if os.geteuid() != 0:
        excused |= ONLY_ROOT | {f"call_{name}" for name in ONLY_ROOT}
    if os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOATIME:  # no time of access is kept here
        excused |= {"time_of_access", "time_of_access_by_descriptor"}
    excused |= {f"call_{name}" for name in NEW_CALLS}  # the kernel may lack them
    assert set(ATTEMPTS) - excused - got_out == set()


def test_no_attempt_gets_through_in_a_jail(got_through: set[str]) -> None:
    assert got_through - {"unusable"} == set()


def test_the_canary_makes_every_attempt_on_a_new_kernel(got_out: set[str]) -> None:
    if tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 7):
        pytest.skip("this kernel lacks some calls")
    assert {f"call_{name}" for name in NEW_CALLS} <= got_out


def test_a_bot_in_a_jail_has_what_it_needs(got_through: set[str]) -> None:
    assert "unusable" not in got_through


def test_bare_system_calls_are_held_by_the_kernel_not_by_what_python_lacks(start: Start) -> None:
    bot = start(SOURCE.main + b"\ndef choose(observation): return str(reaches_the_kernel())\n")
    assert bot({}) == "True"


def test_the_canary_finds_a_jail_that_holds() -> None:
    assert canary.proven_jail() in JAILS


@pytest.mark.parametrize("forks", [True, False], ids=["forked", "fresh"])
@pytest.mark.parametrize(
    ("tier", "module", "missing", "gets_through"),
    [
        (1, "seccomp", "def install(): pass", "call_socket"),
        (2, "seccomp", "def install(): pass", "call_socket"),
        (1, "landlock", "def restrict(readable): pass", "system_library"),
        (2, "broker", BROKER_OF_ALL_FILES, "stat_foreign"),
    ],
)
def test_the_canary_finds_a_layer_that_is_missing(
    break_layer: BreakLayer, tier: int, forks: bool, module: str, missing: str, gets_through: str
) -> None:
    break_layer(module, missing)
    with pytest.raises(SandboxUnavailableError, match=rf"succeeded: .*\b{gets_through}\b"):
        canary.prove(_jail(tier, forks=forks))


@pytest.mark.parametrize("tier", [1, 2])
@pytest.mark.parametrize(
    ("module", "missing", "gets_through"),
    [
        ("zygote", ZYGOTE_THAT_READS, "text_of_another_bot"),
        ("zygote", ZYGOTE_WITH_OPEN_DESCRIPTORS, "socket_of_zygote"),
        ("namespaces", "def separate(folder): pass", "files_of_sibling"),
    ],
    ids=["it reads the bots", "it leaves descriptors open", "it shares its files"],
)
def test_the_canary_finds_what_a_zygote_would_share(
    break_layer: BreakLayer, tier: int, module: str, missing: str, gets_through: str
) -> None:
    if (tier, module) == (2, "namespaces"):
        pytest.skip("tier 2 has no namespaces")
    break_layer(module, missing)
    with pytest.raises(SandboxUnavailableError, match=rf"succeeded: .*\b{gets_through}\b"):
        canary.prove(_jail(tier, forks=True))


def _jail(tier: int, *, forks: bool) -> Jail:
    found = [each for each in jail_module.jails() if (each.tier, each.forks) == (tier, forks)]
    if not found:
        pytest.skip("this machine has no bubblewrap")
    return found[0]


def test_without_landlock_there_is_no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxUnavailableError, match="no Landlock"):
        canary.proven_jail()


def test_on_an_unknown_machine_there_is_no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "machine_name", lambda: "vax")
    with pytest.raises(SandboxUnavailableError, match="vax"):
        canary.proven_jail()


def test_where_no_tier_can_be_set_up_each_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = [Jail(1, ("/bin/false",), None), Jail(2, (), -1)]
    monkeypatch.setattr(canary, "jails", lambda: iter(unfit))
    with pytest.raises(SandboxUnavailableError, match=r"tier 1: .*status 1; tier 2: .*still root"):
        canary.proven_jail()


def test_a_tier_is_not_given_up_because_a_proof_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new Python for each bot would be slower, and could not tell who killed a bot."""
    prove = canary.prove
    killed: list[Jail] = []

    def prove_under_attack(jail: Jail) -> None:
        if not killed:
            killed.append(jail)
            with monkeypatch.context() as patch:
                patch.setattr(BotProcess, "ready", _kill_all_around)
                prove(jail)
        prove(jail)

    monkeypatch.setattr(canary, "prove", prove_under_attack)
    assert [canary.proven_jail()] == killed == JAILS[:1]


def _kill_all_around(bot: BotProcess) -> None:
    bot.close()
    raise SandboxBrokenError("the zygote ended")


def test_without_namespaces_the_second_tier_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = [Jail(1, ("/bin/false",), None), JAILS[-1]]
    monkeypatch.setattr(canary, "jails", lambda: iter(unfit))
    assert canary.proven_jail().tier == 2


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root gives up")
@pytest.mark.parametrize(
    ("given_up", "found"),
    [
        ("-sys_admin", "tier 2"),
        ("-sys_admin,-setuid,-setgid", "tier 2: .*Operation not permitted"),
    ],
    ids=["a container without namespaces", "one without another user too"],
)
def test_what_a_container_lacks_decides_on_the_tier(given_up: str, found: str) -> None:
    script = (
        "from bots_sdk.sandbox import canary\n"
        "try:\n"
        "    print('tier', canary.proven_jail().tier)\n"
        "except canary.SandboxUnavailableError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        ["setpriv", f"--bounding-set={given_up}", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path.cwd(),
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )
    assert re.search(found, done.stdout)
    assert done.stdout.startswith("tier 2\n") == (found == "tier 2")
