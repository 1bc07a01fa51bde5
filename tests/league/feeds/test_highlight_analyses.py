"""Analyses of the day's first highlights, and their mistakes."""

from datetime import timedelta

import pytest
from django.utils import timezone

from engine.analysis import Analysis, Decision
from league import analyses, feeds
from league.feeds import highlight_analyses, highlights
from league.models import Highlight, Match, MatchAnalysis, Tournament
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


def test_a_mistake_is_not_stored_with_a_match_that_took_the_highlight_meanwhile(
    shown: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    closest = Highlight.objects.filter(match__in=shown, kind="closest").earliest("pk")
    other = Match.objects.finished().exclude(pk=closest.match_id or 0).latest("pk")
    result = {"version": 1, "playouts": 16, "chances": [], "decisions": [], "totals": []}
    MatchAnalysis.objects.create(
        match_id=closest.match_id or 0,
        version=1,
        finished_at=timezone.now(),
        packed_result=MatchAnalysis.pack(result),
    )
    worst = Decision(0, 0, "lead", "play 7", "play 2", 0.2, 0.01, "blunder", False, None, {})

    def read(_: object) -> Analysis:
        """Another run of the task finds another match while this one reads the analysis."""
        Highlight.objects.filter(pk=closest.pk).update(match=other)
        return Analysis(1, 16, (), (worst,), ())

    monkeypatch.setattr(Analysis, "from_json", read)
    highlights._find_mistakes(closest.day)
    stored = Highlight.objects.get(pk=closest.pk)
    assert (stored.match, stored.mistake) == (other, None)
