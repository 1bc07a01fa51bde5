"""The life of a tournament: entries open, it starts, rounds follow on, the result stands."""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from engine.pairing import NextRound, has_too_few_entrants, next_round, rounds_opened
from engine.rating import elo
from league.competitions.history import History, history_of
from league.competitions.rounds import open_round
from league.models import Bot, Ladder, Round, Tournament, TournamentEntry

State = Tournament.State


def cancel(*, tournament: Tournament) -> bool:
    """Call a tournament off before it starts; return whether it was, later it is left as it is."""
    changed = Tournament.objects.filter(
        pk=tournament.pk, state__in=[State.ANNOUNCED, State.ENTRIES_OPEN]
    ).update(state=State.CANCELLED, finished_at=timezone.now())
    return bool(changed)


def tournaments_to_advance() -> list[int]:
    """Return the ids of tournaments that have something to do now."""
    now = timezone.now()
    in_play = Round.objects.filter(tournament=OuterRef("pk"), applied_at=None)
    due = (
        Q(state=State.ANNOUNCED, entries_open_at__lte=now)
        | Q(state=State.ENTRIES_OPEN, starts_at__lte=now)
        | Q(state=State.RUNNING) & ~Exists(in_play)
    )
    return list(Tournament.objects.filter(due).values_list("pk", flat=True))


def advance(tournament_id: int) -> None:
    """Take a tournament as far as it can go now. May be called any number of times."""
    with transaction.atomic():
        # The ladder first, as everywhere, so that nobody waits for each other in a ring.
        ladder = Ladder.objects.select_for_update().get(tournaments=tournament_id)
        tournament = Tournament.objects.select_for_update().get(pk=tournament_id)
        now = timezone.now()
        before = tournament.state
        if tournament.state == State.ANNOUNCED and tournament.entries_open_at <= now:
            tournament.state = State.ENTRIES_OPEN
        if tournament.state == State.ENTRIES_OPEN and tournament.starts_at <= now:
            _close_entries(tournament, ladder)
        if tournament.state == State.RUNNING:
            _open_next(tournament, ladder)
        if tournament.state != before:
            tournament.save(update_fields=["state", "finished_at"])


def _close_entries(tournament: Tournament, ladder: Ladder) -> None:
    if tournament.house_bots:
        TournamentEntry.objects.bulk_create(
            [TournamentEntry(tournament=tournament, bot=bot) for bot in _house_bots()],
            ignore_conflicts=True,
        )
    ratings = dict(ladder.standings.values_list("bot", "rating"))
    entries = list(tournament.entries.all())
    for entry in entries:
        entry.rating = ratings.get(entry.bot_id, elo.START)
    TournamentEntry.objects.bulk_update(entries, ["rating"])
    history = history_of(tournament)
    there = [one for one in history.entrants if not one.sits_out]
    if has_too_few_entrants(history.event_settings, there, 1, _fill_ins(history)):
        tournament.state = State.CANCELLED
        tournament.finished_at = timezone.now()
    else:
        tournament.state = State.RUNNING


def _open_next(tournament: Tournament, ladder: Ladder) -> None:
    """Open the next round once the one before it has been applied, or finish."""
    if tournament.rounds.filter(applied_at__isnull=True).exists():
        return
    history, drawn = _draw(tournament)
    if drawn is None:
        tournament.state = State.FINISHED
        tournament.finished_at = timezone.now()
        return
    open_round(
        ladder=ladder,
        tables=drawn.tables,
        seed=bytes(tournament.seed),
        tournament=tournament,
        stage=drawn.number,
        extra=drawn.extra,
        byes=drawn.byes,
        first_block=history.blocks_drawn,
        played=history.times,
    )


def _draw(tournament: Tournament) -> tuple[History, NextRound | None]:
    """Return a tournament's past, and what it plays next.

    Who is away when a knockout would seat it, or let it go on without playing, is withdrawn: who
    goes on in its place, and who has won, must not change when it comes back.
    """
    history = history_of(tournament)
    while True:
        fill_ins = _fill_ins(history)
        drawn = next_round(history.event_settings, history.entrants, history.rounds, fill_ins)
        if drawn is None or tournament.format != Tournament.Format.KNOCKOUT:
            return history, drawn
        going_in = {bot for table in drawn.tables for bot in table.bots} | drawn.byes.keys()
        away = going_in & {one.bot for one in history.entrants if one.sits_out}
        if not away:
            return history, drawn
        tournament.entries.filter(bot__in=away).update(
            state=TournamentEntry.State.WITHDRAWN, left_after=rounds_opened(history.rounds)
        )
        history = history_of(tournament)


def _fill_ins(history: History) -> list[int]:
    """Return the house bots that may take empty seats."""
    if not history.tournament.fill_in:
        return []
    return [bot.pk for bot in _house_bots() if bot.pk not in history.entries]


def _house_bots() -> QuerySet[Bot]:
    house = Bot.objects.filter(kind=Bot.Kind.HOUSE, paused=False, current__isnull=False)
    return house.order_by("pk")
