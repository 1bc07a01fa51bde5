"""The 95 % intervals of performance, beside tables."""

import math

import pytest

from engine.rating.intervals import Z_95, half_width, student_t


@pytest.mark.parametrize(
    ("degrees", "t"), [(1, 12.706), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_students_t(degrees: int, t: float) -> None:
    assert student_t(degrees) == pytest.approx(t, rel=0.005)


def test_few_blocks_lengthen_an_interval_and_many_do_not() -> None:
    assert half_width(10, 5) == pytest.approx(27.76 * math.sqrt(5 / 4), rel=0.005)
    assert half_width(10, 20) == pytest.approx(20.93 * math.sqrt(20 / 19), rel=0.001)
    assert half_width(10, 100_000) == pytest.approx(10 * Z_95, rel=0.001)


def test_one_block_has_no_interval() -> None:
    with pytest.raises(ValueError, match="needs 2 blocks, not 1"):
        half_width(10, 1)
