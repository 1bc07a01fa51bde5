"""The SQL by which benchmarks fill a league knows today's tables."""

import pytest

from benchmarks import standings
from league.models import Ladder

pytestmark = pytest.mark.django_db


def test_a_benchmark_can_fill_a_ladder_with_blocks() -> None:
    standings.fill(size=100, first=1000)
    ladder = Ladder.objects.get(slug="big-100")
    assert ladder.standings.count() == 100
    assert ladder.rounds.count() == 100 * 100 // standings.ROUND
