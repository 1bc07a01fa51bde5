"""The number of matches that a league of eight bots needs until its ranking is right and stays so.

Usage: python benchmarks/matches_to_order.py [--blocks 100] [--leagues 400] [--matches 3200]

The order stands if, from then on, Kendall's tau between the ranking and the true order is 0.9 or
more in 95 % of leagues. With eight bots that allows one pair of 28 in the wrong order.

The matches are real: `twelve-days` calliope at tables of four, played by the engine. The bots are
rules of thumb like those of `bots_sdk.reference.thumb_bot`, on the state itself for speed, some of
which make random moves now and then. All 70 tables of four of the eight bots play `--blocks`
blocks on one deal each, and as many with one deal per match. The benchmark draws leagues from these
blocks: tables are random, and all bots play equally often. The true order and strengths are the fit
of all matches.

The rankings:

- duplicate, performance: blocks of four matches on one deal, each bot in each seat once; the fit
- own deals, performance: the same blocks with one deal per match, as for remote bots; the fit
- independent, performance: single matches with random tables and seats, one deal per match; the fit
- duplicate, Elo: the ladder's rating, in rounds of one block per bot
- per match, Elo K: single matches as above, with an update of the ratings after each match
"""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.blocks import derive_block_seed, plan_block
from engine.deals import seeded_shuffle
from engine.games.game import places
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_moves import AWARD_ID, PLAY_ID
from engine.rating import elo
from engine.rating.performance import PairResults, fit
from engine.rating.results import MatchResult


class Thumb(NamedTuple):
    """A bot.

    Attributes:
        spare: the card that it gives, or plays if little is at stake: the "rarest" in its hand, the
            "middle" rank with the lowest product of number and rank, or the "lowest" of the rarest
            above 3.
        stake: the points at stake from which on it plays its lowest card.
        slips: the probability of a random move.
    """

    spare: str
    stake: int
    slips: float = 0.0


THUMBS = (
    Thumb("middle", 8),
    Thumb("rarest", 8),
    Thumb("lowest", 5),
    Thumb("middle", 3),
    Thumb("middle", 5, slips=0.7),
    Thumb("rarest", 12),
    Thumb("rarest", 0, slips=1.0),
    Thumb("rarest", 20),
)
BOTS, SEATS = len(THUMBS), 4
TABLES = tuple(combinations(range(BOTS), SEATS))
PAIRS = tuple(combinations(range(SEATS), 2))
ROUND = BOTS  # matches in which each bot plays a block
TAU, LEAGUES = 0.9, 0.95

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


# -- Playing -----------------------------------------------------------------------------------


def play(deal_seed: bytes, seating: Sequence[int], luck: Random) -> tuple[int, ...]:
    """Return the points by seat."""
    state = TwelveDays.start("calliope", SEATS, seeded_shuffle(deal_seed))
    while state.actors:
        actions = {}
        for seat in state.actors:
            thumb = THUMBS[seating[seat]]
            if luck.random() < thumb.slips:
                actions[seat] = luck.choice(state.legal(seat))
            else:
                actions[seat] = by_thumb(state, seat, thumb)
        state.step_unchecked(actions)
    assert state.scores is not None
    return state.scores


def by_thumb(state: TwelveDays, seat: int, thumb: Thumb) -> int:
    if state.phase == "award":
        others = [other for other in range(SEATS) if other != seat]
        return AWARD_ID + min(others, key=state.points.__getitem__)
    hand = state.hands[seat]
    held = [rank for rank, count in enumerate(hand) if count]
    base = 0 if state.phase == "give" else PLAY_ID
    if base and sum(range(state.first_in_pot, state.day + 1)) >= thumb.stake:
        return base + min(held, key=lambda rank: (rank == 0, rank))
    if thumb.spare == "middle":
        return base + min(held, key=lambda rank: (rank < 4, hand[rank] * rank))
    if thumb.spare == "lowest" and not base:
        return base + max(held, key=lambda rank: (rank > 3, -hand[rank], -rank))
    return base + max(held, key=lambda rank: (-hand[rank], rank))


