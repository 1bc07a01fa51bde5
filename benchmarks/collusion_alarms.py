"""How often the collusion screen raises an alarm in honest leagues, and what it finds in others.

Prints for each length of a league and each kind of bots the share of honest leagues with a flagged
pair, with the standard error of that share, and the gain that the screen states to find in 80 % of
cases. Then it plants colluders with just that gain and prints the share that it found. The promise
is an alarm in at most 1 % of honest leagues; the benchmark exits with 1 if a share is above that by
more than two standard errors.

    benchmarks/collusion_alarms.py --leagues 40              # three minutes
    benchmarks/collusion_alarms.py --leagues 400             # the figures of the docs, half an hour
    benchmarks/collusion_alarms.py --leagues 400 --real 240  # with matches of real bots too

Twelve bots play on a ladder: each round seats neighbours in rating together and rates them by Elo.
A bot's performance in a match is its strength, its luck with the deal, and noise, so that without
style the model of Bradley and Terry holds. Bots with **style** have, in Elo (standard deviations):

- 40 for what a bot gains against one opponent and loses by it elsewhere; it is not transitive
- 30 for what any bot gains that sits after a giver, and 15 more for a single pair of them
- 15 for what a bot gains if another one sits at the table

`--real` plays blocks of `twelve-days` by the bots of `matches_to_order.py`, so many at each table
of four, and draws leagues of eight from these.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from engine.blocks import derive_block_seed, plan_block, seat_orders
from engine.rating.collusion import QUESTIONS, Question, RatedBlock, screen
from engine.rating.results import MatchResult

PROMISED = 0.01
BLOCKS = (20, 60, 150, 440)
BOTS, SEATS = 12, 4
SPREAD = 120.0  # standard deviation of strengths, in Elo
DEAL = 60.0  # of a bot's luck with a deal
ELO_PER_NAT = 400 / math.log(10)
ORDERS = np.array(seat_orders(SEATS))

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rng = np.random.Generator
Source = Callable[[Rng, int, int], list[list[RatedBlock]]]
"""Returns the blocks of so many leagues, of so many blocks a bot."""


class Style(NamedTuple):
    """The effects that ratings do not contain; standard deviations in Elo."""

    opponent: float = 0.0
    giver: float = 0.0
    gift: float = 0.0
    company: float = 0.0


class Field(NamedTuple):
    """The bots of L leagues. All in Elo.

    Attributes:
        strengths: (L, N).
        against: (L, N, N), what the first bot gains against the second.
        after: (L, N, N), what the second gains directly after the first.
        beside: (L, N, N), what the second gains at one table with the first.
    """

    strengths: Floats
    against: Floats
    after: Floats
    beside: Floats


STYLES = {"no style": Style(), "style": Style(40, 30, 15, 15)}


def draw_field(rng: Rng, leagues: int, style: Style) -> Field:
    square = (leagues, BOTS, BOTS)
    against = rng.normal(0, style.opponent, square)
    after = rng.normal(0, style.giver, (leagues, BOTS, 1)) + rng.normal(0, style.gift, square)
    return Field(
        rng.normal(0, SPREAD, (leagues, BOTS)),
        (against - against.transpose(0, 2, 1)) / math.sqrt(2),
        after,
        rng.normal(0, style.company, square),
    )


# -- Leagues -----------------------------------------------------------------------------------


def draw_tables(rng: Rng, ratings: Floats, *, noise: float = 100.0) -> Ints:
    """Return tables of neighbours in rating, a tenth of the seats at random: (L, tables, 4)."""
    leagues, bots = ratings.shape
    order = np.argsort(ratings + rng.uniform(-noise, noise, ratings.shape), axis=1)
    league = np.arange(leagues)
    for at in range(bots):
        other = np.where(rng.random(leagues) < 0.1, rng.integers(bots, size=leagues), at)
        here, there = order[:, at].copy(), order[league, other]
        order[league, other], order[:, at] = here, there
    tables = order.reshape(leagues, -1, SEATS)
    return np.take_along_axis(tables, rng.random(tables.shape).argsort(-1), -1)


def play(rng: Rng, field: Field, tables: Ints) -> tuple[Ints, Ints]:
    """Return the seatings and places of a block at each table, (L, tables, matches, seats)."""
    seatings = tables[:, :, ORDERS]
    league = np.arange(len(seatings))[:, None, None, None]
    luck = np.broadcast_to(rng.normal(0, DEAL, (*tables.shape[:2], 1, SEATS)), seatings.shape)
    form = (
        field.strengths[league, seatings] + field.after[league, np.roll(seatings, 1, -1), seatings]
    )
    form = form + np.take_along_axis(luck, np.broadcast_to(ORDERS, seatings.shape), -1)
    for step in range(1, SEATS):
        others = np.roll(seatings, step, -1)
        form += field.beside[league, others, seatings]
        form += field.against[league, seatings, others] * 2 / (SEATS - 1)
    form += rng.gumbel(0, ELO_PER_NAT, form.shape)
    return seatings, (form[..., None, :] > form[..., :, None]).sum(-1) + 1


def rated(ratings: Floats, seatings: Ints, placings: Ints, number: int) -> Floats:
    """Return the ratings after a round: the ladder's Elo without its rounding."""
    league = np.broadcast_to(np.arange(len(ratings))[:, None, None, None], seatings.shape)
    own = ratings[league, seatings]
    expected = 1 / (1 + 10 ** ((own[..., None, :] - own[..., :, None]) / 400))
    wins = (np.sign(placings[..., None, :] - placings[..., :, None]) + 1) / 2
    # A seat against itself is a tie, and expects one.
    surplus = (wins - expected).sum(-1) / SEATS / (SEATS - 1)
    k = 128 if number < 10 else 64 if number < 20 else 32
    after = ratings.copy()
    np.add.at(after, (league, seatings), k * surplus)
    return after


