"""Open turns of a bot: handing them out starts their clocks."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from django.db.models import Case, F, Q, Value, When

from league import activity, durations
from league.models import Bot
from league.models.bots import ONLINE_FOR
from league.play import outages, statements
from league.play.match_logs import Log, logs_of
from league.play.rows import OpenTurn
from league.play.statements import Receipt
from league.play.turn_clocks import remaining_ms, whole_ms

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


def open_turns(bot: AskingBot, now: datetime) -> list[dict[str, Any]]:
    """Hand out all open turns of a bot, as `open_turns_of` does."""
    return open_turns_of([bot], now)[bot.pk]


def open_turns_of(bots: Sequence[AskingBot], now: datetime) -> dict[int, list[dict[str, Any]]]:
    """Hand out all open turns of bots, as the API's turn objects, the most urgent first.

    A turn that is handed out for the first time gets its receipt and an earlier deadline. The bots
    count as seen. ``remaining_ms`` is the time until the deadline, the bank included; ``bank_ms``
    is the bank when the turn opened.

    Returns:
        The turns by bot id. Two statements read and hand out the turns of all bots.
    """
    now = whole_ms(now)
    note_seen(bots, now)
    ids = [bot.pk for bot in bots]
    turns, matches = statements.read_open_turns(ids)
    overdue = [turn.deadline for turn in turns if turn.deadline < now]
    if overdue and outages.settle(now, max(overdue)):
        turns, matches = statements.read_open_turns(ids)
    fresh = [turn.pk for turn in turns if turn.handed_out_at is None]
    if fresh:
        receipts = statements.hand_out(fresh, now)
        opened = {turn.pk: turn.opened_at for turn in turns}
        for pk, receipt in receipts.items():
            waited = receipt.handed_out_at - opened[pk]
            durations.note("turn_handed_out", waited.total_seconds())
        if receipts.keys() >= set(fresh):
            turns = [_with_receipt(turn, receipts.get(turn.pk)) for turn in turns]
        else:  # another request has handed out or decided one of them meanwhile
            turns, matches = statements.read_open_turns(ids)
    logs = logs_of(matches.values())
    found: dict[int, list[dict[str, Any]]] = {pk: [] for pk in ids}
    for turn in sorted(turns, key=lambda turn: (turn.deadline, turn.match_id)):
        if turn.match_id in logs:  # else the match was finished meanwhile
            found[turn.bot_id].append(_as_json(turn, logs[turn.match_id], now))
    return found


def _as_json(turn: OpenTurn, log: Log, now: datetime) -> dict[str, Any]:
    return {
        "match": turn.match_id,
        "seat": turn.seat,
        "turn": turn.number,
        "deadline": as_text(turn.deadline),
        "remaining_ms": remaining_ms(turn, now),
        "bank_ms": turn.bank_ms,
        "observation": log.state.observe(turn.seat),
    }


def _with_receipt(turn: OpenTurn, receipt: Receipt | None) -> OpenTurn:
    """Return a turn with the receipt that handing it out has made, if there is one."""
    if receipt is None:
        return turn
    return turn._replace(handed_out_at=receipt.handed_out_at, deadline=receipt.deadline)


def note_seen(bots: Iterable[AskingBot], now: datetime) -> None:
    """Note that bots ask for turns, unless that was noted in the last `SEEN_EVERY`."""
    unnoted = [bot for bot in bots if bot.seen_at is None or now - bot.seen_at >= SEEN_EVERY]
    if unnoted:
        note_all_seen([bot.pk for bot in unnoted], now)
        for bot in unnoted:
            bot.seen_at = now


def note_all_seen(bot_ids: list[int], now: datetime) -> None:
    """Note that bots wait for turns, as `note_seen` does."""
    noted = (
        Bot.with_players.filter(pk__in=bot_ids)
        .filter(Q(seen_at__isnull=True) | Q(seen_at__lte=now - SEEN_EVERY))
        .update(
            seen_at=now,
            online_since=Case(
                When(seen_at__gte=now - ONLINE_FOR, then=F("online_since")), default=Value(now)
            ),
        )
    )
    if noted:
        activity.note()  # a bot that is online may play


def as_text(moment: datetime) -> str:
    """Return a time as the API writes it: ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
