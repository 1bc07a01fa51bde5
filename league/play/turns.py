"""The open turns of a bot: handing them out starts their clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Least

from league.models import Bot, Match, Turn
from league.play import outages, statements
from league.play.clocks import GRACE, deadline_if_handed_out, remaining_ms
from league.play.match_logs import logs_of
from league.play.rows import TurnRow

SEEN_EVERY = timedelta(seconds=5)
"""A bot that asks more often is not written down each time."""


def open_turns(bot: Bot, now: datetime) -> list[dict[str, Any]]:
    """Hand out all open turns of a bot, as the spec's turn objects, the most urgent first.

    Those handed out for the first time get their receipt, and their deadline moves forward. The
    bot counts as seen. ``remaining_ms`` is the time until the deadline, the bank included;
    ``bank_ms`` is the bank as the turn opened.
    """
    note_seen(bot, now)
    turns, matches = statements.read_open_turns(bot.pk)
    if any(turn.deadline < now for turn in turns) and outages.make_up(now):
        turns, matches = statements.read_open_turns(bot.pk)
    fresh = [turn for turn in turns if turn.handed_out_at is None]
    if fresh:
        _hand_out(fresh, now)
    logs = logs_of(matches.values())
    return [
        {
            "match": turn.match_id,
            "seat": turn.seat,
            "turn": turn.number,
            "deadline": as_text(turn.deadline),
            "remaining_ms": remaining_ms(turn, now),
            "bank_ms": turn.bank_ms,
            "observation": logs[turn.match_id].state.observe(turn.seat),
        }
        for turn in sorted(turns, key=lambda turn: (turn.deadline, turn.match_id))
        if turn.match_id in logs  # else it was decided meanwhile
    ]


def _hand_out(turns: list[TurnRow], now: datetime) -> None:
    """Write the receipts of turns; of two that hand out the same one, the first counts."""
    thinking = ExpressionWrapper(
        F("deadline") - F("opened_at") - Value(GRACE) + Value(now), output_field=DateTimeField()
    )
    Turn.objects.filter(
        pk__in=[turn.pk for turn in turns], decided_at__isnull=True, handed_out_at__isnull=True
    ).update(handed_out_at=now, deadline=Least(F("deadline"), thinking))
    for turn in turns:
        turn.deadline = deadline_if_handed_out(turn, now)
        turn.handed_out_at = now


def note_seen(bot: Bot, now: datetime) -> None:
    """Note that a bot has asked for turns, unless that was noted a moment ago."""
    if bot.seen_at is None or now - bot.seen_at >= SEEN_EVERY:
        note_all_seen([bot.pk], now)
        bot.seen_at = now


def note_all_seen(bot_ids: list[int], now: datetime) -> None:
    """Note that bots wait for turns."""
    Bot.objects.filter(pk__in=bot_ids).filter(
        Q(seen_at__isnull=True) | Q(seen_at__lte=now - SEEN_EVERY)
    ).update(seen_at=now)


def newest_open(bot_ids: list[int]) -> dict[int, int]:
    """Return which of these bots have an open turn: the id of the turn opened last, by bot."""
    rows = Turn.objects.filter(
        bot__in=bot_ids, decided_at__isnull=True, match__status=Match.Status.PLAYING
    ).values_list("bot", "pk")
    newest: dict[int, int] = {}
    for bot, turn in rows:
        newest[bot] = max(turn, newest.get(bot, 0))
    return newest


def as_text(moment: datetime) -> str:
    """Return a time as the API writes it: ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
