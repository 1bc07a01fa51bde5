"""The Django app of the league's models."""

from typing import Any

from django.apps import AppConfig


def _store_skeleton(instance: Any, update_fields: Any = None, **_: Any) -> None:
    """Store how a name looks whenever it is saved."""
    from league.accounts import names

    if update_fields is None or "username" in update_fields:
        names.store_skeleton(instance)


class LeagueConfig(AppConfig):
    """The one app that has models."""

    name = "league"
    verbose_name = "Twelfth Night"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect handlers of signals, a check of settings, and the rules for names of accounts.

        Django owns the model of accounts. Its validators run for every form, in the API, in admin
        and in ``createsuperuser``.
        """
        from django.contrib.auth.models import User
        from django.contrib.auth.validators import UnicodeUsernameValidator
        from django.core import checks
        from django.db.models.signals import post_save

        from league import archive_files, workers  # noqa: F401  (models are loaded only now)
        from league.accounts import names

        validators = User._meta.get_field("username").validators
        validators[:] = [
            *(each for each in validators if not isinstance(each, UnicodeUsernameValidator)),
            names.check_name,
        ]
        post_save.connect(_store_skeleton, sender=User)
        checks.register(archive_files.check_storage)
