"""Qualifying matches: an uploaded version plays one match of each game, with a wall limit."""

import hashlib
import time
from typing import NamedTuple

from django.conf import settings

from bots_sdk.reference import make_player
from engine.errors import MatchInterruptedError
from engine.games import catalogue
from engine.games.game import Observation
from engine.games.titles import counted
from engine.referee import play
from league.bots import jails
from league.bots.hosted_clocks import HostedClock
from league.bots.hosted_players import HostedBot, info_for, storable
from league.models import BotVersion, Ladder, QualifyingMatch

_OPPONENT = "house-random"


class CheckTooLongError(MatchInterruptedError):
    """A version's check reached its wall limit.

    Attributes:
        match: the qualifying match at that time, not stored yet.
    """

    def __init__(self, match: QualifyingMatch) -> None:
        super().__init__(match.reason)
        self.match = match


class NoTimeLeftError(MatchInterruptedError):
    """The wall limit of a check or trial is reached."""


class MatchSetting(NamedTuple):
    """The preset, seats and clock of a game's qualifying match: a `TimedMatch`."""

    game: str
    rules: str
    seats: int
    move_seconds: float = 1.0
    bank_seconds: float = 30.0


class WallLimit:
    """The time that a whole check or trial may take, from its start."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = settings.MAX_CHECK_SECONDS if seconds is None else seconds
        self._ends = time.monotonic() + self.seconds

    def left(self) -> float:
        """Return the seconds that are left."""
        return self._ends - time.monotonic()


class LimitedPlayer:
    """A bot as a player until the wall limit; it counts its moves and their seconds."""

    def __init__(self, bot: HostedBot, limit: WallLimit) -> None:
        self._bot = bot
        self._limit = limit
        self.moves = 0
        self.seconds = 0.0
        self.observation: Observation | None = None

    def __call__(self, observation: Observation) -> str:
        """Return the bot's move.

        Raises:
            NoTimeLeftError: the limit is reached.
        """
        self.observation = observation
        try:
            if self._limit.left() > 0:
                return self._bot(observation)
        finally:
            if self._bot.move_time is not None:
                self.seconds += self._bot.move_time.charged_seconds
            if self._limit.left() <= 0:
                raise NoTimeLeftError
            self.moves += 1
        raise NoTimeLeftError


def match_settings(games: tuple[str, ...] = ()) -> list[MatchSetting]:
    """Return a setting for each game: that of its first valid ladder, or of any preset.

    Args:
        games: the games; empty: all.
    """
    found = []
    for game in games or catalogue.GAMES:
        presets = catalogue.GAMES[game].presets
        ladders = Ladder.objects.filter(game=game, rules__in=presets).order_by("pk")
        ladder = next((each for each in ladders if _fits(each)), None)
        if ladder is not None:
            clock = (ladder.move_seconds, ladder.bank_seconds)
            found.append(MatchSetting(game, ladder.rules, ladder.seats, *clock))
        else:
            rules, preset = next(iter(presets.items()))
            found.append(MatchSetting(game, rules, preset.min_seats))
    return found


def _fits(ladder: Ladder) -> bool:
    """Return whether a bot can play by the ladder's settings: invalid ones are no bot's fault."""
    preset = catalogue.GAMES[ladder.game].presets[ladder.rules]
    return preset.min_seats <= ladder.seats <= preset.max_seats and ladder.move_seconds > 0


def play_qualifying_match(
    version: BotVersion, setting: MatchSetting, limit: WallLimit
) -> QualifyingMatch:
    """Play the qualifying match of a game; return it, not stored yet.

    Raises:
        CheckTooLongError: the check reached its wall limit.
        SandboxUnavailableError: this machine has no sandbox.
        MatchInterruptedError: the sandbox failed.
    """
    game, clock = setting.game, HostedClock(setting)
    bot = HostedBot(
        jails.jail(),
        version,
        info_for(setting, 0),
        allowance=lambda: min(clock.allowance(0), limit.left()),
    )
    with bot:
        player = LimitedPlayer(bot, limit)
        bot.load()
        clock.players = {0: bot}
        others = [make_player(_OPPONENT) for _ in range(setting.seats - 1)]
        seed = hashlib.sha256(f"qualify {version.pk} {game}".encode()).digest()
        try:
            outcome = play(game, setting.rules, seed, [player, *others], clock=clock)
        except NoTimeLeftError:
            match = QualifyingMatch(
                version=version,
                game=game,
                passed=False,
                reason=why_too_long(player.moves, player.seconds, setting, limit.seconds),
                observation=player.observation,
                printed=bot.printed_text,
            )
            raise CheckTooLongError(match) from None
        printed = bot.printed_text
    failed = next((report for report in outcome.fault_reports if report.fault.seat == 0), None)
    return QualifyingMatch(
        version=version,
        game=game,
        passed=failed is None,
        reason=storable(f"{failed.fault.kind}: {failed.reason}")[:500] if failed else "",
        observation=failed.observation if failed else None,
        printed=printed,
    )


def why_too_long(moves: int, seconds: float, setting: MatchSetting, limit: float) -> str:
    """Return why a check reached its limit, and the remedy.

    Args:
        moves: that the bot made in the match.
        seconds: that it used for them, by its clock.
        setting: of the match.
        limit: seconds that a check may take.
    """
    begin = (
        f"timeout: a check may take {limit:g} s, waiting included. The time ended after "
        f"{counted(moves, 'move')} of this match. The bot used {seconds:.1f} s for its moves."
    )
    if seconds > setting.move_seconds * max(moves, 1):
        return (
            f"{begin} A move has {setting.move_seconds:g} s, so the bot is too slow, or its "
            "`choose` does not return (an endless loop?). `twelfth-night try` shows the move."
        )
    if seconds < limit / 2:
        return f"{begin} The league was busy: upload the file again."
    return (
        f"{begin} Choose moves faster, or declare only the games that your bot plays, for example "
        'GAMES = ["partridge"].'
    )
