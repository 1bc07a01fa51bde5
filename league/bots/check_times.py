"""How long the check of a version still takes, as the last checks took."""

from datetime import datetime
from statistics import median

from django.db.models import Max

from league.models import BotVersion, QualifyingMatch

_CHECKS = 5
"""The last checks that show how long one takes."""


def check_seconds_left(version: BotVersion, now: datetime) -> float | None:
    """Return about how long the check of a version still takes, the wait for a worker included.

    None if it is over, or if no version was checked before.
    """
    if version.state != BotVersion.State.CHECKING:
        return None
    last = (
        QualifyingMatch.objects.values("version__created_at")
        .annotate(over=Max("played_at"))
        .order_by("-version")
        .values_list("version__created_at", "over")[:_CHECKS]
    )
    times: list[float] = [(over - uploaded).total_seconds() for uploaded, over in last]
    if not times:
        return None
    waited: float = (now - version.created_at).total_seconds()
    return max(median(times) - waited, 1.0)