def simulate(
    rng: Rng, field: Field, blocks: int, *, noise: float = 100.0
) -> list[list[RatedBlock]]:
    """Return the blocks of each league."""
    ratings = np.full(field.strengths.shape, 1500.0)
    played: list[list[RatedBlock]] = [[] for _ in ratings]
    for number in range(blocks):
        seatings, placings = play(rng, field, draw_tables(rng, ratings, noise=noise))
        for league, of_league in enumerate(played):
            of_league += as_blocks(seatings[league], placings[league], ratings[league])
        ratings = rated(ratings, seatings, placings, number)
    return played


def as_blocks(seatings: Ints, placings: Ints, ratings: Floats) -> list[RatedBlock]:
    by_bot = dict(enumerate(ratings.tolist()))
    return [
        RatedBlock(
            [MatchResult(tuple(s), tuple(p), ()) for s, p in zip(bots, places, strict=True)], by_bot
        )
        for bots, places in zip(seatings.tolist(), placings.tolist(), strict=True)
    ]


def honest_leagues(style: Style, rng: Rng, leagues: int, blocks: int) -> list[list[RatedBlock]]:
    return simulate(rng, draw_field(rng, leagues, style), blocks)


def real_leagues(bank: int) -> Source:
    """Play so many blocks at each table; return what draws leagues from them."""
    from benchmarks.matches_to_order import BOTS as REAL_BOTS
    from benchmarks.matches_to_order import TABLES
    from benchmarks.matches_to_order import play as play_match

    shape = len(TABLES), bank, SEATS, SEATS
    seatings, scores = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for number, table in enumerate(TABLES):
        for block in range(bank):
            seed = derive_block_seed(bytes(32), number * 10**6 + block)
            for match in plan_block(seed, table, duplicate=True).matches:
                luck = Random(f"{seed.hex()} {match.index}")
                seatings[number, block, match.index] = match.seating
                scores[number, block, match.index] = play_match(
                    match.deal_seed, match.seating, luck
                )
    placings = (scores[..., None, :] > scores[..., :, None]).sum(-1) + 1
    at = {table: number for number, table in enumerate(TABLES)}

    def draw(rng: Rng, leagues: int, blocks: int) -> list[list[RatedBlock]]:
        played = []
        for _ in range(leagues):
            ratings, of_league = np.full((1, REAL_BOTS), 1500.0), []
            for number in range(blocks):
                tables = np.sort(draw_tables(rng, ratings)[0], axis=1).tolist()
                rows = [at[tuple(table)] for table in tables], rng.integers(bank, size=len(tables))
                of_league += as_blocks(seatings[rows], placings[rows], ratings[0])
                ratings = rated(ratings, seatings[rows][None], placings[rows][None], number)
            played.append(of_league)
        return played

    return draw


