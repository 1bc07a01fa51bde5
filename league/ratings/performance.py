"""Performance: fit the bots of a ladder after its rounds, apart from the ratings.

A fit reads the packed pair results of the rounds and writes floats beside the ratings. If a fit
fails, the ratings stay as they are.
"""

import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from django.db import connection, transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from engine.rating.results import win_share
from league.models import Fit, Ladder, Performance, Round, Standing
from league.models.built_once import built_once
from league.models.standings import ERROR_FROM
from league.ratings.packing import read_packed

if TYPE_CHECKING:
    from engine.rating.performance import Performance as Fitted
    from league.ratings.performance_data import VersionTotals

log = structlog.get_logger(__name__)

TRY_AGAIN_AFTER = timedelta(minutes=2)


def take_fits(*, rest: float = 0) -> list[int]:
    """Return the ids of rounds to fit, the last applied round of each ladder, and note the try.

    A fit that is not finished after `TRY_AGAIN_AFTER` is returned again. If a later round is
    applied before a round is fitted, the earlier round gets no fit.

    Args:
        rest: skip a ladder during a fit, and then for so many times as long as the fit took.
            Rounds may follow each other faster than they are fitted.
    """
    now = timezone.now()
    latest_ids = [round_id for (round_id,) in _last_applied_rounds() if round_id]
    # A version that has become current since the last fit has no numbers yet.
    waiting = Standing.objects.filter(awaits_fit=True).values("ladder")
    again = Fit.objects.finished().filter(round__in=latest_ids, round__ladder__in=waiting)
    # A fit that only new versions ask for rests too: owners may change versions at any time.
    if rested := [fit.pk for fit in again if not _is_resting(fit, rest, now)]:
        Fit.objects.filter(pk__in=rested).delete()
    unfitted = Q(fit=None) | Q(fit__finished_at=None, fit__tried_at__lt=now - TRY_AGAIN_AFTER)
    taken = []
    for round_id, ladder_id in Round.objects.filter(unfitted, pk__in=latest_ids).values_list(
        "pk", "ladder"
    ):
        if rest and _rests(ladder_id, round_id, rest, now):
            continue
        Fit.objects.get_or_create(round_id=round_id)
        free = Q(tried_at=None) | Q(tried_at__lt=now - TRY_AGAIN_AFTER)
        if Fit.objects.filter(free, round=round_id, finished_at=None).update(tried_at=now):
            taken.append(round_id)
    return taken


@built_once
def _last_applied_rounds() -> QuerySet[Ladder, tuple[Any, ...]]:
    """Return the last applied round of each ladder, null for a ladder without one."""
    latest = Round.objects.applied().filter(ladder=OuterRef("pk")).order_by("-applied_number")
    return Ladder.objects.order_by().values_list(Subquery(latest.values("pk")[:1]))


def _rests(ladder_id: int, round_id: int, rest: float, now: datetime) -> bool:
    """Return whether the last fit of another round still runs, or its rest is not over."""
    others = Fit.objects.filter(round__ladder=ladder_id).exclude(round=round_id)
    last = others.order_by("-round__applied_number").first()
    return last is not None and _is_resting(last, rest, now)


def _is_resting(fit: Fit, rest: float, now: datetime) -> bool:
    """Return whether a fit still runs, or its rest is not over."""
    if fit.tried_at is None:
        return False
    if fit.finished_at is None:
        return fit.tried_at > now - TRY_AGAIN_AFTER
    return now < fit.finished_at + rest * (fit.finished_at - fit.tried_at)


