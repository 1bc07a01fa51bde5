"""Django's admin, for organisers."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from league import competitions, models, ratings
from league.competitions.event_settings import FIELDS as ARRANGED
from league.competitions.schedules import check_time_zone


@admin.register(models.Bot)
class BotAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Bots."""

    list_display = ("name", "kind", "owner", "paused", "current")
    list_filter = ("kind", "paused")
    search_fields = ("name",)
    autocomplete_fields = ("owner",)


@admin.register(models.Ladder)
class LadderAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Ladders."""

    list_display = ("title", "slug", "game", "rules", "seats", "paused", "revision", "alarm")
    autocomplete_fields = ("anchor",)
    readonly_fields = ("revision", "alarm", "frozen_round", "checked_at", "checked_round")

    def get_readonly_fields(self, request: object, obj: Any = None) -> Sequence[str]:
        """What is played is settled by the first round.

        Ratings compare only what was played alike, and a tournament's tables are drawn anew from
        its settings at each round: with other seats they would not include the tables played.
        """
        if obj is None or not obj.rounds.exists():
            return self.readonly_fields
        return (*self.readonly_fields, "game", "rules", "seats")


class EventSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refuses what does not go together."""

    def clean(self) -> dict[str, Any]:
        """Check the fields together, as the API does."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            settled = {name: cleaned[name] for name in ARRANGED if name in cleaned}
            kept = {**competitions.settings_of(self.instance), **settled}
            competitions.check_event_settings(type(self.instance)(**kept))
        return cleaned


@admin.register(models.Tournament)
class TournamentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Tournaments; their seeds stay out of sight."""

    form = EventSettingsForm
    list_display = ("title", "ladder", "format", "state", "starts_at")
    list_filter = ("state", "format", "ladder")
    search_fields = ("title",)
    exclude = ("seed",)
    readonly_fields = ("commitment", "state", "finished_at", "scheduled_for")

    def has_add_permission(self, request: object) -> bool:
        """Tournaments are announced by schedules or through the API, which draw their seeds."""
        return False

    def get_readonly_fields(self, request: object, obj: Any = None) -> Sequence[str]:
        """How a tournament is played is settled when it begins."""
        states = models.Tournament.State
        if obj is None or obj.state in (states.ANNOUNCED, states.ENTRIES_OPEN):
            return self.readonly_fields
        return (*self.readonly_fields, "ladder", "entries_open_at", "starts_at", *ARRANGED)


@admin.register(models.TournamentEntry)
class TournamentEntryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Entries: who is in, who has left. They change by the actions."""

    list_display = ("bot", "tournament", "state", "first_round", "left_after", "reason")
    list_filter = ("state", "tournament")
    search_fields = ("bot__name", "tournament__title")
    actions = ("withdraw", "disqualify")
    readonly_fields = (
        "tournament",
        "bot",
        "entered_at",
        "state",
        "rating",
        "first_round",
        "left_after",
    )

    def has_add_permission(self, request: object) -> bool:
        """Owners enter their bots."""
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        """Who has begun stays on record."""
        return False

    @admin.action(description="Withdraw: play no further round", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[models.TournamentEntry]) -> None:
        """Withdraw the bots of the chosen entries."""
        self._each(request, queryset, competitions.withdraw, "withdrawn")

    @admin.action(
        description="Disqualify: lose the rank and play no further round", permissions=["change"]
    )
    def disqualify(self, request: HttpRequest, queryset: QuerySet[models.TournamentEntry]) -> None:
        """Disqualify the bots of the chosen entries; each for the reason that its entry gives."""

        def work(*, tournament: models.Tournament, bot: models.Bot) -> None:
            entry = queryset.get(tournament=tournament, bot=bot)
            reason = entry.reason or "By decision of the organisers."
            competitions.disqualify(tournament=tournament, bot=bot, reason=reason)

        self._each(request, queryset, work, "disqualified")

    def _each(
        self,
        request: HttpRequest,
        entries: QuerySet[models.TournamentEntry],
        work: Callable[..., object],
        done: str,
    ) -> None:
        for entry in entries.select_related("tournament", "bot"):
            try:
                work(tournament=entry.tournament, bot=entry.bot)
            except ValidationError as error:
                self.message_user(request, " ".join(error.messages), messages.ERROR)
            else:
                self.message_user(request, f"{entry.bot} is {done}.")


class ScheduleForm(EventSettingsForm):
    """Refuses, too, a time zone that there isn't."""

    def clean_time_zone(self) -> str:
        """Check the name."""
        name: str = self.cleaned_data["time_zone"]
        check_time_zone(name)
        return name


@admin.register(models.Schedule)
class ScheduleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Series of tournaments."""

    form = ScheduleForm
    list_display = (
        "title",
        "ladder",
        "format",
        "every_hours",
        "weekday",
        "time_of_day",
        "time_zone",
        "active",
    )


class _ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """What is looked at here and changed elsewhere, or not at all."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is changed here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is deleted here."""
        return False


class _ReasonForm(ActionForm):
    reason = forms.CharField(required=False, max_length=500, label="Reason (published):")


@admin.register(models.Block)
class BlockAdmin(_ReadOnly):
    """Blocks, to be taken out of the ratings."""

    list_display = ("__str__", "state", "rated", "void_mark")
    list_filter = ("state", "round__ladder")
    list_select_related = ("round__ladder", "void_mark__block__round__ladder")
    search_fields = ("=id", "=round__number", "bots__bot__name")
    ordering = ("-id",)
    action_form = _ReasonForm
    actions = ("void_blocks",)

    @admin.action(description="Void: take out of the ratings, for good", permissions=["void"])
    def void_blocks(self, request: HttpRequest, queryset: QuerySet[models.Block]) -> None:
        """Mark the blocks void; ratings that they are in follow within moments."""
        for block in queryset.order_by("pk"):
            try:
                ratings.void_block(
                    block_id=block.pk,
                    reason=request.POST.get("reason", ""),
                    made_by=request.user,  # type: ignore[arg-type]
                )
            except ValidationError as error:
                self.message_user(request, f"{block}: {error.messages[0]}", messages.ERROR)
            else:
                self.message_user(request, f"{block} is void; the ratings follow.")

    def has_void_permission(self, request: HttpRequest) -> bool:
        """Organisers may void blocks: those who may add void marks."""
        return request.user.has_perm("league.add_voidmark")  # type: ignore[union-attr]


@admin.register(models.VoidMark)
class VoidMarkAdmin(_ReadOnly):
    """Void marks: made on the page of blocks, and never taken back."""

    list_display = ("block", "reason", "made_by", "made_at")
    list_select_related = ("block__round__ladder", "made_by")


@admin.register(models.Revision)
class RevisionAdmin(_ReadOnly):
    """What corrections came to."""

    list_display = ("ladder", "number", "from_round", "reason", "made_at")
