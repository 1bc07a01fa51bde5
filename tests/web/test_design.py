"""The design tokens: contrast of text, and the tables of the document about them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CSS = (ROOT / "web/static/web/base.css").read_text()
DOCUMENT = (ROOT / "docs/design.md").read_text()
TOKENS = dict(re.findall(r"--([\w-]+): ([^;]+);", CSS[: CSS.index("@media")]))
SURFACES = ["paper", "raised", "sunken", "wash", "glow"]
ON_SURFACES = ["ink", "quiet", "accent", "gold", "red"]
PAIRS = [
    *((text, surface) for text in ON_SURFACES for surface in SURFACES),
    *((f"series-{at}", "raised") for at in range(8)),
    *((text, "night") for text in ("on-night", "on-night-quiet", "on-night-gold")),
    ("on-accent", "accent"),
    ("on-felt", "felt"),
    ("on-felt", "felt-deep"),
]
LIGHT, DARK = 0, 1


def colour(token: str, theme: int) -> str:
    """Return the colour of a token in a theme, as ``#rrggbb``."""
    value = TOKENS[token]
    if same := re.fullmatch(r"var\(--([\w-]+)\)", value):
        return colour(same[1], theme)
    both = re.fullmatch(r"light-dark\((#\w{6}), (#\w{6})\)", value)
    return both[1 + theme] if both else value


def luminance(of: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2.2 defines it."""
    shares = [int(of[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: str, surface: str, theme: int) -> float:
    """Return the contrast ratio of two tokens, 1 to 21."""
    low, high = sorted((luminance(colour(text, theme)), luminance(colour(surface, theme))))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_can_be_read_on_every_surface(theme: int) -> None:
    ratios = {pair: contrast(*pair, theme) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}


def test_the_document_states_the_colours_of_the_stylesheet() -> None:
    stated = re.findall(r"^\| `--([\w-]+)` \| (#\w{6}) \| (#\w{6}) \|", DOCUMENT, re.MULTILINE)
    assert len(stated) > 10
    assert stated == [(name, colour(name, LIGHT), colour(name, DARK)) for name, _, _ in stated]


def test_the_document_states_the_measured_contrast() -> None:
    row = r"^\| `--([\w-]+)` on `--([\w-]+)` \| ([\d.]+) \| ([\d.]+) \|"
    stated = re.findall(row, DOCUMENT, re.MULTILINE)
    assert len(stated) > 10
    assert stated == [
        (text, on, *(f"{contrast(text, on, theme):.1f}" for theme in (LIGHT, DARK)))
        for text, on, _, _ in stated
    ]


def test_the_document_names_every_token() -> None:
    # The range --series-0 to --series-7 stands for the series between.
    named = {name for name in TOKENS if f"--{name}`" in DOCUMENT}
    assert {name for name in TOKENS if not name.startswith("series-")} == {
        name for name in named if not name.startswith("series-")
    }
