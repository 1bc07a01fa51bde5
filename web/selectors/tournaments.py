"""Tournaments for pages: lists, and the bots that a person may enter or withdraw."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from league.competitions import takes_entries
from league.competitions.history import History, history_of
from league.competitions.tournament_standings import BracketRound, bracket_of, standings_of
from league.models import Bot, FeedItem, Tournament, TournamentEntry
from league.visibility import owns

State = Tournament.State
_LEADS = 4
"""Maximum number of tournaments of a list whose leader is computed: each costs some queries."""


class Lead(NamedTuple):
    """How a running tournament stands, for a list.

    Attributes:
        bot: name of the bot that leads; "" without a result, and in a knockout, where no score
            compares all bots.
        text: the rest of the sentence, such as "leads with 5.29 points".
    """

    bot: str
    text: str


_NO_RESULT = Lead("", "no result yet")


def tournaments_to_come() -> QuerySet[Tournament]:
    """Return running and planned tournaments, the earliest start first, with ``entry_count``."""
    coming = Tournament.objects.to_come() | Tournament.objects.running()
    return coming.with_entry_counts().order_by("starts_at", "id")


def next_on_ladder(tournament: Tournament) -> Tournament | None:
    """Return the planned tournament that starts next on the ladder of one that is over."""
    if tournament.state not in (State.FINISHED, State.CANCELLED):
        return None
    coming = Tournament.objects.to_come().filter(ladder=tournament.ladder_id)
    return coming.filter(starts_at__gt=timezone.now()).order_by("starts_at", "id").first()


def tournaments_past() -> QuerySet[Tournament]:
    """Return finished and cancelled tournaments, the latest end first, with ``entry_count``."""
    over = Tournament.objects.over().with_entry_counts()
    return over.order_by(Coalesce("finished_at", "starts_at").desc(), "-id")


def winners_of(tournaments: Iterable[Tournament]) -> dict[int, str]:
    """Return the names of the winners of tournaments that are over, by tournament; one query."""
    ends = FeedItem.objects.filter(kind=FeedItem.Kind.FINISHED, tournament__in=list(tournaments))
    return dict(ends.filter(bot__isnull=False).values_list("tournament", "bot__name"))


def leads_of(tournaments: Iterable[Tournament]) -> dict[int, Lead]:
    """Return how the first `_LEADS` running tournaments of a list stand, by tournament.

    Args:
        tournaments: of a list, with their ladders.
    """
    running = [each for each in tournaments if each.state == State.RUNNING][:_LEADS]
    return {each.pk: _lead(history_of(each)) for each in running}


def _lead(history: History) -> Lead:
    if history.tournament.format == Tournament.Format.KNOCKOUT:
        left = bots_left(bracket_of(history))
        if left and left < len(history.entries):
            return Lead("", f"{left} of {len(history.entries)} bots are left")
        return _NO_RESULT
    placed = [each for each in standings_of(history) if each.row.rank is not None]
    if not any(each.row.blocks for each in placed):
        return _NO_RESULT
    points = f"{float(placed[0].row.score):.2f}"
    return Lead(placed[0].bot.name, f"leads with {points} points")


def bots_left(bracket: Sequence[BracketRound]) -> int:
    """Return the number of bots in the last stage of a knockout that is drawn."""
    if not bracket:
        return 0
    last = bracket[-1]
    return len(last.byes) + sum(len(table.seats) for table in last.tables)


def matching(tournaments: QuerySet[Tournament], wanted: str, format_: str) -> QuerySet[Tournament]:
    """Keep the tournaments with a text in their title and with a format; "" keeps all."""
    if wanted:
        tournaments = tournaments.filter(title__icontains=wanted)
    return tournaments.filter(format=format_) if format_ else tournaments


def house_bots_to_play(tournament: Tournament) -> list[Bot]:
    """Return the house bots that a tournament enters at its start, as they are now."""
    if not tournament.house_bots or tournament.state not in (State.ANNOUNCED, State.ENTRIES_OPEN):
        return []
    return list(Bot.objects.house().playable().order_by("pk"))


def bots_to_enter(user: User | None, tournament: Tournament) -> list[Bot]:
    """Return the bots that a person may enter for a tournament now."""
    if user is None or not takes_entries(tournament):
        return []
    ready = Bot.objects.owned_by(user).active().filter(current__isnull=False)
    return list(ready.exclude(tournament_entries__tournament=tournament))


def bots_to_withdraw(user: User | None, history: History) -> list[Bot]:
    """Return the bots that a person may withdraw from a tournament now."""
    if user is None or history.tournament.state not in (State.ENTRIES_OPEN, State.RUNNING):
        return []
    return [
        entry.bot
        for entry in history.entries.values()
        if owns(user, entry.bot) and entry.state == TournamentEntry.State.ENTERED
    ]
