"""Fixtures of the tests of play: three remote bots, and a live match between them."""

import pytest

from league.models import Bot, Match
from tests.league.play.live import match_of, remote_bots


@pytest.fixture
def bots(transactional_db: None) -> list[Bot]:
    return remote_bots(3)


@pytest.fixture
def match(bots: list[Bot]) -> Match:
    return match_of(bots)
