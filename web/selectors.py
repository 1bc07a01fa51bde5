"""What the pages show, each in a number of queries that does not grow with the data."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from engine.rating.elo import START
from league.competitions import takes_entries
from league.competitions.history import History as TournamentHistory
from league.models import (
    Block,
    Bot,
    BotSource,
    BotVersion,
    Ladder,
    Match,
    MatchSeat,
    Round,
    RoundEntry,
    Standing,
    Tournament,
    TournamentEntry,
)
from league.ratings.hiding import SHOWN
from league.ratings.ledger import round_entries
from league.ratings.standings import (
    add_ranks,
    add_trends,
    bots_in_order,
    find_bots,
    in_order,
    standings_in_order,
    standings_shown,
)

State = Tournament.State

_SEATING = Prefetch(
    "seating", queryset=MatchSeat.objects.select_related("bot").order_by("match", "seat")
)


def matches_shown() -> QuerySet[Match]:
    """Return matches as lists show them: with their bots and block, without their records.

    Those of comparisons are told on the comparison's page.
    """
    shown = Match.objects.filter(swap_block=None).defer("packed_record").select_related("block")
    return shown.prefetch_related(_SEATING)


def matches_playing(count: int) -> QuerySet[Match]:
    """Return some matches in play, first those that go on move by move, the newest first."""
    playing = Q(status=Match.Status.PLAYING)
    # Said apart, as each kind has an index of those that are not finished.
    found = matches_shown().filter((playing & Q(live=True)) | (playing & Q(live=False)))
    return found.order_by("-live", "-pk")[:count]


def ladders_with_top(count: int) -> list[Ladder]:
    """Return all ladders, each with its first bots as ``top``."""
    best = in_order(Standing.objects.all())[:count]
    ladders = list(
        Ladder.objects.prefetch_related(Prefetch("standings", queryset=best, to_attr="top"))
    )
    for ladder in ladders:
        if ladder.alarm:
            ladder.top = list(standings_in_order(ladder)[:count])  # type: ignore[attr-defined]
    return ladders


def tournaments_to_come() -> QuerySet[Tournament]:
    """Return tournaments that run or will, the nearest first, with ``entry_count``."""
    coming = Tournament.objects.filter(state__in=[State.RUNNING, State.ENTRIES_OPEN, "announced"])
    return _counted(coming).order_by("starts_at", "id")


def tournaments_past() -> QuerySet[Tournament]:
    """Return tournaments that are over or called off, the last first, with ``entry_count``."""
    past = Tournament.objects.filter(state__in=[State.FINISHED, State.CANCELLED])
    return _counted(past).order_by("-starts_at", "-id")


def standings_page(
    ladder: Ladder, wanted: str, number: str | None, size: int, *, hidden: bool = False
) -> tuple[Page[Any], list[Standing]]:
    """Return a page of a ladder's standings, and its rows with all that is shown of them.

    Which bots are on the page is asked first, so that only theirs are joined with the rest.

    Args:
        ladder: to show.
        wanted: text in the names of the bots to show; "" shows all.
        number: of the page, as the address has it.
        size: rows on a page.
        hidden: whether hidden bots are shown too, after all others.
    """
    if wanted:
        page = Paginator(find_bots(ladder, wanted, hidden=hidden), size).get_page(number)
        ranks = {found.bot: found.rank for found in page}
        rows = list(standings_in_order(ladder, hidden=hidden).filter(bot__in=ranks))
        for row in rows:
            row.rank = ranks[row.bot_id]  # type: ignore[attr-defined]
    else:
        page = Paginator(bots_in_order(ladder, hidden=hidden), size).get_page(number)
        rows = list(standings_in_order(ladder, hidden=hidden).filter(bot__in=list(page)))
        add_ranks(rows)
    add_trends(ladder, rows)
    add_results(rows)
    return page, rows


def add_results(rows: Iterable[Standing]) -> None:
    """Give standings their ``win_share`` and ``mean_points``, None before the first match."""
    for row in rows:
        row.win_share = row.half_wins / (2 * row.pairs) if row.pairs else None  # type: ignore[attr-defined]
        row.mean_points = row.points / row.matches if row.matches else None  # type: ignore[attr-defined]


def sum_of_ratings(ladder: Ladder) -> dict[str, int]:
    """Return how many ``bots`` are rated, the sum of their ``ratings``, and what is ``due``.

    Hidden ones are among them; how many these are is ``hidden``.
    """
    sums: dict[str, int] = standings_shown(ladder).aggregate(
        bots=Count("pk"),
        ratings=Sum("rating", default=0),
        hidden=Count("pk", filter=~Q(hidden=SHOWN)),
    )
    return sums | {"due": START * sums["bots"]}


def changes_of(standing: Standing, count: int) -> list[RoundEntry]:
    """Return the last changes of a bot's rating on a ladder, the latest first, with rounds.

    None after a ladder was frozen: they would not lead to what is shown.
    """
    rows = round_entries(standing.ladder).filter(bot=standing.bot_id)
    if standing.ladder.alarm:
        rows = rows.filter(round__number__lte=standing.ladder.frozen_round or 0)
    return list(rows.select_related("round").order_by("-round_id")[:count])


def add_block_counts(rounds: Sequence[Round]) -> None:
    """Give rounds ``block_count`` and ``blocks_done``, void ones included, in one query."""
    done = Q(state__in=[Block.State.FINISHED, Block.State.VOID])
    counted = (
        Block.objects.filter(round__in=rounds)
        .order_by()
        .values("round")
        .annotate(blocks=Count("pk"), over=Count("pk", filter=done))
        .values_list("round", "blocks", "over")
    )
    by_round = {round_: (blocks, over) for round_, blocks, over in counted}
    for round_ in rounds:
        round_.block_count, round_.blocks_done = by_round.get(round_.pk, (0, 0))  # type: ignore[attr-defined]


def results_of(bot: Bot, count: int) -> list[MatchSeat]:
    """Return a bot's seats at its last matches, each match with all of its bots."""
    seats = (
        MatchSeat.objects.filter(bot=bot, match__swap_block=None)
        .select_related("match__block")
        .defer("match__packed_record")
        .prefetch_related(Prefetch("match__seating", queryset=_SEATING.queryset))
        .order_by("-match_id")
    )
    return list(seats[:count])


