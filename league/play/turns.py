"""Open turns of a bot: handing them out starts their clocks."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from django.db import transaction
from django.db.models import Case, F, Q, Value, When

from league import activity, durations
from league.models import Bot
from league.models.bots import ONLINE_FOR
from league.play import outages, statements, turn_statements
from league.play.match_logs import Log, complete, known_logs, missing
from league.play.rows import DealtMatch, OpenTurn
from league.play.statements import Run
from league.play.turn_clocks import Stopwatch, remaining_ms, whole_ms
from league.play.turn_statements import Receipt

SEEN_EVERY = timedelta(seconds=5)
"""If a bot asks for turns more often, the league does not note it each time."""


class AskingBot(Protocol):
    """What handing out turns needs to know of a bot.

    Attributes:
        pk: the bot's id.
        seen_at: when it was last noted that the bot asked for turns.
    """

    pk: int
    seen_at: datetime | None


class HandedTurn(NamedTuple):
    """An open turn whose clock runs, and the log of its match."""

    turn: OpenTurn
    log: Log

    def as_json(self, now: datetime) -> dict[str, Any]:
        """Return the API's turn object.

        ``remaining_ms`` is the time until the deadline, the bank included; ``bank_ms`` is the bank
        when the turn opened.
        """
        turn = self.turn
        return {
            "match": turn.match_id,
            "seat": turn.seat,
            "turn": turn.number,
            "deadline": as_text(turn.deadline),
            "remaining_ms": remaining_ms(turn, now),
            "bank_ms": turn.bank_ms,
            "observation": self.log.state.observe(turn.seat),
        }


def open_turns(bot: AskingBot, now: datetime) -> list[dict[str, Any]]:
    """Hand out all open turns of a bot, as `open_turns_of` does."""
    return open_turns_of([bot], now)[bot.pk]


def open_turns_of(bots: Sequence[AskingBot], now: datetime) -> dict[int, list[dict[str, Any]]]:
    """Hand out all open turns of bots, as the API's turn objects, the most urgent first.

    The bots count as seen.

    Returns:
        The turns by bot id.
    """
    watch = Stopwatch(now)
    now = watch.start
    note_seen(bots, now)
    found = statements.at_once(hand_out([bot.pk for bot in bots], now, statements.run_here))
    late = list({bot.pk for bot in bots} - found.keys())
    if late:
        turns, _ = statements.at_once(_read(late, statements.run_here))
        overdue = [turn.deadline for turn in turns if turn.deadline < now]
        if overdue:
            outages.settle(now, max(overdue))
            now = watch.now()  # it may have waited for the clock's lock
        found |= statements.at_once(hand_out(late, now, statements.run_here, is_settled=True))
    return {pk: [turn.as_json(now) for turn in turns] for pk, turns in found.items()}


async def hand_out(
    bot_ids: Sequence[int], now: datetime, run: Run, *, is_settled: bool = False
) -> dict[int, list[HandedTurn]]:
    """Hand out all open turns of bots with two statements, the most urgent first.

    A turn that is handed out for the first time gets its receipt and an earlier deadline.

    Args:
        bot_ids: the bots.
        now: the time.
        run: runs a statement without a thread.
        is_settled: whether an outage has given back its time. If not, a bot with an overdue turn
            is left out: `open_turns_of` hands out its turns, which may take longer.

    Returns:
        The turns by bot id.
    """
    now = whole_ms(now)
    bot_ids = list(dict.fromkeys(bot_ids))  # a bot may ask twice at one moment
    turns, matches = await _read(bot_ids, run)
    late = set() if is_settled else {turn.bot_id for turn in turns if turn.deadline < now}
    if late:
        bot_ids = [pk for pk in bot_ids if pk not in late]
        turns = [turn for turn in turns if turn.bot_id not in late]
    while fresh := [turn.pk for turn in turns if turn.handed_out_at is None]:
        values = turn_statements.hand_out_values(fresh, now)
        receipts = turn_statements.receipts(await run(turn_statements.HAND_OUT, values))
        opened = {turn.pk: turn.opened_at for turn in turns}
        for pk, receipt in receipts.items():
            waited = receipt.handed_out_at - opened[pk]
            durations.note("turn_handed_out", waited.total_seconds())
        if receipts.keys() >= set(fresh):
            turns = [_with_receipt(turn, receipts.get(turn.pk)) for turn in turns]
        else:  # another request has handed out or decided one of them meanwhile
            turns, matches = await _read(bot_ids, run)  # and others may have opened
    logs, behind = known_logs(matches.values())
    if behind:
        parts = statements.logged_values(missing(logs, behind))
        complete(logs, behind, statements.logged_moves(await run(statements.LOGGED, parts)))
    found: dict[int, list[HandedTurn]] = {pk: [] for pk in bot_ids}
    for turn in sorted(turns, key=lambda turn: (turn.deadline, turn.match_id)):
        if turn.match_id in logs:  # else the match was finished meanwhile
            found[turn.bot_id].append(HandedTurn(turn, logs[turn.match_id]))
    return found


async def _read(bot_ids: Sequence[int], run: Run) -> tuple[list[OpenTurn], dict[int, DealtMatch]]:
    values = turn_statements.open_values(bot_ids)
    return turn_statements.open_turns(await run(turn_statements.OPEN, values))


def _with_receipt(turn: OpenTurn, receipt: Receipt | None) -> OpenTurn:
    """Return a turn with the receipt that handing it out has made, if there is one."""
    if receipt is None:
        return turn
    return turn._replace(handed_out_at=receipt.handed_out_at, deadline=receipt.deadline)


def is_noted(bot: AskingBot, now: datetime) -> bool:
    """Return whether it was noted in the last `SEEN_EVERY` that a bot asked for turns."""
    return bot.seen_at is not None and now - bot.seen_at < SEEN_EVERY


def note_seen(bots: Iterable[AskingBot], now: datetime) -> None:
    """Note that bots ask for turns, unless that is noted already."""
    unnoted = [bot for bot in bots if not is_noted(bot, now)]
    if unnoted:
        note_all_seen([bot.pk for bot in unnoted], now)
        for bot in unnoted:
            bot.seen_at = now


def note_all_seen(bot_ids: list[int], now: datetime) -> None:
    """Note that bots wait for turns, as `note_seen` does.

    A bot whose row is locked is left out until it asks again, so that nobody waits for the lock.
    """
    unnoted = Bot.with_players.filter(pk__in=bot_ids).filter(
        Q(seen_at__isnull=True) | Q(seen_at__lte=now - SEEN_EVERY)
    )
    with transaction.atomic():
        locked = unnoted.order_by().select_for_update(skip_locked=True, no_key=True)
        free = locked.values("pk")
        noted = Bot.with_players.filter(pk__in=free).update(
            seen_at=now,
            online_since=Case(
                When(seen_at__gte=now - ONLINE_FOR, then=F("online_since")), default=Value(now)
            ),
        )
    if noted:
        activity.note()  # a bot that is online may play


def as_text(moment: datetime) -> str:
    """Return a time as the API writes it: ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
