"""``manage.py play_match_alone``: a worker's helper, see `league.play.alone`."""

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from league.play.alone import die_with
from league.play.hosted import play_leased


class Command(BaseCommand):
    """Plays a match that this process's parent has leased. Its exit status is 1 without a result.

    Workers start it; you never need to.
    """

    help = "Play a match alone in this process. Workers start this command."
    requires_system_checks = ()  # they load all pages and calls

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the match, its lease and the process that holds the lease."""
        parser.add_argument("match_id", type=int)
        parser.add_argument("lease", type=uuid.UUID)
        parser.add_argument("--parent", type=int, required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        """Play the match."""
        die_with(options["parent"])
        if not play_leased(options["match_id"], options["lease"], is_alone=True):
            raise SystemExit(1)
