"""Trials: a bot from the editor plays a few unrated matches against house bots, in the sandbox.

Nothing of a trial is in the database. Its file and result are in the cache under an id that nobody
can guess, for an hour at most. The workers of checks take trials when no check waits, and try at
most `AT_ONCE` at a time, so that a check always finds a free thread.
"""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from bots_sdk.arena.figures import share
from bots_sdk.reference import make_player
from bots_sdk.refusals import SourceRefusedError
from bots_sdk.sandbox.errors import SandboxUnavailableError
from bots_sdk.sandbox.sources import Source, check_source
from engine import record
from engine.errors import MatchInterruptedError
from engine.rating.results import rated_places
from engine.referee import FaultReport, Outcome, play
from league.bots import jails, trial_places
from league.bots.hosted_clocks import HostedClock, HouseBot
from league.bots.hosted_players import HostedBot, info_for, storable
from league.bots.qualifying import LimitedPlayer, MatchSetting, NoTimeLeftError, WallLimit
from league.queueing import queue

log = structlog.get_logger(__name__)

MAX_SOURCE_BYTES = 100_000
"""The largest file that can be tried; an upload may be larger."""
KEPT_SECONDS = 3600
"""For so long a trial is kept, with its file."""
WALL_SECONDS = 20.0
"""Wall time of all matches of a trial."""
BLOCKS = 3
"""The most blocks that a trial plays."""
AT_ONCE = 2
"""Trials that are played at the same time, on all workers."""
MAX_WAITING = 50
"""Trials that may wait or be played at the same time, wherever their tasks are."""
MAX_PRINTED = 8000
"""Letters of a bot's output that a trial keeps."""
OPPONENTS = ("house-random", "house-thumb", "house-counting")
YOU = "your-bot"

SETTINGS = {
    "twelve-days": MatchSetting("twelve-days", "calliope", 4, 1.0, 5.0),
    "partridge": MatchSetting("partridge", "eagle-short", 4, 1.0, 5.0),
}
"""The preset, seats and clock of a trial, by game."""

_PLACES = [f"trial-place-{number}" for number in range(AT_ONCE)]
_AWAY = "Bots can't be tried now. Try again in a minute."
_START_SECONDS = 300
"""A trial that no worker takes for so long is lost."""


class TrialRefusedError(Exception):
    """A trial that can't begin; the text has the reason and what to do.

    Attributes:
        status: of the HTTP answer.
    """

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class TrialsAwayError(Exception):
    """Trials can't be read now, as the cache can't be reached."""


class Trial(NamedTuple):
    """A trial as it is kept.

    Attributes:
        id: unguessable.
        game: slug.
        source: the bot's file.
        state: ``waiting``, ``playing``, ``done``, ``failed``, or ``lost`` with its worker.
        created: seconds since the epoch.
        client: who may have one trial at a time.
        result: what `_played` returns; empty until the trial is done.
    """

    id: str
    game: str
    source: str
    state: str
    created: float
    client: str
    result: Mapping[str, Any] = {}


def begin(*, game: str, source: str, client: str) -> str:
    """Keep a trial and queue it; return its id.

    Args:
        game: a key of `SETTINGS`.
        source: a Python file.
        client: its name in `league.accounts.throttles`; it may have one trial at a time.

    Raises:
        TrialRefusedError: the file can't be tried, another trial of the client is not over, or too
            many trials wait.
    """
    _require_triable(source)
    trial_id = secrets.token_urlsafe(24)
    try:
        if not trial_places.take(_client_key(client), trial_id, _START_SECONDS):
            raise TrialRefusedError(
                "A bot from your account or network is being tried. Try again in a few seconds.",
                429,
            )
        with _undone(trial_id, client):
            if not trial_places.wait_in_line(trial_id, most=MAX_WAITING, seconds=_START_SECONDS):
                raise TrialRefusedError(
                    "Many people are trying bots now. Try again in a minute.", 503
                )
            kept = Trial(trial_id, game, source, "waiting", time.time(), client)
            cache.set(_key(trial_id), kept._asdict(), timeout=KEPT_SECONDS)
            if not queue("try_bot", trial_id):
                raise TrialRefusedError(_AWAY, 503)
    except RedisError:
        raise TrialRefusedError(_AWAY, 503) from None
    return trial_id


