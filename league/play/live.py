"""Live matches: those with a remote bot, which go on with each move.

Each function here is a transaction or several; each may be called any number of times, at once
too. The lock on the match's row lets one in after the other, and it is never held while a bot
thinks. A plain move does without the lock: see `league.play.statements`. Nothing else writes moves.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import structlog
from django.db import OperationalError, transaction
from django.db.models import Min
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from engine.errors import IllegalMoveError
from engine.games import catalogue
from league.models import Bot, Match, MatchSeat, Turn
from league.play import outages
from league.play.clocks import Stopwatch, remaining_ms
from league.play.live_match import LockNeededError, Table, lock, write_all
from league.play.match_queue import REQUEUE
from league.play.rows import MatchRow, TurnRow
from league.play.verdicts import MoveRefusedError, Verdict

log = structlog.get_logger(__name__)

MAX_QUEUED = 200
"""Live matches handed to the queue at a time."""
MAX_ILLEGAL = 5
"""Illegal answers in one turn that are a fault."""
MAX_EXPIRED = 500
"""Matches in which the clock plays at a time."""

TIMEOUT, ILLEGAL = "timeout", "illegal"


def take_due_live(now: datetime | None = None) -> list[int]:
    """Return the ids of live matches to open or look after now, and not again for a while."""
    now = now or timezone.now()
    with transaction.atomic():
        due = list(
            Match.objects.filter(status__in=["waiting", "playing"], live=True, due_at__lte=now)
            .order_by("due_at", "id")
            .select_for_update(skip_locked=True, of=("self",), no_key=True)
            .values_list("pk", flat=True)[:MAX_QUEUED]
        )
        Match.objects.filter(pk__in=due).update(due_at=now + REQUEUE)
    return due


def open_live(match_id: int, now: datetime | None = None) -> bool:
    """Start a live match, or look after one in play; return whether it is being played now.

    Of one in play nothing should be missing; if it is, say as the queue lost a task, it is mended.
    """
    watch = Stopwatch(now or timezone.now())
    with transaction.atomic(durable=True):
        match = lock(match_id)
        if match is None or match.status not in (Match.Status.WAITING, Match.Status.PLAYING):
            return False
        if match.status == Match.Status.WAITING:
            match.status = Match.Status.PLAYING
            match.attempts += 1
            match.started_at = watch.now()
            match.save(update_fields=["status", "attempts", "started_at"])
        table = Table.of(match, watch)
        table.go_on(opening=True)
        table.write()
        return match.status == Match.Status.PLAYING


class Move(NamedTuple):
    """A move that a bot sends.

    Attributes:
        match_id: of the match.
        turn: the number that the turn was handed out with.
        text: of the move.
    """

    match_id: int
    turn: int
    text: str


Answer = Verdict | MoveRefusedError


def submit(bot: Bot, move: Move, now: datetime) -> Verdict:
    """Make a bot's move in a match, and bring the match on if it was the last one missing.

    Args:
        bot: whose token it is.
        move: that it sent.
        now: when it came in.

    Raises:
        MoveRefusedError: with a code and what the problem document is to say.
    """
    [answer] = submit_all(bot, [move], now)
    if isinstance(answer, MoveRefusedError):
        raise answer
    return answer


def submit_all(bot: Bot, moves: Sequence[Move], now: datetime) -> list[Answer]:
    """Make a bot's moves, each as `submit` does; return what is said to each.

    Those in different matches are read and written together. Of several in one match each sees
    what the one before it brought.
    """
    watch = Stopwatch(now)
    answers: dict[int, Answer] = {}
    left = dict(enumerate(moves))
    while left:
        firsts: dict[int, int] = {}
        for number, move in left.items():
            firsts.setdefault(move.match_id, number)
        answers |= _submit_each(
            bot, {number: left.pop(number) for number in firsts.values()}, watch
        )
    return [answers[number] for number in range(len(moves))]


def _submit_each(bot: Bot, moves: Mapping[int, Move], watch: Stopwatch) -> dict[int, Answer]:
    """Make moves in different matches: plain ones without locks, others one after the other."""
    now = watch.start
    answers: dict[int, Answer] = {}
    match_ids = [move.match_id for move in moves.values()]
    tables = Table.seen(match_ids, watch)
    if any(table.is_overdue(now) for table in tables.values()) and outages.make_up(now):
        tables = Table.seen(match_ids, watch)
    plain: list[Table] = []
    under_lock: set[int] = set()
    for number, move in moves.items():
        table = tables.get(move.match_id)
        try:
            answers[number] = _submit(table, bot, move, now)
        except LockNeededError:
            under_lock.add(number)
        else:
            plain += [table] if table else []
    try:
        changed = write_all(plain)
    except OperationalError as error:
        if not isinstance(error.__cause__, DeadlockDetected):
            raise
        changed = {table.match.pk for table in plain}
    for number, move in moves.items():
        if number in under_lock or move.match_id in changed:
            with transaction.atomic(durable=True):
                locked = Table.locked(move.match_id, watch)
                answers[number] = _submit(locked, bot, move, now)
                if locked:
                    locked.write()
    return answers


def _submit(table: Table | None, bot: Bot, move: Move, now: datetime) -> Answer:
    match_id, number, text = move
    seat = table.seat_of(bot) if table else None
    if table is None or seat is None:
        if MatchSeat.objects.filter(match=match_id, bot=bot).exists():
            return _not_open(match_id, number)
        return MoveRefusedError("not-found", f"{bot} has no seat in a match {match_id}.")
    turn = table.turn(seat, number)
    if turn is not None and turn.decided_at is not None:
        return _answer_again(table.match, turn, text)
    if turn is None or not table.is_playing:
        return _not_open(match_id, number)
    if now > turn.deadline:
        _decide_by_fallback(table, turn, TIMEOUT, now)
        table.go_on()
        return _expired(turn)
    try:
        action = table.log.state.parse(seat, text)
    except IllegalMoveError as error:
        return _refuse_illegal(table, turn, error, now)
    table.decide(turn, table.choose(seat, action), "", now)
    table.go_on()
    return Verdict(turn.text, turn.number, remaining_ms(turn, now))


def expire_overdue(now: datetime) -> int:
    """Play the fallback for turns whose deadline has passed; return for how many."""
    watch = Stopwatch(now)
    overdue = Turn.objects.filter(decided_at__isnull=True, deadline__lt=now)
    match_ids = (
        overdue.filter(match__status=Match.Status.PLAYING)
        .values_list("match", flat=True)
        .annotate(first=Min("deadline"))
        .order_by("first")[:MAX_EXPIRED]
    )
    expired = 0
    for match_id in list(match_ids):
        try:
            with transaction.atomic(durable=True):
                table = Table.locked(match_id, watch)
                if table is None or not table.is_playing:
                    continue
                turns = [
                    turn
                    for turn in table.turns.values()
                    if turn.decided_at is None and turn.deadline < now
                ]
                for turn in turns:
                    _decide_by_fallback(table, turn, TIMEOUT, now)
                table.go_on()
                table.write()
        except Exception:  # the other matches' clocks must go on
            log.exception("overdue turns could not be played", match_id=match_id)
        else:
            expired += len(turns)
    return expired


# -- Decisions and what is said of them ------------------------------------------------------


def _decide_by_fallback(table: Table, turn: TurnRow, fault: str, now: datetime) -> None:
    table.decide(turn, table.choose_fallback(turn.seat, fault), fault, now)


def _refuse_illegal(
    table: Table, turn: TurnRow, error: IllegalMoveError, now: datetime
) -> MoveRefusedError:
    """Count an illegal answer; after too many the referee plays."""
    table.need_lock()
    turn.illegal_answers += 1
    Turn.objects.filter(pk=turn.pk).update(illegal_answers=turn.illegal_answers)
    left = MAX_ILLEGAL - turn.illegal_answers
    played = {}
    detail = str(error)
    if left <= 0:
        _decide_by_fallback(table, turn, ILLEGAL, now)
        table.go_on()
        played = {"move": turn.text}
        detail = f"{detail}; that was the last attempt, and the referee played {turn.text!r}"
    return MoveRefusedError(
        "illegal-move",
        detail,
        legal_moves=list(error.legal_moves),
        turn=turn.number,
        remaining_ms=remaining_ms(turn, now),
        answers_left=left,
        **played,
    )


def _answer_again(match: Match | MatchRow, turn: Turn | TurnRow, text: str) -> Answer:
    """Answer for a turn that is decided: the original verdict, if it is the same move again."""
    if turn.fault == TIMEOUT:
        return _expired(turn)
    if not turn.fault and _canonical(match, text) == turn.text and turn.decided_at:
        return Verdict(turn.text, turn.number, remaining_ms(turn, turn.decided_at))
    who = "the referee played, after illegal answers," if turn.fault else "you played"
    return MoveRefusedError(
        "turn-already-decided",
        f"turn {turn.number} of match {match.pk} is decided: {who} {turn.text!r}",
        turn=turn.number,
        move=turn.text,
    )


def _expired(turn: Turn | TurnRow) -> MoveRefusedError:
    return MoveRefusedError(
        "turn-expired",
        f"turn {turn.number} of match {turn.match_id} had to be answered by "
        f"{turn.deadline:%Y-%m-%dT%H:%M:%S.%fZ}; the referee played {turn.text!r}",
        turn=turn.number,
        move=turn.text,
    )


def _not_open(match_id: int, number: int) -> MoveRefusedError:
    return MoveRefusedError(
        "turn-not-open",
        f"turn {number} of match {match_id} is not open; ask for turns to see which are",
    )


def _canonical(match: Match | MatchRow, text: str) -> str:
    moves = catalogue.find(match.game).moves
    try:
        return moves.texts[moves.parse(text)]
    except ValueError:
        return ""
