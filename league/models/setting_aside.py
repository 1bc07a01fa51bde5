"""Setting aside: a row that is invalid, or that fails, is left out with an alarm; the rest goes on.

`league.competitions.setting_aside` sets rows aside and lifts that again.
"""

from django.db import models


class SetAside(models.Model):
    """A row that the tick can leave out without stopping the others."""

    set_aside = models.TextField(
        default="",
        blank=True,
        editable=False,
        help_text="Why the tick leaves it out: invalid settings, or a failure. Empty if it takes "
        "part.",
    )
    retry_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When the tick tries again after a failure; empty if settings are invalid.",
    )

    class Meta:
        abstract = True
