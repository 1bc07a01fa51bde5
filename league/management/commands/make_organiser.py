"""``manage.py make_organiser``."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from league.accounts import ORGANISERS


class Command(BaseCommand):
    """Make an account an organiser: a person who sets up ladders and tournaments, and moderates."""

    help = __doc__
    requires_system_checks = ()  # they load all pages and calls

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument("username", help="name of an existing account")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add the account to the group of organisers, with all permissions in the admin pages."""
        user = User.objects.filter(username__iexact=options["username"]).first()
        if user is None:
            raise CommandError(
                f"There is no account {options['username']}. Sign up at /account/sign-up/ first."
            )
        group, _ = Group.objects.get_or_create(name=ORGANISERS)
        group.permissions.set(Permission.objects.filter(content_type__app_label="league"))
        user.groups.add(group)
        user.is_staff = True
        user.save(update_fields=["is_staff"])
        self.stdout.write(
            f"{user.username} is an organiser now. Moderate at /organise/, set up ladders and "
            "schedules at /admin/, and announce tournaments at /organise/tournaments/new/ or with "
            "POST /api/v1/tournaments."
        )
