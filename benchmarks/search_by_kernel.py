"""The strength of house-search with the compiled kernel against itself without, in less time.

Usage: python benchmarks/search_by_kernel.py [--playouts 4000] [--per-plain 25] [--seconds 300]

Each of the two has two seats at a table. A block is four matches on one deal, so that each sits in
each seat once. The share is the mean pair result of the bot with the kernel over the pairs of
different bots; the reference is 0.5, no difference. Without the kernel the bot gets fewer playouts:
the number with the kernel, divided by --per-plain. The output has the processor time of a move.
"""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import count
from statistics import mean, stdev
from time import monotonic, process_time
from typing import Any

from bots_sdk.reference import search_bot
from engine.blocks import derive_block_seed, plan_block
from engine.playouts import evaluate
from engine.referee import play

RULES = [("twelve-days", "calliope"), ("partridge", "eagle-short")]
SEATS = 4

Choose = Callable[[dict[str, Any]], str]


class Timed:
    """A way to search, and the processor time of its moves."""

    def __init__(self, playouts: int, in_kernel: bool) -> None:
        self._playouts, self._in_kernel = playouts, in_kernel
        self.seconds: list[float] = []

    def choose(self, luck: str, observation: dict[str, Any]) -> str:
        """Search with or without the kernel; keep the time."""
        bot: Any = search_bot
        bot.evaluate = partial(evaluate, in_kernel=self._in_kernel)
        bot.is_fast = lambda: self._in_kernel
        began = process_time()
        move = search_bot.choose(observation, luck, playouts=self._playouts)
        self.seconds.append(process_time() - began)
        return move


def main(playouts: int, per_plain: int, seconds: float) -> None:
    for game, rules in RULES:
        bots = [Timed(playouts, True), Timed(max(1, playouts // per_plain), False)]
        shares: list[float] = []
        end = monotonic() + seconds
        for number in count():
            if len(shares) > 1 and monotonic() > end:
                break
            shares.append(block(game, rules, number, bots))
        error = stdev(shares) / len(shares) ** 0.5
        times = " and ".join(f"{1000 * mean(bot.seconds):.1f} ms" for bot in bots)
        print(
            f"{game} {rules}: {mean(shares):.3f} ± {1.96 * error:.3f} (95 %), {len(shares)} blocks;"
            f" a move takes {times}",
            flush=True,
        )


def block(game: str, rules: str, number: int, bots: list[Timed]) -> float:
    """Return the mean pair result of the first bot in a block."""
    plan = plan_block(derive_block_seed(bytes(32), number), range(SEATS), duplicate=True)
    results = []
    for match in plan.matches:
        kinds = [bot % 2 for bot in match.seating]
        players = [partial(bots[kind].choose, f"{kind}-{seat}") for seat, kind in enumerate(kinds)]
        places = play(game, rules, match.deal_seed, players).record.places
        results += [
            (places[one] < places[other]) + (places[one] == places[other]) / 2
            for one in range(SEATS)
            for other in range(SEATS)
            if kinds[one] < kinds[other]
        ]
    return mean(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--playouts", type=int, default=4000, help="with the kernel")
    parser.add_argument("--per-plain", type=int, default=25, help="for one without the kernel")
    parser.add_argument("--seconds", type=float, default=300, help="for each game")
    options = parser.parse_args()
    main(options.playouts, options.per_plain, options.seconds)
