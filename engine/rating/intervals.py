"""The constant of 95 % intervals, in a module that needs no NumPy, so that pages can import it."""

Z_95 = 1.96
"""Standard errors between an estimate and either end of its 95 % interval."""
