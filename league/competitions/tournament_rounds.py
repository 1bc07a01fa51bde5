"""The course of a tournament: entries open, it starts, its rounds open, it ends.

`engine.pairing.next_round` draws the rounds and decides the end: after which round a round robin,
Swiss or knockout is over.
"""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from engine.deals import SEED_BYTES
from engine.pairing import NextRound, has_too_few_entrants, next_round, rounds_opened
from engine.rating import elo
from league.competitions.entry_windows import could_be_entered, move
from league.competitions.history import History, history_of
from league.competitions.rounds import open_round
from league.models import Bot, Ladder, Round, Tournament, TournamentEntry
from league.models.bots import BotQuerySet
from league.models.built_once import built_once
from league.models.setting_aside import NOT_SET_ASIDE

State = Tournament.State
SOON = timedelta(seconds=75)
"""Longer than the time from one upkeep to the next, also while the league is at rest."""
MOVED = ("entries_open_at", "starts_at", "open_seconds", "seen_open_at", "note")


def tournaments_to_advance() -> list[int]:
    """Return the ids of tournaments whose next step is due: opening, start, or next round."""
    return [tournament_id for (tournament_id,) in _to_advance()]


@built_once
def _to_advance() -> QuerySet[Tournament, tuple[int]]:
    now = timezone.now()
    open_rounds = Round.objects.open().filter(tournament=OuterRef("pk"))
    ready = (
        Q(state=State.ANNOUNCED, entries_open_at__lte=now)
        | Q(state=State.ENTRIES_OPEN, starts_at__lte=now)
        | Q(state=State.RUNNING) & ~Exists(open_rounds)
    )
    return Tournament.objects.filter(NOT_SET_ASIDE).filter(ready).values_list("pk")


def opens_or_starts_soon(now: datetime) -> bool:
    """Return whether a tournament opens its entries or starts within the next `SOON`."""
    soon = (now, now + SOON)
    return (
        Tournament.objects.to_come()
        .filter(Q(entries_open_at__range=soon) | Q(starts_at__range=soon))
        .exists()
    )


def advance_tournament(tournament_id: int) -> None:
    """Take all steps of a tournament that are due; none if its ladder's lock is held.

    Safe to call any number of times.
    """
    with transaction.atomic():
        # Every transaction locks the ladder first, so that none waits for another in a ring.
        ladder = Ladder.objects.lock_free(tournaments=tournament_id)
        if ladder is None:
            return
        tournament = Tournament.objects.select_for_update().get(pk=tournament_id)
        now = timezone.now()
        before = tournament.state
        tournament.follow_clock(now)
        if tournament.state == State.ENTRIES_OPEN and tournament.starts_at <= now:
            if could_be_entered(tournament):
                _start(tournament, ladder)
            else:
                move(tournament, now)
                tournament.save(update_fields=MOVED)
        if tournament.state == State.RUNNING:
            _open_next(tournament, ladder)
        if tournament.state != before or tournament.state == State.ENTRIES_OPEN:
            tournament.save(update_fields=["state", "finished_at", "cancel_reason"])


def _start(tournament: Tournament, ladder: Ladder) -> None:
    """Enter the house bots, store the ratings, and start; cancel if there are too few bots."""
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
        tournament.cancel_reason = "Too few bots were entered at the start."
    else:
        tournament.state = State.RUNNING


def _open_next(tournament: Tournament, ladder: Ladder) -> None:
    """Open the next round once the round before it is applied; finish if there is none."""
    if tournament.rounds.open().exists():
        return
    history, drawn = _draw(tournament)
    if drawn is None:
        tournament.state = State.FINISHED
        tournament.finished_at = timezone.now()
        return
    open_round(
        ladder=ladder,
        tables=drawn.tables,
        # After its end the tournament's seed is public, so everybody could derive the deals.
        seed=secrets.token_bytes(SEED_BYTES) if tournament.reopened_at else bytes(tournament.seed),
        tournament=tournament,
        stage=drawn.number,
        extra=drawn.extra,
        byes=drawn.byes,
        first_block=history.next_block,
        played=history.played,
    )


def _draw(tournament: Tournament) -> tuple[History, NextRound | None]:
    """Return a tournament's history and its next round; None if the tournament is over.

    If a knockout would seat an absent bot or give it a bye, the bot is withdrawn. The bot that goes
    on in its place, and the winner, must not change when the absent bot returns.
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
    """Return the ids of the house bots that may take empty seats."""
    if not history.tournament.fill_in:
        return []
    return [bot.pk for bot in _house_bots() if bot.pk not in history.entries]


def _house_bots() -> BotQuerySet:
    return Bot.objects.house().playable().order_by("pk")
