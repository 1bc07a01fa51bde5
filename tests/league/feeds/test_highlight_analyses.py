"""Analyses of the day's first highlights."""

from datetime import timedelta

import pytest
from django.utils import timezone

from league import analyses, feeds
from league.feeds import highlight_analyses
from league.models import Match, MatchAnalysis, Tournament
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def played(transactional_db: None) -> Tournament:
    """A tournament of each game, played to its end by four bots."""
    small.bots(4)
    for ladder in (small.ladder(), small.ladder("eagles", seats=2)):
        tournament = small.tournament(ladder)
        small.run_all()
    return tournament


@pytest.fixture
def shown(played: Tournament) -> list[int]:
    """The matches of the day's highlights, in the order of the home page."""
    feeds.find_highlights(timezone.now().date())
    return [each.match_id for each in feeds.last_highlights() if each.match_id]


def ask() -> list[int]:
    """Ask as the task does; return the matches that have an analysis, in the order of asking."""
    feeds.analyse_highlights(timezone.now())
    return list(MatchAnalysis.objects.order_by("pk").values_list("match", flat=True))


def finish() -> None:
    """Finish the analysis that waits."""
    MatchAnalysis.objects.filter(finished_at=None).update(
        finished_at=timezone.now(), due_at=None, packed_result=MatchAnalysis.pack({})
    )


def test_the_first_highlights_are_analysed_one_after_the_other(
    shown: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highlight_analyses, "ANALYSED", 2)  # some days have three highlights
    assert len(shown) > 2
    assert ask() == ask() == shown[:1]
    for _ in range(len(shown)):
        finish()
        ask()
    assert ask() == shown[:2]


def test_highlights_wait_for_the_analyses_that_people_asked_for(shown: list[int]) -> None:
    other = Match.objects.exclude(pk__in=shown).earliest("pk")
    analyses.ask(match=other)
    assert ask() == [other.pk]
    finish()
    assert ask() == [other.pk, shown[0]]


def test_on_a_day_with_many_analyses_highlights_get_none(
    shown: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highlight_analyses, "MAX_A_DAY", 1)
    ask()
    finish()
    assert ask() == shown[:1]
    MatchAnalysis.objects.update(requested_at=timezone.now() - timedelta(days=1))
    assert ask() == shown[:2]
