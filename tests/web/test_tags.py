"""What the template tags and small parts of pages show."""

from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from league.models import Ladder, Tournament
from web.tags import described, names_game, until, whole


@pytest.mark.parametrize(
    ("trend", "marks"), [(None, ""), (0, ""), (499, ""), (-499, ""), (1500, "▲"), (-1500, "▼")]
)
def test_a_trend_that_rounds_to_nothing_has_no_arrow(trend: int | None, marks: str) -> None:
    shown = render_to_string("web/parts/trend.html", {"trend": trend})
    assert "".join(mark for mark in shown if mark in "▲▼") == marks


def test_scores_and_names_with_hyphens_stay_on_one_line_and_other_words_wrap() -> None:
    assert whole("house-thumb-2 wins 72-48 against ada") == (
        '<span class="whole">house-thumb-2</span> wins <span class="whole">72-48</span> against ada'
    )


def test_no_line_ends_inside_the_name_of_a_game() -> None:
    assert whole("ada ranks 5th on 12 Days of Christmas") == (
        "ada ranks 5th on 12\xa0Days of Christmas"
    )


def test_the_longest_name_of_a_bot_stays_on_one_line() -> None:
    shown = whole("twelve-drummers-drumming-at-last, bob: in play")
    assert shown == '<span class="whole">twelve-drummers-drumming-at-last,</span> bob: in play'


def test_a_word_too_long_for_a_line_of_a_phone_may_wrap() -> None:
    assert "span" not in whole("a-very-long-name-of-an-archived-bot wins")


def test_what_people_type_is_escaped() -> None:
    assert whole("<b-1>") == '<span class="whole">&lt;b-1&gt;</span>'


def test_a_ladder_named_after_its_game_has_the_game_once() -> None:
    ladder = Ladder(title="12 Days of Christmas", game="partridge", rules="eagle-short", seats=4)
    assert described(ladder) == "short game, 4 seats"
    ladder.title = "Fast"
    assert described(ladder) == "12 Days of Christmas, short game, 4 seats"


@pytest.mark.parametrize(
    ("title", "named"),
    [("12 Days, hourly", True), ("12 Days: a cup", True), ("12 Days of snow", False)],
)
def test_a_title_names_the_game_if_a_comma_or_colon_follows(title: str, named: bool) -> None:
    assert names_game(Tournament(title=title, ladder=Ladder(game="twelve-days"))) is named


def test_a_start_in_less_than_a_minute_is_in_a_moment() -> None:
    now = timezone.now()
    assert until(now + timedelta(seconds=59)) == until(now - timedelta(hours=1)) == "a moment"
    assert until(now + timedelta(minutes=2, seconds=5)) == "2\xa0minutes"
