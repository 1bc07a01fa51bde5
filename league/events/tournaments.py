"""The life of a tournament: entries open, it starts, rounds follow on, the result stands."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from engine.pairing import round_robin
from league.events.rounds import open_round
from league.hosting import check_qualified
from league.models import Bot, Ladder, Tournament, TournamentEntry

State = Tournament.State


def enter(*, tournament: Tournament, bot: Bot) -> TournamentEntry:
    """Enter a bot while entries are open; entering it again changes nothing.

    Raises:
        ValidationError: entries are not open, or the bot has no version that may play this game.
    """
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state != State.ENTRIES_OPEN:
            raise ValidationError(
                f"Entries are not open: {locked} is {locked.state}.", code="entries-not-open"
            )
        if bot.current_id is None:
            raise ValidationError(f"{bot} has no version that may play yet.", code="no-version")
        check_qualified(bot, locked.ladder.game)
        return TournamentEntry.objects.get_or_create(tournament=locked, bot=bot)[0]


def withdraw(*, tournament: Tournament, bot: Bot) -> None:
    """Take back an entry while entries are open.

    Raises:
        ValidationError: entries are not open.
    """
    with transaction.atomic():
        locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if locked.state != State.ENTRIES_OPEN:
            raise ValidationError(
                f"Entries are not open: {locked} is {locked.state}.", code="entries-not-open"
            )
        locked.entries.filter(bot=bot).delete()


def cancel(*, tournament: Tournament) -> bool:
    """Call a tournament off before it starts; return whether it was, later it is left as it is."""
    changed = Tournament.objects.filter(
        pk=tournament.pk, state__in=[State.ANNOUNCED, State.ENTRIES_OPEN]
    ).update(state=State.CANCELLED, finished_at=timezone.now())
    return bool(changed)


def tournaments_to_advance() -> list[int]:
    """Return the ids of tournaments that have something to do now."""
    now = timezone.now()
    due = (
        Q(state=State.ANNOUNCED, entries_open_at__lte=now)
        | Q(state=State.ENTRIES_OPEN, starts_at__lte=now)
        | Q(state=State.RUNNING)
    )
    return list(Tournament.objects.filter(due).values_list("pk", flat=True))


def advance(tournament_id: int) -> None:
    """Take a tournament as far as it can go now. May be called any number of times."""
    with transaction.atomic():
        # The ladder first, as everywhere, so that nobody waits for each other in a ring.
        ladder = Ladder.objects.select_for_update().get(tournaments=tournament_id)
        tournament = Tournament.objects.select_for_update().get(pk=tournament_id)
        now = timezone.now()
        if tournament.state == State.ANNOUNCED and tournament.entries_open_at <= now:
            tournament.state = State.ENTRIES_OPEN
        if tournament.state == State.ENTRIES_OPEN and tournament.starts_at <= now:
            _close_entries(tournament, ladder)
        if tournament.state == State.RUNNING:
            _next_round(tournament, ladder)
        tournament.save(update_fields=["state", "finished_at"])


def _close_entries(tournament: Tournament, ladder: Ladder) -> None:
    if tournament.house_bots:
        house = Bot.objects.filter(kind=Bot.Kind.HOUSE, paused=False, current__isnull=False)
        TournamentEntry.objects.bulk_create(
            [TournamentEntry(tournament=tournament, bot=bot) for bot in house],
            ignore_conflicts=True,
        )
    if tournament.entries.count() < ladder.seats:
        tournament.state = State.CANCELLED
        tournament.finished_at = timezone.now()
    else:
        tournament.state = State.RUNNING


def _next_round(tournament: Tournament, ladder: Ladder) -> None:
    """Open the next round once the one before it has been applied, or finish."""
    opened = list(tournament.rounds.order_by("number"))
    if any(round_.applied_at is None for round_ in opened):
        return
    owners = dict(tournament.entries.values_list("bot", "bot__owner"))
    seed = bytes(tournament.seed)
    planned = round_robin(owners, ladder.seats, seed)
    if len(opened) == len(planned):
        tournament.state = State.FINISHED
        tournament.finished_at = timezone.now()
        return
    open_round(
        ladder=ladder,
        tables=planned[len(opened)],
        seed=seed,
        tournament=tournament,
        first_block=sum(len(tables) for tables in planned[: len(opened)]),
    )
