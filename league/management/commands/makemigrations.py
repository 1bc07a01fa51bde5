"""``manage.py makemigrations``, for which the texts of fields are no changes."""

from django.core.management.commands.makemigrations import Command as OfDjango

from league.management.schema_changes import SchemaChanges


class Command(OfDjango):
    """Django's command with our rule of what a change is."""

    autodetector = SchemaChanges