def fit_round(round_id: int) -> bool:
    """Fit all pair results up to a round and store the numbers; return whether this call did.

    Safe to call any number of times, also in parallel. Only the writing holds the ladder's lock,
    for some tens of milliseconds; for 10 000 bots it takes seconds. The call does nothing if the
    round is not applied or is fitted already, and stores nothing if its ladder is corrected in the
    meantime; then it is fitted again.
    """
    round_ = Round.objects.select_related("ladder").get(pk=round_id)
    if round_.applied_number is None or Fit.objects.finished().filter(round=round_).exists():
        return False
    # Imported here, because web processes run without NumPy.
    from league.ratings.performance_data import PerformanceData

    began = time.perf_counter()
    ladder, number = round_.ladder, round_.applied_number
    results = PerformanceData(read_packed(ladder, up_to=number), _current_versions(ladder))
    fitted = results.fit(ladder.anchor_id)
    totals = results.totals(fitted.bots)
    with_rank = _bots_with_rank(ladder)
    ranked = _rank(fitted, with_rank, ladder.ranked_from)
    took = time.perf_counter() - began
    with transaction.atomic():
        locked = Ladder.objects.select_for_update().get(pk=ladder.pk)
        if locked.revision != ladder.revision:
            return False  # corrected in the meantime: these results no longer count
        fit, _ = Fit.objects.select_for_update().get_or_create(round=round_)
        if fit.finished_at is not None:
            return False
        earlier = Fit.objects.finished().filter(round__ladder=ladder)
        numbers = earlier.order_by("-round__applied_number")
        last = numbers.values_list("round__applied_number", flat=True).first()
        now_with_rank = _bots_with_rank(locked)
        if (now_with_rank, locked.ranked_from) != (with_rank, ladder.ranked_from):
            ranked = _rank(fitted, now_with_rank, locked.ranked_from)
        if last is None or last < number:
            _write_standings(ladder, fitted, ranked, results.current)
        rounds = ladder.rounds.filter(applied_number__gt=last or 0, applied_number__lte=number)
        since = set(rounds.values_list("pk", flat=True))
        played = [bot for bot in fitted.bots if results.rounds[bot] in since]
        _write_rows(round_, fitted, ranked, {bot: totals[bot] for bot in played})
        fit.finished_at = timezone.now()
        fit.save(update_fields=["finished_at"])
    log.info(
        "performance is fitted",
        round=str(round_),
        bots=len(fitted.bots),
        blocks=results.blocks,
        seconds=round(took, 2),
    )
    return True


def _current_versions(ladder: Ladder) -> dict[int, int]:
    """Return the number of the current version by bot, of the rated bots of a ladder."""
    rows = ladder.standings.filter(bot__current__isnull=False)
    return dict(rows.values_list("bot", "bot__current__number"))


class _Ranked(NamedTuple):
    """What only bots with a rank have: the rank band, and the chance of being the best of them."""

    band: int | None
    best_chance: float | None


_UNRANKED = _Ranked(None, None)


def _bots_with_rank(ladder: Ladder) -> list[int]:
    """Return the ids of the bots that have a rank if the fit has enough blocks of them.

    Provisional bots have none: a first bot with a large error would draw all others into its band.
    Hidden bots have none, because the best bot of a band defines it.
    """
    return list(ladder.standings.shown().order_by("bot").values_list("bot", flat=True))


def _rank(fitted: "Fitted", with_rank: Sequence[int], ranked_from: int) -> dict[int, _Ranked]:
    """Return the rank band and the chance of being the best of each bot that has a rank."""
    # Imported here, because web processes run without NumPy.
    import numpy as np

    from engine.rating.best_chance import best_chances
    from engine.rating.covariance import PartOfCovariance
    from engine.rating.rank_bands import rank_bands

    kept = np.isin(np.array(fitted.bots, np.int64), np.array(with_rank, np.int64))
    blocks = np.array(fitted.blocks, np.int64)
    kept &= blocks >= ranked_from
    bots = [bot for bot, keep in zip(fitted.bots, kept.tolist(), strict=True) if keep]
    covariance = PartOfCovariance(fitted.covariance, np.flatnonzero(kept))
    bands = rank_bands(fitted.elo[kept], covariance, blocks[kept])
    chances = best_chances(fitted.elo[kept], covariance).tolist()
    return {
        bot: _Ranked(band, None if math.isnan(chance) else chance)
        for bot, band, chance in zip(bots, bands, chances, strict=True)
    }


