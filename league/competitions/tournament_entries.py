"""Who is in a tournament: entering, withdrawing, being disqualified."""

from django.core.exceptions import ValidationError
from django.db import transaction

from engine.pairing import swiss_round_count
from engine.rating import elo
from league.bots import check_qualified
from league.competitions.history import history_of
from league.models import Bot, Tournament, TournamentEntry

State = Tournament.State
Entry = TournamentEntry.State


def enter(*, tournament: Tournament, bot: Bot) -> TournamentEntry:
    """Enter a bot; entering it again changes nothing.

    Where the organiser allows it this goes while the tournament runs, too: the bot is drawn from
    the next round on, and has no points for those that it missed.

    Raises:
        ValidationError: entries are not open (``entries-not-open``), the bot has left this
            tournament (``bot-has-left``), or has no version that may play (``no-version``) this
            game (``not-qualified``).
    """
    with transaction.atomic():
        locked = _lock(tournament)
        entry = locked.entries.filter(bot=bot).first()
        if entry is not None and entry.state != Entry.ENTERED:
            raise ValidationError(
                f"{bot} was {entry.state} in {locked} and can't come back.", code="bot-has-left"
            )
        first_round = _first_round(locked)
        if bot.current_id is None:
            raise ValidationError(f"{bot} has no version that may play yet.", code="no-version")
        check_qualified(bot, locked.ladder.game)
        if entry is not None:
            return entry
        entry = TournamentEntry(tournament=locked, bot=bot, first_round=first_round)
        if locked.state == State.RUNNING:
            standing = locked.ladder.standings.filter(bot=bot).first()
            entry.rating = standing.rating if standing else elo.START
        entry.save()
        return entry


def withdraw(*, tournament: Tournament, bot: Bot) -> None:
    """Take a bot out; nothing changes for one that is not in.

    Before the start its entry is gone. Later what it has been drawn for is played, and stands; it
    is drawn for no further round.

    Raises:
        ValidationError: the tournament has not opened yet, or is over (``entries-not-open``).
    """
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state not in (State.ENTRIES_OPEN, State.RUNNING):
            raise ValidationError(
                f"There is nothing to withdraw from: {locked} is {locked.state}.",
                code="entries-not-open",
            )
        entered = locked.entries.filter(bot=bot, state=Entry.ENTERED)
        if locked.state == State.ENTRIES_OPEN:
            entered.delete()
        else:
            entered.update(state=Entry.WITHDRAWN, left_after=_opened(locked))


def disqualify(*, tournament: Tournament, bot: Bot, reason: str) -> TournamentEntry:
    """Disqualify a bot, also when all is over; a second time changes the reason.

    It loses its rank and is drawn for no further round. What it has played stays, with the ratings
    that came of it and what its opponents made: whoever thinks these unjust voids the blocks.

    Args:
        tournament: that it is entered for.
        bot: that must leave.
        reason: for everybody to read.

    Raises:
        ValidationError: by field, there is no reason; it is not entered (``not-found``), or there
            is nothing to be in yet (``entries-not-open``).
    """
    if not reason.strip():
        raise ValidationError({"reason": "Say why, for everybody to read."})
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state not in (State.ENTRIES_OPEN, State.RUNNING, State.FINISHED):
            raise ValidationError(f"{locked} is {locked.state}.", code="entries-not-open")
        entry = locked.entries.filter(bot=bot).first()
        if entry is None:
            raise ValidationError(f"{bot} is not entered for {locked}.", code="not-found")
        if entry.left_after is None:
            entry.left_after = _opened(locked)
        entry.state = Entry.DISQUALIFIED
        entry.reason = reason.strip()[:200]
        entry.save(update_fields=["state", "left_after", "reason"])
        return entry


def takes_entries(tournament: Tournament) -> bool:
    """Return whether a bot may be entered now."""
    try:
        _first_round(tournament)
    except ValidationError:
        return False
    return True


def _first_round(tournament: Tournament) -> int:
    """Return the first round for who enters now; raises if nobody may."""
    if tournament.state == State.ENTRIES_OPEN:
        return 1
    is_knockout = tournament.format == Tournament.Format.KNOCKOUT
    if tournament.state == State.RUNNING and tournament.late_entry and not is_knockout:
        opened = _opened(tournament)
        if tournament.format != Tournament.Format.SWISS or opened < _length(tournament):
            return opened + 1
    raise ValidationError(
        f"Entries are not open: {tournament} is {tournament.state}.", code="entries-not-open"
    )


def _length(tournament: Tournament) -> int:
    history = history_of(tournament)
    return swiss_round_count(history.event_settings, history.entrants)


def _opened(tournament: Tournament) -> int:
    """Return how many rounds have been opened; extra blocks are no rounds of their own."""
    return tournament.rounds.filter(extra=0).count()


def _lock(tournament: Tournament) -> Tournament:
    locked = Tournament.objects.select_for_update(of=("self",)).select_related("ladder")
    return locked.get(pk=tournament.pk)
