"""Decisions about tournaments: announced, changed, cancelled, bots disqualified, and taken back.

`league.competitions` carries them out; here they get their rows in the moderation log.
"""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from league import competitions
from league.models import Bot, Tournament, TournamentEntry
from league.moderation.log import Action, note

Entry = TournamentEntry.State


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


def cancel(*, tournament: Tournament, reason: str, made_by: User | None) -> bool:
    """Cancel a tournament, as `competitions.cancel_tournament`; return whether this call did."""
    with transaction.atomic():
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
) -> Tournament:
    """Take a cancellation back, as `competitions.restore_tournament`."""
    with transaction.atomic():
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
    *, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None
) -> TournamentEntry:
    """Enter a bot as an organiser, as `competitions.enter`: entries need not be open."""
    with transaction.atomic():
        Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        was_entered = tournament.entries.filter(bot=bot, state=Entry.ENTERED).exists()
        entry = competitions.enter(tournament=tournament, bot=bot, by_organiser=True)
        if not was_entered:
            _note_entry(Action.ENTER_BOT, tournament, bot, reason, made_by)
    return entry


def withdraw(*, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None) -> bool:
    """Withdraw a bot as an organiser, as `competitions.withdraw`; `enter` takes it back."""
    with transaction.atomic():
        changed = competitions.withdraw(tournament=tournament, bot=bot, by_organiser=True)
        if changed:
            _note_entry(Action.WITHDRAW_BOT, tournament, bot, reason, made_by)
    return changed


def disqualify(
    *, tournament: Tournament, bot: Bot, reason: str, made_by: User | None
) -> TournamentEntry:
    """Disqualify a bot, as `competitions.disqualify`."""
    with transaction.atomic():
        Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        was_out = tournament.entries.filter(bot=bot, state=Entry.DISQUALIFIED).exists()
        entry = competitions.disqualify(tournament=tournament, bot=bot, reason=reason)
        if not was_out:
            _note_entry(Action.DISQUALIFY, tournament, bot, reason, made_by)
    return entry


def reinstate(
    *, tournament: Tournament, bot: Bot, reason: str = "", made_by: User | None
) -> TournamentEntry:
    """Take a disqualification back, as `competitions.reinstate`."""
    with transaction.atomic():
        entry = competitions.reinstate(tournament=tournament, bot=bot)
        _note_entry(Action.REINSTATE, tournament, bot, reason, made_by)
    return entry


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
