"""Whole knockouts: the order of the standings, extra blocks, and bots that leave."""

from dataclasses import replace
from random import Random

import pytest

from engine.pairing import Entrant, Format, PlayedBlock, next_round, rank_event, seeding, stages
from engine.pairing.knockout_stages import StageTable
from engine.rating.results import MatchResult
from tests.engine.pairing.fields import SEED
from tests.engine.pairing.simulated import Simulated, start


def place_all(event: Simulated, order: list[int]) -> None:
    """Play the next round; at every table bots come in by their place in ``order``."""
    drawn = event.next()
    assert drawn is not None
    event.play(drawn, Random(0))
    blocks = []
    for table in drawn.tables:
        best = sorted(table.bots, key=order.index)
        points = tuple(-best.index(bot) for bot in table.bots)
        ranks = tuple(best.index(bot) + 1 for bot in table.bots)
        match = MatchResult(table.bots, ranks, points)
        blocks.append(PlayedBlock(table.bots, (match,) * len(table.bots)))
    event.rounds[-1] = replace(event.rounds[-1], blocks=tuple(blocks))


def knockout(entrants: int, seats: int, **kwargs: int) -> Simulated:
    event = start(
        Format.KNOCKOUT, dict.fromkeys(range(entrants)), seats, SEED, luck=Random(0), **kwargs
    )
    event.entrants = {bot: Entrant(bot, None, rating=1_000_000 - bot) for bot in event.entrants}
    return event


def test_a_knockout_ranks_by_the_round_reached_and_the_place_there() -> None:
    event = knockout(8, 4)
    order = list(range(8))
    place_all(event, order)
    place_all(event, order)
    assert event.next() is None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in rows[:4]] == [0, 1, 2, 3]
    assert [row.round_reached for row in rows] == [2, 2, 2, 2, 1, 1, 1, 1]
    assert [row.table_place for row in rows] == [1, 2, 3, 4, 3, 3, 4, 4]
    assert rows[4].decided_by == "round-reached"


def test_the_next_bot_of_the_table_takes_the_place_of_one_that_left_a_knockout() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    event.leave(0)
    drawn = event.next()
    assert drawn is not None
    [final] = drawn.tables
    first = stages(event.rounds, seeding(event.settings, [*event.entrants.values()]))[0]
    [table] = [table for table in first.tables if 0 in table.entrants]
    assert set(table.entrants[1:3]) <= set(final.bots)
    assert len(final.bots) == 4


def test_only_the_table_with_a_tie_at_the_cut_plays_an_extra_block() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    tied = event.rounds[0].blocks[0]
    level = tuple(replace(match, places=(1, 1, 1, 1)) for match in tied.matches)
    blocks = (replace(tied, matches=level), *event.rounds[0].blocks[1:])
    event.rounds[0] = replace(event.rounds[0], blocks=blocks)
    drawn = event.next()
    assert drawn is not None
    assert (drawn.number, drawn.extra) == (1, 1)
    assert [table.bots for table in drawn.tables] == [tied.bots]


@pytest.mark.parametrize("most", [None, 0, 2])
def test_a_cut_that_stays_tied_is_decided_by_seed_after_the_last_extra_block(
    most: int | None,
) -> None:
    event = knockout(4, 2)
    if most is not None:
        event.settings = replace(event.settings, extra_blocks=most)
    for expected in [(1, extra) for extra in range((4 if most is None else most) + 1)]:
        drawn = event.next()
        assert drawn is not None
        assert (drawn.number, drawn.extra) == expected
        event.play(drawn, Random(0))
        level = tuple(
            PlayedBlock(t.bots, (MatchResult(t.bots, (1, 1), (0, 0)),) * 2) for t in drawn.tables
        )
        event.rounds[-1] = replace(event.rounds[-1], blocks=level)
    drawn = event.next()
    assert drawn is not None
    assert (drawn.number, [table.bots for table in drawn.tables]) == (2, [(0, 1)])


def test_an_extra_block_lifts_no_bot_above_bots_that_went_out_at_other_tables() -> None:
    event = knockout(8, 4)
    place_all(event, list(range(8)))
    tied, other = event.rounds[0].blocks
    # At one table the second and third tie, at the other the last one takes something.
    second_tie = tuple(replace(of, places=(1, 2, 2, 4)) for of in tied.matches)
    last_ties = (replace(other.matches[0], places=(1, 2, 3, 3)), *other.matches[1:])
    blocks = (replace(tied, matches=second_tie), replace(other, matches=last_ties))
    event.rounds[0] = replace(event.rounds[0], blocks=blocks)
    last, last_elsewhere = tied.bots[3], other.bots[3]
    place_all(event, [last, *tied.bots[:3]])
    assert event.rounds[-1].extra == 1
    assert event.next() is not None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    by_bot = {row.bot: row for row in rows}
    assert [by_bot[bot].table_place for bot in (last, last_elsewhere)] == [4, 4]
    assert [by_bot[bot].rank for bot in (last_elsewhere, last)] == [7, 8]
    assert (by_bot[last].blocks, by_bot[last].wins) == (1, 0)
    assert by_bot[last].score == 0


def test_an_extra_block_counts_in_place_of_a_void_one() -> None:
    event = knockout(4, 2)
    drawn = event.next()
    assert drawn is not None
    event.play(drawn, Random(0), void=1)
    place_all(event, [0, 1, 2, 3])
    assert event.rounds[-1].extra == 1
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=False)
    assert sorted((row.bot, row.blocks) for row in rows[:2]) == [(0, 1), (1, 1)]
    assert [row.score for row in rows[:2]] == [1, 1]


def test_a_knockout_table_with_void_blocks_only_is_decided_by_seed() -> None:
    event = knockout(2, 2)
    luck = Random(0)
    while (drawn := event.next()) is not None:
        event.play(drawn, luck, void=1)
    assert len(event.rounds) == 5
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert [row.bot for row in rows] == [0, 1]


def test_the_last_entrant_left_in_a_knockout_wins() -> None:
    event = knockout(4, 2)
    place_all(event, [0, 1, 2, 3])
    through = {table.bots[0] for table in event.drawn[0][1].tables}
    assert through == {0, 1}
    event.leave(0)
    event.entrants[3] = replace(event.entrants[3], left_after=1)
    drawn = event.next()
    # The place of bot 0 fell to its table's other bot, if that is still in.
    assert drawn is None
    rows = rank_event(event.settings, [*event.entrants.values()], event.rounds, over=True)
    assert (rows[0].bot, rows[0].round_reached) == (1, 2)


def test_an_entrant_as_a_fill_in_is_refused() -> None:
    event = knockout(4, 2)
    with pytest.raises(ValueError, match="bot 3 is entered"):
        next_round(event.settings, [*event.entrants.values()], [], [3])


def test_a_table_without_scores_plays_again_only_if_more_bots_are_in_than_advance() -> None:
    table = StageTable((1, 2, 3), (), dict.fromkeys((1, 2, 3), ()), extra_blocks=0, places=2)
    assert table.is_undecided({1, 2, 3}, 4)
    assert not table.is_undecided({1, 3}, 4)
    assert table.advancing({1, 3}) == [1, 3]