def play_table(job: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return the points of a table by block, match and bot: with one deal, and one per match."""
    number, blocks = job
    table = TABLES[number]
    points = np.zeros((2, blocks, SEATS, SEATS))
    for kind in range(2):
        for block in range(blocks):
            seed = derive_block_seed(bytes(32), (number * 2 + kind) * 10**6 + block)
            for match in plan_block(seed, table, duplicate=kind == 0).matches:
                luck = Random(f"{seed.hex()} {match.index}")
                scores = play(match.deal_seed, match.seating, luck)
                for bot, score in zip(match.seating, scores, strict=True):
                    points[kind, block, match.index, table.index(bot)] = score
    return points[0], points[1]


# -- Leagues -----------------------------------------------------------------------------------


class Pool(NamedTuple):
    """All that was played.

    Attributes:
        points: by table, block, match and bot of the table.
        shares: pair results by table, block, match and pair.
    """

    points: Floats
    shares: Floats


def pool(points: Floats) -> Pool:
    a, b = (points[..., [pair[side] for pair in PAIRS]] for side in (0, 1))
    return Pool(points, (a > b) + (a == b) / 2)


def as_blocks(*pools: Pool) -> PairResults:
    """Return all blocks that were played."""
    results = PairResults()
    for played in pools:
        shares = played.shares.mean(axis=2).reshape(-1, len(PAIRS))
        bots = np.repeat(np.array(TABLES), played.shares.shape[1], axis=0)
        results.extend(bots, shares, np.full(len(bots), SEATS))
    return results


def as_matches(played: Pool) -> PairResults:
    """Return all matches that were played, as if they had nothing to do with each other."""
    _, blocks, matches, _ = played.shares.shape
    results = PairResults()
    bots = np.repeat(np.array(TABLES), blocks * matches, axis=0)
    results.extend(bots, played.shares.reshape(-1, len(PAIRS)), np.full(len(bots), 1))
    return results


def draw_tables(rng: np.random.Generator, rounds: int) -> list[tuple[int, int]]:
    """Return for each round two tables at which each bot sits once."""
    last = len(TABLES) - 1  # the tables' complements stand in reverse order
    return [(int(table), int(last - table)) for table in rng.integers(len(TABLES), size=rounds)]


def draw_blocks(
    rng: np.random.Generator, blocks: int, rounds: int, most: int
) -> Iterator[tuple[int, int]]:
    """Yield tables with a number below ``most``, no number twice at a table while it can be."""
    left: dict[int, list[int]] = {}
    for tables in draw_tables(rng, rounds):
        for table in tables:
            if not left.get(table):
                left[table] = rng.permutation(most).tolist()
            yield table, left[table].pop()


def by_performance(
    source: Pool, whole_blocks: bool, marks: Sequence[int], rng: np.random.Generator
) -> list[Floats]:
    """Return the estimates after each of so many matches, by bot."""
    _, blocks, matches, _ = source.shares.shape
    if whole_blocks:
        drawn = np.array(list(draw_blocks(rng, blocks, marks[-1] // ROUND, blocks)))
        shares, weight = source.shares.mean(axis=2)[drawn[:, 0], drawn[:, 1]], SEATS
    else:
        drawn = np.array(list(draw_blocks(rng, blocks, marks[-1] // 2, blocks * matches)))
        block, match = divmod(drawn[:, 1], matches)
        shares, weight = source.shares[drawn[:, 0], block, match], 1
    bots = np.array(TABLES)[drawn[:, 0]]
    found = []
    for mark in marks:
        results = PairResults()
        rows = mark // weight
        results.extend(bots[:rows], shares[:rows], np.full(rows, weight))
        performance = fit(results)
        found.append(performance.elo[np.argsort(performance.bots)])
    return found


def by_ladder(source: Pool, marks: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """Return the ladder's ratings after each of so many matches."""
    blocks = source.points.shape[1]
    drawn = list(draw_blocks(rng, blocks, marks[-1] // ROUND, blocks))
    states: dict[int, elo.RatingState] = {}
    found = {}
    for number in range(0, len(drawn), 2):
        played = []
        for table, block in drawn[number : number + 2]:
            bots = TABLES[table]
            results = [
                MatchResult(bots, places(points.tolist())) for points in source.points[table, block]
            ]
            played.append(elo.Block(table, dict.fromkeys(bots, 1), results))
        states = dict(elo.apply_round(states, elo.Round(played)).states)
        found[(number // 2 + 1) * ROUND] = np.array([states[bot].rating for bot in range(BOTS)])
    return [found[mark].astype(float) for mark in marks]


def by_match_elo(
    source: Pool, k: float, marks: Sequence[int], rng: np.random.Generator
) -> list[Floats]:
    """Return ratings that each match moves, K / (n - 1) for each pair at the table."""
    _, blocks, matches, _ = source.shares.shape
    wanted, found, ratings = set(marks), [], [1500.0] * BOTS
    drawn = draw_blocks(rng, blocks, marks[-1] // 2, blocks * matches)
    for played, (table, number) in enumerate(drawn, start=1):
        shares = source.shares[table, number // matches, number % matches].tolist()
        before = ratings.copy()
        for (a, b), share in zip(PAIRS, shares, strict=True):
            i, j = TABLES[table][a], TABLES[table][b]
            expected = 1 / (1 + 10 ** ((before[j] - before[i]) / 400))
            ratings[i] += k / (SEATS - 1) * (share - expected)
            ratings[j] -= k / (SEATS - 1) * (share - expected)
        if played in wanted:
            found.append(np.array(ratings))
    return found


def ways(duplicate: Pool, own: Pool) -> dict[str, Callable[..., list[Floats]]]:
    return {
        "duplicate, performance": partial(by_performance, duplicate, True),
        "own deals, performance": partial(by_performance, own, True),
        "independent, performance": partial(by_performance, own, False),
        "duplicate, Elo": partial(by_ladder, duplicate),
        "per match, Elo 32": partial(by_match_elo, own, 32.0),
        "per match, Elo 16": partial(by_match_elo, own, 16.0),
        "per match, Elo 8": partial(by_match_elo, own, 8.0),
    }


def taus(estimates: Sequence[Floats], truth: Floats) -> Floats:
    """Return Kendall's tau between estimates and truth; a tie counts as half wrong."""
    i, j = np.array(list(combinations(range(BOTS), 2))).T
    agree = np.sign(np.array(estimates)[:, i] - np.array(estimates)[:, j])
    return np.asarray((agree * np.sign(truth[i] - truth[j])).mean(axis=1))


_POOLS: list[Pool] = []


def keep(duplicate: Floats, own: Floats) -> None:
    _POOLS[:] = [pool(duplicate), pool(own)]


def run_league(job: tuple[str, int, tuple[int, ...], tuple[float, ...]]) -> Floats:
    way, seed, marks, truth = job
    estimates = ways(*_POOLS)[way](marks, np.random.default_rng(seed))
    return taus(estimates, np.array(truth))


# -- The answer --------------------------------------------------------------------------------


def stands(marks: Sequence[int], enough: Bools) -> int | None:
    """Return the first mark from which on enough leagues have the order, or None."""
    found = None
    for mark, share in reversed(list(zip(marks, enough.mean(axis=0), strict=True))):
        if share < LEAGUES:
            break
        found = mark
    return found


def error_bar(marks: Sequence[int], enough: Bools) -> str:
    """Return the 95 % interval of `stands`, by drawing the leagues anew."""
    rng = np.random.default_rng(1)
    beyond = marks[-1] + 1
    draws = sorted(
        stands(marks, enough[rng.integers(len(enough), size=len(enough))]) or beyond
        for _ in range(500)
    )
    return "-".join(f"> {marks[-1]}" if x == beyond else str(x) for x in (draws[12], draws[487]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=100, help="of each table and kind")
    parser.add_argument("--leagues", type=int, default=400)
    parser.add_argument("--matches", type=int, default=3200, help="the longest league")
    options = parser.parse_args()

    with ProcessPoolExecutor() as processes:
        jobs = [(number, options.blocks) for number in range(len(TABLES))]
        played = list(processes.map(play_table, jobs))
    duplicate, own = (np.array([tables[kind] for tables in played]) for kind in range(2))
    pools = pool(duplicate), pool(own)
    performance = fit(as_blocks(*pools))
    truth = performance.elo[np.argsort(performance.bots)]
    print(f"{2 * SEATS * len(TABLES) * options.blocks} matches played; {options.leagues} leagues")
    print("true strengths, Elo:", *(f"{strength:.0f}" for strength in truth))
    print(f"their largest standard error: {performance.errors.max():.1f}")
    of_one = SEATS * len(TABLES) * options.blocks
    print("variance of an estimate times matches, mean of all bots, Elo squared:")
    for name, results in (
        ("duplicate blocks", as_blocks(pools[0])),
        ("blocks on own deals", as_blocks(pools[1])),
        ("independent matches", as_matches(pools[1])),
    ):
        print(f"    {name:20} {(fit(results).errors ** 2).mean() * of_one:9.0f}")

    rounds = np.unique(np.geomspace(5, options.matches // ROUND, 70).astype(int))
    marks = tuple((rounds * ROUND).tolist())
    shown = [
        marks[np.searchsorted(marks, least)]
        for least in (200, 400, 800, 1600)
        if least <= marks[-1]
    ] + [marks[-1]]
    print(f"\n{'':26}{'matches until':>14} {'95 % interval':>16}   mean tau after")
    print(f"{'':26}{'it stands':>14} {'':>16}  ", *(f"{mark:5}" for mark in shown))
    with ProcessPoolExecutor(initializer=keep, initargs=(duplicate, own)) as processes:
        for way in ways(*pools):
            leagues = [(way, seed, marks, tuple(truth)) for seed in range(options.leagues)]
            chunk = max(1, options.leagues // (os.cpu_count() or 1) // 4)
            found = np.array(list(processes.map(run_league, leagues, chunksize=chunk)))
            enough = found >= TAU
            answer = stands(marks, enough)
            print(
                f"{way:26}{answer or f'> {marks[-1]}':>14} {error_bar(marks, enough):>16}  ",
                *(f"{found[:, marks.index(mark)].mean():5.2f}" for mark in shown),
                flush=True,
            )


if __name__ == "__main__":
    main()
