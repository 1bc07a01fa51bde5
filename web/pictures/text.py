"""Text in pictures: how wide it is, and what of it fits.

SVG has no line breaks and no ellipsis, and nothing measures text before it is drawn.
"""

import unicodedata
from typing import NamedTuple

_WIDTHS = (
    31, 40, 47, 75, 63, 85, 81, 28, 43, 43, 47, 75, 31, 37, 31, 33,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 33, 33, 75, 75, 75, 53,
    90, 70, 76, 72, 78, 69, 64, 77, 85, 42, 43, 78, 63, 100, 82, 78,
    68, 78, 75, 65, 67, 78, 70, 101, 70, 64, 66, 43, 33, 43, 75, 45,
    45, 58, 63, 55, 63, 57, 39, 63, 65, 34, 33, 62, 34, 95, 65, 60,
    63, 63, 47, 51, 42, 65, 52, 77, 54, 52, 51, 58, 33, 58, 75,
)  # fmt: skip
"""Widths of the characters from U+0020 to U+007E in the font, in hundredths of its size."""
_OTHER_WIDTH = 80
_WIDE = 105
_OWN_LETTERS_END = 0x530
_SIGNS = frozenset("–—’“”…−×·▲▼")


class Fitted(NamedTuple):
    """A text with the size at which it fits."""

    text: str
    size: int


def width_of(text: str, size: int) -> float:
    """Return the width of a text in pixels; of letters outside ASCII an upper estimate."""
    return sum(map(_width, text)) * size / 100


def fitted(text: str, width: float, size: int, smallest: int | None = None) -> Fitted:
    """Return a text in the largest size at which it fits a width, cut off if none does.

    Args:
        text: one line; characters that nothing can show are left out.
        width: in pixels.
        size: of the font, in pixels, for a text that fits.
        smallest: size from which on the text is cut off instead; by default ``size``.
    """
    text = "".join(each for each in text if each.isprintable())
    least = size if smallest is None else smallest
    while size > least and width_of(text, size) > width:
        size -= 1
    if width_of(text, size) <= width:
        return Fitted(text, size)
    while text and width_of(f"{text}…", size) > width:
        text = text[:-1]
    return Fitted(f"{text.rstrip()}…", size)


def wrapped(text: str, width: float, size: int, smaller: int) -> list[Fitted]:
    """Return a text as one line, or as two lines in a smaller size, the second one cut off.

    Args:
        text: with spaces between its words.
        width: in pixels.
        size: of one line; it may shrink down to two pixels more than ``smaller``.
        smaller: size of two lines.
    """
    one = fitted(text, width, size, smaller + 2)
    if not one.text.endswith("…"):
        return [one]
    words, first = text.split(" "), ""
    while words and width_of(f"{first} {words[0]}", smaller) <= width:
        first = f"{first} {words.pop(0)}".strip()
    lines = [first, " ".join(words)] if first else [text]
    return [fitted(line, width, smaller) for line in lines if line]


def is_covered(text: str) -> bool:
    """Return whether the project's own font has all letters of a text."""
    return all(ord(each) < _OWN_LETTERS_END or each in _SIGNS for each in text)


def _width(character: str) -> int:
    at = ord(character) - 0x20
    if 0 <= at < len(_WIDTHS):
        return _WIDTHS[at]
    if unicodedata.combining(character):
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER_WIDTH
