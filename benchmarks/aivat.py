"""Measure how much variance AIVAT removes from the results of blocks.

AIVAT (N. Burch, M. Schmid, M. Moravcik, D. Morrill, M. Bowling, "AIVAT: A New Variance Reduction
Technique for Agent Evaluation in Imperfect Information Games", 2018) subtracts the luck of each
event whose probabilities are known: the value after the event minus the mean value before it. The
events here:

- The deal of a match. The mean value of a seat is the same for all deals, and each bot of a block
  sits in each seat once, so that this mean cancels and is not computed.
- The draws of a day, a new shuffle included, and the deals of later rounds of `partridge`.
- The moves of `house-random`, which takes each legal move with the same chance. The strategies of
  the other bots count as unknown.

The value of a position is the mean number of opponents that a seat beats in playouts of the kernel,
in which all seats follow `rule_of_thumb`. A playout starts from the true hands. The undrawn cards
of the deck have a new random order in each sample.

The mean before an event is estimated, not enumerated: each sample draws the event again, from its
true distribution, given all that happened before it and the other seats' moves. The value after
the event comes from as many samples, with the same random numbers. So both estimates have the same
expectation over the event, the correction has expectation zero, and neither a bad value nor a small
number of samples can bias the results. Samples only add noise. Each correction is computed twice,
from two independent halves of the samples, so the covariance of the halves is the variance without
this noise: the rows "endless samples".

    benchmarks/aivat.py --seconds 600       # twelve-days
    benchmarks/aivat.py --game partridge --rules eagle-short
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from random import Random
from time import monotonic
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from bots_sdk.reference import HOUSE, make_player
from engine.blocks import derive_block_seed, plan_block
from engine.deals import fast_shuffle, seeded_shuffle
from engine.games import catalogue
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.playouts import Policy, rule_of_thumb
from engine.playouts import play as play_on

SEATS = 4
PAIRS = tuple(combinations(range(SEATS), 2))
UNIFORM = "house-random"
KINDS = ("chance", "chance and known moves")
RESAMPLES = 4000
LEAST = 10
"""Blocks of each kind: variances of fewer mean nothing."""

Floats = npt.NDArray[np.float64]
Match = TwelveDays | Partridge
Player = Callable[[dict[str, object]], str]


class Luck(NamedTuple):
    """The luck of a match, in opponents beaten; each by half of the samples and seat, (2, seats).

    Attributes:
        deal: of the deal.
        later: of draws and later deals.
        moves: of the moves of `UNIFORM`.
    """

    deal: Floats
    later: Floats
    moves: Floats


class Value(NamedTuple):
    """Estimates the value of positions.

    Attributes:
        policy: how all seats play on.
        samples: the number of samples of each half.
        playouts: of each sample.
    """

    policy: Policy
    samples: int
    playouts: int

    def __call__(self, sample: Callable[[Random], Match], key: str) -> Floats:
        """Return the opponents that each seat beats in the mean, a tie as half, (2, seats).

        Args:
            sample: returns a position of the distribution, from random numbers.
            key: seed of the random numbers.
        """
        found = np.zeros((2, SEATS))
        for number in range(2 * self.samples):
            rng = Random(f"{key} {number}")
            seed = rng.getrandbits(64)
            found[number % 2] += play_on(sample(rng), self.playouts, self.policy, seed).half_points
        return found / (2 * self.samples * self.playouts)


# -- Samples -----------------------------------------------------------------------------------


def reordered(state: Match, gone: int, rng: Random) -> Match:
    """Return a position whose undrawn cards have a random order.

    Args:
        state: the position; not changed.
        gone: the number of cards that were drawn since the position before, from the same deck. It
            gives the positions before and after a draw the same random order of the other cards.
        rng: source of the order.
    """
    twin = state.copy()
    twin.shuffle = fast_shuffle(Random(rng.getrandbits(64)).random)
    if isinstance(twin, TwelveDays):
        rest = twin.deck[twin.top :]
        order = list(range(len(rest) + gone))
        rng.shuffle(order)
        twin.deck = [rest[card - gone] for card in order if card >= gone]
        twin.top = 0
    return twin


def stepped(state: Match, choices: Mapping[int, int], uniform: Sequence[int], rng: Random) -> Match:
    """Return a sample of the next position: new random draws, and random moves of some seats."""
    twin = reordered(state, 0, rng)
    twin.step_unchecked({**choices, **{seat: rng.choice(state.legal(seat)) for seat in uniform}})
    return twin


# -- Playing -----------------------------------------------------------------------------------


def play(
    start: Match, players: Sequence[Player], uniform: Sequence[int], value: Value, key: str
) -> tuple[tuple[int, ...], Luck]:
    """Play a match; return its scores and its luck.

    Args:
        start: the position after the deal.
        players: by seat.
        uniform: the seats whose moves all have the same chance.
        value: of positions.
        key: seed of the samples.
    """
    state = start
    deal = value(partial(reordered, state, 0), key)
    later, moves = np.zeros((2, SEATS)), np.zeros((2, SEATS))
    for ply in range(1_000_000):
        if not state.actors:
            break
        choices = {seat: choice(state, seat, players[seat]) for seat in state.actors}
        free = [seat for seat in state.actors if seat in uniform and len(state.legal(seat)) > 1]
        after = state.copy()
        after.step_unchecked(choices)
        drawn = cards_come(state, after)
        if free or drawn:
            at = f"{key} {ply}"
            given_moves = value(partial(stepped, state, choices, ()), at)
            if free:
                moves += given_moves - value(partial(stepped, state, choices, free), at)
            if drawn:
                gone = drawn if isinstance(after, TwelveDays) and shares_deck(state, after) else 0
                later += value(partial(reordered, after, gone), at) - given_moves
        state = after
    assert state.scores is not None
    return state.scores, Luck(deal, later, moves)


def choice(state: Match, seat: int, player: Player) -> int:
    legal = state.legal(seat)
    return legal[0] if len(legal) == 1 else state.parse(seat, player(state.observe(seat)))


def cards_come(before: Match, after: Match) -> int:
    """Return how many cards came by chance in a step."""
    if isinstance(before, TwelveDays):
        assert isinstance(after, TwelveDays)
        return SEATS if after.past is not before.past else 0
    assert isinstance(after, Partridge)
    return sum(after.sizes) if after.round > before.round else 0


def shares_deck(before: Match, after: Match) -> bool:
    """Return whether the draws of a step took no new shuffle."""
    return isinstance(before, TwelveDays) and before.deck is getattr(after, "deck", None)


class Blocks(NamedTuple):
    """B blocks of a kind.

    Attributes:
        results: mean pair results of `PAIRS`, (B, pairs).
        luck: corrections of these, (B, kinds, 2, pairs), by half: of `KINDS`, or of chance alone.
    """

    results: Floats
    luck: Floats


def play_block(
    game: str, rules: str, bots: Sequence[str], value: Value, seed: bytes, duplicate: bool
) -> tuple[Floats, Floats]:
    """Return the mean pair results of a block, (pairs), and their luck, (2, 2, pairs)."""
    results, luck = np.zeros(len(PAIRS)), np.zeros((2, 2, len(PAIRS)))
    for match in plan_block(seed, range(SEATS), duplicate=duplicate).matches:
        key = f"{seed.hex()} {match.index}"
        players = [make_player(bots[bot], f"{bots[bot]} {bot} {key}") for bot in match.seating]
        uniform = [seat for seat, bot in enumerate(match.seating) if bots[bot] == UNIFORM]
        start = catalogue.start(game, rules, SEATS, seeded_shuffle(match.deal_seed))
        assert isinstance(start, TwelveDays | Partridge)
        scores, found = play(start, players, uniform, value, key)
        for pair, (a, b) in enumerate(PAIRS):
            i, j = match.seating.index(a), match.seating.index(b)
            results[pair] += (np.sign(scores[i] - scores[j]) + 1) / 2 / SEATS
            chance = found.deal + found.later
            for row, seats in enumerate((chance, chance + found.moves)):
                # If p_ij = 1/2 + s_i - s_j, then s_i - s_j is this part of the opponents beaten.
                luck[row, :, pair] += (seats[:, i] - seats[:, j]) / SEATS / SEATS
    return results, luck


# -- The answer --------------------------------------------------------------------------------


def variances(blocks: Blocks) -> dict[str, Floats]:
    """Return variances of a pair result, mean of all pairs, without and with corrections.

    Returns:
        By name, [no correction, corrected].
    """
    results, luck = blocks
    plain = covariance(results, results)
    found = {}
    for row, name in enumerate(KINDS[: luck.shape[1]]):
        one, other = luck[:, row, 0], luck[:, row, 1]
        both = (one + other) / 2
        left = results - both
        found[name] = pair_mean(plain, covariance(left, left))
        endless = covariance(results - one, results - other)
        found[f"{name}, endless samples"] = pair_mean(plain, endless)
        # The best factor of each pair is found in these same blocks, so the gain looks too large.
        # If the halves don't agree at all, the best factor is 0.
        common = covariance(one, other)
        explained = covariance(results, both) ** 2 / np.where(common > 0, common, np.inf)
        found[f"{name}, endless, best factor"] = pair_mean(plain, plain - explained)
    return found


def covariance(a: Floats, b: Floats) -> Floats:
    """Return the covariance of each column."""
    found: Floats = ((a - a.mean(axis=0)) * (b - b.mean(axis=0))).sum(axis=0) / (len(a) - 1)
    return found


def pair_mean(plain: Floats, corrected: Floats) -> Floats:
    return np.array([plain.mean(), corrected.mean()])


def report(kind: str, blocks: Blocks, rng: np.random.Generator) -> None:
    count = len(blocks.results)
    drawn: dict[str, list[float]] = {}
    for _ in range(RESAMPLES):
        rows = rng.integers(count, size=count)
        for name, (plain, left) in variances(
            Blocks(blocks.results[rows], blocks.luck[rows])
        ).items():
            drawn.setdefault(name, []).append(left / plain)
    print(f"{kind}: {count} blocks")
    for name, (plain, left) in variances(blocks).items():
        low, high = np.quantile(drawn[name], (0.025, 0.975))
        print(
            f"    {name:48} variance {plain:.5f} -> {left:.5f},"
            f" ratio {left / plain:.3f} ({low:.3f} to {high:.3f})"
        )
    for row, name in enumerate(KINDS[: blocks.luck.shape[1]]):
        luck = blocks.luck[:, row].mean(axis=1)
        means, errors = luck.mean(axis=0), luck.std(axis=0, ddof=1) / count**0.5
        shown = ", ".join(f"{m:+.4f} ± {e:.4f}" for m, e in zip(means, errors, strict=True))
        print(f"    mean correction of the pairs, {name}: {shown}")
    print("    mean results of the pairs:", np.round(blocks.results.mean(axis=0), 3).tolist())
    sys.stdout.flush()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="twelve-days")
    parser.add_argument("--rules", default="calliope")
    parser.add_argument(
        "--bots",
        default="house-counting,house-counting,house-thumb,house-random",
        help=f"four house bots, from {', '.join(HOUSE)}",
    )
    parser.add_argument("--blocks", type=int, default=1000, help="most blocks of each kind")
    parser.add_argument("--seconds", type=float, default=600, help="most time; then report")
    parser.add_argument("--samples", type=int, default=6, help="of each half and value")
    parser.add_argument("--playouts", type=int, default=8, help="of each sample")
    parser.add_argument("--seed", default="aivat", help="any text")
    options = parser.parse_args()
    bots = options.bots.split(",")
    if len(bots) != SEATS or any(bot not in HOUSE for bot in bots):
        parser.error(f"--bots takes {SEATS} names of house bots, not {options.bots!r}")
    if min(options.samples, options.playouts) < 1 or options.blocks < LEAST:
        parser.error(f"--samples and --playouts are at least 1, --blocks at least {LEAST}")

    value = Value(rule_of_thumb(options.game, options.rules), options.samples, options.playouts)
    kinds = {"duplicate blocks": True, "blocks with a deal for each match": False}
    played: dict[str, list[tuple[Floats, Floats]]] = {kind: [] for kind in kinds}
    began, number = monotonic(), 0
    while number < options.blocks and (number < LEAST or monotonic() - began < options.seconds):
        for kind, duplicate in kinds.items():
            seed = derive_block_seed(sha256(f"{options.seed} {kind}".encode()).digest(), number)
            played[kind].append(
                play_block(options.game, options.rules, bots, value, seed, duplicate)
            )
        number += 1
        print(f"\r{number} blocks", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{options.game} {options.rules}, {options.bots}")
    print(
        f"{2 * options.samples} samples of {options.playouts} playouts a value,"
        f" seed {options.seed!r}, --blocks {number}, {monotonic() - began:.0f} s"
    )
    for kind, found in played.items():
        results, luck = zip(*found, strict=True)
        corrections = np.array(luck)[:, : 1 + (UNIFORM in bots)]
        report(kind, Blocks(np.array(results), corrections), np.random.default_rng(1))


if __name__ == "__main__":
    main()
