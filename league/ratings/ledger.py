"""Read the ledger: the rows that count under the newest revision, or under an older one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import OuterRef, Q, QuerySet, Subquery

from league.models import BlockEntry, Ladder, Match, Revision, Round, RoundEntry


class Span(NamedTuple):
    """Rounds, applied one after another, whose rows count under one revision.

    Attributes:
        first: applied number of the first round.
        last: applied number of the last round; None if there is no end.
        revision: number of the revision.
    """

    first: int
    last: int | None
    revision: int


def spans(revisions: Iterable[tuple[int, int]]) -> list[Span]:
    """Return the spans of rounds under each revision, ascending.

    Args:
        revisions: number, and applied number of the first round, of each revision after the first,
            ascending by number. A revision counts from its first round on, until a later revision
            takes over.
    """
    found = [Span(1, None, 1)]
    for number, first in revisions:
        found = [span for span in found if span.first < first]
        if found:
            found[-1] = found[-1]._replace(last=first - 1)
        found.append(Span(first, None, number))
    return found


def spans_of(ladder: Ladder, revision: int | None = None) -> list[Span]:
    """Return the spans of a ladder's rounds under each revision.

    Costs one query if there was a correction, else none.

    Args:
        ladder: of the ledger.
        revision: the newest revision to take into account; None: the ladder's newest.
    """
    newest = ladder.revision if revision is None else revision
    if newest == 1:
        return spans([])
    rows = Revision.objects.filter(ladder=ladder, number__lte=newest).order_by("number")
    return spans(rows.values_list("number", "from_applied_number"))


def counting_rows(ladder: Ladder, revision: int | None = None, *, round_: str = "round") -> Q:
    """Return the condition for the ladder's ledger rows that count under a revision.

    Args:
        ladder: of the ledger.
        revision: a number; None: the newest.
        round_: path from a row to its round: ``round`` or ``block__round``.
    """
    condition = Q()
    of_ladder = Q(**{f"{round_}__ladder": ladder})
    found = spans_of(ladder, revision)
    if len(found) == 1:
        return of_ladder & Q(revision=found[0].revision)
    for span in found:
        rounds = Q(revision=span.revision, **{f"{round_}__applied_number__gte": span.first})
        if span.last is not None:
            rounds &= Q(**{f"{round_}__applied_number__lte": span.last})
        condition |= rounds
    return of_ladder & condition


def applied_number(round_: Round) -> int:
    """Return the applied number of a round.

    Raises:
        ValueError: the round is not applied.
    """
    if round_.applied_number is None:
        raise ValueError(f"{round_} is not applied")
    return round_.applied_number


def revision_at(found: Sequence[Span], number: int) -> int:
    """Return the revision under which the rows of a round count, by its applied number."""
    return next(span.revision for span in reversed(found) if span.first <= number)


def revision_of(round_: Round, ladder: Ladder, revision: int | None = None) -> int:
    """Return the revision under which the rows of a round of the ladder count.

    Args:
        round_: the round; if it is not applied, its rows will count under the newest revision.
        ladder: of the round.
        revision: the newest revision to take into account; None: the ladder's newest.
    """
    if round_.applied_number is None:
        return ladder.revision if revision is None else revision
    return revision_at(spans_of(ladder, revision), round_.applied_number)


def revisions_of(ladder: Ladder) -> QuerySet[Revision]:
    """Return the corrections of a ladder, ascending, each with ``from_round``.

    This is the number of the first round that was computed again.
    """
    first = Round.objects.filter(
        ladder=OuterRef("ladder"), applied_number=OuterRef("from_applied_number")
    )
    numbered = ladder.revisions.annotate(from_round=Subquery(first.values("number")))
    return numbered.order_by("number")


def round_entries(ladder: Ladder, revision: int | None = None) -> QuerySet[RoundEntry]:
    """Return the rating changes of each round and bot that count under a revision."""
    return RoundEntry.objects.filter(counting_rows(ladder, revision))


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a bot's rating by a block, with the block's matches.

    Attributes:
        entry: the row of the ledger, with its block.
        matches: of the block, in their order, with that block.
    """

    entry: BlockEntry
    matches: list[Match]


@dataclass(frozen=True, slots=True)
class RatingChange:
    """The change of a bot's rating by a round, block by block.

    Attributes:
        entry: the row of the ledger.
        changes: of the round's blocks with the bot; their deltas add up to the round's change.
    """

    entry: RoundEntry
    changes: list[Change]


def rating_changes(entries: Iterable[RoundEntry]) -> list[RatingChange]:
    """Return rows of the ledger, one for each round and bot, with their changes block by block.

    Costs two queries, however many rows there are.
    """
    wanted = {(row.round_id, row.bot_id, row.revision): RatingChange(row, []) for row in entries}
    found = (
        BlockEntry.objects.filter(
            block__round__in={round_ for round_, _, _ in wanted},
            bot__in={bot for _, bot, _ in wanted},
        )
        .select_related("block__round")
        .order_by("block__number")
    )
    kept = [
        (row, entry)
        for entry in found
        if (row := wanted.get((entry.block.round_id, entry.bot_id, entry.revision))) is not None
    ]
    matches: dict[int, list[Match]] = {}
    blocks = {entry.block_id: entry.block for _, entry in kept}
    for match in Match.objects.filter(block__in=blocks).defer("packed_record").order_by("number"):
        match.block = blocks[match.block_id or 0]
        matches.setdefault(match.block.pk, []).append(match)
    for row, entry in kept:
        row.changes.append(Change(entry, matches.get(entry.block_id, [])))
    return list(wanted.values())
