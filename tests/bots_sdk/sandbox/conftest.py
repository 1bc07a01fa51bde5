import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bots_sdk.sandbox import jail as jail_module
from bots_sdk.sandbox import zygotes
from bots_sdk.sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from bots_sdk.sandbox.jail import Jail, jails
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source, read_source

JAILS: list[Jail] = []
with suppress(SandboxUnavailableError):
    JAILS.extend(jails())
Start = Callable[..., BotProcess]
BreakLayer = Callable[[str, str], None]


IDS = [f"tier-{jail.tier}{'-fork' * jail.forks}" for jail in JAILS]


@pytest.fixture(params=JAILS, ids=IDS, scope="module")
def jail(request: pytest.FixtureRequest) -> Jail:
    """Each tier that works here; another test requires at least one."""
    found: Jail = request.param
    try:
        with BotProcess(found, Source(b"def choose(o): pass"), {}, allowance=lambda: 20.0) as bot:
            bot.ready()
    except SandboxBrokenError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture
def start(jail: Jail) -> Iterator[Start]:
    """Return a function that starts bots; the test's end ends them."""
    with ExitStack() as bots:

        def start(
            source: str | bytes | Source,
            *,
            seconds: float = 10.0,
            info: dict[str, Any] | None = None,
            **limits: Any,
        ) -> BotProcess:
            if isinstance(source, str):
                source = source.encode()
            if isinstance(source, bytes):
                source = read_source(source)
            bot = BotProcess(
                jail, source, info or {}, allowance=lambda: seconds, limits=Limits(**limits)
            )
            return bots.enter_context(bot)

        yield start


@pytest.fixture
def readable_path() -> Iterator[Path]:
    """A directory that the user of bots can read.

    Other users can't read pytest's own: each new run of pytest closes the directory of all runs.
    """
    with TemporaryDirectory(prefix="sandbox-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture
def break_layer(readable_path: Path, monkeypatch: pytest.MonkeyPatch) -> BreakLayer:
    """Return a function that adds code to a module of the jail, for the rest of the test."""

    def change(module: str, code: str) -> None:
        broken = readable_path / "sandbox"
        shutil.copytree(jail_module._HERE, broken)
        with (broken / f"{module}.py").open("a") as stream:
            stream.write(f"\n{code}\n")
        monkeypatch.setattr(jail_module, "_HERE", broken)

    return change


FORKING = [jail for jail in JAILS if jail.forks]


@pytest.fixture(params=FORKING, ids=[f"tier-{jail.tier}" for jail in FORKING])
def forking(request: pytest.FixtureRequest) -> Iterator[Jail]:
    """Each tier whose bots are forked, with no zygote from another test."""
    zygotes.end_all()
    found: Jail = request.param
    yield found
    zygotes.end_all()


@pytest.fixture
def play(forking: Jail) -> Iterator[Callable[..., BotProcess]]:
    """Return a function that starts bots; the test's end ends them."""
    with ExitStack() as bots:
        yield lambda source="def choose(o): return 'x'", seconds=20.0: bots.enter_context(
            BotProcess(forking, Source(source.encode()), {}, allowance=lambda: seconds)
        )
