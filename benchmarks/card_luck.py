"""Fit the coefficients of luck with the cards, and measure how much variance they remove.

All matches have a deal each, and every seat has a bot at random. The coefficients of `twelve-days`
are fitted to matches of the quick rules of thumb of `matches_to_order.py`, those of `partridge` to
two thirds of the house bots' matches. The variance is measured in other matches, of the house bots
without the searching one, which takes seconds a match. Both use the surplus of a pair result over
the mean of its two bots.

The coefficients are a weighted least-squares fit with a small ridge penalty, in 1/10000 of a win
share for a card: pair result = mean of the pair + 4 p (1 - p) (luck of i - luck of j), where p is
the mean. The measured variance is that of a bot's surplus in a match, over all opponents: the
variance of performance estimates falls by the same share.

    benchmarks/card_luck.py                     # some minutes
    benchmarks/card_luck.py --matches 2400 --quick-matches 40000 --coefficients    # of the docs
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.matches_to_order import THUMBS, by_thumb
from bots_sdk.reference import make_player
from engine.deals import seeded_shuffle
from engine.games.twelve_days import TwelveDays
from engine.rating.luck import features, luck
from engine.record import Record
from engine.referee import play

RULES = [("twelve-days", "calliope"), ("partridge", "eagle-short")]
SEATS = 4
BOTS = ("house-random", "house-thumb", "house-counting")
PAIRS = tuple(combinations(range(SEATS), 2))
PER_CARD = 10_000
RIDGE = 10.0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Played(NamedTuple):
    """M matches.

    Attributes:
        bots: (M, seats), the number of the bot in each seat.
        shares: (M, pairs), pair results of `PAIRS`.
        features: (M, seats, features).
        luck: (M, seats), by the frozen coefficients; 0 where there are none.
    """

    bots: Ints
    shares: Floats
    features: Floats
    luck: Floats


def matches(game: str, rules: str, count: int) -> Iterator[tuple[list[int], Record]]:
    for number in range(count):
        rng = Random(number)
        bots = [rng.randrange(len(BOTS)) for _ in range(SEATS)]
        names = [BOTS[bot] for bot in bots]
        players = [make_player(name, f"{name}{seat}{number}") for seat, name in enumerate(names)]
        yield bots, play(game, rules, sha256(b"luck/%d" % number).digest(), players).record


def quick_matches(count: int) -> Iterator[tuple[list[int], Record]]:
    """Yield matches of `twelve-days` by bots that rarely slip, with records."""
    game, rules = RULES[0]
    thumbs = [thumb for thumb in THUMBS if not thumb.slips]
    for number in range(count):
        bots = [Random(number + seat / SEATS).randrange(len(thumbs)) for seat in range(SEATS)]
        seed = sha256(b"quick luck/%d" % number).digest()
        state = TwelveDays.start(rules, SEATS, seeded_shuffle(seed))
        moves = []
        while state.actors:
            chosen = {seat: by_thumb(state, seat, thumbs[bots[seat]]) for seat in state.actors}
            moves += [(seat, state.moves.texts[action]) for seat, action in chosen.items()]
            state.step_unchecked(chosen)
        assert state.scores is not None
        assert state.places is not None
        yield bots, Record(game, rules, SEATS, seed, tuple(moves), state.scores, state.places)


def collect(played: Iterator[tuple[list[int], Record]]) -> Played:
    bots, places, found, frozen = [], [], [], []
    for seated, record in played:
        bots.append(seated)
        places.append(record.places)
        found.append(features(record))
        frozen.append(luck(record) or (0.0,) * SEATS)
    at = np.array(places)
    shares = [(np.sign(at[:, j] - at[:, i]) + 1) / 2 for i, j in PAIRS]
    return Played(np.array(bots), np.array(shares).T, np.array(found), np.array(frozen))


def means(played: Played) -> Floats:
    """Return the mean result of each pair of bots over all matches, by match and pair."""
    size = int(played.bots.max()) + 1
    total, count = (np.zeros((size, size)) for _ in range(2))
    for at, (i, j) in enumerate(PAIRS):
        one, other, share = played.bots[:, i], played.bots[:, j], played.shares[:, at]
        np.add.at(total, (one, other), share)
        np.add.at(total, (other, one), 1 - share)
        np.add.at(count, (one, other), 1)
        np.add.at(count, (other, one), 1)
    mean = total / np.maximum(count, 1)
    return np.array([mean[played.bots[:, i], played.bots[:, j]] for i, j in PAIRS]).T


def differences(of_seats: Floats, mean: Floats) -> Floats:
    """Return 4 p (1 - p) times the difference of each pair, (M, pairs, ...)."""
    scale = 4 * mean * (1 - mean)
    found = np.stack([of_seats[:, i] - of_seats[:, j] for i, j in PAIRS], axis=1)
    return found * scale.reshape(scale.shape + (1,) * (found.ndim - 2))


def fit(played: Played) -> Ints:
    """Return the coefficients, in units of one in `PER_CARD`."""
    mean = means(played)
    surplus = (played.shares - mean).ravel()
    # Pair results of lopsided pairs vary less, so they count more.
    weights = 1 / np.maximum(mean * (1 - mean), 0.02).ravel() / 4
    x = differences(played.features, mean).reshape(len(surplus), -1)
    information = x.T @ (x * weights[:, None]) + RIDGE * np.eye(x.shape[1])
    found = np.linalg.solve(information, x.T @ (weights * surplus)) * PER_CARD
    rounded: Ints = np.rint(found).astype(np.int64)
    return rounded


def variances(played: Played, of_seats: Floats) -> tuple[Floats, Floats]:
    """Return by bot the variance of its surplus in a match, without and with the correction."""
    mean = means(played)
    plain = played.shares - mean
    corrected = plain - differences(of_seats, mean)
    found = []
    for surplus in (plain, corrected):
        by_seat = np.zeros(played.bots.shape)
        for at, (i, j) in enumerate(PAIRS):
            by_seat[:, i] += surplus[:, at]
            by_seat[:, j] -= surplus[:, at]
        found.append(np.array([by_seat[played.bots == bot].var() for bot in range(len(BOTS))]))
    return found[0], found[1]


def show(name: str, played: Played, of_seats: Floats) -> None:
    plain, corrected = variances(played, of_seats)
    by_bot = ", ".join(
        f"{bot} {share:.1%}" for bot, share in zip(BOTS, 1 - corrected / plain, strict=True)
    )
    mean = of_seats.mean(axis=0)
    error = of_seats.std() / len(of_seats) ** 0.5
    print(f"    {name}: {1 - corrected.sum() / plain.sum():.1%} ({by_bot})")
    print(f"        mean luck by seat {np.round(mean, 4).tolist()} ± {error:.4f}", flush=True)


def part(played: Played, rows: slice) -> Played:
    bots, shares, found, frozen = played
    return Played(bots[rows], shares[rows], found[rows], frozen[rows])


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matches", type=int, default=1200, help="of the house bots, each game")
    parser.add_argument("--quick-matches", type=int, default=15000, help="to fit twelve-days")
    parser.add_argument("--coefficients", action="store_true", help="print the fitted ones")
    options = parser.parse_args()
    for game, rules in RULES:
        played = collect(matches(game, rules, options.matches))
        if game == "twelve-days":
            fitted, rest = collect(quick_matches(options.quick_matches)), played
        else:
            first = 2 * options.matches // 3
            fitted, rest = part(played, slice(first)), part(played, slice(first, None))
        report(game, rules, fitted, rest, options)


def report(
    game: str, rules: str, fitted: Played, rest: Played, options: argparse.Namespace
) -> None:
    coefficients = fit(fitted)
    print(f"{game} {rules}: variance removed, measured in {len(rest.bots)} matches")
    show("coefficients of this run", rest, rest.features @ (coefficients / PER_CARD))
    if rest.luck.any():
        show("frozen coefficients", rest, rest.luck)
    if options.coefficients:
        print(f"    fitted in {len(fitted.bots)} matches:")
        for row in rows_of(coefficients.tolist(), 13):
            print("       ", ", ".join(map(str, row)))


def rows_of(values: Sequence[int], width: int) -> list[Sequence[int]]:
    return [values[at : at + width] for at in range(0, len(values), width)]


if __name__ == "__main__":
    main()
