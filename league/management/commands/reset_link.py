"""``manage.py reset_link``."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from league.accounts import new_reset
from league.moderation import log


class Command(BaseCommand):
    """Issue a link that lets a person set a new password. It works once."""

    help = __doc__
    requires_system_checks = ()  # they load all pages and calls

    def add_arguments(self, parser: CommandParser) -> None:
        """Define the arguments."""
        parser.add_argument("username", help="name of the account")
        parser.add_argument(
            "--url", default="", help="the league's address, such as https://league.example"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link, and note it in the moderation log."""
        user = User.objects.filter(username__iexact=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no account {options['username']} that can sign in.")
        log.note(log.Action.RESET_LINK, made_by=None, subject=user, account=user)
        path = reverse("web:reset-password", args=new_reset(user))
        self.stdout.write(f"{options['url'].rstrip('/')}{path}")
        hours = settings.PASSWORD_RESET_TIMEOUT // 3600
        self.stdout.write(
            f"The link works once, for {hours} hours, and until {user.username} signs in. Send it "
            "over a channel that only this person reads."
        )
