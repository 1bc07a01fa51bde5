"""The screen for collusion: planted colluders are found, honest leagues are left alone."""

import math
from random import Random
from statistics import NormalDist

import pytest

from engine.blocks import seat_orders
from engine.games.game import places
from engine.rating.collusion import (
    FALSE_DISCOVERY_RATE,
    MIN_BLOCKS,
    QUESTIONS,
    PairTest,
    RatedBlock,
    screen,
)
from engine.rating.results import MatchResult
from engine.rating.students_t import upper_tail

STRENGTHS = [1350.0, 1400.0, 1450.0, 1480.0, 1500.0, 1520.0, 1550.0, 1600.0, 1650.0, 1700.0]


def flag_pairs(blocks: list[RatedBlock]) -> list[PairTest]:
    return list(screen(blocks).flagged)


def league(
    seed: int,
    blocks: int,
    *,
    fed: float = 0.0,
    together: float = 0.0,
    seats: int = 4,
    style: float = 0.0,
    generous: float = 0.0,
) -> list[RatedBlock]:
    """Return blocks in which bot 0 may help bot 1.

    Args:
        seed: decides tables and results.
        blocks: the number of blocks.
        fed: the help in Elo when bot 0 sits directly before bot 1.
        together: the help in Elo when both are at the table.
        seats: the seats of each table.
        style: the standard deviation in Elo of what a bot gains, for reasons of style, from the
            bot before it, from each other bot at the table, and against each opponent.
        generous: what any bot gains in Elo if bot 2 sits directly before it.
    """
    rng = Random(seed)
    bots = range(len(STRENGTHS))
    after, beside = ({(i, j): rng.gauss(0, style) for i in bots for j in bots} for _ in range(2))
    helpful = [rng.gauss(0, style) for _ in bots]
    played = []
    for _ in range(blocks):
        table = rng.sample(range(len(STRENGTHS)), seats)
        deal = {bot: rng.gauss(0, 60) for bot in table}  # The bot's luck with the block's deal.
        results = []
        for order in seat_orders(seats):
            seating = tuple(table[label] for label in order)
            scores = []
            for at, bot in enumerate(seating):
                before = seating[at - 1]
                helped = generous * (before == 2) + helpful[before] + after[before, bot]
                # Half of what bot i gains from bot j is what j loses to i.
                helped += sum(
                    beside[bot, other] - beside[other, bot] / 2 for other in table if other != bot
                )
                if bot == 1 and 0 in seating:
                    helped += together + fed * (seating[at - 1] == 0)
                luck = -math.log(-math.log(rng.random())) * 400 / math.log(10)
                scores.append(round(STRENGTHS[bot] + deal[bot] + helped + luck))
            results.append(MatchResult(seating, places(scores)))
        played.append(RatedBlock(results, dict(enumerate(STRENGTHS))))
    return played


def test_a_bot_that_feeds_its_partner_is_flagged_and_no_other_pair_is() -> None:
    found = flag_pairs(league(1, 700, fed=350))
    assert {(one.partner, one.gainer) for one in found} == {(0, 1)}
    assert "fed" in {one.question for one in found}
    assert found[0].gain > 0.05
    assert found[0].p < 1e-3


def test_feeding_is_flagged_at_three_seats_by_comparing_blocks() -> None:
    found = flag_pairs(league(5, 1200, fed=450, seats=3))
    assert {(one.partner, one.gainer) for one in found} == {(0, 1)}
    assert "fed" in {one.question for one in found}


def test_a_bot_that_helps_its_partner_from_any_seat_is_flagged() -> None:
    found = flag_pairs(league(2, 700, together=250))
    assert [(one.partner, one.gainer, one.question) for one in found] == [(0, 1, "with")]


def test_no_pair_of_an_honest_league_is_flagged() -> None:
    # 90 ordered pairs, two tests each: one league of 200 may have a flagged pair.
    reports = [flag_pairs(league(100 + seed, 250)) for seed in range(20)]
    assert sum(map(bool, reports)) <= 1


def test_styles_of_honest_bots_are_not_flagged_in_a_long_league() -> None:
    # 440 blocks a bot: enough to tell each single style from chance.
    blocks = league(7, 1100, style=40)
    assert flag_pairs(blocks) == []
    by_chance = [test.gain / test.error for test in screen(blocks).tested]
    assert max(by_chance) > 2  # styles are there to be found


def test_a_bot_that_helps_every_bot_after_it_is_not_flagged() -> None:
    result = screen(league(8, 1100, generous=250))
    assert not result.flagged
    of_generous = [t for t in result.tested if t.partner == 2 and t.question == "fed"]
    assert min(test.expected for test in of_generous) > 0.05


def test_colluders_are_flagged_among_bots_of_many_styles() -> None:
    found = flag_pairs(league(9, 1100, style=40, fed=600))
    assert {(one.partner, one.gainer) for one in found} == {(0, 1)}


def test_at_the_highest_rate_pairs_of_honest_leagues_are_flagged() -> None:
    assert any(screen(league(seed, 60), rate=0.5).flagged for seed in range(6))
    with pytest.raises(ValueError, match="false discovery rate"):
        screen([], rate=0.0)


def test_the_smallest_gain_that_is_found_falls_with_more_blocks() -> None:
    few, many = (screen(league(10, blocks)).power for blocks in (250, 1000))
    for question in QUESTIONS:
        before, after = few[question].smallest_gain, many[question].smallest_gain
        assert before is not None
        assert after is not None
        # Half the error for four times the blocks, and less degrees of freedom to pay for.
        assert 0.4 < after / before < 0.7
        elo = many[question].smallest_gain_elo
        assert elo == pytest.approx(400 * math.log10((0.5 + after) / (0.5 - after)))


def test_the_stated_gain_is_significant_in_80_percent_of_cases() -> None:
    result = screen(league(11, 700))
    tests = [test for test in result.tested if test.question == "with"]
    typical = sorted(tests, key=lambda test: test.error)[len(tests) // 2]
    gain = result.power["with"].smallest_gain
    assert gain is not None
    # A gain that turns out lower by 0.8416 standard errors, which it does in 20 % of cases, is
    # still significant among so many tests.
    unlucky = gain / typical.error - NormalDist().inv_cdf(0.8)
    p = upper_tail(unlucky, typical.degrees)
    assert p == pytest.approx(FALSE_DISCOVERY_RATE / len(result.tested), rel=0.1)


def test_no_pair_is_flagged_with_few_blocks() -> None:
    assert flag_pairs(league(3, MIN_BLOCKS - 1, fed=2000)) == []
    assert flag_pairs([]) == []
    assert screen([]).power["fed"].smallest_gain is None
    assert screen([]).power["fed"].smallest_gain_elo is None


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_the_screen_accepts_tables_of_any_size(seats: int) -> None:
    assert isinstance(flag_pairs(league(4, 40, seats=seats)), list)
