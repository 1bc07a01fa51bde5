"""The archive: moves the packs of old rounds into files, and back.

A file is complete, on the disk and read back before the transaction that removes the packs commits.
So a crash leaves at most a file that no row names; the next run writes it again.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from time import monotonic
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet, Sum
from redis.exceptions import RedisError

from engine.packing import check
from league import archive_files
from league.archive_files import ArchiveError
from league.models import Block, Match, MatchSeat, Round, RoundArchive, Tournament
from league.visibility import may_see_seed

log = structlog.get_logger(__name__)

MAX_ROUNDS = 200
"""Rounds of one run; the next run goes on."""
MAX_SECONDS = 10.0
"""A run begins no round after this time."""
_MAX_FAULTS = 20
"""A run notes the first faults only."""
_MAX_FAILURES = 3
"""A run ends after so many files that can't be stored: the storage fails for all rounds."""
_BLOCKS = 50
"""Blocks read at a time."""
_MATCHES = 500
"""Matches whose packs one statement puts back."""
_RUN = "archive-run"
_RUN_KEPT_SECONDS = 30 * 86_400


class Run(NamedTuple):
    """The last run of the task.

    Attributes:
        at: when it ended.
        rounds: how many it archived.
        due: how many rounds that are old enough still waited at its end.
        faults: why rounds could not be archived, one line each.
    """

    at: datetime
    rounds: int
    due: int
    faults: list[str]


class Archived(NamedTuple):
    """How far the archive is.

    Attributes:
        rounds: in the archive.
        matches: of these rounds.
        size: bytes of the files.
        run: the last run; None if there was none since the broker lost its data.
    """

    rounds: int
    matches: int
    size: int
    run: Run | None


def due_rounds(now: datetime) -> QuerySet[Round]:
    """Return the rounds to archive, the oldest first; none if `ARCHIVE_DAYS` is 0."""
    if not settings.ARCHIVE_DAYS:
        return Round.objects.none()
    before = now - timedelta(days=settings.ARCHIVE_DAYS)
    archived = RoundArchive.objects.filter(round=OuterRef("pk"))
    # The conditions of `may_see_seed`.
    is_finished = Q(tournament__state=Tournament.State.FINISHED)
    is_reopened = Q(tournament__reopened_at__isnull=False)
    has_own_seed = ~Q(tournament__commitment=F("commitment"))
    still_open = Round.objects.open().filter(tournament=OuterRef("tournament"))
    is_cancelled = Q(~Exists(still_open), tournament__state=Tournament.State.CANCELLED)
    is_public = Q(tournament=None) | is_finished | is_cancelled | is_reopened | has_own_seed
    due = Round.objects.filter(~Exists(archived), is_public, applied_at__lt=before)
    return due.order_by("applied_at", "pk")


def archive_due(now: datetime, *, max_rounds: int | None = MAX_ROUNDS) -> Run:
    """Archive rounds that are old enough, and note the run for operators.

    A round that can't be archived stays as it is, and does not stop the others.

    Args:
        now: time of the run.
        max_rounds: the most rounds of this run, which then also ends after `MAX_SECONDS`; None:
            archive all.
    """
    ends = monotonic() + MAX_SECONDS
    done, failures, faults = 0, 0, []
    for round_id in due_rounds(now).values_list("pk", flat=True).iterator():
        if max_rounds is not None and (done == max_rounds or monotonic() > ends):
            break
        try:
            done += archive_round(round_id) is not None
        except ValueError as error:  # an ArchiveError, or a pack that is damaged
            log.error("a round can't be archived", round_id=round_id, error=str(error))
            faults.append(str(error))
            failures += isinstance(error, ArchiveError)
            if failures == _MAX_FAILURES:
                break
    run = Run(now, done, due_rounds(now).count(), faults[:_MAX_FAULTS])
    try:
        cache.set(_RUN, run._asdict(), _RUN_KEPT_SECONDS)
    except RedisError:
        log.warning("the run of the archive was not noted: the broker can't be reached")
    if done:
        log.info("rounds were archived", rounds=done)
    return run


