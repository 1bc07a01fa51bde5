"""The Django app that stores everything."""

from django.apps import AppConfig


class LeagueConfig(AppConfig):
    """All models are in this one app."""

    name = "league"
    verbose_name = "Twelfth Night"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the handlers of Celery's worker signals."""
        from league import workers  # noqa: F401  (models are loaded only now)