def find(trial_id: str) -> Trial | None:
    """Return a trial; None if there is none with this id, or no longer.

    Its state is ``lost`` if its worker was stopped while it played.

    Raises:
        TrialsAwayError: the cache can't be reached.
    """
    try:
        kept = cache.get(_key(trial_id)) if trial_id else None
        if kept is None:
            return None
        found = Trial(**kept)
        if found.state == "playing" and not trial_places.is_played(trial_id):
            # Between the two calls it may have ended.
            found = Trial(**(cache.get(_key(trial_id)) or kept))
            return found._replace(state="lost") if found.state == "playing" else found
    except RedisError as error:
        log.warning("a trial could not be read", exc_info=True)
        raise TrialsAwayError from error
    if found.state == "waiting" and time.time() - found.created > _START_SECONDS:
        return found._replace(state="failed")
    return found


def run(trial_id: str) -> bool:
    """Play a trial that waits; return False if it must wait for another one to end."""
    try:
        trial = find(trial_id)
    except TrialsAwayError:
        return False
    if trial is None or trial.state != "waiting":
        return True
    client = _client_key(trial.client)
    with trial_places.one_of(_PLACES, trial_id) as place:
        if place is None:
            return False
        try:
            with trial_places.prolonged([client, place], trial_id):
                _play(trial)
        finally:
            trial_places.leave_line(trial_id)
            trial_places.free(client, trial_id)
    return True


def _play(trial: Trial) -> None:
    """Play a trial and keep its result."""
    _keep(trial._replace(state="playing"))
    state, result = "failed", {}
    try:
        result = _played(trial)
        state = "done"
    except (SandboxUnavailableError, MatchInterruptedError) as error:
        log.warning("a bot could not be tried", error=str(error))
        jails.distrust()
    finally:
        _keep(trial._replace(state=state, result=result))


def _require_triable(source: str) -> None:
    size = len(source.encode("utf-8", "replace"))
    if not source.strip():
        raise TrialRefusedError("The editor is empty; a bot needs a function choose.")
    if size > MAX_SOURCE_BYTES:
        raise TrialRefusedError(
            f"The file has {size:,} bytes; at most {MAX_SOURCE_BYTES:,} can be tried here. "
            "Upload it, or try it on your computer with the command “twelfth-night try”.",
            413,
        )
    try:
        check_source(source.encode("utf-8", "replace"))
    except SourceRefusedError as error:
        raise TrialRefusedError(f"This can't be a bot: {error}.") from None


def _played(trial: Trial) -> dict[str, Any]:
    """Play the blocks of a trial until they or the time are over.

    Returns:
        ``matches`` with seat, scores and places of each; ``blocks``, ``share`` and its interval
        (None without a whole block); ``faults`` with kind, reason and seen hand; ``record`` (a
        line), ``names`` and ``printed`` of the match to show, number ``shown``: the first with a
        fault, else the first of those with the worst result; ``stopped``, why it ended early:
        ``faults``, ``time`` of the bot, ``busy`` machine, or empty.

    Raises:
        SandboxUnavailableError: this machine has no sandbox.
        MatchInterruptedError: the sandbox failed.
    """
    setting = SETTINGS[trial.game]
    jails.jail()  # to prove it takes seconds, which are none of the trial's
    limit = WallLimit(WALL_SECONDS)
    source = Source(trial.source.encode("utf-8", "replace"))
    matches: list[dict[str, Any]] = []
    stopped, printed, seconds = "", "", 0.0
    for _ in range(BLOCKS):
        seed = secrets.token_bytes(32)
        for seat in range(setting.seats):
            try:
                played = _match(setting, source, seat, seed, limit)
            except _StoppedError as error:
                seconds += error.seconds
                stopped = "time" if seconds > WALL_SECONDS / 4 else "busy"
                printed = error.printed
                break
            matches.append(played)
            seconds += played["seconds"]
            if played["faults"]:
                stopped = "faults"
                break
        if stopped:
            break
    whole = len(matches) // setting.seats
    shares = [
        sum(each["share"] for each in matches[at : at + setting.seats]) / setting.seats
        for at in range(0, whole * setting.seats, setting.seats)
    ]
    found = share(shares) if shares else None
    worst = min(matches, key=_result, default=None)
    shown = next((each for each in matches if each["faults"]), worst)
    return {
        "matches": [{k: each[k] for k in ("seat", "scores", "places")} for each in matches],
        "blocks": whole,
        "share": found and found.mean,
        "interval": found and [found.low, found.high],
        "stopped": stopped,
        "faults": shown["faults"] if shown else [],
        "shown": matches.index(shown) if shown else None,
        "record": shown["record"] if shown else "",
        "names": shown["names"] if shown else [],
        "printed": shown["printed"] if shown and not printed else printed,
    }


