"""The titles of presets."""

import pytest

from engine.games.catalogue import GAMES
from engine.games.titles import SCORE_UNITS, title


@pytest.mark.parametrize("game", GAMES)
def test_every_preset_has_a_title_of_its_own(game: str) -> None:
    titles = [title(game, rules) for rules in GAMES[game].presets]
    assert len(set(titles)) == len(titles)
    assert not [each for each in titles if any(rules in each for rules in GAMES[game].presets)]


def test_a_preset_that_is_gone_stands_for_itself() -> None:
    assert title("partridge", "eagle-short") == "12 Days of Christmas, short game"
    assert title("partridge", "gone") == "12 Days of Christmas, gone"
    assert title("chess", "blitz") == "chess, blitz"


def test_every_game_has_a_word_for_what_its_scores_count() -> None:
    assert SCORE_UNITS == {"twelve-days": "points", "partridge": "gifts"}
    assert set(SCORE_UNITS) == set(GAMES)
