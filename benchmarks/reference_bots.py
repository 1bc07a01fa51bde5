"""The strength of the house bots, each against each, and the time of their moves.

Usage: python benchmarks/reference_bots.py [--blocks 100] [--search-blocks 20] [--only WORD ...]

Each of two bots has two seats at a table. A block is four matches on one deal, so that each sits in
each seat once, and equally often behind each other. The share is the mean pair result of the
stronger bot over the pairs of different bots; the reference is 0.5, no difference. Blocks are
independent of each other, so the error is the standard error of their mean.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any

from bots_sdk.reference import HOUSE, make_player
from engine.blocks import derive_block_seed, plan_block
from engine.rating.results import MatchResult, pair_results
from engine.referee import Player, play

RULES = [("twelve-days", "calliope"), ("partridge", "eagle-short"), ("partridge", "eagle")]
"""The presets of a new league's ladders, and the full match of the short preset."""
SEATS = 4
Job = tuple[str, str, tuple[str, str], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=100, help="for pairs without house-search")
    parser.add_argument("--search-blocks", type=int, default=20, help="for pairs with it")
    parser.add_argument("--first", type=int, default=0, help="number of the first block")
    parser.add_argument("--only", nargs="*", help="pairs and presets that have one of these words")
    options = parser.parse_args()
    bots = [name for name in HOUSE if not name.endswith("-2")]  # weakest first, without twins
    print(
        f"{'game':12} {'rules':12} {'stronger':15} {'weaker':15} {'share':>6} {'error':>7}"
        f" {'errors':>7} {'matches':>8}"
    )
    with ProcessPoolExecutor() as pool:
        for game, rules in RULES:
            for weak, strong in combinations(bots, 2):
                words = {game, rules, weak, strong}
                if options.only and not words >= set(options.only):
                    continue
                blocks = options.search_blocks if "house-search" in words else options.blocks
                numbers = range(options.first, options.first + blocks)
                jobs = [(game, rules, (strong, weak), number) for number in numbers]
                show(game, rules, (strong, weak), list(pool.map(play_block, jobs)))


def play_block(job: Job) -> tuple[float, dict[str, list[float]]]:
    """Return the mean pair result of the first bot, and the seconds of each bot's moves."""
    game, rules, pair, number = job
    seconds: dict[str, list[float]] = {name: [] for name in pair}
    plan = plan_block(derive_block_seed(bytes(32), number), range(SEATS), duplicate=True)
    results = []
    for match in plan.matches:
        names = [pair[bot % 2] for bot in match.seating]
        players = [timed(make_player(name), seconds[name]) for name in names]
        outcome = play(game, rules, match.deal_seed, players)
        assert not outcome.fault_reports, outcome.fault_reports[0]
        results.append(MatchResult(match.seating, outcome.record.places))
    shares = pair_results(results)
    return mean(float(shares[i, j]) for i, j in shares if i % 2 == 0 and j % 2), seconds


def timed(player: Player, seconds: list[float]) -> Player:
    def choose(observation: dict[str, Any]) -> str:
        began = perf_counter()
        move = player(observation)
        seconds.append(perf_counter() - began)
        return move

    return choose


def show(
    game: str,
    rules: str,
    pair: Sequence[str],
    blocks: Sequence[tuple[float, dict[str, list[float]]]],
) -> None:
    shares = [share for share, _ in blocks]
    error = stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
    strong, weak = pair
    moves = sorted(second for _, seconds in blocks for second in seconds[strong])
    print(
        f"{game:12} {rules:12} {strong:15} {weak:15} {mean(shares):6.3f} {error:7.3f}"
        f" {(mean(shares) - 0.5) / error if error else float('inf'):7.1f} {SEATS * len(blocks):8}"
        f"   {strong} takes {median(moves) * 1e3:.2f} ms a move,"
        f" 99 of 100 at most {moves[len(moves) * 99 // 100] * 1e3:.2f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
