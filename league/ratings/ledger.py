"""Reading the ledger: which of its rows are in force, under the newest revision or an older one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q, QuerySet

from league.models import BlockEntry, Ladder, Match, Revision, RoundEntry


class Span(NamedTuple):
    """Rounds whose rows of one revision are in force.

    Attributes:
        first: number of the first round.
        last: of the last; None where there is no end.
        revision: its number.
    """

    first: int
    last: int | None
    revision: int


def spans(revisions: Iterable[tuple[int, int]]) -> list[Span]:
    """Return which revision is in force for which rounds, ascending.

    Args:
        revisions: number and first round of each after revision 1, ascending by number. Each is in
            force from its first round on, until a later one takes over.
    """
    found = [Span(1, None, 1)]
    for number, first in revisions:
        found = [span for span in found if span.first < first]
        if found:
            found[-1] = found[-1]._replace(last=first - 1)
        found.append(Span(first, None, number))
    return found


def spans_of(ladder: Ladder, revision: int | None = None) -> list[Span]:
    """Return which revision is in force for which rounds of a ladder.

    Costs a query where there was a correction, else none.

    Args:
        ladder: of the ledger.
        revision: as things stood under it; None: as they stand now.
    """
    until = ladder.revision if revision is None else revision
    if ladder.revision == 1 or until == 1:
        return spans([])
    rows = Revision.objects.filter(ladder=ladder, number__lte=until).order_by("number")
    return spans(rows.values_list("number", "from_round"))


def in_force(ladder: Ladder, revision: int | None = None, *, round_: str = "round") -> Q:
    """Return the condition for the ladder's rows of the ledger that are in force.

    Args:
        ladder: of the ledger.
        revision: as things stood under it; None: as they stand now.
        round_: how rows lead to their round: ``round``, or ``block__round``.
    """
    condition = Q()
    of_ladder = Q(**{f"{round_}__ladder": ladder})
    found = spans_of(ladder, revision)
    if len(found) == 1:
        return of_ladder & Q(revision=found[0].revision)
    for span in found:
        rounds = Q(revision=span.revision, **{f"{round_}__number__gte": span.first})
        if span.last is not None:
            rounds &= Q(**{f"{round_}__number__lte": span.last})
        condition |= rounds
    return of_ladder & condition


def revision_at(found: Sequence[Span], number: int) -> int:
    """Return under which revision the rows of a round stand that are in force, by the spans."""
    return next(span.revision for span in reversed(found) if span.first <= number)


def round_entries(ladder: Ladder, revision: int | None = None) -> QuerySet[RoundEntry]:
    """Return what each round did to each bot, as it is in force."""
    return RoundEntry.objects.filter(in_force(ladder, revision))


@dataclass(frozen=True, slots=True)
class Change:
    """What a block did to a bot's rating, and what it was made of.

    Attributes:
        entry: the row of the ledger, with its block.
        matches: of the block, in their order, with that block.
    """

    entry: BlockEntry
    matches: list[Match]


def add_changes(entries: Iterable[RoundEntry]) -> None:
    """Give rows of the ledger, a round's a bot, their ``changes``, block by block.

    Costs two queries, however many rows there are.
    """
    wanted = {(row.round_id, row.bot_id, row.revision): row for row in entries}
    for row in wanted.values():
        row.changes = []  # type: ignore[attr-defined]
    found = (
        BlockEntry.objects.filter(
            block__round__in={round_ for round_, _, _ in wanted},
            bot__in={bot for _, bot, _ in wanted},
        )
        .select_related("block", "block__void_mark")
        .order_by("block__number")
    )
    kept = [
        (row, entry)
        for entry in found
        if (row := wanted.get((entry.block.round_id, entry.bot_id, entry.revision)))
    ]
    matches: dict[int, list[Match]] = {}
    blocks = {entry.block_id: entry.block for _, entry in kept}
    for match in Match.objects.filter(block__in=blocks).defer("packed_record").order_by("number"):
        match.block = blocks[match.block_id or 0]
        matches.setdefault(match.block.pk, []).append(match)
    for row, entry in kept:
        row.changes.append(Change(entry, matches.get(entry.block_id, [])))  # type: ignore[attr-defined]
