"""Hosted bots as players for the referee, each in a jail."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from bots_sdk.bot import MatchInfo, match_info
from bots_sdk.sandbox.errors import BotCrashError, BotTimeoutError
from bots_sdk.sandbox.jail import Jail
from bots_sdk.sandbox.limits import Limits
from bots_sdk.sandbox.session import BotProcess
from bots_sdk.sandbox.sources import Source, read_source
from engine.games import catalogue
from engine.referee import TimeControl
from league import durations
from league.models import BotSource, BotVersion

_START_SECONDS = math.ceil(Limits().start_seconds)


class HostedBot(BotProcess):
    """A version of a hosted bot in one match: a player, with its printed output."""

    def __init__(
        self,
        jail: Jail,
        version: BotVersion | Source,
        info: MatchInfo,
        *,
        allowance: Callable[[], float],
    ) -> None:
        """Start its process; do not wait for it.

        Args:
            jail: proven by the canary.
            version: to run, or the files of a bot that is no version.
            info: argument of the bot's ``start``.
            allowance: returns the seconds that the bot has for a move now.

        Raises:
            SandboxBrokenError: the process can't be started.
        """
        self._began = time.monotonic()
        super().__init__(
            jail,
            version if isinstance(version, Source) else _source_of(version),
            dict(info),
            allowance=allowance,
            limits=Limits(cpu_seconds=max_cpu_seconds(info)).at_table(info["seats"]),
        )

    def load(self) -> None:
        """Wait until the bot is loaded, so that loading does not use its clock.

        If it can't be loaded, its first move is a fault.

        Raises:
            SandboxBrokenError: the jail can't be set up.
        """
        with suppress(BotTimeoutError, BotCrashError):
            self.ready()
            durations.note("sandbox_start", time.monotonic() - self._began)

    @property
    def printed_text(self) -> str:
        """The printed output, in a form that the database can store."""
        return storable(self.printed)


def _source_of(version: BotVersion) -> Source:
    return read_source(bytes(BotSource.objects.get(version=version).data))


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
    return match_info(match.game, match.rules, match.seats, seat, control)


def max_cpu_seconds(info: MatchInfo) -> int:
    """Return the limit of a bot's CPU time in a match, in seconds: never less than its clock."""
    moves = catalogue.GAMES[info["game"]].preset(info["rules"]).max_moves(info["seats"])
    return math.ceil(moves * info["move_seconds"] + info["bank_seconds"]) + _START_SECONDS


def storable(text: str) -> str:
    """Return a text with NUL and lone surrogates replaced, which PostgreSQL can't store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
