"""The A/B test on real matches: two versions of a house bot that differ in one rare rule.

Usage: python benchmarks/small_edits.py [--seconds 100] [--tests 400] [--seed 1]

Both versions are `bots_sdk.reference.thumb_bot`. The old one lacks one rule, which few positions
use, or none: no bot at this table plays a Claus, so no pot is awarded. The engine plays swap blocks
of `twelve-days` calliope at tables of four, as the league does: one deal, the versions exchange
seats, two bots with random moves sit beside them. Each edit gets the same share of `--seconds`.

The first blocks are one test of the default plan, as a bot's author would run it. Then tests are
drawn from all blocks with replacement: of the edit, of the edit taken back, and of no gain (each
difference with a random sign). The gain in Elo with its 95 % interval is that of all blocks. For no
gain, the share of "better" is the error of the first kind; at most 7 % is promised. The benchmark
exits with 1 if it is higher by more than two standard errors.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bots_sdk.reference import thumb_bot
from engine.blocks import derive_block_seed, plan_block
from engine.rating.results import MatchResult
from engine.rating.sprt import Decision, Plan, SwapResult, estimate, latest_point, swap_result
from engine.referee import play

Observation = dict[str, Any]
Choose = Callable[[Observation], str]

SEATS = 4
PLAN = Plan(seats=SEATS)
NEW, OLD = 0, 1
PROMISED = 0.07


def high_from(stake: int) -> Choose:
    """Return a version that plays its highest card if so many points or more are at stake."""

    def choose(observation: Observation) -> str:
        if observation["phase"] == "play" and sum(observation["pot"]) >= stake:
            return str(max(observation["legal_moves"], key=lambda move: int(move.split()[1])))
        return str(thumb_bot.choose(observation))

    return choose


def late_pots_to_the_richest(observation: Observation) -> str:
    """Award a pot of the last three days to the seat with the most points, not the fewest."""
    if observation["phase"] != "award" or observation["day"] < 10:
        return str(thumb_bot.choose(observation))
    points = [sum(cards) for cards in observation["day_cards"]]
    moves: list[str] = observation["legal_moves"]
    return max(moves, key=lambda move: points[int(move.split()[1])])


EDITS: dict[str, Choose] = {
    "low from 15 points at stake on": high_from(15),
    "late pots to the poorest (never used)": late_pots_to_the_richest,
}
"""The old version by the rule that it lacks."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--tests", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = False
    for rule, old in EDITS.items():
        until = time.monotonic() + options.seconds / len(EDITS)
        seed = sha256(f"{options.seed}/{rule}".encode()).digest()
        blocks: list[SwapResult] = []
        while time.monotonic() < until or len(blocks) < PLAN.guard_blocks:
            blocks.append(swap_block(derive_block_seed(seed, len(blocks)), old))
        differing = sum(block.difference != 0 for block in blocks)
        moved = sum(not block.same_moves for block in blocks)
        print(
            f"{rule}: {len(blocks)} blocks; moves differ in {moved / len(blocks):.1%}, "
            f"results in {differing / len(blocks):.1%}"
        )
        gain = estimate(PLAN, blocks)
        if gain is not None:
            print(f"  gain {gain.elo:+.1f} Elo, 95 % interval {gain.low:+.1f} to {gain.high:+.1f}")
        first = latest_point(PLAN, blocks)
        if first is not None:
            print(f"  the first test: {first.decision or 'goes on'} after {first.blocks} blocks")
        rng = Random(options.seed)
        report("the edit", rng, blocks, options.tests, (1,))
        report("taken back", rng, blocks, options.tests, (-1,))
        share = report("no gain", rng, blocks, options.tests, (-1, 1))
        error = math.sqrt(max(share * (1 - share), 0.01) / options.tests)
        wrong |= share > PROMISED + 2 * error
    sys.exit(int(wrong))


def swap_block(block_seed: bytes, old: Choose) -> SwapResult:
    """Play one deal twice; the versions exchange seats."""
    first = plan_block(block_seed, range(SEATS), duplicate=True).matches[0]
    swapped = tuple({NEW: OLD, OLD: NEW}.get(bot, bot) for bot in first.seating)
    played = []
    for seating in (first.seating, swapped):
        chooses = [player(bot, old, first.deal_seed) for bot in seating]
        record = play("twelve-days", "calliope", first.deal_seed, chooses).record
        played.append((MatchResult(seating=seating, places=record.places), record))
    return swap_result(played, NEW, OLD)


def player(bot: int, old: Choose, deal_seed: bytes) -> Choose:
    """Return what plays a seat; the random bots' moves follow from deal and observation."""
    if bot == NEW:
        return thumb_bot.choose
    if bot == OLD:
        return old

    def at_random(observation: Observation) -> str:
        rng = Random(deal_seed + json.dumps(observation, sort_keys=True).encode())
        return str(rng.choice(observation["legal_moves"]))

    return at_random


def report(
    name: str, rng: Random, blocks: Sequence[SwapResult], tests: int, signs: Sequence[int]
) -> float:
    """Print the verdicts of tests that are drawn from blocks; return the share of "better".

    Each drawn difference gets one of the signs, at random.
    """

    def drawn() -> Iterator[SwapResult]:
        while True:
            block = rng.choice(blocks)
            yield SwapResult(rng.choice(signs) * block.difference, block.same_moves)

    found: Counter[Decision] = Counter()
    lengths = []
    for _ in range(tests):
        point = latest_point(PLAN, drawn())
        assert point is not None
        assert point.decision is not None
        found[point.decision] += 1
        lengths.append(point.blocks)
    verdicts = ", ".join(f"{decision} {found[decision] / tests:.1%}" for decision in found)
    print(f"  {name:10}: {verdicts}; blocks, mean {sum(lengths) / tests:.0f}", flush=True)
    return found[Decision.BETTER] / tests


if __name__ == "__main__":
    main()
