"""Django's admin pages, for organisers.

Django's admin classes take no type argument at run time: so they ignore ``type-arg``.
"""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from bots_sdk.explanations import BLOCK
from league import competitions, models, ratings
from league.competitions.settings_checks import EVENT_SETTINGS
from league.moderation import log as moderation_log
from web.admin_checks import AccountForm, BotForm, LadderForm, ScheduleForm, TournamentForm
from web.conflicts import ConflictForm
from web.requests import signed_in

_Fields = list[str] | tuple[str, ...] | tuple[()]


class _Explained(admin.ModelAdmin):  # type: ignore[type-arg]
    """Says what its rows are, above the list of them.

    Attributes:
        explanation: the sentence; empty where the name says it all.
    """

    explanation = ""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list below the explanation."""
        return super().changelist_view(
            request, {"subtitle": self.explanation, **(extra_context or {})}
        )


class _ReadOnly(_Explained):
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


class _SafeAdmin(_Explained):
    """Saves only the fields that the person has changed, and refuses to undo others' changes."""

    form = ConflictForm

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the changed fields alone: the league itself may have changed the others."""
        if not change:
            obj.save()
            return
        obj.save(update_fields=_changed_fields(obj, form))


def _changed_fields(row: Model, form: Any) -> list[str]:
    """Return the names of the columns that a person has changed in a form."""
    names = {field.name for field in row._meta.concrete_fields}
    return [name for name in form.changed_data if name in names]


admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """Accounts, without the dates that the league keeps."""

    form = AccountForm
    readonly_fields = ("last_login", "date_joined")


@admin.register(models.Bot)
class BotAdmin(_SafeAdmin):
    """Bots: everything but the description belongs to the league or to the bot's owner."""

    form = BotForm
    list_display = ("name", "kind", "owner", "paused", "current")
    list_filter = ("kind", "paused")
    search_fields = ("name",)
    readonly_fields = ("name", "kind", "owner", "current", "seen_at", "created_at")

    def get_readonly_fields(self, request: object, obj: Any = None) -> _Fields:
        """Let operators pause house bots only; a quarantine keeps other bots out."""
        if obj is not None and obj.kind == models.Bot.Kind.HOUSE:
            return self.readonly_fields
        return (*self.readonly_fields, "paused")

    def has_add_permission(self, request: object) -> bool:
        """Only owners and the command that sets up the league create bots."""
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        """Bots stay: their results need them."""
        return False


@admin.register(models.Ladder)
class LadderAdmin(_SafeAdmin):
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
        "created_at",
    )

    def get_readonly_fields(self, request: object, obj: Any = None) -> _Fields:
        """Fix address, game, preset and seats from the first round on.

        Ratings compare only matches of one kind. And a tournament draws its tables from these
        fields in each round: with another number of seats, tables already played would not fit.
        """
        if obj is None or not obj.rounds.exists():
            return self.readonly_fields
        return (*self.readonly_fields, "slug", "game", "rules", "seats")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Keep ladders that have played a round."""
        if obj is not None and obj.rounds.exists():
            return False
        return super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the ladder; after a pause its bots don't count as idle."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            if change and "paused" in form.changed_data and not obj.paused:
                ratings.note_resumed(obj.pk)


@admin.register(models.Tournament)
class TournamentAdmin(_SafeAdmin):
    """Tournaments, without their secret seeds."""

    form = TournamentForm
    list_display = ("title", "ladder", "format", "state", "starts_at", "set_aside")
    list_filter = ("state", "format", "ladder")
    search_fields = ("title",)
    exclude = ("seed",)
    readonly_fields = (
        "set_aside",
        "ladder",
        "commitment",
        "state",
        "finished_at",
        "cancel_reason",
        "reopened_at",
        "changed_at",
        "note",
        "schedule",
        "scheduled_for",
    )

    def has_add_permission(self, request: object) -> bool:
        """Schedules and the API announce tournaments, because they draw the seed."""
        return False

    def has_delete_permission(self, request: object, obj: object = None) -> bool:
        """Tournaments stay on record; an organiser may cancel one."""
        return False

    def get_readonly_fields(self, request: object, obj: Any = None) -> _Fields:
        """Fix the opening of entries once they are open, and the settings from the start on."""
        states = models.Tournament.State
        if obj is None or obj.state == states.ANNOUNCED:
            return self.readonly_fields
        if obj.state == states.ENTRIES_OPEN:
            return (*self.readonly_fields, "entries_open_at")
        return (*self.readonly_fields, "entries_open_at", "starts_at", *EVENT_SETTINGS)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the changed fields, and note both versions in the moderation log."""
        names = [name for name in form.changed_data if name in form.cleaned_data]
        obj.changed_at = timezone.now()
        obj.save(update_fields=[*names, "changed_at"])
        moderation_log.note(
            moderation_log.Action.CHANGE_TOURNAMENT,
            made_by=signed_in(request),
            subject=f"tournament {obj.pk}, {obj}",
            tournament=obj,
            before={name: str(form.initial.get(name)) for name in names},
            after={name: str(form.cleaned_data[name]) for name in names},
        )


