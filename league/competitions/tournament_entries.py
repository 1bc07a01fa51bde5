"""Entries in a tournament: enter a bot, withdraw it, disqualify it."""

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from engine.pairing import swiss_round_count
from engine.rating import elo
from league.bots import Obstacle, lock_active, require_playable, require_qualified
from league.competitions.history import history_of
from league.models import Bot, Tournament, TournamentEntry

State = Tournament.State
EntryState = TournamentEntry.State
CAME_BACK = ("left_after", "first_round", "missed_rounds")
"""The fields that change if a bot that had left comes back."""
_LONGEST_REASON = 200


def enter(*, tournament: Tournament, bot: Bot, by_organiser: bool = False) -> TournamentEntry:
    """Enter a bot; a second call changes nothing.

    With late entry it may enter while the tournament runs: it is drawn from the next round on, and
    gets no points for missed rounds.

    Args:
        tournament: on whose ladder's game the bot's current version qualified.
        bot: to enter.
        by_organiser: entries need not be open. The bot may enter before they open, late without
            late entry, and again after a withdrawal; a running knockout still takes no bot.

    Raises:
        ValidationError: with a code: entries are not open (``entries-not-open``), the bot has left
            this tournament (``bot-has-left``), it is in quarantine (``quarantined``), it has no
            current version (``no-version``), or that version did not qualify for the game
            (``not-qualified``).
    """
    with transaction.atomic():
        locked = _lock(tournament)
        entry = locked.entries.filter(bot=bot).first()
        is_back = by_organiser and entry is not None and entry.state == EntryState.WITHDRAWN
        if entry is not None and entry.state != EntryState.ENTERED and not is_back:
            raise ValidationError(
                f"{bot} is {entry.state} in {locked}, so it can't enter this tournament again.",
                code="bot-has-left",
            )
        first_round = _first_round(locked, by_organiser=by_organiser)
        # So that it is not deleted, and its version stays current, until it is entered.
        bot = lock_active(bot.pk)
        require_playable(bot, despite={Obstacle.PAUSED, Obstacle.OFFLINE})
        require_qualified(bot, locked.ladder.game)
        if entry is not None:
            if is_back:
                entry.state, entry.reason = EntryState.ENTERED, ""
                _come_back(entry, locked)
                entry.save(update_fields=["state", "reason", *CAME_BACK])
            return entry
        entry = TournamentEntry(tournament=locked, bot=bot, first_round=first_round)
        if locked.state == State.RUNNING:
            standing = locked.ladder.standings.filter(bot=bot).first()
            entry.rating = standing.rating if standing else elo.START
        entry.save()
        return entry


def withdraw(
    *, tournament: Tournament, bot: Bot, by_organiser: bool = False, reason: str = ""
) -> bool:
    """Withdraw a bot; nothing changes if it is not entered.

    Before the start its entry is deleted. Later, blocks that have drawn it are played and count;
    no further round draws it.

    Args:
        tournament: in which it is entered.
        bot: to withdraw.
        by_organiser: entries need not have opened.
        reason: of the organiser; public if the tournament has begun.

    Returns:
        Whether it was entered.

    Raises:
        ValidationError: entries have not opened, or the tournament is over (code
            ``entries-not-open``). Or by field: a public reason is too long.
    """
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state == State.RUNNING and len(reason) > _LONGEST_REASON:
            raise ValidationError(
                {
                    "reason": f"The reason has {len(reason)} characters. It is public, so at most "
                    f"{_LONGEST_REASON} are allowed."
                }
            )
        before_start = (State.ENTRIES_OPEN, *((State.ANNOUNCED,) if by_organiser else ()))
        if locked.state not in (*before_start, State.RUNNING):
            raise ValidationError(
                f"You can't withdraw a bot now: {locked} is {locked.state}.",
                code="entries-not-open",
            )
        entered = locked.entries.filter(bot=bot, state=EntryState.ENTERED)
        if locked.state in before_start:
            changed = entered.delete()[0]
        else:
            changed = entered.update(
                state=EntryState.WITHDRAWN, left_after=_opened(locked), reason=reason
            )
        return changed > 0


def withdraw_for_good(*, tournament: Tournament, bot: Bot) -> None:
    """Withdraw a bot that is deleted, also from a tournament that is cancelled.

    Else it would take part again once the cancellation is taken back.
    """
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state != State.CANCELLED:
            withdraw(tournament=locked, bot=bot, by_organiser=True)
            return
        entered = locked.entries.filter(bot=bot, state=EntryState.ENTERED)
        if locked.rounds.exists():
            entered.update(state=EntryState.WITHDRAWN, left_after=_opened(locked))
        else:
            entered.delete()


