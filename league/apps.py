"""The Django app of the league's models."""

from django.apps import AppConfig


class LeagueConfig(AppConfig):
    """The one app that has models."""

    name = "league"
    verbose_name = "Twelfth Night"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the handlers of Celery's worker signals."""
        from league import workers  # noqa: F401  (models are loaded only now)
