"""Rounds and their blocks for pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Prefetch, Q, QuerySet

from league.models import Block, BlockEntry, Match, Round
from web.selectors.matches import SEATING


class Progress(NamedTuple):
    """How far a round is.

    Attributes:
        blocks: number of its blocks.
        done: number of blocks that are finished or void.
    """

    blocks: int
    done: int


def progress_of(rounds: Iterable[Round]) -> Mapping[int, Progress]:
    """Return the progress of rounds by their id; costs one query."""
    rounds = list(rounds)
    done = Q(state__in=[Block.State.FINISHED, Block.State.VOID])
    counted = (
        Block.objects.filter(round__in=rounds)
        .order_by()
        .values_list("round")
        .annotate(blocks=Count("pk"), done=Count("pk", filter=done))
    )
    counts = {pk: Progress(blocks, over) for pk, blocks, over in counted}
    return {round_.pk: counts.get(round_.pk, Progress(0, 0)) for round_ in rounds}


def blocks_of(round_: Round) -> QuerySet[Block]:
    """Return a round's blocks in order, each with its bots and matches."""
    matches = Match.objects.defer("packed_record").prefetch_related(SEATING).order_by("number")
    return (
        Block.objects.filter(round=round_)
        .select_related("round", "replaces__round")
        .prefetch_related(Prefetch("matches", queryset=matches))
        .order_by("number")
    )


def changes_by_block(
    blocks: Sequence[Block], revision: int
) -> list[tuple[Block, list[BlockEntry]]]:
    """Return each block with the changes of ratings that it caused in a revision."""
    changes: dict[int, list[BlockEntry]] = {block.pk: [] for block in blocks}
    entries = BlockEntry.objects.filter(block__in=blocks, revision=revision)
    for entry in entries.select_related("bot").order_by("-delta", "bot__name"):
        changes[entry.block_id].append(entry)
    return [(block, changes[block.pk]) for block in blocks]