def _result(match: dict[str, Any]) -> tuple[float, int]:
    """Return how good a match was for the bot; more is better."""
    return match["share"], -match["places"][match["seat"]]


class _StoppedError(Exception):
    """The time of a trial is over.

    Attributes:
        printed: what the bot printed in this match until then.
        seconds: the time that the bot itself took in it.
    """

    def __init__(self, printed: str, seconds: float) -> None:
        super().__init__("the time is over")
        self.printed = printed
        self.seconds = seconds


def _match(
    setting: MatchSetting, source: Source, seat: int, seed: bytes, limit: WallLimit
) -> dict[str, Any]:
    """Play one match with the bot in a seat.

    Raises:
        _StoppedError: the time of the trial is over.
    """
    clock = HostedClock(setting)
    bot = HostedBot(
        jails.jail(),
        source,
        info_for(setting, seat),
        allowance=lambda: min(clock.allowance(seat), limit.left()),
    )
    names = [*OPPONENTS]
    names.insert(seat, YOU)
    with bot:
        bot.load()
        players: list[Any] = [HouseBot(make_player(name)) for name in OPPONENTS]
        limited = LimitedPlayer(bot, limit)
        players.insert(seat, limited)
        clock.players = {at: bot if at == seat else each for at, each in enumerate(players)}
        try:
            outcome = play(setting.game, setting.rules, seed, players, names=names, clock=clock)
        except NoTimeLeftError:
            raise _StoppedError(_clipped(bot.printed_text), limited.seconds) from None
        printed = bot.printed_text
    return {**_summary(outcome, seat, names, printed), "seconds": limited.seconds}


def _summary(outcome: Outcome, seat: int, names: list[str], printed: str) -> dict[str, Any]:
    found = outcome.record
    places = rated_places(found.places, outcome.forfeited)
    others = [place for at, place in enumerate(places) if at != seat]
    own = places[seat]
    beaten = sum((own < place) + (own == place) / 2 for place in others)
    return {
        "seat": seat,
        "scores": list(found.scores),
        "places": list(places),
        "share": beaten / len(others),
        "names": names,
        "record": record.write(found),
        "faults": [_fault(each) for each in outcome.fault_reports if each.fault.seat == seat],
        "printed": _clipped(printed),
    }


def _fault(report: FaultReport) -> dict[str, Any]:
    seen = report.observation
    return {
        "kind": report.fault.kind,
        "reason": storable(report.reason)[:500],
        "phase": seen["phase"],
        "hand": seen["hand"],
        "legal_moves": seen["legal_moves"][:12],
    }


def _clipped(printed: str) -> str:
    """Return the start and the end of an output: tracebacks stand at its end."""
    if len(printed) <= MAX_PRINTED:
        return printed
    half = MAX_PRINTED // 2
    return f"{printed[:half]}\n[…]\n{printed[-half:]}"


def _keep(trial: Trial) -> None:
    """Store a trial for what is left of its time."""
    left = trial.created + KEPT_SECONDS - time.time()
    cache.set(_key(trial.id), trial._asdict(), timeout=max(1, round(left)))


@contextmanager
def _undone(trial_id: str, client: str) -> Iterator[None]:
    """Leave nothing of a trial that does not begin."""
    try:
        yield
    except BaseException:
        trial_places.leave_line(trial_id)
        trial_places.free(_client_key(client), trial_id)
        with suppress(RedisError):
            cache.delete(_key(trial_id))
        raise


def _key(trial_id: str) -> str:
    return f"trial-{trial_id}"


def _client_key(client: str) -> str:
    return f"trial-of-{client}"