def disqualify(*, tournament: Tournament, bot: Bot, reason: str) -> TournamentEntry:
    """Disqualify a bot, also after the end; a second call with the same reason changes nothing.

    It loses its rank, and no further round draws it. Its blocks stay, with the ratings and the
    scores of its opponents. To cancel these too, void the blocks.

    Args:
        tournament: in which it is entered.
        bot: to disqualify.
        reason: public.

    Raises:
        ValidationError: by field: the reason is empty. Or with a code: the bot is not entered
            (``not-found``), entries have not opened (``entries-not-open``), or it is disqualified
            for another reason (``changed-meanwhile``).
    """
    reason = reason.strip()[:_LONGEST_REASON]
    if not reason:
        raise ValidationError({"reason": "Give a reason; it is public."})
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state not in (State.ENTRIES_OPEN, State.RUNNING, State.FINISHED):
            raise ValidationError(
                f"You can't disqualify a bot now: {locked} is {locked.state}.",
                code="entries-not-open",
            )
        entry = locked.entries.filter(bot=bot).first()
        if entry is None:
            raise ValidationError(f"{bot} is not entered in {locked}.", code="not-found")
        if entry.state == EntryState.DISQUALIFIED:
            if entry.reason == reason:
                return entry
            raise ValidationError(
                f"{bot} is disqualified in {locked} already. Stored reason: “{entry.reason}”. "
                f"Yours: “{reason}”. To change the reason, take the disqualification back first.",
                code="changed-meanwhile",
            )
        if entry.left_after is None:
            entry.left_after = _opened(locked)
        entry.was_withdrawn = entry.state == EntryState.WITHDRAWN
        entry.state, entry.reason = EntryState.DISQUALIFIED, reason
        entry.save(update_fields=["state", "left_after", "reason", "was_withdrawn"])
        return entry


def reinstate(*, tournament: Tournament, bot: Bot) -> TournamentEntry:
    """Take a disqualification back: the bot has its rank again, and later rounds may draw it.

    A bot that had withdrawn before, or was deleted since, is withdrawn. The bot gets no points for
    rounds that were drawn without it, and a knockout does not draw it again once the next stage is
    drawn.

    Raises:
        ValidationError: with a code: the bot is not disqualified in it (``not-disqualified``).
    """
    with transaction.atomic():
        locked = _lock(tournament)
        entry = locked.entries.filter(bot=bot, state=EntryState.DISQUALIFIED).first()
        if entry is None:
            raise ValidationError(
                f"{bot} is not disqualified in {locked}, so there is nothing to take back.",
                code="not-disqualified",
            )
        stays_out = stays_withdrawn(entry)
        entry.state = EntryState.WITHDRAWN if stays_out else EntryState.ENTERED
        if not stays_out:
            _come_back(entry, locked)
        entry.was_withdrawn, entry.reason = False, ""
        entry.save(update_fields=["state", "reason", "was_withdrawn", *CAME_BACK])
        return entry


def stays_withdrawn(entry: TournamentEntry) -> bool:
    """Return whether a disqualified bot would play no more if it were reinstated."""
    return entry.was_withdrawn or entry.bot.retired_at is not None


def _come_back(entry: TournamentEntry, tournament: Tournament) -> None:
    """Let a bot that had left be drawn again; the caller stores `CAME_BACK`.

    A round robin computes its tables from the bots that were in at each round. So a bot that no
    round has drawn comes back as a late entrant, and the entry of any other bot lists the rounds
    that it missed. Otherwise all tables would change, and some would be played twice.
    """
    opened, left_after = _opened(tournament), entry.left_after or 0
    entry.left_after = None
    if tournament.format == Tournament.Format.KNOCKOUT:
        return  # its stages keep their bots, and its seeding counts the starters
    if left_after < entry.first_round:
        entry.first_round = max(opened + 1, entry.first_round)
    else:
        entry.missed_rounds.extend(range(left_after + 1, opened + 1))


def takes_entries(tournament: Tournament) -> bool:
    """Return whether a bot may enter now."""
    try:
        _first_round(tournament)
    except ValidationError:
        return False
    return True


def _first_round(tournament: Tournament, *, by_organiser: bool = False) -> int:
    """Return the first round that may draw a bot that enters now; raise if entries are closed."""
    if tournament.may_be_entered(timezone.now()):
        return 1
    if by_organiser and tournament.state in tournament.NOT_STARTED:
        return 1
    is_knockout = tournament.format == Tournament.Format.KNOCKOUT
    may_be_late = tournament.late_entry or by_organiser
    if tournament.state == State.RUNNING and may_be_late and not is_knockout:
        opened = _opened(tournament)
        if tournament.format != Tournament.Format.SWISS or opened < _length(tournament):
            return opened + 1
    raise ValidationError(
        f"Entries are not open: {tournament} {_why_closed(tournament)}.", code="entries-not-open"
    )


def _why_closed(tournament: Tournament) -> str:
    if tournament.state == State.ANNOUNCED:
        opens_at = tournament.entries_open_at
        return f"is announced; entries open at {opens_at:%Y-%m-%d %H:%M} UTC"
    if tournament.state == State.ENTRIES_OPEN:
        return "starts now"
    return f"is {tournament.state}"


def _length(tournament: Tournament) -> int:
    history = history_of(tournament)
    return swiss_round_count(history.event_settings, history.entrants)


def _opened(tournament: Tournament) -> int:
    """Return the number of the last opened round; 0 before the first one."""
    opened = tournament.rounds.filter(replays=None, superseded_by=None)
    return opened.aggregate(last=Max("stage"))["last"] or 0


def _lock(tournament: Tournament) -> Tournament:
    locked = Tournament.objects.select_for_update(of=("self",)).select_related("ladder")
    return locked.get(pk=tournament.pk)
