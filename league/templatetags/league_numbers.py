"""Numbers as people read them."""

from fractions import Fraction

from django import template

register = template.Library()


@register.filter
def elo(milli: int) -> str:
    """Show a rating in thousandths of a point to the tenth."""
    return f"{milli / 1000:.1f}"


@register.filter
def share(part: int, pairs: int) -> str:
    """Show half wins of so many pairs in per cent."""
    return f"{50 * part / pairs:.1f} %" if pairs else "–"


@register.filter
def decimals(value: Fraction | float) -> str:
    """Show a number to the hundredth."""
    return f"{float(value):.2f}"
