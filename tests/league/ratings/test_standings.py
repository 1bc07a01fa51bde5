"""Standings in order, with ranks, however they are sought, and who beats whom."""

from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league import competitions, play
from league.competitions import describe_next_block
from league.competitions.ladder_rounds import SETTLED_BLOCKS
from league.models import Block, Bot, HeadToHead, Ladder, RoundEntry, Standing
from league.ratings.match_results import match_result
from league.ratings.standings import (
    TREND_ROUNDS,
    bots_in_order,
    find_bots,
    standing_rows,
    standings_in_order,
    who_beats_whom,
)
from tests.league import small
from tests.league.kept import kept

pytestmark = pytest.mark.django_db(transaction=True)


@given(
    numbers=st.lists(
        st.tuples(
            st.integers(1_499_998, 1_500_002),
            st.integers(small.RANKED_FROM - 2, small.RANKED_FROM + 1),
            st.sampled_from([None, 0, 1, small.RANKED_FROM - 1, small.RANKED_FROM]),
            st.sampled_from(["", "", "", "idle", "withdrawn"]),
        ),
        min_size=1,
        max_size=12,
    ),
    wanted=st.sampled_from(["bot", "1", "BOT-1", "none", "%", "_"]),
    with_hidden=st.booleans(),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_bot_has_the_same_rank_in_lists_and_searches(
    numbers: list[tuple[int, int, int | None, str]], wanted: str, with_hidden: bool, db: None
) -> None:
    with transaction.atomic():
        ladder = small.ladder()
        Standing.objects.bulk_create(
            Standing(
                ladder=ladder,
                bot=bot,
                rating=rating,
                blocks=blocks,
                performance_blocks=of_version or 0,
                fitted_version=None if of_version is None else 1,
                version=1,
                hidden=hidden,
            )
            for bot, (rating, blocks, of_version, hidden) in zip(
                small.bots(len(numbers)), numbers, strict=True
            )
        )
        rows = standing_rows(ladder, list(standings_in_order(ladder, hidden=with_hidden)))
        assert len(rows) == sum(with_hidden or not hidden for *_, hidden in numbers)
        higher = [
            rating
            for rating, blocks, of_version, hidden in numbers
            if (blocks if of_version is None else of_version) >= small.RANKED_FROM and not hidden
        ]
        for standing, shown_rank in ((row.standing, row.rank) for row in rows):
            rank = 1 + sum(rating > standing.rating for rating in higher)
            is_fitted = standing.fitted_version is not None
            counted = standing.performance_blocks if is_fitted else standing.blocks
            enough = counted >= small.RANKED_FROM
            assert shown_rank == (rank if enough and not standing.hidden else None)
            assert standing.is_provisional == (not enough)
        bots = [row.standing.bot_id for row in rows]
        assert list(bots_in_order(ladder, hidden=with_hidden)) == bots
        assert find_bots(ladder, wanted, hidden=with_hidden) == [
            (row.standing.bot_id, row.rank)
            for row in rows
            if wanted.lower() in row.standing.bot.name
        ]
        transaction.set_rollback(True)


@pytest.fixture
@kept
def ladder() -> Ladder:
    ladder = small.ladder()
    small.bots(5)
    small.tournament(ladder)
    small.run_all()
    return ladder


def test_head_to_head_adds_up_to_the_standings_and_the_records(ladder: Ladder) -> None:
    small.tournament(ladder)
    small.run_all()
    met: Counter[tuple[int, int]] = Counter()
    halves: Counter[tuple[int, int]] = Counter()
    for block in Block.objects.filter(rated=True):
        for match in block.matches.all():
            result = match_result(match)
            for i, place in zip(result.seating, result.places, strict=True):
                for j, other in zip(result.seating, result.places, strict=True):
                    met[i, j] += i != j
                    halves[i, j] += (i != j) * ((other > place) + (other >= place))
    rows = {(row.bot_id, row.opponent_id): row for row in HeadToHead.objects.all()}
    assert {pair: row.pairs for pair, row in rows.items()} == +met
    assert {pair: row.half_wins for pair, row in rows.items() if row.half_wins} == +halves
    for standing in ladder.standings.all():
        own = [row for row in rows.values() if row.bot_id == standing.bot_id]
        assert sum(row.pairs for row in own) == standing.pairs
        assert sum(row.half_wins for row in own) == standing.half_wins


def test_a_void_block_counts_in_no_cross_table() -> None:
    ladder = small.ladder()
    bots = small.bots(3)
    tournament = small.tournament(ladder)
    competitions.advance_tournament(tournament.pk)
    play.void_unfinished_block(Block.objects.get().pk)
    small.run_all()
    assert who_beats_whom(ladder, [bot.pk for bot in bots]) == {}


def test_a_trend_is_the_sum_of_the_last_rounds(ladder: Ladder) -> None:
    bots = list(ladder.standings.order_by("bot").values_list("bot", flat=True))
    for number in range(TREND_ROUNDS):
        small.play_round(ladder, bots[number % 3 : number % 3 + 3])
    rounds = ladder.rounds.order_by("-number")[:TREND_ROUNDS]
    assert ladder.rounds.count() > TREND_ROUNDS
    for row in standing_rows(ladder, list(ladder.standings.all())):
        entries = RoundEntry.objects.filter(bot=row.standing.bot, round__in=[r.pk for r in rounds])
        assert row.trend == sum(e.rating_after - e.rating_before for e in entries)


def next_block(ladder: Ladder, number: int = 0) -> str:
    standing = ladder.standings.select_related("ladder", "bot").order_by("bot")[number]
    with CaptureQueriesContext(connection) as queries:
        text = describe_next_block(standing)
    assert len(queries) <= 12
    return text


def test_the_next_block_is_described_with_the_reason_to_wait(ladder: Ladder) -> None:
    assert "not on this ladder" in next_block(ladder)
    bot = ladder.standings.order_by("bot")[0].bot
    competitions.enter_ladder(ladder=ladder, bot=bot)
    assert "waits for more bots: a table has 3 seats, and 1 of" in next_block(ladder)
    for row in ladder.standings.all():
        competitions.enter_ladder(ladder=ladder, bot=row.bot)
    ann = User.objects.create(username="ann")
    Bot.objects.update(owner=ann)
    assert next_block(ladder) == (
        "It waits for bots of 2 more owners, or for house bots: a table has 3 seats, and an "
        "owner's bots take at most one of them."
    )
    assert competitions.open_ladder_round(ladder.pk) is None
    Bot.objects.filter(pk=bot.pk).update(owner=None)
    assert "waits for bots of one more owner" in next_block(ladder)
    Bot.objects.update(owner=None)
    assert next_block(ladder) == "Its next block comes now."
    ladder.standings.filter(bot=bot).update(blocks=small.RANKED_FROM)
    assert next_block(ladder) == (
        "The league draws the next blocks now. "
        "4 other bots go first, because they have played fewer blocks."
    )
    ladder.standings.update(blocks=SETTLED_BLOCKS)
    assert "It pauses: after" in next_block(ladder)
    small.bots(1, ann, prefix="guest")
    guest = ann.bots.get()
    competitions.enter_ladder(ladder=ladder, bot=guest)
    assert next_block(ladder) == (
        "The league draws the next blocks now. "
        "1 other bot goes first, because it has played fewer blocks."
    )
    assert competitions.open_ladder_round(ladder.pk)
    ladder.standings.filter(bot=bot).update(blocks=0)
    assert next_block(ladder) == "Its next block comes after the 6 matches that are queued now."
    bot.paused = True
    bot.save()
    assert "Its owner has paused it." in next_block(ladder)
    Ladder.objects.update(paused=True)
    assert "ladder is paused" in next_block(ladder)


def test_an_offline_remote_bot_has_no_next_block(ladder: Ladder) -> None:
    row = ladder.standings.order_by("bot")[0]
    competitions.enter_ladder(ladder=ladder, bot=row.bot)
    row.bot.kind = "remote"
    row.bot.owner = User.objects.create(username="ann")
    row.bot.save()
    assert "offline" in next_block(ladder)