# -- Measuring ---------------------------------------------------------------------------------


class Result(NamedTuple):
    """What the screen found in some leagues.

    Attributes:
        alarms: the share of leagues with a flagged pair.
        gains: by question, the median of the stated smallest gains.
    """

    alarms: float
    gains: dict[Question, float]


def screened(leagues: Sequence[Sequence[RatedBlock]]) -> Result:
    found = [screen(league) for league in leagues]
    gains = {
        question: float(np.median([each.power[question].smallest_gain or np.nan for each in found]))
        for question in QUESTIONS
    }
    return Result(sum(bool(each.flagged) for each in found) / len(found), gains)


def found_colluders(rng: Rng, leagues: int, blocks: int, style: Style) -> dict[Question, float]:
    """Return the share of pairs found whose gain is the one that the screen states.

    The help in Elo that leads to this gain depends on the bots. So it is found in two steps: each
    corrects it by the mean of the measured gains; the third set of leagues gives the share. A
    pair's gain is compared with the gain stated for pairs of its own standard error. Tables are
    random here, so that the standard errors of all pairs are about equal.
    """
    shares: dict[Question, float] = {}
    for question in QUESTIONS:
        power, help_ = 0.0, 150.0 if question == "fed" else 80.0
        for _ in range(3):
            field = draw_field(rng, leagues, style)
            (field.after if question == "fed" else field.beside)[:, 0, 1] += help_
            ratios, flags = [], []
            for league in simulate(rng, field, blocks, noise=1e6):
                result = screen(league)
                stated = result.power[question].smallest_gain
                tests = [test for test in result.tested if test.question == question]
                mine = [test for test in tests if (test.partner, test.gainer) == (0, 1)]
                if stated is None or not mine:
                    continue
                middle = float(np.median([test.error for test in tests]))
                gain = (mine[0].gain - mine[0].expected) / mine[0].error
                ratios.append(gain / (stated / middle))
                flags.append(any((t.partner, t.gainer) == (0, 1) for t in result.flagged))
            power = float(np.mean(flags)) if flags else math.nan
            help_ /= float(np.mean(ratios)) if flags else 1.0
        shares[question] = power
    return shares


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leagues", type=int, default=40)
    parser.add_argument("--blocks", type=int, nargs="+", default=list(BLOCKS))
    parser.add_argument("--real", type=int, default=0, help="blocks of real bots at each table")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    sources: dict[str, Source] = {
        name: partial(honest_leagues, style) for name, style in STYLES.items()
    }
    if options.real:
        sources["real bots"] = real_leagues(options.real)
    print(f"{options.leagues} leagues for each row, seed {options.seed}")
    print("blocks of a bot  bots       alarms          stated gain, fed / with")
    broken = False
    for blocks in options.blocks:
        for name, source in sources.items():
            result = screened(source(rng, options.leagues, blocks))
            share = result.alarms
            error = math.sqrt(max(share, 1 / options.leagues) * (1 - share) / options.leagues)
            broken |= share - 2 * error > PROMISED
            gains = " / ".join(f"{gain:.3f}" for gain in result.gains.values())
            print(f"{blocks:15}  {name:9}  {share:6.1%} ± {error:.1%}  {gains}", flush=True)
    planted = options.leagues
    print(f"\nplanted pairs with the stated gain, found of {planted} leagues with style")
    for blocks in options.blocks[2:3]:
        shares = found_colluders(rng, planted, blocks, STYLES["style"])
        listed = ", ".join(f"{question} {share:.0%}" for question, share in shares.items())
        print(f"{blocks:15}  {listed}", flush=True)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
