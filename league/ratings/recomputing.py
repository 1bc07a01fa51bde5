"""Recomputing: fold all rounds from the records, and compare with what is stored."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import transaction

from engine.rating import elo
from league.models import BlockEntry, Ladder, Round, RoundEntry, Standing
from league.ratings.fold import DamagedError, Fold
from league.ratings.ledger import revision_at, spans_of
from league.ratings.tallies import Tallies

_TRIES = 3
_COUNTS = ("matches", "pairs", "half_wins", "points")


class Difference(NamedTuple):
    """What is stored and isn't what the matches give.

    Attributes:
        bot: its id.
        stored: the number stored; None where there is none.
        folded: what it should be.
        where: ``rating`` (milli-Elo), ``blocks``, ``version``, ``matches``, ``pairs``,
            ``half_wins`` or ``points`` of the standing; the place in the ledger, as ``round 3,
            after`` or ``round 3, block 1``, as the pages count; or what is stored of the bot's seat
            at a match, as ``match 7, place`` or ``match 7, score``.
    """

    bot: int
    stored: int | None
    folded: int | None
    where: str = "rating"


class Recomputed(NamedTuple):
    """What a recompute found.

    Attributes:
        differences: none, if all is well.
        up_to: number of the last round that it looked at, 0 if there was none.
        revision: of the ledger that it looked at.
        damage: why it could not go on, so that there may be more differences; "" if it could.
    """

    differences: list[Difference]
    up_to: int
    revision: int
    damage: str = ""


class OvertakenError(Exception):
    """Corrections came in between again and again, so that nothing can be said."""


def recompute(ladder: Ladder) -> list[Difference]:
    """Return where the stored ratings of a ladder differ from the fold: nowhere, if all is well.

    Raises:
        OvertakenError: see there.
        DamagedError: the records don't suffice to tell.
    """
    found = recompute_up_to(ladder)
    if found.damage:
        raise DamagedError(found.damage)
    return found.differences


def recompute_up_to(ladder: Ladder) -> Recomputed:
    """Compare standings and ledger, as they are now, with the fold; play may go on meanwhile.

    Raises:
        OvertakenError: see there.
    """
    for _ in range(_TRIES):
        with transaction.atomic():
            # Under the lock no round is applied: the standings are those after the last one.
            locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
            last = _last_applied(locked)
            stored = {row.bot_id: row for row in locked.standings.all()}
        differences: list[Difference] = []
        damage = ""
        try:
            differences.extend(_compare(locked, last, stored))  # keeps those before the damage
        except DamagedError as error:
            damage = str(error)
        if Ladder.objects.values_list("revision", flat=True).get(pk=ladder.pk) == locked.revision:
            return Recomputed(differences, last, locked.revision, damage)
    raise OvertakenError(f"{ladder.slug} was corrected {_TRIES} times meanwhile: try again")


def _last_applied(ladder: Ladder) -> int:
    applied = ladder.rounds.filter(applied_at__isnull=False).order_by("-number")
    return applied.values_list("number", flat=True).first() or 0


def _compare(ladder: Ladder, last: int, stored: dict[int, Standing]) -> Iterator[Difference]:
    fold, revisions = Fold(ladder), spans_of(ladder)
    for round_, applied in fold.go_on(up_to=last):
        yield from _compare_ledger(round_, applied, revision_at(revisions, round_.number))
    for wrong in fold.wrong:
        where = f"match {wrong.match.pk}, {wrong.name}"
        yield Difference(wrong.bot, wrong.stored, wrong.recorded, where)
    for bot in sorted(stored.keys() | fold.standings.keys()):
        row, folded = stored.get(bot), fold.standings.get(bot)
        if row is None or folded is None or row.rating != folded.rating:
            yield Difference(bot, row and row.rating, folded and folded.rating)
        if row is not None and folded is not None:
            yield from _compare_counts(row, folded, fold.sums)


def _compare_counts(row: Standing, folded: elo.RatingState, sums: Tallies) -> Iterator[Difference]:
    due = {"blocks": folded.blocks, "version": folded.version}
    due |= {name: sums.bots[row.bot_id][name] for name in _COUNTS}
    for name, number in due.items():
        if getattr(row, name) != number:
            yield Difference(row.bot_id, getattr(row, name), number, name)


def _compare_ledger(
    round_: Round, applied: elo.AppliedRound, revision: int
) -> Iterator[Difference]:
    where = f"round {round_.number}"
    due: dict[tuple[int, str], int] = {}
    for entry in applied.bots:
        due[entry.bot, f"{where}, before"] = entry.before.rating
        due[entry.bot, f"{where}, after"] = entry.after.rating
    for change in applied.blocks:
        due[change.bot, f"{where}, block {change.block + 1}"] = change.delta
    stored: dict[tuple[int, str], int] = {}
    entries = RoundEntry.objects.filter(round=round_, revision=revision)
    for bot, before, after in entries.values_list("bot", "rating_before", "rating_after"):
        stored[bot, f"{where}, before"], stored[bot, f"{where}, after"] = before, after
    changes = BlockEntry.objects.filter(block__round=round_, revision=revision)
    for bot, block, delta in changes.values_list("bot", "block__number", "delta"):
        stored[bot, f"{where}, block {block + 1}"] = delta
    for key in sorted(due.keys() | stored.keys()):
        if due.get(key) != stored.get(key):
            yield Difference(key[0], stored.get(key), due.get(key), key[1])
