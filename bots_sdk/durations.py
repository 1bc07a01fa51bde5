"""Times as people read them: an estimate in a few words."""

import math


def about(seconds: float) -> str:
    """Return an estimate, rounded up: to tens of seconds below a minute, else to minutes.

    A finer number would change at each look, and would claim more than an estimate can.
    """
    if seconds <= 50:
        return f"about {max(1, math.ceil(seconds / 10)) * 10} s"
    minutes = math.ceil(seconds / 60)
    return f"about {minutes} minute{'s' if minutes > 1 else ''}"
