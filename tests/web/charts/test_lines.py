"""Line charts: the frame around their values."""

import pytest

from web.charts.lines import chart


@pytest.mark.parametrize("value", [0.0, 1500.0, 1500.4])
def test_a_line_without_change_lies_in_the_middle_of_its_frame(value: float) -> None:
    drawn = chart([("bot", [value, value, value])], "first", "last")
    assert drawn is not None
    heights = {float(point.partition(",")[2]) for point in drawn.lines[0].points.split()}
    assert len(heights) == 1
    [height] = heights
    third = (drawn.floor - drawn.top) / 3
    assert drawn.top + third / 2 < height < drawn.floor - third / 2


def test_a_line_fills_most_of_the_height_of_its_frame() -> None:
    drawn = chart([("bot", [1402.0, 1500.0, 1598.0])], "first", "last")
    assert drawn is not None
    assert [text for _, text in drawn.ticks] == ["1400", "1450", "1500", "1550", "1600"]


def test_lines_of_equal_value_lie_beside_each_other() -> None:
    series = [("ada", [0.0, 0.0, 3.0]), ("bea", [0.0, 1.0, 3.0]), ("cai", [0.0, 0.0, 3.0])]
    drawn = chart(series, "deal", "end", side_by_side=True)
    on_each_other = chart(series, "deal", "end")
    assert drawn is not None
    assert on_each_other is not None
    ada, bea, cai = (
        [float(point.split(",")[1]) for point in line.points.split()] for line in drawn.lines
    )
    for heights in zip(ada, bea, cai, strict=True):
        assert len(set(heights)) == 3
    assert cai[0] == cai[1]  # it stays level where the second line leaves it
    assert on_each_other.lines[0] == drawn.lines[0]


@pytest.mark.parametrize(
    ("begins", "anchors"),
    [
        ({3: "1", 10: "2"}, ["middle", "middle"]),
        ({9: "1", 10: "2"}, ["end", "start"]),
        ({0: "1", 20: "2"}, ["start", "end"]),
    ],
)
def test_labels_of_upright_lines_touch_neither_each_other_nor_an_edge(
    begins: dict[int, str], anchors: list[str]
) -> None:
    drawn = chart([("ada", [float(value) for value in range(21)])], "deal", "end", begins=begins)
    assert drawn is not None
    assert [bound.anchor for bound in drawn.bounds] == anchors
