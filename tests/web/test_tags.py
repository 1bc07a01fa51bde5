"""What the template tags and small parts of pages show."""

import pytest
from django.template.loader import render_to_string


@pytest.mark.parametrize(
    ("trend", "marks"), [(None, ""), (0, ""), (499, ""), (-499, ""), (1500, "▲"), (-1500, "▼")]
)
def test_a_trend_that_rounds_to_nothing_has_no_arrow(trend: int | None, marks: str) -> None:
    shown = render_to_string("web/parts/trend.html", {"trend": trend})
    assert "".join(mark for mark in shown if mark in "▲▼") == marks
