"""How often the 95 % intervals of performance hold the true strength, and chances of being best.

Usage: python benchmarks/coverage.py [--leagues 300] [--bots 24] [--seed 1]

Simulates leagues in which the Bradley-Terry model is true, with strengths of a normal distribution.
A bot's score in a match is its strength plus luck; half of the luck is that of the seat and deal,
the same in all matches of the block, as on a ladder. Tables of four are drawn at random, or near in
strength as a ladder draws them. Prints for each spread of strengths and each number of blocks a bot
the share of intervals that hold the truth: with 1.96 standard errors, with Student's t of one
degree of freedom less than the bot's B blocks, and with t and the factor sqrt(B / (B - 1)), which
the league uses (`engine.rating.intervals`). The standard error of each share is in brackets, from
the differences between leagues. *Best* is the mean probability that the most probable bot is the
best, and how often it was.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from engine.rating.best_chance import best_chances
from engine.rating.blocks import seat_orders
from engine.rating.intervals import Z_95, half_width, student_t
from engine.rating.performance import ANCHOR_ELO, ELO_PER_NAT, PairResults, fit

SPREADS = (100, 200, 300)
BLOCKS = (10, 20, 50, 100)
SEATS = 4
SHARED_LUCK = 0.5


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leagues", type=int, default=300)
    parser.add_argument("--bots", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{options.leagues} leagues of {options.bots} bots for each row, seed {options.seed}")
    print(
        "tables   sd, Elo  blocks  1.96            t               t and factor    best: said, was"
    )
    for near in (False, True):
        for spread in SPREADS:
            for blocks in BLOCKS:
                rng = np.random.default_rng([options.seed, near, spread, blocks])
                rows = [
                    one_league(rng, options.bots, spread, blocks, near=near)
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
    rng: np.random.Generator, bots: int, spread: float, blocks: int, *, near: bool
) -> tuple[float, ...]:
    """Return the shares of intervals that hold the truth, and what holds for the probable best."""
    true = rng.normal(0, spread / ELO_PER_NAT, bots)
    tables = draw(rng, true, blocks, near=near)
    results = PairResults()
    results.extend(tables, play(rng, true, tables), np.full(len(tables), SEATS))
    fitted = fit(results)
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
