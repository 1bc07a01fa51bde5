"""Ordinal numbers: 1st, 2nd, 3rd."""

_ENDS = {1: "st", 2: "nd", 3: "rd"}


def ordinal(number: int) -> str:
    """Return a place in words and figures, such as ``2nd``."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDS.get(number % 10, "th")
    return f"{number}{ending}"