_UPDATE = """
UPDATE league_standing AS standing
SET performance = fitted.elo, performance_error = fitted.error, band = fitted.band,
    best_chance = fitted.best_chance, performance_blocks = fitted.blocks,
    fitted_version = fitted.version, awaits_fit = false
FROM unnest(%s::bigint[], %s::int[], %s::float8[], %s::float8[], %s::int[], %s::float8[], %s::int[])
    AS fitted (bot, version, elo, error, band, best_chance, blocks)
WHERE standing.ladder_id = %s AND standing.bot_id = fitted.bot
    AND (NOT standing.awaits_fit OR standing.fitted_version = fitted.version)
"""


def _write_standings(
    ladder: Ladder, fitted: "Fitted", ranked: Mapping[int, _Ranked], versions: Mapping[int, int]
) -> None:
    """Store the fit on the standings: one statement, however many bots there are.

    If a bot has got another version since the fit began, its standing stays as it is.

    Args:
        ladder: of the standings.
        fitted: the fit.
        ranked: what the bots with a rank have, by bot.
        versions: the current version of each bot that the fit could count. A bot without a result
            of this version has no performance and 0 blocks.
    """
    others = ladder.standings.exclude(fitted_version=None, awaits_fit=False)
    others.exclude(bot__in=list(versions)).update(
        performance=None,
        performance_error=None,
        band=None,
        best_chance=None,
        performance_blocks=0,
        fitted_version=None,
        awaits_fit=False,
    )
    unplayed = sorted(versions.keys() - set(fitted.bots))
    nothing = [None] * len(unplayed)
    bots = [*fitted.bots, *unplayed]
    columns: list[Any] = [
        bots,
        [versions[bot] for bot in bots],
        [*fitted.elo.tolist(), *nothing],
        [*_errors(fitted), *nothing],
        [ranked.get(bot, _UNRANKED).band for bot in bots],
        [ranked.get(bot, _UNRANKED).best_chance for bot in bots],
        [*fitted.blocks, *[0] * len(unplayed)],
    ]
    with connection.cursor() as cursor:
        cursor.execute(_UPDATE, [*columns, ladder.pk])


def _write_rows(
    round_: Round,
    fitted: "Fitted",
    ranked: Mapping[int, _Ranked],
    totals: Mapping[int, "VersionTotals"],
) -> None:
    """Store a row for each bot with totals: those that played since the last fit."""
    at = {bot: i for i, bot in enumerate(fitted.bots) if bot in totals}
    errors = _errors(fitted)
    Performance.objects.bulk_create(
        [
            Performance(
                round=round_,
                bot_id=bot,
                elo=float(fitted.elo[i]),
                error=errors[i],
                band=ranked.get(bot, _UNRANKED).band,
                best_chance=ranked.get(bot, _UNRANKED).best_chance,
                blocks=fitted.blocks[i],
                matches=totals[bot].matches,
                win_share=win_share(totals[bot].halves, totals[bot].pairs),
                mean_points=totals[bot].points / totals[bot].matches,
            )
            for bot, i in at.items()
        ],
        update_conflicts=True,
        unique_fields=["round", "bot"],
        update_fields=[
            "elo",
            "error",
            "band",
            "best_chance",
            "blocks",
            "matches",
            "win_share",
            "mean_points",
        ],
    )


def _errors(fitted: "Fitted") -> list[float | None]:
    """Return the standard error of each bot; None if it is infinite or has too few blocks."""
    errors = zip(fitted.errors.tolist(), fitted.blocks, strict=True)
    return [
        error if blocks >= ERROR_FROM and error < float("inf") else None for error, blocks in errors
    ]
