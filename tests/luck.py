"""Computes the league's seeds in a test from its name, so that it has the same cards each time.

Lots and the names of players follow from the name too. Tokens stay random, and so do all seeds of
other processes. A test that needs the
real source of seeds uses the fixture `real_luck`. The tests of Hypothesis always have that source.
"""

import random
import secrets
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any, TypeVar

import pytest

from engine.deals import SEED_BYTES

T = TypeVar("T")

_LOTS = ("league.competitions.player_tables", "league.play.match_queue")
"""The modules that draw lots from a generator of their own, `_LOT`."""

_token_bytes, _token_hex, _choice = secrets.token_bytes, secrets.token_hex, secrets.choice
_REAL = {"token_bytes": _token_bytes, "token_hex": _token_hex, "choice": _choice}


class _Luck:
    """What a test, or a fixture that outlives it, draws: a sequence for each module."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drawn: dict[str, Iterator[int]] = defaultdict(count)

    def draw(self, module: str) -> bytes:
        """Return the next seed of a module; threads never get the same one."""
        return sha256(f"{self._name} {module} {next(self._drawn[module])}".encode()).digest()


_luck: _Luck | None = None


@contextmanager
def drawn_for(name: str | None) -> Iterator[None]:
    """Compute all seeds and lots from a name; with None, draw them from the real source."""
    global _luck
    loaded: list[Any] = [sys.modules[each] for each in _LOTS if each in sys.modules]
    lots = [(module, module._LOT) for module in loaded]
    outer, _luck = _luck, None if name is None else _Luck(name)
    for module in loaded:
        module._LOT = Random(name)  # None: from the system's entropy
    try:
        yield
    finally:
        _luck = outer
        for module, lot in lots:
            module._LOT = lot


def _drawing_module(prefix: str) -> str | None:
    """Return the module that has called a function of `secrets`, if its draws are fixed."""
    module: str = sys._getframe(2).f_globals["__name__"]
    return module if module.startswith(prefix) else None


def _fixed_bytes(nbytes: int | None = None) -> bytes:
    module = _drawing_module("league.")
    if _luck is None or module is None or nbytes != SEED_BYTES:
        return _token_bytes(nbytes)
    return _luck.draw(module)


def _fixed_hex(nbytes: int | None = None) -> str:
    module = _drawing_module("bots_sdk.commands.home")
    if _luck is None or module is None:
        return _token_hex(nbytes)
    return _luck.draw(module)[:nbytes].hex()


def _fixed_choice(sequence: Sequence[T]) -> T:
    module = _drawing_module("league.")
    if _luck is None or module is None:
        return _choice(sequence)
    return sequence[int.from_bytes(_luck.draw(module), "big") % len(sequence)]


_FIXED = {"token_bytes": _fixed_bytes, "token_hex": _fixed_hex, "choice": _fixed_choice}


def pytest_sessionstart() -> None:
    """Replace the functions of `secrets` that the product draws with."""
    vars(secrets).update(_FIXED)


def pytest_sessionfinish() -> None:
    vars(secrets).update(_REAL)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test draw what follows from its name."""
    generates = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    with drawn_for(None if generates else item.nodeid):
        random.seed(item.nodeid)
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let a fixture of several tests draw the same, whichever test is the first."""
    if fixturedef.scope == "function":
        return (yield)
    number = getattr(request, "param_index", 0)
    with drawn_for(f"{request.node.nodeid} {fixturedef.argname} {number}"):
        return (yield)


@pytest.fixture
def real_luck() -> Iterator[None]:
    """Draw seeds, lots and names from the real source until the end of a test."""
    with drawn_for(None):
        yield
