"""Forms of the admin pages that check a row as a whole, by the rules that the API uses too."""

from copy import copy
from typing import Any

from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils import timezone

from league import accounts, competitions
from league.bots import bot_problems
from league.models import Bot, Ladder, Schedule, Tournament
from league.models.settings_problems import require_valid, values_of
from web.conflicts import ConflictForm


class AccountForm(UserChangeForm):  # type: ignore[type-arg]
    """An account."""

    def clean_username(self) -> str:
        """Refuse another account's name, in upper or lower case, as `create_account` does."""
        name: str = self.cleaned_data["username"]
        others = User.objects.exclude(pk=self.instance.pk)
        if others.filter(username__iexact=name).exists():
            raise accounts.name_taken("username", name)
        return name


class WholeRowForm(ConflictForm):
    """A form that shows what is wrong with the whole row that it would store."""

    def check_row(self, row: Any) -> None:
        """Raise if the row can't be stored as it is.

        Raises:
            ValidationError: by field.
        """
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Check the stored values and the changed ones together."""
        cleaned = super().clean()
        if self.errors:
            return cleaned
        try:
            self.check_row(self._as_stored_next(cleaned))
        except ValidationError as error:
            for field, texts in error.message_dict.items():
                self.add_error(field if field in self.fields else None, texts)
        return cleaned

    def _as_stored_next(self, cleaned: dict[str, Any]) -> Model:
        row: Model = copy(self.instance)
        names = {field.name for field in row._meta.concrete_fields}
        for name, value in cleaned.items():
            if name in names:
                setattr(row, name, value)
        return row


class BotForm(WholeRowForm):
    """A bot."""

    def check_row(self, row: Bot) -> None:
        """Check the bot as owners' changes are checked."""
        require_valid(bot_problems(values_of(row)))


class LadderForm(WholeRowForm):
    """A ladder."""

    def check_row(self, row: Ladder) -> None:
        """Check settings, names, and the fields that the first round settles."""
        competitions.check_ladder(row)


class TournamentForm(WholeRowForm):
    """A tournament."""

    def check_row(self, row: Tournament) -> None:
        """Check the event settings, and the times if they change."""
        competitions.check_tournament(row)
        if {"entries_open_at", "starts_at"} & set(self.changed_data):
            competitions.check_times(row.entries_open_at, row.starts_at)

    def clean(self) -> dict[str, Any]:
        """Move an opening of entries that is in the past to now, as the form of organisers does."""
        cleaned = super().clean()
        if "entries_open_at" in self.changed_data and cleaned.get("entries_open_at"):
            cleaned["entries_open_at"] = max(cleaned["entries_open_at"], timezone.now())
        return cleaned


class ScheduleForm(WholeRowForm):
    """A schedule."""

    def check_row(self, row: Schedule) -> None:
        """Check the event settings and the times of the tournaments to come."""
        competitions.check_schedule(row)
