"""``manage.py set_up_league``."""

from typing import Any

from django.core.management.base import BaseCommand

from league.defaults import set_up_league


class Command(BaseCommand):
    """Create the default ladders, house bots and first tournaments where they are missing."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Set up what is missing."""
        set_up_league()
