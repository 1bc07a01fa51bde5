"""The quantiles of 95 % intervals, in a module that needs no NumPy, so that pages can import it."""

Z_95 = 1.96
"""Standard errors between an estimate and either end of its 95 % interval."""

_T_OF_FEW = (12.706, 4.303, 3.182)
"""Two-sided 95 % points of Student's t, for 1 to 3 degrees of freedom."""


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
