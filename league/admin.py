"""Django's admin, for organisers."""

from django.contrib import admin

from league import models


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

    list_display = ("title", "slug", "game", "rules", "seats", "paused")


@admin.register(models.Tournament)
class TournamentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Tournaments; their seeds stay out of sight."""

    list_display = ("title", "ladder", "format", "state", "starts_at")
    list_filter = ("state", "ladder")
    exclude = ("seed",)
    readonly_fields = ("commitment", "state", "finished_at")

    def has_add_permission(self, request: object) -> bool:
        """Tournaments are announced by schedules or through the API, which draw their seeds."""
        return False


@admin.register(models.Schedule)
class ScheduleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Series of tournaments."""

    list_display = (
        "title",
        "ladder",
        "every_hours",
        "weekday",
        "time_of_day",
        "time_zone",
        "active",
    )
