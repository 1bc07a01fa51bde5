"""Student's t distribution, against published tables."""

import pytest

from engine.rating.students_t import upper_quantile, upper_tail


@pytest.mark.parametrize(
    ("t", "degrees", "tail"),
    [  # from the tables of Student's t
        (0.0, 7, 0.5),
        (6.314, 1, 0.05),
        (2.015, 5, 0.05),
        (3.365, 5, 0.01),
        (2.764, 10, 0.01),
        (2.457, 30, 0.01),
        (2.358, 120, 0.01),
        (-2.358, 120, 0.99),
        (1.6449, 1e7, 0.05),
    ],
)
def test_the_tail_of_students_t_matches_published_tables(
    t: float, degrees: float, tail: float
) -> None:
    assert upper_tail(t, degrees) == pytest.approx(tail, rel=2e-3)


@pytest.mark.parametrize(
    ("tail", "degrees", "t"),
    [(0.05, 1, 6.3138), (0.01, 10, 2.7638), (0.001, 30, 3.3852), (0.2, 5, 0.91954), (0.5, 4, 0.0)],
)
def test_a_quantile_of_students_t_matches_published_tables(
    tail: float, degrees: float, t: float
) -> None:
    assert upper_quantile(tail, degrees) == pytest.approx(t, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("tail", [0.0, -0.1, 0.6])
def test_a_tail_out_of_range_is_refused(tail: float) -> None:
    with pytest.raises(ValueError, match="a tail must be above 0"):
        upper_quantile(tail, 5)
