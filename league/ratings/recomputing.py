"""Recompute a ladder: fold all rounds from the records, and compare with the stored numbers."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import transaction

from engine.rating import elo
from league.models import BlockEntry, Ladder, Round, RoundEntry, Standing
from league.ratings.fold import DamagedError, Fold
from league.ratings.ledger import applied_number, revision_at, spans_of
from league.ratings.totals import Totals

_TRIES = 3
_COUNTS = ("matches", "pairs", "half_wins", "points")


class Difference(NamedTuple):
    """A stored number that differs from the fold of the records.

    Attributes:
        bot: its id.
        stored: the stored number; None if there is none.
        folded: the right number; None if there should be none.
        where: ``rating`` (milli-Elo), ``blocks``, ``version``, ``matches``, ``pairs``,
            ``half_wins`` or ``points`` of the standing; or a row of the ledger, as ``round 3,
            after`` or ``round 3, block 1``; or a number beside the
            bot's seat in a match, as ``match 7, place``.
    """

    bot: int
    stored: int | None
    folded: int | None
    where: str = "rating"


class Recomputed(NamedTuple):
    """The findings of a recompute.

    Attributes:
        differences: empty if all is well.
        up_to: number of applied rounds that it compared.
        revision: the ledger's revision that it compared.
        damage: why it stopped early, so that there may be more differences; "" if it did not.
    """

    differences: list[Difference]
    up_to: int
    revision: int
    damage: str = ""


class OvertakenError(Exception):
    """Each try was overtaken by a correction, so there is no finding."""


def recompute(ladder: Ladder) -> list[Difference]:
    """Return the stored numbers of a ladder that differ from the fold; empty if all is well.

    Raises:
        OvertakenError: see there.
        DamagedError: a record is missing or can't be read.
    """
    found = recompute_up_to(ladder)
    if found.damage:
        raise DamagedError(found.damage)
    return found.differences


def recompute_up_to(ladder: Ladder) -> Recomputed:
    """Compare standings and ledger, as they are now, with the fold; rounds may go on.

    Raises:
        OvertakenError: each try was overtaken by a correction.
    """
    for _ in range(_TRIES):
        with transaction.atomic():
            # Under the lock no round is applied, so standings and last round belong together.
            locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
            last = locked.rounds.last_applied()
            stored = {row.bot_id: row for row in locked.standings.all()}
        differences: list[Difference] = []
        damage = ""
        try:
            differences.extend(
                _compare(locked, last, stored)
            )  # keeps differences before the damage
        except DamagedError as error:
            damage = str(error)
        if Ladder.objects.values_list("revision", flat=True).get(pk=ladder.pk) == locked.revision:
            return Recomputed(differences, last, locked.revision, damage)
    raise OvertakenError(f"{ladder.slug} was corrected {_TRIES} times in the meantime: try again")


def _compare(ladder: Ladder, last: int, stored: dict[int, Standing]) -> Iterator[Difference]:
    fold, revisions = Fold(ladder), spans_of(ladder)
    for round_, _, applied in fold.go_on(up_to=last):
        yield from _compare_ledger(round_, applied, revision_at(revisions, applied_number(round_)))
    for wrong in fold.wrong:
        where = f"match {wrong.match.pk}, {wrong.name}"
        yield Difference(wrong.bot, wrong.stored, wrong.recorded, where)
    for bot in sorted(stored.keys() | fold.standings.keys()):
        row, folded = stored.get(bot), fold.standings.get(bot)
        if row is None or folded is None or row.rating != folded.rating:
            yield Difference(bot, row.rating if row else None, folded.rating if folded else None)
        if row is not None and folded is not None:
            yield from _compare_counts(row, folded, fold.sums)


def _compare_counts(row: Standing, folded: elo.RatingState, sums: Totals) -> Iterator[Difference]:
    right = {"blocks": folded.blocks, "version": folded.version}
    right |= {name: sums.bots[row.bot_id][name] for name in _COUNTS}
    for name, number in right.items():
        if getattr(row, name) != number:
            yield Difference(row.bot_id, getattr(row, name), number, name)


def _compare_ledger(
    round_: Round, applied: elo.AppliedRound, revision: int
) -> Iterator[Difference]:
    where, place = f"round {round_.number}", applied_number(round_)
    right: dict[tuple[int, str], int] = {}
    for entry in applied.bots:
        right[entry.bot, f"{where}, applied number"] = place
        right[entry.bot, f"{where}, before"] = entry.before.rating
        right[entry.bot, f"{where}, after"] = entry.after.rating
    for change in applied.blocks:
        right[change.bot, f"{where}, block {change.block}"] = change.delta
    stored: dict[tuple[int, str], int] = {}
    entries = RoundEntry.objects.filter(round=round_, revision=revision)
    for bot, at, before, after in entries.values_list(
        "bot", "applied_number", "rating_before", "rating_after"
    ):
        stored[bot, f"{where}, applied number"] = at
        stored[bot, f"{where}, before"], stored[bot, f"{where}, after"] = before, after
    changes = BlockEntry.objects.filter(block__round=round_, revision=revision)
    for bot, block, delta in changes.values_list("bot", "block__number", "delta"):
        stored[bot, f"{where}, block {block}"] = delta
    for key in sorted(right.keys() | stored.keys()):
        if right.get(key) != stored.get(key):
            yield Difference(key[0], stored.get(key), right.get(key), key[1])
