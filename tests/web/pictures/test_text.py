"""Widths of texts in pictures."""

import pytest
from PIL import ImageFont

from web.pictures import drawing
from web.pictures.text import fitted, is_covered, width_of, wrapped

LONG = "a-name-of-49-characters-0123456789-0123456789-end"


def test_the_widths_of_ascii_are_those_of_the_font() -> None:
    font = ImageFont.truetype(drawing._FONT, 1000)
    for code in range(0x20, 0x7F):
        assert width_of(chr(code), 1000) == pytest.approx(font.getlength(chr(code)), abs=5)


@pytest.mark.parametrize("text", ["Кубок Москвы", "Ärger für Zoë", "Ελληνικό κύπελλο", "1 − 2 …"])
def test_other_letters_are_not_wider_than_estimated(text: str) -> None:
    font = ImageFont.truetype(drawing._FONT, 100)
    assert font.getlength(text) <= 1.05 * width_of(text, 100)
    assert is_covered(text)


def test_a_text_shrinks_before_it_is_cut_off() -> None:
    assert fitted("ada-1", 300, 40) == ("ada-1", 40)
    shrunk = fitted(LONG, 800, 40, 20)
    assert shrunk.text == LONG
    assert 20 < shrunk.size < 40
    assert width_of(*shrunk) <= 800 < width_of(LONG, shrunk.size + 1)
    cut, size = fitted(LONG, 300, 40, 20)
    assert (size, cut[:6], cut[-1]) == (20, LONG[:6], "…")
    assert width_of(cut, size) <= 300


def test_a_long_headline_has_two_lines_and_loses_no_word() -> None:
    text = f"{LONG} wins 6-1 against {LONG}"
    lines = wrapped(text, 1120, 44, 28)
    assert " ".join(line.text for line in lines) == text
    assert [line.size for line in lines] == [28, 28]
    assert wrapped("ada-1 wins", 1120, 44, 28) == [("ada-1 wins", 44)]
    assert wrapped("m" * 200, 1120, 44, 28)[0].text.endswith("…")


def test_characters_that_show_nothing_are_left_out() -> None:
    assert fitted("a\x08b\ud800c", 300, 20).text == "abc"


def test_letters_that_the_font_lacks_are_found() -> None:
    assert not is_covered("東京 cup")
    assert width_of("東京", 100) > width_of("ab", 100)
