"""Closing rounds: all their blocks are applied at once, exactly once."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from engine.rating import elo
from league.models import Block, BlockEntry, Ladder, Round, RoundEntry, Standing
from league.models.ladders import Hidden
from league.ratings.hiding import SHOWN, hide_withdrawn
from league.ratings.match_results import round_to_rate
from league.ratings.tallies import Tallies, add_head_to_head, tally


def rounds_to_close() -> list[int]:
    """Return the ids of the rounds that are next on their ladder and played to the end."""
    due = []
    for ladder in Ladder.objects.all():
        first = ladder.rounds.filter(applied_at__isnull=True).order_by("number").first()
        if first and not first.blocks.filter(state=Block.State.PLAYING).exists():
            due.append(first.pk)
    return due


def close_round(round_id: int) -> bool:
    """Apply a round to the ratings of its ladder; return whether this call did.

    May be called any number of times, at once too: the lock on the ladder lets one in after the
    other, and who comes second finds the round applied. One whose blocks are still in play, or
    that comes before an earlier round of its ladder, is left as it is.
    """
    with transaction.atomic():
        ladder = Ladder.objects.select_for_update().get(rounds=round_id)
        round_ = Round.objects.get(pk=round_id)
        if round_.applied_at or not _is_next(ladder, round_):
            return False
        if round_.blocks.filter(state=Block.State.PLAYING).exists():
            return False
        finished = round_to_rate(round_)
        rows = {row.bot_id: row for row in ladder.standings.all()}
        before = {
            bot: elo.RatingState(row.rating, row.blocks, row.version) for bot, row in rows.items()
        }
        applied = elo.apply_round(before, finished)
        write_ledger(round_, applied, ladder.revision)
        gains = tally(finished)
        round_.applied_at = timezone.now()
        _write_standings(ladder, rows, applied, gains, round_.applied_at)
        hide_withdrawn(ladder)
        add_head_to_head(ladder, gains)
        round_.save(update_fields=["applied_at"])
    return True


def _is_next(ladder: Ladder, round_: Round) -> bool:
    return not ladder.rounds.filter(number__lt=round_.number, applied_at__isnull=True).exists()


def write_ledger(round_: Round, applied: elo.AppliedRound, revision: int) -> None:
    """Add what a round came to to the ledger; call it in a transaction, once a revision."""
    blocks = {block.number: block.pk for block in round_.blocks.all()}
    BlockEntry.objects.bulk_create(
        BlockEntry(
            block_id=blocks[entry.block], bot_id=entry.bot, revision=revision, delta=entry.delta
        )
        for entry in applied.blocks
    )
    RoundEntry.objects.bulk_create(
        RoundEntry(
            round=round_,
            bot_id=entry.bot,
            revision=revision,
            rating_before=entry.before.rating,
            rating_after=entry.after.rating,
        )
        for entry in applied.bots
    )


def _write_standings(
    ladder: Ladder,
    rows: dict[int, Standing],
    applied: elo.AppliedRound,
    gains: Tallies,
    now: datetime,
) -> None:
    changed = []
    for entry in applied.bots:
        row = rows.get(entry.bot) or Standing(ladder=ladder, bot_id=entry.bot)
        row.rating = entry.after.rating
        row.blocks = entry.after.blocks
        row.version = entry.after.version
        for name, gain in gains.bots[entry.bot].items():
            setattr(row, name, getattr(row, name) + gain)
        row.active_at = now
        if row.hidden == Hidden.IDLE:
            row.hidden, row.hidden_at = SHOWN, None
        changed.append(row)
    Standing.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["ladder", "bot"],
        update_fields=[
            "rating",
            "blocks",
            "version",
            "matches",
            "pairs",
            "half_wins",
            "points",
            "active_at",
            "hidden",
            "hidden_at",
        ],
    )
