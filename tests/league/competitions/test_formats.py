"""Round robins and Swisses through the real services, to the end."""

import threading
from collections import Counter
from datetime import timedelta
from fractions import Fraction

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engine.blocks import derive_block_seed, plan_block
from engine.rating import elo
from engine.record import verify
from league import competitions, ratings
from league.competitions.history import history_of
from league.competitions.tournament_standings import (
    cross_table_of,
    tournament_standings,
)
from league.models import (
    Block,
    Bot,
    Bye,
    Match,
    Round,
    Tournament,
)
from tests.league import small
from tests.league.competitions.events import (
    again,
    begun,
    play_round,
    tables,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_swiss_of_house_bots_plays_itself_to_the_end() -> None:
    tournament = begun(format="swiss")
    small.run_all()
    tournament = again(tournament)
    assert tournament.state == "finished"
    assert tournament.rounds.count() == 5  # ceil(log2 7) + 2
    for round_ in tournament.rounds.all():
        seated = Counter(round_.blocks.values_list("bots__bot", flat=True))
        assert len(seated) == 7
        assert set(seated.values()) == {2}  # two blocks a table
    assert {match.seats for match in Match.objects.all()} == {3, 4}
    for match in Match.objects.all():
        verify(match.record)
    ladder = tournament.ladder
    assert sum(ladder.standings.values_list("rating", flat=True)) == 7 * elo.START
    assert ratings.recompute(ladder) == []
    rows = tournament_standings(tournament)
    assert [placed.row.rank for placed in rows] == list(range(1, 8))
    numbers = [block.number for block in Block.objects.order_by("number")]
    assert numbers == list(range(len(numbers)))


def test_the_second_block_of_an_odd_table_sits_the_other_way_round() -> None:
    begun(bots=3, seats=3, format="swiss")
    labels = None
    for block in Block.objects.order_by("number"):
        seed = derive_block_seed(bytes(block.round.seed), block.number)
        bots = list(block.bots.values_list("bot", flat=True))
        turned = block.number == 1
        plan = plan_block(seed, bots, duplicate=True, odd_repeat=turned, labels=labels)
        labels = plan.bots
        stored = [
            tuple(match.seating.order_by("seat").values_list("bot", flat=True))
            for match in block.matches.order_by("number")
        ]
        assert stored == [match.seating for match in plan.matches]


def test_a_round_is_opened_once_by_parallel_calls() -> None:
    tournament = begun(format="swiss")
    play_round()
    failed: list[Exception] = []

    def work() -> None:
        try:
            competitions.advance_tournament(tournament.pk)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed == []
    assert list(tournament.rounds.values_list("stage", "extra")) == [(1, 0), (2, 0)]


@pytest.mark.parametrize("of", ["swiss", "knockout", "round-robin"])
def test_a_crash_while_a_round_is_opened_leaves_nothing_and_the_next_try_draws_the_same(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = small.tournament(small.ladder(seats=3), format=of)
    small.bots(6)

    def crash(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("the machine is gone")

    drawn = []
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr("league.competitions.rounds.plan_block", crash)
            with pytest.raises(RuntimeError, match="the machine is gone"):
                competitions.advance_tournament(tournament.pk)
        assert not Round.objects.exists()
        assert again(tournament).state == "open"  # by the clock
    competitions.advance_tournament(tournament.pk)
    drawn = tables(tournament)
    Match.objects.all().delete()
    Block.objects.all().delete()
    Round.objects.all().delete()
    competitions.advance_tournament(tournament.pk)
    assert tables(tournament) == drawn


def test_a_round_robin_plays_at_most_max_tables() -> None:
    tournament = begun(bots=8, seats=4, max_tables=10)
    small.run_all()
    drawn = tables(again(tournament))
    assert len(drawn) == 10
    assert Counter(bot for table in drawn for bot in table) == dict.fromkeys(
        Bot.objects.values_list("pk", flat=True), 5
    )


def test_with_fill_in_house_bots_take_empty_seats_and_are_not_ranked() -> None:
    tournament = small.tournament(
        small.ladder(seats=4), format="swiss", house_bots=False, fill_in=True
    )
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    competitions.advance_tournament(tournament.pk)
    house = small.bots(4)
    entered = []
    for number in range(6):
        owner = User.objects.create(username=f"owner-{number}")
        entered += small.bots(1, owner=owner, prefix=f"own-{number}")
        competitions.enter(tournament=tournament, bot=entered[-1])
    Tournament.objects.update(starts_at=timezone.now())
    small.run_all()
    assert {len(table) for table in tables(tournament)} == {4}
    rows = tournament_standings(again(tournament))
    assert {placed.bot for placed in rows} == set(entered)
    sat = {bot for table in tables(tournament) for bot in table}
    assert sat & {bot.pk for bot in house}
    crossed = cross_table_of(history_of(again(tournament)), rows)
    assert all(row.placed.bot in entered for row in crossed)


def test_a_bye_is_stored_and_gives_half_a_point_a_block() -> None:
    tournament = begun(bots=5, seats=2, format="swiss", swiss_rounds=1)
    bye = Bye.objects.get()
    assert bye.blocks == 2
    small.run_all()
    placed = next(p for p in tournament_standings(again(tournament)) if p.bot == bye.bot)
    assert (placed.row.score, placed.row.blocks, placed.byes) == (Fraction(1), 0, 2)


def test_the_history_of_a_tournament_always_takes_the_same_number_of_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    tournament = begun(format="swiss")
    for _ in range(2):
        with django_assert_num_queries(7):
            history_of(again(tournament))
        small.run_all()
