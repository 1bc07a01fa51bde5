"""Django's admin pages, for organisers.

Django's admin classes take no type argument at run time: so they ignore ``type-arg``.
"""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from league import competitions, models, ratings
from league.competitions.event_settings import FIELDS as EVENT_SETTINGS
from web.admin_checks import LadderForm, ScheduleForm, TournamentForm
from web.requests import signed_in

_Fields = list[str] | tuple[str, ...] | tuple[()]


@admin.register(models.Bot)
class BotAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Bots."""

    list_display = ("name", "kind", "owner", "paused", "current")
    list_filter = ("kind", "paused")
    search_fields = ("name",)
    raw_id_fields = ("owner",)


@admin.register(models.Ladder)
class LadderAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Ladders."""

    form = LadderForm
    list_display = (
        "title",
        "slug",
        "game",
        "rules",
        "seats",
        "paused",
        "revision",
        "alarm",
        "set_aside",
    )
    raw_id_fields = ("anchor",)
    readonly_fields = (
        "set_aside",
        "revision",
        "alarm",
        "frozen_rounds",
        "checked_at",
        "checked_rounds",
    )

    def get_readonly_fields(self, request: object, obj: Any = None) -> _Fields:
        """Fix game, preset and seats from the first round on.

        Ratings compare only matches of one kind. And a tournament draws its tables from these
        fields in each round: with another number of seats, tables already played would not fit.
        """
        if obj is None or not obj.rounds.exists():
            return self.readonly_fields
        return (*self.readonly_fields, "game", "rules", "seats")


@admin.register(models.Tournament)
class TournamentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Tournaments, without their secret seeds."""

    form = TournamentForm
    list_display = ("title", "ladder", "format", "state", "starts_at", "set_aside")
    list_filter = ("state", "format", "ladder")
    search_fields = ("title",)
    exclude = ("seed",)
    readonly_fields = ("set_aside", "note", "commitment", "state", "finished_at", "scheduled_for")

    def has_add_permission(self, request: object) -> bool:
        """Schedules and the API announce tournaments, because they draw the seed."""
        return False

    def get_readonly_fields(self, request: object, obj: Any = None) -> _Fields:
        """Fix ladder, times and event settings once the tournament has begun."""
        states = models.Tournament.State
        if obj is None or obj.state in (states.ANNOUNCED, states.ENTRIES_OPEN):
            return self.readonly_fields
        return (*self.readonly_fields, "ladder", "entries_open_at", "starts_at", *EVENT_SETTINGS)


@admin.register(models.TournamentEntry)
class TournamentEntryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Entries of bots in tournaments. The actions withdraw and disqualify bots."""

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
        """Only owners enter their bots."""
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        """Entries stay on record."""
        return False

    @admin.action(description="Withdraw bots from further rounds", permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[models.TournamentEntry]) -> None:
        """Withdraw the bots of the chosen entries."""
        self._each(request, queryset, competitions.withdraw, "withdrawn")

    @admin.action(description="Disqualify bots: withdraw, remove rank", permissions=["change"])
    def disqualify(self, request: HttpRequest, queryset: QuerySet[models.TournamentEntry]) -> None:
        """Disqualify the bots of the chosen entries, each for the reason in its entry."""

        def disqualify_one(*, tournament: models.Tournament, bot: models.Bot) -> None:
            entry = queryset.get(tournament=tournament, bot=bot)
            reason = entry.reason or "Decision of the organisers."
            competitions.disqualify(tournament=tournament, bot=bot, reason=reason)

        self._each(request, queryset, disqualify_one, "disqualified")

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


@admin.register(models.Schedule)
class ScheduleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Schedules: rules that make tournaments."""

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
        "set_aside",
    )
    readonly_fields = ("set_aside",)


class _ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that the admin pages show and don't change."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Forbid adding rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Forbid changing rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Forbid deleting rows."""
        return False


class _ReasonForm(ActionForm):
    reason = forms.CharField(required=False, max_length=500, label="Reason (public):")


@admin.register(models.Block)
class BlockAdmin(_ReadOnly):
    """Blocks; an action removes them from the ratings."""

    list_display = ("__str__", "state", "rated", "void_mark")
    list_filter = ("state", "round__ladder")
    list_select_related = ("round__ladder", "void_mark__block__round__ladder")
    search_fields = ("=id", "=round__number", "bots__bot__name")
    ordering = ("-id",)
    action_form = _ReasonForm
    actions = ("void_blocks",)

    @admin.action(description="Void blocks: remove them from the ratings", permissions=["void"])
    def void_blocks(self, request: HttpRequest, queryset: QuerySet[models.Block]) -> None:
        """Mark the blocks void; a task corrects the ratings soon after."""
        for block in queryset.order_by("pk"):
            try:
                ratings.void_block(
                    block_id=block.pk,
                    reason=request.POST.get("reason", ""),
                    made_by=signed_in(request),
                )
            except ValidationError as error:
                self.message_user(request, f"{block}: {error.messages[0]}", messages.ERROR)
            else:
                self.message_user(request, f"{block} is void. The ratings are corrected soon.")

    def has_void_permission(self, request: HttpRequest) -> bool:
        """Return whether the person may add void marks, as organisers may."""
        return request.user.has_perm("league.add_voidmark")


@admin.register(models.VoidMark)
class VoidMarkAdmin(_ReadOnly):
    """Void marks. The page of blocks makes them, and they stay for good."""

    list_display = ("block", "reason", "made_by", "made_at")
    list_select_related = ("block__round__ladder", "made_by")


@admin.register(models.Revision)
class RevisionAdmin(_ReadOnly):
    """Revisions of ledgers, one for each correction."""

    list_display = ("ladder", "number", "from_applied_number", "reason", "made_at")