def faults_of(bot: Bot, among: int) -> dict[str, int]:
    """Return the ``faults`` and ``forfeits`` in a bot's last ``matches`` that are finished."""
    last = (
        MatchSeat.objects.filter(bot=bot, score__isnull=False, match__swap_block=None)
        .order_by("-match_id")
        .values_list("faults", "forfeited")[:among]
    )
    seats = list(last)
    return {
        "matches": len(seats),
        "faults": sum(faults for faults, _ in seats),
        "forfeits": sum(forfeited for _, forfeited in seats),
    }


def blocks_shown(round_: Round) -> QuerySet[Block]:
    """Return a round's blocks in order, each with its bots and matches."""
    matches = Match.objects.defer("packed_record").prefetch_related(_SEATING).order_by("number")
    return (
        Block.objects.filter(round=round_)
        .prefetch_related(Prefetch("matches", queryset=matches))
        .order_by("number")
    )


def bots_of(user: User) -> QuerySet[Bot]:
    """Return a person's bots with their token and the ladders that they are on."""
    return user.bots.select_related("current").prefetch_related("tokens", "ladder_entries__ladder")


def versions_of(bot: Bot, count: int) -> list[BotVersion]:
    """Return the last versions of a bot, the newest first."""
    return list(bot.versions.order_by("-number")[:count])


def source_of(version: BotVersion) -> str | None:
    """Return the text of what was uploaded as a version; None of an archive, or where none was."""
    source = BotSource.objects.filter(version=version).first()
    if source is None or bytes(source.data).startswith(b"PK"):
        return None
    return bytes(source.data).decode("utf-8", "replace")


def bots_to_enter(user: Any, tournament: Tournament) -> list[Bot]:
    """Return a person's bots that could be entered for a tournament now."""
    if not user.is_authenticated or not takes_entries(tournament):
        return []
    return list(
        user.bots.filter(current__isnull=False).exclude(tournament_entries__tournament=tournament)
    )


def bots_to_withdraw(user: Any, history: TournamentHistory) -> list[Bot]:
    """Return a person's bots that could be taken out of a tournament now."""
    can = history.tournament.state in (State.ENTRIES_OPEN, State.RUNNING)
    if not user.is_authenticated or not can:
        return []
    return [
        entry.bot
        for entry in history.entries.values()
        if entry.bot.owner_id == user.pk and entry.state == TournamentEntry.State.ENTERED
    ]


def _counted(tournaments: QuerySet[Tournament]) -> QuerySet[Tournament]:
    return tournaments.select_related("ladder").annotate(entry_count=Count("entries"))
