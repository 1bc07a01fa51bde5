"""The API's analyses of matches."""

import pytest
from django.contrib.auth.models import User

from engine.analysis import Analysis
from league import analyses
from league.models import Block, Match, MatchAnalysis, Tournament
from tests.api.conftest import Api, assert_problem
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db


@pytest.fixture
@kept
def played(db: None) -> Tournament:
    """A tournament of four house bots, played to its end."""
    small.bots(4)
    tournament = small.tournament(small.ladder())
    small.run_all()
    return tournament


@pytest.fixture
def match(played: Tournament) -> Match:
    return Match.objects.finished().earliest("pk")


def test_an_analysis_waits_until_workers_have_computed_it(api: Api, match: Match) -> None:
    path = f"matches/{match.pk}/analysis"
    before = api.get(path).json()
    assert (before["state"], before["moves_done"], before["analysis"]) == ("none", 0, None)
    analyses.ask(match=match)
    analyses.compute(match.pk, seconds=0, playouts=8)
    waiting = api.get(path).json()
    assert (waiting["state"], waiting["analysis"]) == ("waiting", None)
    assert 0 < waiting["moves_done"] < waiting["moves"] == len(match.record.moves)
    while analyses.compute(match.pk, seconds=600):
        pass
    done = api.get(path).json()
    assert done["state"] == "done"
    stored = MatchAnalysis.objects.get(match=match).result
    assert done["analysis"] == stored
    assert stored is not None
    assert len(Analysis.from_json(stored).chances) == 1 + 2 * 8


def test_an_analysis_is_secret_while_the_record_is(api: Api, match: Match) -> None:
    Block.objects.update(state="playing")
    assert_problem(api.get(f"matches/{match.pk}/analysis"), 404, "not-found")


def test_asking_needs_an_owner_token(api: Api, match: Match) -> None:
    assert_problem(api.post(f"matches/{match.pk}/analysis"), 401, "not-authenticated")
    assert not MatchAnalysis.objects.exists()


def test_an_owner_asks_for_an_analysis(api: Api, match: Match, ada: tuple[User, str]) -> None:
    answer = api.post(f"matches/{match.pk}/analysis", token=ada[1])
    assert answer.status_code == 202
    assert answer["Location"] == f"/api/v1/matches/{match.pk}/analysis"
    assert answer.json()["state"] == "waiting"
