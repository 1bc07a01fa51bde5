"""Rounds of a ladder's own: who is drawn, and when the next one opens."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.blocks import derive_block_seed, plan_block
from engine.pairing import LadderEntrant, Table, ladder_round
from league import competitions, ratings
from league.competitions import ladder_rounds, rounds
from league.competitions.ladder_rounds import SETTLED_BLOCKS, bots_to_draw
from league.models import Bot, Ladder, Round, Standing
from tests.league import small

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def quick() -> Ladder:
    """A ladder with four house bots on it and no pause between rounds."""
    ladder = small.ladder()
    Ladder.objects.update(idle_pause_seconds=0)
    for bot in small.bots(4):
        competitions.enter_ladder(ladder=ladder, bot=bot)
    ladder.refresh_from_db()
    return ladder


def play_round() -> None:
    """Play what is open and close the round."""
    small.play_due()
    for round_id in ratings.rounds_to_apply():
        ratings.apply_round(round_id)


def test_successive_rounds_rate_all_bots_on_the_ladder(quick: Ladder) -> None:
    for number in (1, 2, 3):
        assert competitions.ladders_to_pair() == [quick.pk]
        opened = competitions.open_ladder_round(quick.pk)
        assert opened is not None
        assert opened.number == number
        assert competitions.ladders_to_pair() == []
        assert competitions.open_ladder_round(quick.pk) is None
        play_round()
    assert quick.standings.count() == 4
    assert sum(quick.standings.values_list("rating", flat=True)) == 4 * 1_500_000
    assert ratings.recompute(quick) == []


def test_an_odd_table_sits_the_other_way_round_in_every_second_block_of_all_its_rounds(
    quick: Ladder,
) -> None:
    drawn: Counter[tuple[int, ...]] = Counter()
    labels: dict[tuple[int, ...], tuple[int, ...]] = {}
    neighbours: dict[tuple[int, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    for _ in range(6):
        opened = competitions.open_ladder_round(quick.pk)
        assert opened is not None
        for block in opened.blocks.order_by("number"):
            bots = tuple(block.bots.order_by("bot").values_list("bot", flat=True))
            seed = derive_block_seed(bytes(opened.seed), block.number)
            turned = drawn[bots] % 2 == 1
            before = labels.get(bots) if turned else None
            plan = plan_block(seed, bots, duplicate=True, odd_repeat=turned, labels=before)
            drawn[bots] += 1
            labels[bots] = plan.bots
            first = block.matches.get(number=0)
            assert tuple(first.bot_ids) == plan.matches[0].seating
            for match in block.matches.all():
                neighbours[bots].update(pairwise(match.bot_ids))
            if turned:  # each bot sat as often before one neighbour as before the other
                assert len(set(neighbours[bots].values())) == 1
        play_round()
    assert max(drawn.values()) > 2
    counted = set(quick.table_counts.values_list("bots", "blocks"))
    assert counted == {(",".join(map(str, bots)), blocks) for bots, blocks in drawn.items()}


def test_the_number_of_queries_does_not_grow_with_the_tables(quick: Ladder) -> None:
    with transaction.atomic(), CaptureQueriesContext(connection) as few:
        rounds.played_before(quick, [Table((1, 2, 3), True)])
    many = [Table((1, 2, other), True) for other in range(3, 50)]
    with transaction.atomic(), CaptureQueriesContext(connection) as more:
        rounds.played_before(quick, many)
    assert len(few) == len(more)


def test_of_four_parallel_calls_one_opens_the_next_round(quick: Ladder) -> None:
    def open_round(_: int) -> Round | None:
        try:
            return competitions.open_ladder_round(quick.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(open_round, range(4)))
    assert sum(round_ is not None for round_ in opened) == 1
    assert quick.rounds.count() == 1


@pytest.mark.parametrize("of", ["round_pause_seconds", "idle_pause_seconds"])
def test_a_pause_is_kept_between_rounds(quick: Ladder, of: str) -> None:
    Ladder.objects.update(**{of: 3600})
    assert competitions.open_ladder_round(quick.pk) is not None
    assert competitions.open_ladder_round(quick.pk) is None
    play_round()
    assert competitions.open_ladder_round(quick.pk) is None
    quick.rounds.update(applied_at=timezone.now() - timedelta(seconds=3601))
    assert competitions.open_ladder_round(quick.pk) is not None


def test_a_paused_ladder_opens_no_round(quick: Ladder) -> None:
    Ladder.objects.update(paused=True)
    assert competitions.ladders_to_pair() == []


def test_house_bots_alone_pause_once_they_are_settled(quick: Ladder) -> None:
    for bot in Bot.objects.all():
        Standing.objects.create(
            ladder=quick, bot=bot, rating=1_500_000, blocks=SETTLED_BLOCKS, version=1
        )
    assert competitions.open_ladder_round(quick.pk) is None
    [guest] = small.bots(1, User.objects.create(username="ann"), prefix="guest")
    competitions.enter_ladder(ladder=quick, bot=guest)
    opened = competitions.open_ladder_round(quick.pk)
    assert opened is not None
    assert guest.pk in opened.blocks.values_list("bots__bot", flat=True)


def test_only_bots_that_can_play_now_are_drawn(quick: Ladder) -> None:
    owner = User.objects.create(username="ann")
    online, offline, paused, unready, _ = small.bots(5, owner, prefix="ann")
    for bot in (online, offline, paused, unready):
        bot.kind = Bot.Kind.REMOTE
        bot.seen_at = timezone.now() - timedelta(seconds=59)
        competitions.enter_ladder(ladder=quick, bot=bot)
    offline.seen_at = timezone.now() - timedelta(seconds=61)
    paused.paused = True
    unready.current = None
    for bot in (online, offline, paused, unready):
        bot.save()
    assert set(bots_to_draw(quick).filter(owner=owner)) == {online}


def test_a_ladder_sets_max_blocks_per_round_and_random_percent(
    quick: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[str, object]] = []

    def spy(candidates: list[LadderEntrant], *args: Any, **kwargs: Any) -> list[Table]:
        drawn.append({"most": {one.max_blocks for one in candidates}, **kwargs})
        return ladder_round(candidates, *args, **kwargs)

    monkeypatch.setattr(ladder_rounds, "ladder_round", spy)
    Ladder.objects.update(max_blocks_per_round=1, random_percent=35)
    opened = competitions.open_ladder_round(quick.pk)
    assert opened is not None
    assert opened.blocks.count() == 1  # of four bots at three seats one sits out
    assert drawn[0]["most"] == {1}
    assert drawn[0]["random_percent"] == 35


def test_a_ladder_with_bots_of_one_owner_alone_opens_no_round(quick: Ladder) -> None:
    quick.entries.all().delete()
    for bot in small.bots(4, User.objects.create(username="ann"), prefix="ann"):
        competitions.enter_ladder(ladder=quick, bot=bot)
    assert competitions.open_ladder_round(quick.pk) is None
