import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bots_sdk.sandbox import canary, canary_bot, landlock
from bots_sdk.sandbox import jail as jail_module
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.session import BotProcess
from tests.bots_sdk.sandbox import unconfined
from tests.bots_sdk.sandbox.conftest import JAILS, Start

SOURCE = canary.source()


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
        canary.planted() as plants,
        BotProcess(jail, SOURCE, {}, allowance=lambda: canary.SECONDS) as bot,
    ):
        return set(bot({"plants": plants}).split())


@pytest.mark.parametrize("attempt", canary_bot.ATTEMPTS)
def test_an_attempt_gets_through_without_a_jail(attempt: str, got_out: set[str]) -> None:
    if os.geteuid() != 0 and attempt.removeprefix("call_") in canary_bot.ONLY_ROOT:
        pytest.skip("gets through as root only")
    assert attempt in got_out


@pytest.mark.parametrize("attempt", canary_bot.ATTEMPTS)
def test_an_attempt_is_held_in_a_jail(attempt: str, got_through: set[str]) -> None:
    assert attempt not in got_through


def test_a_bot_in_a_jail_has_what_it_needs(got_through: set[str]) -> None:
    assert "unusable" not in got_through


def test_bare_system_calls_are_held_by_the_kernel_not_by_what_python_lacks(start: Start) -> None:
    bot = start(SOURCE.main + b"\ndef choose(observation): return str(reaches_the_kernel())\n")
    assert bot({}) == "True"


def test_the_canary_finds_a_jail_that_holds() -> None:
    assert canary.proven_jail() in JAILS


@pytest.mark.parametrize(
    ("module", "function", "gets_through"),
    [("seccomp", "install()", "call_socket"), ("landlock", "restrict(readable)", "file")],
)
def test_the_canary_finds_a_layer_that_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    function: str,
    gets_through: str,
) -> None:
    for directory in (tmp_path, *tmp_path.parents[:3]):
        directory.chmod(0o755)
    broken = tmp_path / "sandbox"
    shutil.copytree(jail_module._HERE, broken)
    (broken / f"{module}.py").write_text(f"def {function}: pass\n")
    monkeypatch.setattr(jail_module, "_HERE", broken)
    with pytest.raises(SandboxUnavailableError, match=rf"got through: .*\b{gets_through}\b"):
        canary.prove(JAILS[-1])


def test_without_landlock_there_is_no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxUnavailableError, match="no Landlock"):
        canary.proven_jail()


def test_on_an_unknown_machine_there_is_no_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(SandboxUnavailableError, match="vax"):
        canary.proven_jail()


def test_where_no_tier_can_be_set_up_each_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    unfit = [Jail(1, ("/bin/false",), None), Jail(2, (), -1)]
    monkeypatch.setattr(canary, "jails", lambda: iter(unfit))
    with pytest.raises(SandboxUnavailableError, match=r"tier 1: .*status 1; tier 2: .*still root"):
        canary.proven_jail()


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