@admin.register(models.TournamentEntry)
class TournamentEntryAdmin(_ReadOnly):
    """Entries of bots in tournaments. The action opens the page that decides on one."""

    list_display = ("bot", "tournament", "state", "first_round", "left_after", "reason")
    list_filter = ("state", "tournament")
    search_fields = ("bot__name", "tournament__title")
    actions = ("decide",)

    @admin.action(
        description="Withdraw or disqualify a bot, or take that back", permissions=["decide"]
    )
    def decide(
        self, request: HttpRequest, queryset: QuerySet[models.TournamentEntry]
    ) -> HttpResponse | None:
        """Open the page that shows what changes and takes the reason."""
        chosen = list(queryset.select_related("bot")[:2])
        if len(chosen) != 1:
            text = "Choose exactly one entry: each disqualification needs its own reason."
            self.message_user(request, text, messages.ERROR)
            return None
        [entry] = chosen
        return redirect("web:organise-entry", entry.tournament_id, entry.bot.name)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Return whether the person may change entries, as organisers may."""
        return request.user.has_perm("league.change_tournamententry")


@admin.register(models.Schedule)
class ScheduleAdmin(_SafeAdmin):
    """Schedules: rules that make tournaments."""

    form = ScheduleForm
    explanation = "A schedule announces a tournament each week, or every few hours."
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

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store a schedule; open the entries of its next tournament if that is due."""
        competitions.store_schedule(obj, changed=_changed_fields(obj, form) if change else None)


@admin.register(models.Block)
class BlockAdmin(_ReadOnly):
    """Blocks; an action opens the page that makes a block void or has it played again."""

    explanation = (
        f"{BLOCK} A void block changes no rating. To make a block void, or to have it played "
        "again, choose the block and the action."
    )
    list_display = ("__str__", "state", "rated", "void_reason")
    list_filter = ("state", "round__ladder")
    list_select_related = ("round__ladder",)
    search_fields = ("=number", "=round__number", "bots__bot__name")
    ordering = ("-id",)
    actions = ("decide",)

    @admin.action(description="Make void, or play again", permissions=["void"])
    def decide(self, request: HttpRequest, queryset: QuerySet[models.Block]) -> HttpResponse | None:
        """Open the page that shows what changes and takes the reason."""
        chosen = list(queryset.select_related("round__ladder")[:2])
        if len(chosen) != 1:
            text = "Choose exactly one block: each decision needs its own reason."
            self.message_user(request, text, messages.ERROR)
            return None
        [block] = chosen
        round_ = block.round
        return redirect("web:organise-block", round_.ladder.slug, round_.number, block.number)

    def has_void_permission(self, request: HttpRequest) -> bool:
        """Return whether the person may add void marks, as organisers may."""
        return request.user.has_perm("league.add_voidmark")


@admin.register(models.VoidMark)
class VoidMarkAdmin(_ReadOnly):
    """Void marks, and marks that take one back. They stay for good."""

    explanation = (
        "A void mark makes a block void, or makes a void block count again. If a block has several "
        "marks, the newest one counts."
    )
    list_display = ("block", "takes_back", "reason", "made_by", "made_at")
    list_select_related = ("block__round__ladder", "made_by")


@admin.register(models.Revision)
class RevisionAdmin(_ReadOnly):
    """Revisions of ledgers, one for each correction."""

    explanation = (
        "A correction computes the ratings of a ladder anew from one round on. It makes the next "
        "revision of the ladder's ledger, which lists how each round changed the ratings."
    )
    list_display = ("ladder", "number", "from_applied_number", "reason", "made_at")


@admin.register(models.Quarantine)
class QuarantineAdmin(_ReadOnly):
    """Quarantines. The pages under /organise/ make and lift them."""

    explanation = (
        "A bot in quarantine gets no new match. You begin or end a quarantine on the pages under "
        "/organise/."
    )
    list_display = ("__str__", "reason", "begun_at", "ends_at", "lifted_at", "made_by")
    list_select_related = ("bot", "account", "made_by")


@admin.register(models.ModerationEntry)
class ModerationEntryAdmin(_ReadOnly):
    """The moderation log."""

    explanation = "Each decision of an organiser or operator, with its reason."
    list_display = ("made_at", "made_by", "action", "subject", "reason")
    list_filter = ("action",)
    list_select_related = ("made_by",)
    search_fields = ("subject", "reason", "made_by__username")
