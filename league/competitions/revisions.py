"""Revisions of tables and tournaments: texts that change whenever their pages would.

A page contains the revision that it shows, and the gateway sends each new one
(`api.play.revisions`). A revision is a hash, so it shows nothing that the page would not.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from hashlib import blake2b
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum

from league.models import Block, Match, PlayerTable, Round, SeatedPlayer, Tournament
from league.models.players import WAITING_ROOM
from league.models.tournaments import TournamentEntry


def table_revisions(codes: Collection[str], now: datetime) -> dict[str, str]:
    """Return the revisions of the waiting rooms of tables by code; costs two queries.

    A revision changes if somebody joins or leaves, if the match starts, and when the table closes.
    Codes without a table are left out.
    """
    people: dict[str, list[Any]] = defaultdict(list)
    seated = SeatedPlayer.objects.filter(table__code__in=codes).order_by("pk")
    for code, player in seated.values_list("table__code", "pk"):
        people[code].append(player)
    tables = PlayerTable.objects.filter(code__in=codes).order_by("pk", "match")
    rows = tables.values_list("code", "created_at", "match")
    return {
        code: _hashed(people[code], match, now - created_at > WAITING_ROOM)
        for code, created_at, match in rows
    }


def tournament_revisions(ids: Collection[int]) -> dict[int, str]:
    """Return the revisions of tournaments by id; costs five queries.

    A revision changes with the tournament's state and settings, its entries, rounds and blocks, and
    with the matches and moves of open blocks. Ids without a tournament are left out.
    """
    entries = TournamentEntry.objects.filter(tournament__in=ids)
    rounds = Round.objects.filter(tournament__in=ids)
    blocks = Block.objects.filter(round__tournament__in=ids)
    matches = Match.objects.filter(block__round__tournament__in=ids).filter(
        block__state=Block.State.PLAYING
    )
    counts = {"count": Count("pk"), "newest": Max("pk")}
    superseded = Count("pk", filter=Q(superseded_by__isnull=False))
    queries: list[QuerySet[Any, Any]] = [
        entries.values_list("tournament", "state").annotate(**counts),
        rounds.values_list("tournament").annotate(
            **counts, applied=Count("applied_at"), superseded=superseded
        ),
        blocks.values_list("round__tournament", "state").annotate(**counts),
        matches.values_list("block__round__tournament", "status").annotate(
            **counts, moves=Sum("plies")
        ),
    ]
    parts: dict[int, list[Any]] = defaultdict(list)
    for at, query in enumerate(queries):
        for pk, *numbers in sorted(query.order_by()):
            parts[pk].append((at, numbers))
    found = Tournament.objects.filter(pk__in=ids)
    return {
        one.pk: _hashed(
            one.state, one.starts_at, one.changed_at, one.note, one.cancel_reason, parts[one.pk]
        )
        for one in found
    }


def _hashed(*parts: Any) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
