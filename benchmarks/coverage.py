"""How often the 95 % intervals of performance hold the true strength, and chances of being best.

Usage: python benchmarks/coverage.py [--leagues 300] [--bots 24] [--seed 1] [--few] [--draws 3]

Simulates leagues in which the Bradley-Terry model is true, with strengths of a normal distribution.
A bot's score in a match is its strength plus luck; half of the luck is that of the seat and deal,
the same in all matches of the block, as on a ladder. Tables of four are drawn at random, or near in
strength as a ladder draws them. Prints for each spread of strengths and each number of blocks a bot
the share of intervals that hold the truth: with 1.96 standard errors, with Student's t of one
degree of freedom less than the bot's B blocks, and with t and the factor sqrt(B / (B - 1)), which
the league uses (`engine.rating.intervals`). The standard error of each share is in brackets, from
the differences between leagues. *Best* is the mean probability that the most probable bot is the
best, and how often it was.

With --few, one bot of eight has few blocks: the seven others play 60 blocks each at random tables,
it plays its blocks against random ones of them (standard deviation 200 Elo), and only its interval
counts. With --draws, each bot gets another number of virtual draws than the league's 3.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from engine.blocks import seat_orders
from engine.rating.best_chance import best_chances
from engine.rating.intervals import Z_95, half_width, student_t
from engine.rating.performance import ANCHOR_ELO, ELO_PER_NAT, PairResults, fit

SPREADS = (100, 200, 300)
BLOCKS = (10, 20, 50, 100)
FEW = (1, 2, 3, 5, 10, 20)
FEW_BOTS, FEW_SPREAD, MANY = 8, 200, 60
SEATS = 4
SHARED_LUCK = 0.5


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leagues", type=int, default=300)
    parser.add_argument("--bots", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=float, default=3.0)
    parser.add_argument("--few", action="store_true")
    options = parser.parse_args()
    if options.few:
        print_few(options.leagues, options.seed)
        return
    print(f"{options.leagues} leagues of {options.bots} bots for each row, seed {options.seed}")
    print(
        "tables   sd, Elo  blocks  1.96            t               t and factor    best: said, was"
    )
    for near in (False, True):
        for spread in SPREADS:
            for blocks in BLOCKS:
                rng = np.random.default_rng([options.seed, near, spread, blocks])
                rows = [
                    one_league(rng, options.bots, spread, blocks, options.draws, near=near)
                    for _ in range(options.leagues)
                ]
                mean = np.mean(rows, axis=0)
                error = np.std(rows, axis=0) / np.sqrt(options.leagues)
                print(
                    f"{'near' if near else 'random':6}  {spread:8}  {blocks:6}"
                    f"  {mean[0]:.1%} ({error[0]:.1%})  {mean[1]:.1%} ({error[1]:.1%})"
                    f"  {mean[2]:.1%} ({error[2]:.1%})"
                    f"  {mean[3]:.0%}, {mean[4]:.0%} ({error[4]:.0%})",
                    flush=True,
                )


def one_league(
    rng: np.random.Generator, bots: int, spread: float, blocks: int, draws: float, *, near: bool
) -> tuple[float, ...]:
    """Return the shares of intervals that hold the truth, and what holds for the probable best."""
    true = rng.normal(0, spread / ELO_PER_NAT, bots)
    tables = draw(rng, true, blocks, near=near)
    results = PairResults()
    results.extend(tables, play(rng, true, tables), np.full(len(tables), SEATS))
    fitted = fit(results, virtual_draws=draws)
    order = np.array(fitted.bots)
    truth = (true - true.mean())[order] * ELO_PER_NAT + ANCHOR_ELO
    off = np.abs(fitted.elo - truth) / fitted.errors
    students = np.array([student_t(count - 1) for count in fitted.blocks])
    widths = [half_width(1, count) for count in fitted.blocks]
    chances = best_chances(fitted.elo, fitted.covariance)
    favourite = int(chances.argmax())
    return (
        float(np.mean(off < Z_95)),
        float(np.mean(off < students)),
        float(np.mean(off < widths)),
        float(chances[favourite]),
        float(order[favourite] == true.argmax()),
    )


def print_few(leagues: int, seed: int) -> None:
    """Print how often the interval of a bot with few blocks holds the truth."""
    print(f"{leagues} leagues of {FEW_BOTS} bots for each row, seed {seed}; one bot has few blocks")
    print("its blocks  1.96            t and factor")
    for blocks in FEW:
        rng = np.random.default_rng([seed, blocks])
        rows = [one_newcomer(rng, blocks) for _ in range(leagues)]
        mean = np.mean(rows, axis=0)
        error = np.sqrt(mean * (1 - mean) / leagues)
        print(
            f"{blocks:10}  {mean[0]:.1%} ({error[0]:.1%})  {mean[1]:.1%} ({error[1]:.1%})",
            flush=True,
        )


def one_newcomer(rng: np.random.Generator, blocks: int) -> tuple[float, ...]:
    """Return whether the intervals of the last bot, which has few blocks, hold its strength."""
    true = rng.normal(0, FEW_SPREAD / ELO_PER_NAT, FEW_BOTS)
    others = np.argsort(rng.random((MANY * (FEW_BOTS - 1) // SEATS, FEW_BOTS - 1)))[:, :SEATS]
    beside = np.argsort(rng.random((blocks, FEW_BOTS - 1)))[:, : SEATS - 1]
    own = np.column_stack([beside, np.full(blocks, FEW_BOTS - 1)])
    tables = np.concatenate([others, own])
    results = PairResults()
    results.extend(tables, play(rng, true, tables), np.full(len(tables), SEATS))
    fitted = fit(results)
    at = fitted.bots.index(FEW_BOTS - 1)
    off = abs(fitted.elo[at] - ANCHOR_ELO - (true[-1] - true.mean()) * ELO_PER_NAT)
    width = half_width(float(fitted.errors[at]), blocks) if blocks > 1 else np.inf
    return float(off < Z_95 * fitted.errors[at]), float(off < width)


def draw(rng: np.random.Generator, true: np.ndarray, blocks: int, *, near: bool) -> np.ndarray:
    """Return tables of four: so many rounds in which each bot sits once, or nearly all do."""
    rounds = []
    for _ in range(blocks):
        keys = rng.random(len(true))
        if near:
            keys = true + rng.uniform(-100, 100, len(true)) / ELO_PER_NAT
            anywhere = rng.random(len(true)) < 0.1
            keys[anywhere] = rng.choice(keys, anywhere.sum())
        rounds.append(np.argsort(keys)[: len(true) // SEATS * SEATS].reshape(-1, SEATS))
    return np.concatenate(rounds)


def play(rng: np.random.Generator, true: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Return the shares of each block."""
    seats = np.argsort(np.array(seat_orders(SEATS)), axis=1)
    deal = rng.gumbel(size=(len(tables), SEATS))[:, seats]
    own = rng.gumbel(size=deal.shape)
    luck = np.where(rng.random(deal.shape) < SHARED_LUCK, deal, own)
    scores = true[tables][:, None, :] + luck
    first, second = np.triu_indices(SEATS, 1)
    return np.asarray((scores[..., first] > scores[..., second]).mean(axis=1))


if __name__ == "__main__":
    main()
