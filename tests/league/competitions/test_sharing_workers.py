"""Ladders, tournaments and comparisons share the workers."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from league import competitions, play, queueing, tasks
from league.models import Bot, Ladder, Match
from league.play import leases, match_queue
from league.play.match_queue import AHEAD, AHEAD_PER_WORKER
from tests.league import small
from tests.league.competitions.busy import Workers, guests, house

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def busy() -> Ladder:
    """A ladder with four house bots and two of owners."""
    ladder = small.ladder("busy")
    house(ladder)
    guests(ladder, 2)
    return ladder


@pytest.fixture
def crowded() -> Ladder:
    """A ladder with so many bots that a round of it is long, beside `busy`."""
    ladder = small.ladder("crowded")
    guests(ladder, 24)
    return ladder


@pytest.mark.parametrize("count", [3])
def test_ladders_share_the_workers_however_long_their_rounds_are(
    busy: Ladder, crowded: Ladder, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(count, monkeypatch)
    workers.run(80)
    assert sum(workers.begun.values()) == 80
    assert min(workers.begun["busy"], workers.begun["crowded"]) >= 25


def of(taken: list[int]) -> list[tuple[str | None, int | None]]:
    """Return of whom matches are: the ladder's slug and the tournament's id."""
    found = Match.objects.in_bulk(taken)
    blocks = [found[match_id].block for match_id in taken]
    return [
        (block.round.ladder.slug, block.round.tournament_id) if block else (None, None)
        for block in blocks
    ]


def test_ladders_tournaments_and_comparisons_take_turns(busy: Ladder, crowded: Ladder) -> None:
    for ladder in (crowded, busy):
        competitions.open_ladder_round(ladder.pk)
    tournament = small.tournament(crowded)
    competitions.advance_tournament(tournament.pk)
    versions = small.versions(Bot.objects.filter(name__startswith="crowded")[:3])
    play.open_unrated_match(game="twelve-days", rules="eight-nights", versions=versions)
    taken = of(play.claim_due_hosted())
    who = {("busy", None), ("crowded", None), ("crowded", tournament.pk), (None, None)}
    assert set(taken[:4]) == who
    assert set(taken[4:7]) == who - {(None, None)}
    assert max(Counter(taken).values()) == AHEAD
    assert play.claim_due_hosted() == []


def test_the_queue_holds_more_the_more_workers_play(crowded: Ladder) -> None:
    competitions.open_ladder_round(crowded.pk)
    Match.objects.update(due_at=timezone.now())
    first = play.claim_due_hosted()
    assert len(first) == AHEAD
    for match_id in first[:3]:
        assert leases.take(match_id) is not None
    # Three places are free, and there is more room for three that play.
    left = Match.objects.count() - AHEAD
    assert len(play.claim_due_hosted()) == min(left, 3 + 3 * AHEAD_PER_WORKER)


def test_comparisons_have_their_share_beside_ladders_and_wait_for_tournaments() -> None:
    group = match_queue._Group
    swap = group(None, None, True, due=100, queued=0, playing=0)
    ladder = group(1, None, False, due=100, queued=0, playing=0)
    tournament = group(1, 1, False, due=100, queued=0, playing=0)
    assert dict(match_queue._rooms([swap, ladder])) == {swap: 1, ladder: AHEAD}
    rooms = dict(match_queue._rooms([swap, ladder, tournament]))
    assert rooms == {swap: match_queue.MAX_COMPARED, ladder: AHEAD, tournament: AHEAD}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the tasks that are queued by name."""
    names: list[str] = []
    monkeypatch.setattr(queueing, "queue", lambda task, *ids: names.append(task))
    queueing.note_begun("follow_up")
    yield names
    queueing.note_begun("follow_up")


def test_matches_that_end_while_a_follow_up_waits_queue_no_other(
    busy: Ladder, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def play_without_a_sandbox(match_id: int) -> bool:
        return real(match_id, players=small.players)

    real = play.play_match
    monkeypatch.setattr(play, "play_match", play_without_a_sandbox)
    queued: list[Any] = []
    monkeypatch.setattr(tasks.play_match, "apply_async", lambda args, queue: queued.append(*args))
    competitions.open_ladder_round(busy.pk)
    first, second, third, *_ = play.claim_due_hosted()
    tasks.play_match(first)
    tasks.play_match(second)
    assert sent == ["follow_up"]
    tasks.follow_up()
    tasks.play_match(third)
    assert sent == ["follow_up"] * 2


@pytest.mark.parametrize("count", [1, 5])
def test_placements_on_two_ladders_leave_half_of_the_workers_to_others(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        ladder = small.ladder(name)
        house(ladder)
        guests(ladder, 3)
    quiet = small.ladder("quiet")
    house(quiet, 7)
    small.tournament(quiet)
    workers = Workers(count, monkeypatch, places=True)
    workers.run(60)
    begun = Match.objects.exclude(status="waiting").filter(block__round__placed__isnull=False)
    assert 0.3 <= begun.count() / 60 <= 0.6
    assert workers.begun["quiet"] >= 60 / 6