def archive_round(round_id: int) -> RoundArchive | None:
    """Move the packs of a round into a file; return what was stored.

    The answer is None if the round is archived already, or is being archived.

    Raises:
        ArchiveError: the file can't be written. Nothing is changed.
        ValueError: the round is not over, its seed is secret, or a pack is damaged. Nothing is
            changed.
    """
    with transaction.atomic():
        rounds = Round.objects.select_for_update(of=("self",), skip_locked=True, no_key=True)
        round_ = rounds.select_related("ladder", "tournament").filter(pk=round_id).first()
        if round_ is None or RoundArchive.objects.filter(round=round_id).exists():
            return None
        of_round = Match.objects.filter(block__round=round_id)
        if round_.applied_at is None or not may_see_seed(round_) or of_round.unfinished().exists():
            raise ValueError(f"{round_} is not over, or its seed is secret")
        locked = of_round.finished().order_by("pk").select_for_update(of=("self",), no_key=True)
        packs = {pk: bytes(pack or b"") for pk, pack in locked.values_list("pk", "packed_record")}
        data = archive_files.encode(_as_json(round_), _blocks(round_))
        name = archive_files.write(archive_files.name_of(round_id, data), data)
        if archive_files.packs_in(name, data) != packs:
            raise ArchiveError(f"the archive file {name} has other records than the database")
        archive = RoundArchive.objects.create(
            round=round_,
            file=name,
            sha256=sha256(data).hexdigest(),
            size=len(data),
            matches=len(packs),
        )
        Match.objects.filter(pk__in=packs).update(packed_record=None, archived=True)
    return archive


def unarchive_round(round_id: int) -> int:
    """Put the packs of a round back into the rows of its matches; return the number of matches.

    The file stays: an older backup of the database may name it.

    Raises:
        ArchiveError: the file is missing or damaged. Nothing is changed.
        RoundArchive.DoesNotExist: the round is not archived.
    """
    with transaction.atomic():
        Round.objects.select_for_update(of=("self",), no_key=True).get(pk=round_id)
        archive = RoundArchive.objects.get(round=round_id)
        wanted = list(
            Match.objects.filter(block__round=round_id, archived=True)
            .order_by("pk")
            .select_for_update(of=("self",), no_key=True)
        )
        for match in wanted:
            match.packed_record, match.archived = archive.pack_of(match.pk), False
        Match.objects.bulk_update(wanted, ["packed_record", "archived"], batch_size=_MATCHES)
        archive.delete()
    return len(wanted)


def archive_state() -> Archived:
    """Return how far the archive is."""
    rows = RoundArchive.objects.all()
    sums = rows.aggregate(matches=Sum("matches"), size=Sum("size"))
    return Archived(
        rounds=rows.count(),
        matches=sums["matches"] or 0,
        size=sums["size"] or 0,
        run=_last_run(),
    )


def _last_run() -> Run | None:
    try:
        noted = cache.get(_RUN)
    except RedisError:
        return None
    return None if noted is None else Run(**noted)


def _as_json(round_: Round) -> dict[str, Any]:
    return {
        "id": round_.pk,
        "ladder": round_.ladder.slug,
        "round": round_.number,
        "applied_number": round_.applied_number,
        "tournament": round_.tournament_id,
        "commitment": round_.commitment,
        "seed": bytes(round_.seed).hex(),
    }


def _blocks(round_: Round) -> Iterator[dict[str, Any]]:
    seating = MatchSeat.objects.select_related("bot", "version").order_by("match_id", "seat")
    blocks = round_.blocks.order_by("number").prefetch_related(
        Prefetch("matches", Match.objects.finished().order_by("number")),
        Prefetch("matches__seating", seating),
    )
    for block in blocks.iterator(chunk_size=_BLOCKS):
        block.round = round_
        yield {
            "id": block.pk,
            "block": block.number,
            "duplicate": block.duplicate,
            "rated": block.rated,
            "void": block.state == Block.State.VOID,
            "matches": [_match(match) for match in block.matches.all()],
        }


def _match(match: Match) -> dict[str, Any]:
    """Return what the file has of a match.

    Raises:
        ValueError: its pack is damaged.
    """
    pack, deal_seed = bytes(match.packed_record or b""), match.deal_seed
    try:
        check(pack, game=match.game, rules=match.rules, seats=match.seats, deal_seed=deal_seed)
    except ValueError as error:
        raise ValueError(f"the record of match {match.pk} can't be read: {error}") from error
    return {
        "id": match.pk,
        "match": match.number,
        "game": match.game,
        "rules": match.rules,
        "seats": [
            {
                "bot": seat.bot.name,
                "version": seat.version.number,
                "score": seat.score,
                "place": seat.place,
                "forfeited": seat.forfeited,
                "faults": seat.faults,
            }
            for seat in match.seating.all()
        ],
        "finished_at": match.finished_at and match.finished_at.isoformat(),
        "deal_seed": deal_seed.hex(),
        "pack": pack,
    }
