"""Apply rounds to the ratings: a closed round changes all its bots at once, exactly once."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from engine.rating import elo
from league import durations
from league.models import Block, BlockEntry, Ladder, Round, RoundEntry, Standing
from league.models.built_once import built_once
from league.models.setting_aside import NOT_SET_ASIDE
from league.models.standings import SHOWN, Hidden
from league.ratings.hiding import hide_withdrawn
from league.ratings.ledger import applied_number
from league.ratings.match_results import SeatDifference, rewrite_wrong_copies, round_to_rate
from league.ratings.packing import write_packed
from league.ratings.totals import Totals, add_head_to_head, totals_of


def rounds_to_apply() -> list[int]:
    """Return the ids of closed rounds that are not applied, in the order in which they closed.

    A round is left out while it or its ladder is set aside. Rounds without a match come first.
    """
    return [round_id for (round_id,) in _closed_rounds()]


@built_once
def _closed_rounds() -> QuerySet[Round, tuple[int]]:
    playing = Block.objects.playing().filter(round=OuterRef("pk"))
    closed = Max("blocks__matches__finished_at")
    rounds = Round.objects.open().filter(NOT_SET_ASIDE, ~Exists(playing)).annotate(closed=closed)
    return rounds.order_by(F("closed").asc(nulls_first=True), "pk").values_list("pk")


def apply_round(round_id: int) -> bool:
    """Apply a closed round to the ratings of its ladder; return whether this call did.

    Safe to call any number of times, also in parallel: the ladder's lock admits one call, and a
    call that doesn't get it does nothing. A round waits until all its blocks are over, and for no
    other round. It gets the ladder's next applied number.
    """
    with transaction.atomic():
        ladder = Ladder.objects.lock_free(rounds=round_id)
        if ladder is None:
            return False
        round_ = Round.objects.get(pk=round_id)
        if round_.applied_at or round_.blocks.playing().exists():
            return False
        wrong: list[SeatDifference] = []
        finished = round_to_rate(round_, wrong=wrong)
        rewrite_wrong_copies(wrong)
        rows = {row.bot_id: row for row in ladder.standings.all()}
        before = {
            bot: elo.RatingState(row.rating, row.blocks, row.version) for bot, row in rows.items()
        }
        applied = elo.apply_round(before, finished)
        round_.applied_at = timezone.now()
        round_.applied_number = ladder.rounds.last_applied() + 1
        write_ledger(round_, applied, ladder.revision)
        write_packed(round_, finished)
        gains = totals_of(finished)
        _write_standings(ladder, rows, applied, gains, round_.applied_at)
        hide_withdrawn(ladder)
        add_head_to_head(ladder, gains)
        round_.save(update_fields=["applied_at", "applied_number"])
    kind = "tournament" if round_.tournament_id else "placement" if round_.placed_id else "ladder"
    durations.note("round", (round_.applied_at - round_.opened_at).total_seconds(), kind)
    return True


def write_ledger(round_: Round, applied: elo.AppliedRound, revision: int) -> None:
    """Add the rating changes of a round, which has its applied number, to the ledger.

    Call it in a transaction, once for each revision.
    """
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
            applied_number=applied_number(round_),
            rating_before=entry.before.rating,
            rating_after=entry.after.rating,
        )
        for entry in applied.bots
    )


def _write_standings(
    ladder: Ladder,
    rows: dict[int, Standing],
    applied: elo.AppliedRound,
    gains: Totals,
    now: datetime,
) -> None:
    changed = []
    for entry in applied.bots:
        row = rows.get(entry.bot) or Standing(
            ladder=ladder, bot_id=entry.bot, ranked_from=ladder.ranked_from
        )
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
