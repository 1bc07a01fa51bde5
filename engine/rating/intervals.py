"""95 % intervals, in a module that needs no NumPy, so that pages can import it."""

import math

Z_95 = 1.96
"""Standard errors between an estimate and either end of its 95 % interval, if the error is known
exactly."""

_T_OF_FEW = (12.706, 4.303, 3.182)
"""Two-sided 95 % points of Student's t, for 1 to 3 degrees of freedom."""


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


def student_t(degrees: int) -> float:
    """Return the two-sided 95 % point of Student's t, with an error of at most 0.5 %.

    Above 3 degrees of freedom this is the expansion around the normal distribution (Abramowitz
    and Stegun, 26.7.5).
    """
    if degrees <= len(_T_OF_FEW):
        return _T_OF_FEW[degrees - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * degrees)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    )
