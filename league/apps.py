"""The Django app."""

from django.apps import AppConfig


class LeagueConfig(AppConfig):
    """Everything the league stores is in this one app."""

    name = "league"
    verbose_name = "Twelfth Night"
    default_auto_field = "django.db.models.BigAutoField"
