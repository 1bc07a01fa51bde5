"""How strong the reference bots are, and how long they think.

Usage: python benchmarks/reference_bots.py [--blocks 50] [--search-blocks 10]

Blocks of four matches on one deal, each bot in each seat once: first a table of all four bots,
then each bot twice against the next weaker one twice. A win is shared by those who share the first
place; the error of a win share is of its mean over blocks, which are independent of each other.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from statistics import mean, median, stdev
from time import perf_counter
from typing import Any

from bots_sdk.reference import HOUSE, make_player
from engine.rating.blocks import derive_block_seed, plan_block
from engine.referee import Player, play

GAMES = [("twelve-days", "calliope"), ("partridge", "eagle-short")]
Result = dict[str, tuple[list[float], list[int], list[float]]]
"""By bot: its share of the wins in each match, its places, and the seconds of its moves."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=50, help="without search_bot")
    parser.add_argument("--search-blocks", type=int, default=10, help="with it")
    options = parser.parse_args()
    bots = [name for name in HOUSE if not name.endswith("-2")]  # weakest first, without twins
    tables = [bots] + [[strong, weak] * 2 for weak, strong in pairwise(bots)]
    print(f"{'game':12} {'bot':15} {'wins':>13} {'place':>6} {'move, ms':>9} {'matches':>8}")
    with ProcessPoolExecutor() as pool:
        for game, rules in GAMES:
            for table in tables:
                blocks = options.search_blocks if "house-search" in table else options.blocks
                jobs = [(game, rules, table, block) for block in range(blocks)]
                show(game, list(pool.map(play_block, jobs)))


def play_block(job: tuple[str, str, Sequence[str], int]) -> Result:
    game, rules, table, number = job
    plan = plan_block(derive_block_seed(bytes(32), number), range(len(table)), duplicate=True)
    result: Result = defaultdict(lambda: ([], [], []))
    for match in plan.matches:
        names = [table[bot] for bot in match.seating]
        players = [timed(make_player(name), result[name][2]) for name in names]
        outcome = play(game, rules, match.deal_seed, players)
        assert not outcome.incidents, outcome.incidents[0]
        places = outcome.record.places
        for name in set(names):
            own = [place for place, who in zip(places, names, strict=True) if who == name]
            result[name][0].append(own.count(1) / places.count(1))
            result[name][1].extend(own)
    return dict(result)


def timed(player: Player, seconds: list[float]) -> Player:
    def choose(observation: dict[str, Any]) -> str:
        began = perf_counter()
        move = player(observation)
        seconds.append(perf_counter() - began)
        return move

    return choose


def show(game: str, blocks: list[Result]) -> None:
    print()
    for name in blocks[0]:
        wins = [mean(block[name][0]) for block in blocks]
        error = stdev(wins) / len(wins) ** 0.5 if len(wins) > 1 else float("nan")
        place = mean(place for block in blocks for place in block[name][1])
        thinking = median(second for block in blocks for second in block[name][2])
        matches = sum(len(block[name][0]) for block in blocks)
        print(
            f"{game:12} {name:15} {mean(wins):6.3f} ±{error:5.3f} {place:6.2f}"
            f" {thinking * 1e3:9.3f} {matches:8}"
        )


if __name__ == "__main__":
    main()
