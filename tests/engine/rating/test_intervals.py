import pytest

from engine.rating.intervals import student_t


@pytest.mark.parametrize(
    ("degrees", "t"), [(1, 12.706), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_students_t(degrees: int, t: float) -> None:
    assert student_t(degrees) == pytest.approx(t, rel=0.005)
