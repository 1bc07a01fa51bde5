"""Decisions about tournaments: announced, changed, cancelled, bots disqualified, and taken back.

`league.competitions` carries them out; here they get their rows in the moderation log.
"""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from league import competitions
from league.models import Bot, Ladder, Tournament, TournamentEntry
from league.moderation.log import Action, note
from league.moderation.seen import NOT_ENTERED, state_of_entry, state_of_tournament

EntryState = TournamentEntry.State


def announce(*, made_by: User | None, **settings: Any) -> Tournament:
    """Announce a tournament, as `competitions.plan_tournament`."""
    with transaction.atomic():
        made = competitions.plan_tournament(**settings)
        note(Action.ANNOUNCE_TOURNAMENT, made_by=made_by, subject=_name(made), tournament=made)
    return made


def change(
    *,
    tournament: Tournament,
    made_by: User | None,
    read_at: datetime | None = None,
    **changes: Any,
) -> Tournament:
    """Change a tournament, as `competitions.change_tournament`; the log has both versions."""
    with transaction.atomic():
        stored = Tournament.objects.select_for_update().get(pk=tournament.pk)
        before = {name: str(getattr(stored, name)) for name in changes}
        changed = competitions.change_tournament(tournament=stored, read_at=read_at, **changes)
        after = {name: str(getattr(changed, name)) for name in changes}
        note(
            Action.CHANGE_TOURNAMENT,
            made_by=made_by,
            subject=_name(changed),
            tournament=changed,
            before={name: text for name, text in before.items() if after[name] != text},
            after={name: text for name, text in after.items() if before[name] != text},
        )
    return changed


def cancel(*, tournament: Tournament, reason: str, made_by: User | None, seen: str = "") -> bool:
    """Cancel a tournament; return as `competitions.cancel_tournament`.

    Raises:
        ValidationError: as `competitions.cancel_tournament`, or its state is not ``seen`` any more
            (code ``changed-meanwhile``).
    """
    with transaction.atomic():
        locked = _lock(tournament)
        if locked.state != Tournament.State.CANCELLED:
            state_of_tournament(locked).require(seen)
        if not competitions.cancel_tournament(tournament=tournament, reason=reason):
            return False
        note(
            Action.CANCEL_TOURNAMENT,
            made_by=made_by,
            subject=_name(tournament),
            reason=reason,
            tournament=tournament,
        )
    return True


def restore(
    *,
    tournament: Tournament,
    reason: str = "",
    made_by: User | None,
    starts_at: datetime | None = None,
    seen: str = "",
) -> Tournament:
    """Take a cancellation back, as `competitions.restore_tournament`; ``seen`` as for `cancel`."""
    with transaction.atomic():
        # Every transaction locks the ladder first, so that none waits for another in a ring.
        Ladder.objects.select_for_update(of=("self",)).get(tournaments=tournament.pk)
        state_of_tournament(_lock(tournament)).require(seen)
        restored = competitions.restore_tournament(tournament=tournament, starts_at=starts_at)
        note(
            Action.RESTORE_TOURNAMENT,
            made_by=made_by,
            subject=_name(restored),
            reason=reason,
            tournament=restored,
        )
    return restored


def enter(
    *, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None, seen: str = ""
) -> TournamentEntry:
    """Enter a bot as an organiser, as `competitions.enter`: entries need not be open.

    Raises:
        ValidationError: as `competitions.enter`, or the entry's state is not ``seen`` any more
            (code ``changed-meanwhile``).
    """
    with transaction.atomic():
        was_entered = _lock_and_check([EntryState.ENTERED], tournament, bot, seen)
        entry = competitions.enter(tournament=tournament, bot=bot, by_organiser=True)
        if not was_entered:
            _note_entry(Action.ENTER_BOT, tournament, bot, reason, made_by)
    return entry


def withdraw(
    *, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None, seen: str = ""
) -> bool:
    """Withdraw a bot as an organiser, as `competitions.withdraw`; `enter` takes it back.

    Raises:
        ValidationError: as `competitions.withdraw`, or the entry's state is not ``seen`` any more
            (code ``changed-meanwhile``).
    """
    with transaction.atomic():
        _lock_and_check([EntryState.WITHDRAWN, NOT_ENTERED], tournament, bot, seen)
        changed = competitions.withdraw(
            tournament=tournament, bot=bot, by_organiser=True, reason=reason
        )
        if changed:
            _note_entry(Action.WITHDRAW_BOT, tournament, bot, reason, made_by)
    return changed


def disqualify(
    *, tournament: Tournament, bot: Bot, reason: str, made_by: User | None, seen: str = ""
) -> TournamentEntry:
    """Disqualify a bot, as `competitions.disqualify`; ``seen`` as for `enter`."""
    with transaction.atomic():
        was_out = _lock_and_check([EntryState.DISQUALIFIED], tournament, bot, seen)
        entry = competitions.disqualify(tournament=tournament, bot=bot, reason=reason)
        if not was_out:
            _note_entry(Action.DISQUALIFY, tournament, bot, reason, made_by)
    return entry


def reinstate(
    *, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None, seen: str = ""
) -> TournamentEntry:
    """Take a disqualification back, as `competitions.reinstate`; ``seen`` as for `enter`."""
    with transaction.atomic():
        state_of_entry(_lock(tournament), bot).require(seen)
        entry = competitions.reinstate(tournament=tournament, bot=bot)
        _note_entry(Action.REINSTATE, tournament, bot, reason, made_by)
    return entry


def _lock_and_check(states: list[str], tournament: Tournament, bot: Bot, seen: str) -> bool:
    """Lock a tournament; return whether a bot's entry has a state that a decision would give it.

    If it has another state, raise if that is not the state that the organiser saw. So a retry of a
    decision that was stored changes nothing and is not refused.
    """
    now = state_of_entry(_lock(tournament), bot)
    if now.state in states:
        return True
    now.require(seen)
    return False


def _lock(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)


def _note_entry(
    action: Action, tournament: Tournament, bot: Bot, reason: str, made_by: User | None
) -> None:
    note(
        action,
        made_by=made_by,
        subject=f"bot {bot} in {_name(tournament)}",
        reason=reason,
        bot=bot,
        tournament=tournament,
    )


def _name(tournament: Tournament) -> str:
    return f"tournament {tournament.pk}, {tournament}"
