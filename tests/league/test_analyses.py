"""Analyses of matches: asked for, computed in portions, and stored once."""

from collections.abc import Collection
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from engine.analysis import VERSION, Analysis, Work
from league import analyses, queueing, tasks
from league.models import Block, Match, MatchAnalysis, Tournament
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db

PLAYOUTS = 8


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
    """A finished match."""
    return Match.objects.finished().earliest("pk")


def later() -> datetime:
    return timezone.now() + analyses.REQUEUE + timedelta(seconds=1)


def compute(match: Match, seconds: float = 0) -> bool:
    return analyses.compute(match.pk, seconds, PLAYOUTS)


def stored(match: Match) -> MatchAnalysis:
    return MatchAnalysis.objects.get(match=match)


def test_a_match_is_analysed_in_portions_as_at_home(match: Match) -> None:
    analyses.ask(match=match)
    portions = 1
    while compute(match, 0):
        assert stored(match).state == "waiting"
        portions += 1
    found = stored(match)
    assert found.state == "done"
    assert found.work is None
    assert portions == 16 == 2 * 8  # a give and a play on each of 8 days
    work = Work(match.record, PLAYOUTS)
    work.advance()
    assert found.result is not None
    assert Analysis.from_json(found.result) == work.result()


def test_a_portion_that_two_workers_compute_is_stored_once(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyses.ask(match=match)
    advance = Work.advance
    done: list[bool] = []

    def twice(work: Work, goes_on: object) -> None:
        if not done:
            done.append(True)
            assert compute(match, 0)  # another worker, at the same time
        advance(work, goes_on)  # type: ignore[arg-type]

    monkeypatch.setattr(Work, "advance", twice)
    assert not compute(match, 0)
    assert stored(match).moves_done == 3


def test_a_second_request_changes_nothing(match: Match) -> None:
    analyses.ask(match=match)
    compute(match, 0)
    before = stored(match).moves_done
    analyses.ask(match=match)
    assert stored(match).moves_done == before > 0


def test_a_finished_analysis_is_not_computed_again(match: Match) -> None:
    analyses.ask(match=match)
    compute(match, 600)
    finished = stored(match).finished_at
    assert not compute(match)
    assert analyses.ask(match=match).finished_at == finished
    assert analyses.claim_due(later()) == []


def test_a_portion_that_the_queue_lost_is_queued_again(match: Match) -> None:
    analyses.ask(match=match)
    assert analyses.claim_due(timezone.now()) == []
    assert analyses.claim_due(later()) == [match.pk]


def test_a_portion_that_waits_in_the_queue_is_not_queued_twice(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyses.ask(match=match)
    monkeypatch.setattr(queueing, "waiting_ids", lambda task: {match.pk})
    assert analyses.claim_due(later()) == []


def wait(patch: pytest.MonkeyPatch, ids: set[int], between: Collection[int] = ()) -> None:
    """Let the analyses of matches wait in the queue, and some of them between matches."""
    of_task = {"analyse_match": ids, "analyse_between_matches": {*between}}
    patch.setattr(queueing, "waiting_ids", lambda task, *_queues: of_task[task])


def test_no_analysis_goes_on_between_matches_while_another_one_does(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Match.objects.finished().latest("pk")
    analyses.ask(match=match)
    analyses.ask(match=other)
    soon = later() + timedelta(seconds=10)
    MatchAnalysis.objects.filter(match=other).update(due_at=soon)
    wait(monkeypatch, {match.pk, other.pk})
    assert analyses.claim_starved(later()) == [match.pk]
    wait(monkeypatch, {match.pk, other.pk}, between=[match.pk])
    assert analyses.claim_starved(soon) == []
    wait(monkeypatch, {match.pk, other.pk})
    MatchAnalysis.objects.filter(match=match).update(attempts=1, due_at=soon + analyses.REQUEUE)
    assert analyses.claim_starved(soon) == []  # a worker computes a portion of the first one
    compute(match, 600)
    assert analyses.claim_starved(soon) == [other.pk]


def test_an_analysis_that_starves_goes_on_between_matches_one_at_a_time(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyses.ask(match=match)
    assert analyses.claim_starved(later()) == []  # its task is lost, so it is queued again
    wait(monkeypatch, {match.pk})
    assert analyses.claim_starved(timezone.now()) == []
    assert analyses.claim_starved(later()) == [match.pk]
    assert analyses.claim_starved(later()) == []
    sent: list[tuple[tuple[int], str]] = []
    monkeypatch.setattr(analyses, "SMALL_PORTION_SECONDS", 0)
    monkeypatch.setattr(
        tasks.analyse_between_matches, "apply_async", lambda ids, queue: sent.append((ids, queue))
    )
    tasks.analyse_between_matches(match.pk)
    assert sent == [((match.pk,), "play")]
    assert stored(match).moves_done
    Match.objects.filter(pk=match.pk).update(archived=True, packed_record=None)
    monkeypatch.setattr(analyses, "compute", lambda *_: True)
    tasks.analyse_between_matches(match.pk)
    assert sent[1:] == [((match.pk,), "ratings")]


def test_an_analysis_whose_portion_always_fails_is_given_up_until_the_next_request(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_work: Work, _goes_on: object) -> None:
        raise MemoryError

    analyses.ask(match=match)
    with monkeypatch.context() as patched:
        patched.setattr(Work, "advance", crash)
        for _ in range(analyses.MAX_ATTEMPTS):
            with pytest.raises(MemoryError):
                compute(match)
        assert not compute(match)
    assert stored(match).state == "failed"
    assert analyses.claim_due(later()) == []
    assert analyses.ask(match=match).state == "waiting"
    assert not compute(match, 600)
    assert stored(match).state == "done"


def test_another_version_of_the_method_computes_again(match: Match) -> None:
    analyses.ask(match=match)
    compute(match, 600)
    MatchAnalysis.objects.update(version=VERSION + 1)
    assert analyses.claim_due(timezone.now()) == [match.pk]
    found = stored(match)
    assert (found.state, found.version, found.moves_done) == ("waiting", VERSION, 0)


def test_a_match_with_a_secret_record_has_no_analysis(match: Match) -> None:
    Block.objects.update(state="playing")
    match = Match.objects.get(pk=match.pk)
    with pytest.raises(analyses.HiddenError):
        analyses.ask(match=match)
    with pytest.raises(analyses.HiddenError):
        analyses.find(match)
    assert not MatchAnalysis.objects.exists()


def test_finals_of_knockouts_are_analysed_by_themselves(db: None) -> None:
    small.bots(4)
    tournament = small.tournament(small.ladder(seats=2), format="knockout")
    small.run_all()
    tournament.refresh_from_db()
    assert tournament.state == "finished"
    stages = {round_.stage for round_ in tournament.rounds.all()}
    final = Match.objects.filter(block__round__stage=max(filter(None, stages)))
    found = analyses.ask_for_finals(timezone.now())
    assert sorted(found) == sorted(final.values_list("pk", flat=True))
    assert 0 < len(found) < Match.objects.count()
    assert analyses.ask_for_finals(timezone.now()) == []
    assert sorted(analyses.claim_due(timezone.now())) == sorted(found)


def test_the_task_queues_the_next_portion(match: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    analyses.ask(match=match)
    queued: list[int] = []
    monkeypatch.setattr(analyses.compute, "__defaults__", (0.0, PLAYOUTS))
    monkeypatch.setattr(tasks.analyse_match, "delay", queued.append)
    tasks.analyse_match(match.pk)
    assert queued == [match.pk]


def test_workers_take_analyses_after_all_matches(settings: Settings) -> None:
    route = settings.CELERY_TASK_ROUTES["league.tasks.analyse_match"]
    assert route["queue"] not in settings.PLAY_QUEUES
    assert settings.CELERY_BROKER_TRANSPORT_OPTIONS["queue_order_strategy"] == "priority"
