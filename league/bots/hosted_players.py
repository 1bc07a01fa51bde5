"""Hosted bots as players of the referee."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from bots_sdk.bot import MatchInfo, match_info
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.jail import Jail, Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import read_source
from engine.referee import TimeControl
from league.models import BotSource, BotVersion

_MAX_MOVES = 80
"""Of a seat in a match of any game and preset: what its CPU time is reckoned by."""


class HostedBot(BotProcess):
    """A version of a hosted bot in one match: a player, and what it printed."""

    def __init__(
        self,
        jail: Jail,
        version: BotVersion,
        info: MatchInfo,
        *,
        allowance: Callable[[], float],
    ) -> None:
        """Start its process, without waiting for it.

        Args:
            jail: that holds.
            version: to run.
            info: what its ``start`` is told.
            allowance: returns how many seconds it has for a move now.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        data = bytes(BotSource.objects.get(version=version).data)
        control = TimeControl(info["move_seconds"], info["bank_seconds"])
        super().__init__(
            jail,
            read_source(data),
            dict(info),
            allowance=allowance,
            limits=Limits(cpu_seconds=_cpu_seconds(control)),
        )

    def load(self) -> None:
        """Wait until it is loaded, so that this is not on its clock.

        One that can't be loaded says so when it is asked, as a fault.

        Raises:
            SandboxBrokenError: the jail can't be set up.
        """
        with suppress(BotTimeoutError, BotCrashError):
            self.ready()

    @property
    def printed_text(self) -> str:
        """What it has printed, as the database takes it."""
        return storable(self.printed)


class TimedMatch(Protocol):
    """A match with its preset and time control, as a model or as a plain row."""

    @property
    def game(self) -> str: ...  # noqa: D102 - as in `league.models.Match`
    @property
    def rules(self) -> str: ...  # noqa: D102
    @property
    def seats(self) -> int: ...  # noqa: D102
    @property
    def move_seconds(self) -> float: ...  # noqa: D102
    @property
    def bank_seconds(self) -> float: ...  # noqa: D102


def info_for(match: TimedMatch, seat: int) -> MatchInfo:
    """Return the information that a bot's ``start`` receives in a seat of a match."""
    control = TimeControl(match.move_seconds, match.bank_seconds)
    return match_info(
        game=match.game, rules=match.rules, seats=match.seats, seat=seat, control=control
    )


def storable(text: str) -> str:
    """Return a text without what PostgreSQL can't store: NUL and half surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _cpu_seconds(control: TimeControl) -> int:
    return math.ceil(_MAX_MOVES * control.move_seconds + control.bank_seconds) + 5
