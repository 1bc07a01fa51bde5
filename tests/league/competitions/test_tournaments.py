"""A tournament from its entries to the ladder, and what must not be lost or counted twice."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.deals import commitment
from engine.errors import MatchInterruptedError
from engine.pairing import Table
from engine.rating import elo
from engine.record import verify
from engine.referee import Player
from league import competitions, play, ratings
from league.competitions import history
from league.models import (
    Block,
    BlockEntry,
    Ladder,
    Match,
    MatchSeat,
    Round,
    RoundEntry,
    Standing,
    Tournament,
)
from league.play import hosted, leases, match_queue, retries
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
@kept
def running() -> Tournament:
    """A tournament of four bots whose first round is open and not played."""
    tournament = small.tournament(small.ladder())
    small.bots(4)
    competitions.advance_tournament(tournament.pk)
    tournament.refresh_from_db()
    assert tournament.state == "running"
    return tournament


def ratings_of(ladder: Ladder) -> dict[int, int]:
    return dict(ladder.standings.values_list("bot", "rating"))


def test_a_tournament_plays_itself_to_the_end_and_the_ladder_is_the_fold_of_the_records(
    running: Tournament,
) -> None:
    small.run_all()
    running.refresh_from_db()
    ladder = running.ladder
    assert running.state == "finished"
    assert running.finished_at is not None
    assert sum(ratings_of(ladder).values()) == 4 * elo.START
    assert len(set(ratings_of(ladder).values())) > 1
    assert ratings.recompute(ladder) == []
    for match in Match.objects.all():
        verify(match.record)
    assert Match.objects.count() == 4 * 3  # every three of four bots, in three seat orders


def test_the_ledger_adds_up_to_the_ratings(running: Tournament) -> None:
    small.run_all()
    for standing in running.ladder.standings.all():
        deltas = BlockEntry.objects.filter(bot=standing.bot).values_list("delta", flat=True)
        assert standing.rating == elo.START + sum(deltas)
        last = RoundEntry.objects.filter(bot=standing.bot).order_by("round__number").last()
        assert last is not None
        assert standing.rating == last.rating_after
        assert standing.matches == standing.blocks * 3
        assert standing.pairs == standing.matches * 2
    total = sum(running.ladder.standings.values_list("half_wins", flat=True))
    assert total == sum(running.ladder.standings.values_list("pairs", flat=True))


def test_a_hosted_block_plays_one_deal_in_every_seat_order(running: Tournament) -> None:
    for block in Block.objects.all():
        matches = list(block.matches.order_by("number"))
        assert block.duplicate
        assert len({bytes(match.deal_seed) for match in matches}) == 1
        for seat in range(3):
            assert len({match.seating.get(seat=seat).bot_id for match in matches}) == 3
        assert matches[0].commitment == commitment(bytes(matches[0].deal_seed))


def test_the_seed_was_committed_to_when_the_tournament_was_announced(running: Tournament) -> None:
    assert running.commitment == commitment(bytes(running.seed))
    assert [r.commitment for r in running.rounds.all()] == [running.commitment]


def test_a_match_is_played_by_one_worker_however_often_it_is_queued(running: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    assert play.play_match(match.pk, players=small.players)
    record = bytes(Match.objects.get(pk=match.pk).packed_record or b"")
    assert not play.play_match(match.pk, players=small.players)
    assert bytes(Match.objects.get(pk=match.pk).packed_record or b"") == record


def test_two_workers_at_once_play_a_match_once(running: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None
    done: list[bool] = []

    def work() -> None:
        done.append(play.play_match(match.pk, players=small.players))
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(done) == [False, False, False, True]


def test_a_dead_workers_match_is_played_again(running: Tournament) -> None:
    first, second = Match.objects.order_by("pk")[:2]
    play.play_match(first.pk, players=small.players)
    # A worker that died: its lease is there, and nobody comes back with it.
    assert leases.take(second.pk)
    assert not play.play_match(second.pk, players=small.players)
    past = timezone.now() - timedelta(hours=1)  # longer ago than the kept league was made
    Match.objects.filter(pk=second.pk).update(leased_until=past, due_at=past)
    assert second.pk in play.claim_due_hosted()
    assert play.play_match(second.pk, players=small.players)
    assert Match.objects.get(pk=second.pk).attempts == 2


def test_a_result_under_an_old_lease_is_dropped(running: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None

    def slow(seating: hosted.Seating) -> list[Player]:
        # While this worker thinks, its lease runs out and another plays the match.
        past = timezone.now() - timedelta(seconds=1)
        Match.objects.filter(pk=match.pk).update(leased_until=past)
        assert play.play_match(match.pk, players=small.players)
        return small.players(seating)

    assert not play.play_match(match.pk, players=slow)
    assert Match.objects.get(pk=match.pk).status == "finished"


def test_a_match_that_is_always_interrupted_is_void_and_rates_no_bot(running: Tournament) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None

    def interrupted(_seating: hosted.Seating) -> list[Player]:
        raise MatchInterruptedError

    assert not play.play_match(match.pk, players=interrupted)
    assert not play.play_match(match.pk, players=interrupted), "the first time it is due at once"
    for _ in range(retries.MAX_FAILURES):
        Match.objects.filter(pk=match.pk).update(due_at=timezone.now())
        assert Match.objects.get(pk=match.pk).status == "waiting"
        assert not play.play_match(match.pk, players=interrupted)
    small.run_all()
    block = Block.objects.get(matches=match)
    assert block.state == "void"
    assert Match.objects.get(pk=match.pk).status == "void"
    assert not BlockEntry.objects.filter(block=block).exists()
    assert sum(ratings_of(running.ladder).values()) == 4 * elo.START
    assert ratings.recompute(running.ladder) == []


def test_a_crash_while_a_result_is_stored_leaves_nothing_half_done(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = Match.objects.order_by("pk").first()
    assert match is not None

    def crash(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("the machine is gone")

    with monkeypatch.context() as patch:
        patch.setattr("league.play.finishing._finish_block", crash)
        assert not play.play_match(match.pk, players=small.players)
    stored = Match.objects.get(pk=match.pk)
    assert (stored.status, stored.packed_record, stored.failures) == ("waiting", None, 1)


@pytest.mark.parametrize(
    "where",
    [
        "league.ratings.applying.write_ledger",
        "league.ratings.applying._write_standings",
        "league.models.Round.save",
    ],
)
def test_a_crash_while_a_round_is_applied_rates_nothing_and_the_next_call_rates_once(
    running: Tournament, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    small.play_due()
    [round_id] = ratings.rounds_to_apply()

    def crash(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("the machine is gone")

    with monkeypatch.context() as patch:
        patch.setattr(where, crash)
        with pytest.raises(RuntimeError, match="the machine is gone"):
            ratings.apply_round(round_id)
    assert not Standing.objects.exists()
    assert not BlockEntry.objects.exists()
    assert ratings.apply_round(round_id)
    rated = ratings_of(running.ladder)
    assert not ratings.apply_round(round_id)
    assert ratings_of(running.ladder) == rated


def test_a_round_applied_by_parallel_calls_is_applied_once(running: Tournament) -> None:
    small.play_due()
    [round_id] = ratings.rounds_to_apply()
    done: list[bool] = []

    def work() -> None:
        done.append(ratings.apply_round(round_id))
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(done) == [False, False, False, True]
    assert sum(ratings_of(running.ladder).values()) == 4 * elo.START


def test_a_round_waits_for_its_own_blocks_and_for_no_other_round(running: Tournament) -> None:
    first = Round.objects.get()
    assert not ratings.apply_round(first.pk)
    with transaction.atomic():
        second = competitions.open_round(ladder=running.ladder, tables=[], seed=bytes(32))
    assert ratings.rounds_to_apply() == [second.pk]
    assert ratings.apply_round(second.pk)
    assert not ratings.apply_round(second.pk)
    second.refresh_from_db()
    assert (second.number, second.applied_number) == (2, 1)
    assert ratings.rounds_to_apply() == []


def test_a_tournament_with_an_open_round_does_not_advance(running: Tournament) -> None:
    assert competitions.tournaments_to_advance() == []
    with CaptureQueriesContext(connection) as queries:
        competitions.advance_tournament(running.pk)
    assert not [query for query in queries if query["sql"].startswith(("UPDATE", "INSERT"))]
    small.play_due()
    assert competitions.tournaments_to_advance() == []
    for round_id in ratings.rounds_to_apply():
        ratings.apply_round(round_id)
    assert competitions.tournaments_to_advance() == [running.pk]


def test_a_round_is_opened_in_as_many_statements_however_many_tables_it_has() -> None:
    ladder = small.ladder()
    ids = [bot.pk for bot in small.bots(30)]

    def statements(tables: int) -> int:
        drawn = [Table(tuple(ids[3 * at : 3 * at + 3]), True) for at in range(tables)]
        with transaction.atomic(), CaptureQueriesContext(connection) as queries:
            competitions.open_round(ladder=ladder, tables=drawn, seed=bytes(32))
        return len(queries)

    assert statements(1) == statements(10)
    assert Match.objects.count() == 33
    assert MatchSeat.objects.count() == 99


def test_a_recompute_lists_a_wrong_rating(running: Tournament) -> None:
    small.run_all()
    standing = running.ladder.standings.first()
    assert standing is not None
    Standing.objects.filter(pk=standing.pk).update(rating=standing.rating + 1)
    [difference] = ratings.recompute(running.ladder)
    assert difference == (standing.bot_id, standing.rating + 1, standing.rating, "rating")


def test_too_few_entrants_cancel_a_tournament() -> None:
    tournament = small.tournament(small.ladder())
    small.bots(2)
    competitions.advance_tournament(tournament.pk)
    tournament.refresh_from_db()
    assert tournament.state == "cancelled"


def test_bots_enter_only_while_entries_are_open() -> None:
    tournament = small.tournament(small.ladder(), house_bots=False)
    [bot] = small.bots(1)
    with pytest.raises(ValidationError, match="not open"):
        competitions.enter(tournament=tournament, bot=bot)
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    competitions.advance_tournament(tournament.pk)
    competitions.enter(tournament=tournament, bot=bot)
    competitions.enter(tournament=tournament, bot=bot)
    assert tournament.entries.count() == 1
    competitions.withdraw(tournament=tournament, bot=bot)
    assert tournament.entries.count() == 0


def test_the_queue_takes_a_limited_number_of_matches_at_a_time(
    running: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_queue, "AHEAD", 5)
    assert len(play.claim_due_hosted()) == 5
    assert play.claim_due_hosted() == []
    # What the queue lost is due again after a while.
    Match.objects.update(due_at=timezone.now())
    assert len(play.claim_due_hosted()) == 5


def test_a_round_that_opens_while_the_history_is_read_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    event = small.tournament(small.ladder(), format="swiss", swiss_rounds=2)
    small.bots(6)
    small.run_once()
    read = history._drawn_blocks

    def opened_before(tournament: Tournament, *args: Any) -> Any:
        monkeypatch.setattr(history, "_drawn_blocks", read)
        competitions.advance_tournament(tournament.pk)
        return read(tournament, *args)

    monkeypatch.setattr(history, "_drawn_blocks", opened_before)
    found = history.history_of(event)
    assert event.rounds.count() == 2
    assert [one.number for one in found.rounds] == [1]
    assert found.next_block == Block.objects.filter(round__number=1).count()
