"""Setting aside: a row that is invalid, or that fails, is left out with an alarm; the rest goes on.

`league.competitions.setting_aside` sets rows aside and lifts that again.
"""

from django.db import models
from django.db.models import Q

NOT_SET_ASIDE = Q(set_aside="", ladder__set_aside="")
"""The condition for rows with a ladder: neither the row nor its ladder is set aside."""


class SetAside(models.Model):
    """A row that the league can leave out without stopping the others."""

    set_aside = models.TextField(
        default="",
        blank=True,
        editable=False,
        help_text="Why the league leaves it out: a setting is invalid, or the league failed to "
        "work on it. Empty if nothing is wrong.",
    )
    retry_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the league tries again after a failure; empty if a setting is invalid.",
    )

    class Meta:
        abstract = True
