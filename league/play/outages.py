"""Outages: time in which bots could not fetch or send turns is given back to open turns.

Two things can fail: the clock itself, and the doors, the paths on which bots' calls reach the
league (`league.play.doors`). One row stores the time until which clock and doors have worked. The
clock moves it on several times a second, and every two seconds while no live match is unfinished.
If the row falls behind by `MAX_GAP` more than the clock meant to wait, or if a probe of a door
fails, there is an outage, until clock and doors work again. Then one statement gives each open turn
the part of the outage after its clock started. It also leaves each turn at least `MIN_LEFT`,
because a bot that was refused waits before it calls again.

Deadlines never move back. A turn counts as overdue only if its deadline lies before a time at
which clock and doors are known to have worked.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from league.models import Clock, Door
from league.play.turn_clocks import GRACE, whole_ms

log = structlog.get_logger(__name__)

PLAY = "play"
"""The door of bots' own calls, to the gateway."""
WEB = "web"
"""The door of pages and of calls that manage. Turns don't wait for it: no bot needs it to play."""
MAX_GAP = timedelta(seconds=1)
"""Longest time without news of the clock that is no outage."""
MIN_LEFT = timedelta(seconds=2.5)
"""Time that each turn has left after an outage: Retry-After of a refused call, and some more."""

_GIVE_BACK = """
UPDATE league_turn AS turn
SET given_back_ms = turn.given_back_ms + lost.ms,
    deadline = greatest(turn.deadline, turn.deadline + lost.ms * interval '1 ms')
FROM (
    SELECT id, ceil(greatest(
        0,
        extract(epoch FROM %(until)s - greatest(
            %(since)s,
            opened_at,
            CASE WHEN handed_out_at IS NOT NULL
                THEN least(handed_out_at, opened_at + %(grace)s::interval) END
        )),
        CASE WHEN deadline >= %(since)s AND opened_at < %(until)s
            THEN extract(epoch FROM %(called_again)s - deadline) END
    ) * 1000)::bigint AS ms
    FROM league_turn
    WHERE decided_at IS NULL
    ORDER BY id
    FOR UPDATE
) AS lost
WHERE turn.id = lost.id AND lost.ms > 0
"""
"""A turn counts from the start of its clock, or from its opening if it is not handed out yet, as
GREATEST ignores nulls. A turn that was overdue before the outage stays overdue. The inner query
locks the rows, so its values are the newest.
"""

_KEEP = """
WITH doors AS (
    UPDATE league_door AS door SET worked_until = greatest(door.worked_until, %(now)s)
    FROM unnest(%(names)s::text[], %(addresses)s::text[]) AS probe (name, address)
    WHERE door.name = probe.name AND door.address = probe.address AND door.fault = ''
    RETURNING door.id
), clock AS (
    UPDATE league_clock SET ran_until = greatest(ran_until, %(now)s)
    WHERE NOT is_broken AND ran_until >= %(settled_since)s
    RETURNING id
)
SELECT (SELECT count(*) FROM doors), (SELECT count(*) FROM clock)
"""
_KEEP_IDLE = """
UPDATE league_clock SET ran_until = greatest(ran_until, %(now)s)
WHERE NOT is_broken AND ran_until >= %(settled_since)s
    AND NOT EXISTS (SELECT FROM league_turn WHERE decided_at IS NULL)
RETURNING EXISTS (SELECT FROM league_match WHERE live AND status IN ('waiting', 'playing'))
"""


class Probe(NamedTuple):
    """One probe of a door.

    Attributes:
        door: name of the door.
        address: URL that was called.
        fault: why it failed, in one line; empty if it succeeded.
    """

    door: str
    address: str
    fault: str


def keep(now: datetime, probes: Iterable[Probe] = (), waited: timedelta = timedelta(0)) -> None:
    """Note that the clock runs, and what the probes of all doors found; end an outage that is over.

    Args:
        now: the time at which the probes began.
        probes: of all doors. A door counts from its first success at an address.
        waited: for how long the clock waited itself since its last pass: for slow doors, or while
            no turn was open. This is no gap.
    """
    now, probes = whole_ms(now), list(probes)
    if not any(probe.fault for probe in probes) and _kept(now, probes, waited):
        return
    with transaction.atomic(durable=True):
        clock, is_new = _locked(now)
        began = _last_worked(clock)
        faults = _note_probes(now, probes)
        if faults:
            if not clock.is_broken:
                log.warning("calls of bots fail; open deadlines wait", faults=faults)
            Clock.objects.filter(pk=Clock.ONLY).update(is_broken=True)
        elif not is_new:
            moved = _catch_up(clock, now, waited)
            # A late pass on a busy machine is no news unless it gave somebody time back.
            if moved or (moved is not None and clock.is_broken):
                log.warning(
                    "the league took no moves for a time; open deadlines moved",
                    seconds=round((now - began).total_seconds(), 1),
                    open_turns=moved,
                )
            Clock.objects.filter(pk=Clock.ONLY, is_broken=True).update(is_broken=False)


class Idle(NamedTuple):
    """No turn is open, and no outage lasts.

    Attributes:
        may_rest: whether no live match is unfinished, so that no turn opens in a moment.
    """

    may_rest: bool


