"""95 % intervals, in a module that needs no NumPy, so that pages can import it."""

import math
from functools import cache

from engine.rating.students_t import upper_quantile

Z_95 = 1.96
"""Standard errors between an estimate and either end of its 95 % interval, if the error is known
exactly."""


def half_width(error: float, blocks: int) -> float:
    """Return half the length of the 95 % interval of a bot's performance, in the error's unit.

    The error is itself an estimate, from B blocks: so the interval uses Student's t with B - 1
    degrees of freedom in place of 1.96. The bot's own strength was fitted to the same blocks, so
    the squared error is too small by (B - 1) / B on average, and a factor makes up for that.
    docs/ratings-statistics.md gives the measured coverage. With 20 blocks the result is 2.15
    standard errors, with 400 blocks 1.97.

    Args:
        error: the standard error.
        blocks: B, the bot's blocks in the fit, at least 2.

    Raises:
        ValueError: there are fewer than 2 blocks.
    """
    if blocks < 2:
        raise ValueError(f"an interval needs 2 blocks, not {blocks}")
    return student_t(blocks - 1) * math.sqrt(blocks / (blocks - 1)) * error


def margin(error: float | None, blocks: int) -> float | None:
    """Return the half width of an interval; None without an error or with fewer than 2 blocks.

    Args:
        error: the standard error; None or infinite if it is unknown.
        blocks: the bot's blocks in the fit.
    """
    if error is None or blocks < 2 or not math.isfinite(error):
        return None
    return half_width(error, blocks)


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of so many trials, by Wilson's score.

    A tie that counts half makes the interval somewhat too long. Source: E. B. Wilson, "Probable
    inference, the law of succession, and statistical inference", 1927.

    Args:
        share: from 0 to 1.
        trials: at least 1.

    Raises:
        ValueError: there are no trials.
    """
    if trials < 1:
        raise ValueError(f"an interval needs 1 trial, not {trials}")
    weight = Z_95**2 / trials
    middle = (share + weight / 2) / (1 + weight)
    spread = Z_95 * math.sqrt(share * (1 - share) / trials + weight / (4 * trials)) / (1 + weight)
    return max(0.0, middle - spread), min(1.0, middle + spread)


@cache
def student_t(degrees: int) -> float:
    """Return the two-sided 95 % point of Student's t for so many degrees of freedom."""
    return upper_quantile(0.025, degrees)
