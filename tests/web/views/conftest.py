"""A played league, which the tests of pages share."""

import pytest

from league.models import Tournament
from tests.league import small
from tests.league.kept import kept


@pytest.fixture
@kept
def played() -> Tournament:
    """A tournament played to its end by four bots."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    small.run_all()
    tournament.refresh_from_db()
    return tournament
