"""Highlights as pages show them: which seats their words name, and what the worst mistake lost."""

import re

from django.template.loader import render_to_string

from league.play.headlines import seat_names
from web.gallery import samples
from web.highlights import Shown


def names(text: str, name: str) -> bool:
    return name in re.findall(r"[\w-]+", text)


def test_each_seat_that_a_caption_names_is_named_above_it() -> None:
    shown: list[Shown] = samples()["highlights"]
    explained = 0
    for each in shown:
        assert each.highlight is not None
        assert each.highlight.match is not None
        assert each.moment is not None
        text = render_to_string("web/parts/highlight.html", {"each": each})
        above, caption = text.split(f"<b>{each.moment.title}.</b>")
        above = above.partition('class="what"')[2]
        named = [name for name in seat_names(each.highlight.match) if names(caption, name)]
        assert all(names(above, name) for name in named)
        explained += "Also at the table" in above
    assert 0 < explained < len(shown)


def test_a_highlight_shows_the_loss_of_the_worst_mistake_in_places() -> None:
    shown: Shown = samples()["highlights"][0]
    assert shown.highlight is not None
    assert shown.highlight.match is not None
    assert shown.highlight.mistake == {
        "seat": 0,
        "step": 3,
        "move": "play 7",
        "best": "play 2",
        "loss": 0.21,
    }
    assert shown.highlight.match.seats == 4
    text = " ".join(render_to_string("web/parts/highlight.html", {"each": shown}).split())
    assert "It lost 0.6 places, compared with play 2" in text
