"""The screen for collusion: planted colluders are found, honest leagues are left alone."""

import math
from random import Random

import pytest

from engine.games.game import places
from engine.rating.blocks import MatchResult, seat_orders
from engine.rating.collusion import MIN_BLOCKS, RatedBlock, flag_pairs, upper_tail

STRENGTHS = [1350.0, 1400.0, 1450.0, 1480.0, 1500.0, 1520.0, 1550.0, 1600.0, 1650.0, 1700.0]


def league(
    seed: int, blocks: int, *, fed: float = 0.0, together: float = 0.0, seats: int = 4
) -> list[RatedBlock]:
    """Return blocks in which bot 0 may help bot 1.

    Args:
        seed: decides tables and results.
        blocks: the number of blocks.
        fed: the help in Elo when bot 0 sits directly before bot 1.
        together: the help in Elo when both are at the table.
        seats: the seats of each table.
    """
    rng = Random(seed)
    played = []
    for _ in range(blocks):
        table = rng.sample(range(len(STRENGTHS)), seats)
        deal = {bot: rng.gauss(0, 60) for bot in table}  # The bot's luck with the block's deal.
        results = []
        for order in seat_orders(seats):
            seating = tuple(table[label] for label in order)
            scores = []
            for at, bot in enumerate(seating):
                helped = 0.0
                if bot == 1 and 0 in seating:
                    helped = together + fed * (seating[at - 1] == 0)
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
    # 90 ordered pairs, two tests each: at a rate of 1 % one league of 100 may have a flagged pair.
    reports = [flag_pairs(league(100 + seed, 250)) for seed in range(20)]
    assert sum(map(bool, reports)) <= 1


def test_without_the_correction_pairs_of_honest_leagues_would_be_flagged() -> None:
    assert flag_pairs(league(100, 250), rate=100.0)  # every pair passes at this rate


def test_no_pair_is_flagged_with_few_blocks() -> None:
    assert flag_pairs(league(3, MIN_BLOCKS - 1, fed=2000)) == []
    assert flag_pairs([]) == []


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_the_screen_accepts_tables_of_any_size(seats: int) -> None:
    assert isinstance(flag_pairs(league(4, 40, seats=seats)), list)


@pytest.mark.parametrize(
    ("t", "degrees", "tail"),
    [  # from the tables of Student's t
        (0.0, 7, 0.5),
        (6.314, 1, 0.05),
        (2.015, 5, 0.05),
        (3.365, 5, 0.01),
        (2.764, 10, 0.01),
        (2.457, 30, 0.01),
        (2.358, 120, 0.01),
        (-2.358, 120, 0.99),
        (1.6449, 1e7, 0.05),
    ],
)
def test_the_tail_of_students_t_matches_published_tables(
    t: float, degrees: float, tail: float
) -> None:
    assert upper_tail(t, degrees) == pytest.approx(tail, rel=2e-3)
