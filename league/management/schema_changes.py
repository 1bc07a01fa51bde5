"""Which changes of a model need a migration: those of the database, not those of texts.

The texts that explain a field to people change often, and PostgreSQL knows nothing of them. So
Django's own rule, by which each changed `help_text` is a migration, does not hold here.
"""

from typing import Any

from django.db.migrations.autodetector import MigrationAutodetector
from django.db.models import Field

_TEXTS = ("help_text", "verbose_name")


class SchemaChanges(MigrationAutodetector):
    """Finds the changes of models as Django does, but for the texts of fields."""

    def deep_deconstruct(self, obj: Any) -> Any:
        """Return what makes two fields the same: the field's class and its arguments."""
        found = super().deep_deconstruct(obj)
        if isinstance(obj, Field):
            path, args, kwargs = found
            kwargs = {name: value for name, value in kwargs.items() if name not in _TEXTS}
            return path, args, kwargs
        return found