def keep_idle(now: datetime, waited: timedelta = timedelta(0)) -> Idle | None:
    """Note that the clock runs, if no turn is open and no outage lasts; return None otherwise.

    It costs one statement. No deadline can pass, so an idle league is probed more rarely.
    """
    now = whole_ms(now)
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_IDLE, {"now": now, "settled_since": now - MAX_GAP - waited})
        row = cursor.fetchone()
    return Idle(may_rest=not row[0]) if row else None


def settle(now: datetime, deadline: datetime | None = None) -> bool:
    """If an outage lasts, give its time up to now back; return whether deadlines may have moved.

    Call it when a turn seems overdue: a bot that reaches the league may be faster than the clock.

    Args:
        now: the time.
        deadline: of the turn, by default now.
    """
    now = whole_ms(now)
    if is_settled(Clock.objects.filter(pk=Clock.ONLY).first(), now, deadline):
        return False
    with transaction.atomic(durable=True):
        clock, _ = _locked(now)
        if not is_settled(clock, now, deadline):
            _catch_up(clock, now)
    return True


def is_settled(
    clock: Clock | None,
    now: datetime,
    deadline: datetime | None = None,
    waited: timedelta = timedelta(0),
) -> bool:
    """Return whether a turn with a deadline before now is overdue: no outage moves the deadline."""
    if clock is None or clock.ran_until > (deadline or now) or clock.ran_until >= now:
        return True
    return not clock.is_broken and now - clock.ran_until <= MAX_GAP + waited


def hold() -> Clock | None:
    """Keep deadlines from moving until the end of the transaction; return the clock, if it ran.

    Lock no match before: all who need both locks take this one first.
    """
    rows = Clock.objects.raw("SELECT * FROM league_clock WHERE id = %s FOR SHARE", [Clock.ONLY])
    return next(iter(rows), None)


def failing_door() -> Door | None:
    """Return a door of bots' calls whose last probe failed; while one does, no deadline passes."""
    return _failing().order_by("name").first()


def forget_doors() -> None:
    """Forget all doors: no clock probes them any more, so no probe would end their faults."""
    Door.objects.all().delete()


def web_works() -> bool:
    """Return whether the last probe of the door to the web process succeeded, or none was made.

    Pages and all calls that enter bots pass through that door.
    """
    return not Door.objects.filter(name=WEB).exclude(fault="").exists()


def proven_until(now: datetime) -> datetime:
    """Return the time before which deadlines may have passed; at most now."""
    clock = Clock.objects.filter(pk=Clock.ONLY).first()
    return now if clock is None else min(now, clock.ran_until)


def _kept(now: datetime, probes: Sequence[Probe], waited: timedelta) -> bool:
    """Note that all probes succeeded, in one statement; return False if there is more to do."""
    with connection.cursor() as cursor:
        cursor.execute(
            _KEEP,
            {
                "now": now,
                "settled_since": now - MAX_GAP - waited,
                "names": [probe.door for probe in probes],
                "addresses": [probe.address for probe in probes],
            },
        )
        doors, clocks = cursor.fetchone()
    return bool(doors == len(probes) and clocks)


def _locked(now: datetime) -> tuple[Clock, bool]:
    """Return the clock under its lock, and whether it starts now for the first time."""
    _, is_new = Clock.objects.get_or_create(pk=Clock.ONLY, defaults={"ran_until": now})
    return Clock.objects.select_for_update().get(pk=Clock.ONLY), is_new


def _note_probes(now: datetime, probes: Sequence[Probe]) -> dict[str, str]:
    """Store the probes of all doors; return the faults by which turns wait.

    These are faults of doors that have worked before, without `WEB`.
    """
    addresses = {probe.door: probe.address for probe in probes}
    for door in Door.objects.all():
        if addresses.get(door.name) != door.address:
            door.delete()
    for probe in probes:
        same = Door.objects.filter(name=probe.door)
        if probe.fault:
            same.update(fault=probe.fault[:300])
        elif not same.update(worked_until=Greatest(F("worked_until"), now), fault=""):
            Door.objects.create(name=probe.door, address=probe.address, worked_until=now)
    failing = _failing().order_by("name")
    return {door.name: door.fault for door in failing}


def _last_worked(clock: Clock) -> datetime:
    """Return the last time at which the clock and the doors that fail now are known to work."""
    return min([clock.ran_until, *_failing().values_list("worked_until", flat=True)])


def _failing() -> QuerySet[Door]:
    """Return the doors whose fault is an outage for bots."""
    return Door.objects.exclude(fault="").exclude(name=WEB)


def _catch_up(clock: Clock, now: datetime, waited: timedelta = timedelta(0)) -> int | None:
    """Move the clock, whose lock is held, to now; after an outage, first give back its time.

    Returns:
        The number of turns whose deadline moved; None if there was no outage.
    """
    since, moved = clock.ran_until, None
    if now <= since:
        return None
    if not is_settled(clock, now, waited=waited):
        with connection.cursor() as cursor:
            cursor.execute(
                _GIVE_BACK,
                {
                    "since": since,
                    "until": now,
                    "called_again": now + MIN_LEFT,
                    "grace": str(GRACE),
                },
            )
            moved = cursor.rowcount
    clock.ran_until = now
    clock.save(update_fields=["ran_until"])
    return moved
