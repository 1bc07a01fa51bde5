"""Elo: ratings as a fold over rounds of blocks, in integers, the same to the bit everywhere.

Ratings are in milli-Elo (thousandths). A round takes every bot's rating, K and block counter from
its start and applies all its blocks at once, so their order changes nothing (spec "Elo").

Nothing is a binary float, for ``10 ** x`` differs in its last bits between C libraries. An
expectation is computed with 40 decimal digits and rounded to 9; from there on fractions are exact,
and ``round`` of a `Fraction` is half to even without error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

from engine.errors import quote
from engine.rating.blocks import MatchResult, pair_results

START = 1_500_000
"""The rating of a bot before its first rated block, in milli-Elo."""

# Its own context, whatever precision and traps the caller's thread has set.
_DIGITS = Context(prec=40, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
_LN_10 = _DIGITS.ln(Decimal(10))
_NINE_DECIMALS = Decimal("1e-9")
_MILLI_ELO_PER_DECADE = 400_000


class ZeroSumError(ValueError):
    """The ratings of a ladder do not add up to `START` times the bots ever rated."""


@dataclass(frozen=True, slots=True)
class KSchedule:
    """How far a block moves a rating, by the rated blocks that a bot has behind it.

    Attributes:
        steps: ``(blocks, K)``, ascending: K in Elo for a bot with fewer than so many rated blocks.
        settled: K of a bot beyond the last step.
        new_version_blocks: what another version sets the counter back to.
    """

    steps: tuple[tuple[int, int], ...] = ((10, 128), (20, 64))
    settled: int = 32
    new_version_blocks: int = 10

    def k(self, blocks: int) -> int:
        """Return K for a bot with that many rated blocks."""
        return next((k for below, k in self.steps if blocks < below), self.settled)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a ladder keeps of a bot between rounds.

    Attributes:
        rating: in milli-Elo.
        blocks: the counter of rated blocks that decides K.
        version: the one that was rated last.
    """

    rating: int
    blocks: int
    version: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block that was finished or void.

    Attributes:
        number: tells it from the other blocks of its round.
        versions: by bot id, the number of the version that sat at the table. A bot plays all of
            a round with one; were there two, the higher counts.
        results: of its n matches; a void block may have fewer, nobody looks.
        rated: False for a table that is played but counts for nothing.
        void: True if it could not be finished, or was marked so by a correction.
    """

    number: int
    versions: Mapping[int, int]
    results: Sequence[MatchResult]
    rated: bool = True
    void: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """The blocks of a round in any order, and the schedule in force when it was opened."""

    blocks: Sequence[Block]
    k_schedule: KSchedule = field(default_factory=KSchedule)


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A row of the ledger: what a block gave or took, in milli-Elo."""

    block: int
    bot: int
    delta: int


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A row of the ledger: a bot that a round rated.

    Attributes:
        bot: its id.
        before: what the round counted with: the start for a newcomer, and with the counter set
            back for another version than was rated last.
        after: the standing after all blocks of the round.
    """

    bot: int
    before: Standing
    after: Standing


@dataclass(frozen=True, slots=True)
class AppliedRound:
    """What a round came to.

    Attributes:
        standings: by bot id, of every bot ever rated.
        blocks: a row per rated block and bot, ascending by block, then bot.
        bots: a row per bot in a rated block, ascending.
    """

    standings: Mapping[int, Standing]
    blocks: tuple[BlockEntry, ...]
    bots: tuple[RoundEntry, ...]


def expectation(rating: int, other: int) -> Fraction:
    """Return the share of points that a rating expects against another, rounded to 9 decimals.

    ``1 / (1 + 10 ** ((other - rating) / 400 Elo))``; A. E. Elo, "The Rating of Chessplayers",
    1978. The expectations of two ratings against each other add up to just 1. Of all differences
    whose expectation isn't 0 or 1, none comes nearer than 5e-9 of a step to the middle between two
    roundings, so 40 digits always tell them apart.

    Args:
        rating: in milli-Elo.
        other: in milli-Elo.
    """
    decades = _DIGITS.divide(Decimal(other - rating), Decimal(_MILLI_ELO_PER_DECADE))
    odds = _DIGITS.exp(_DIGITS.multiply(decades, _LN_10))
    share = _DIGITS.divide(Decimal(1), _DIGITS.add(Decimal(1), odds))
    return Fraction(_DIGITS.quantize(share, _NINE_DECIMALS))


def pair_delta(k_i: int, k_j: int, seats: int, s_ij: Fraction, p_ij: Fraction) -> int:
    """Return what a block moves from j to i, in milli-Elo: the spec's d_ij, half to even.

    Args:
        k_i: K of bot i in Elo.
        k_j: K of bot j in Elo.
        seats: n, at the table.
        s_ij: mean pair result of the block, 0 to 1.
        p_ij: `expectation` of i against j.
    """
    return round(Fraction(1000 * (k_i + k_j), 2 * (seats - 1)) * (s_ij - p_ij))


def apply_round(before: Mapping[int, Standing], finished: Round) -> AppliedRound:
    """Return the standings after a round, and its rows for the ledger.

    A bot in no rated block stays as it was. Another version than the standing's, a new one or an
    older one that plays again, sets the counter back: either way the rating is that of another
    program. It is never set forward: a bot with fewer blocks keeps its count, or a new version
    would lower the K of a bot hardly known. How many blocks a bot may play in a round is the
    scheduler's matter.

    Args:
        before: the standings after the round before, by bot id; not changed.
        finished: the round, each of its blocks finished or void.

    Raises:
        ZeroSumError: the ratings don't add up, so ``before`` was wrong already.
        ValueError: a block stands twice, or a rated one has not n matches of its n bots.
    """
    blocks = _rated_blocks(finished)
    start = _standings_at_start(before, blocks, finished.k_schedule)
    block_entries: list[BlockEntry] = []
    ends = dict(start)
    for block in blocks:
        for bot, delta in _deltas(block, start, finished.k_schedule).items():
            block_entries.append(BlockEntry(block.number, bot, delta))
            end = ends[bot]
            ends[bot] = replace(end, rating=end.rating + delta, blocks=end.blocks + 1)
    standings = {**before, **ends}
    _check_zero_sum(standings)
    return AppliedRound(
        standings=standings,
        blocks=tuple(block_entries),
        bots=tuple(RoundEntry(bot, start[bot], ends[bot]) for bot in sorted(start)),
    )


def fold(
    rounds: Iterable[Round], before: Mapping[int, Standing] | None = None
) -> Iterator[AppliedRound]:
    """Yield each round as applied to what the one before it came to: `apply_round`, repeated.

    Args:
        rounds: in the order in which they were applied.
        before: the standings to start from, if there are some; errors are `apply_round`'s.
    """
    standings = before or {}
    for finished in rounds:
        applied = apply_round(standings, finished)
        yield applied
        standings = applied.standings


def _rated_blocks(finished: Round) -> list[Block]:
    """Return the blocks that count, ascending by number."""
    by_number: dict[int, Block] = {}
    for block in finished.blocks:
        if block.number in by_number:
            raise ValueError(f"block {quote(block.number)} stands twice in one round")
        by_number[block.number] = block
    return [block for _, block in sorted(by_number.items()) if block.rated and not block.void]


def _standings_at_start(
    before: Mapping[int, Standing], blocks: Sequence[Block], schedule: KSchedule
) -> dict[int, Standing]:
    """Return what the round counts with, for each bot in these blocks."""
    versions: dict[int, int] = {}
    for block in blocks:
        for bot, version in block.versions.items():
            versions[bot] = max(version, versions.get(bot, version))
    start = {}
    for bot, version in versions.items():
        standing = before.get(bot, Standing(START, 0, version))
        if version != standing.version:
            counter = min(standing.blocks, schedule.new_version_blocks)
            standing = replace(standing, blocks=counter, version=version)
        start[bot] = standing
    return start


def _deltas(block: Block, start: Mapping[int, Standing], schedule: KSchedule) -> dict[int, int]:
    """Return what a block gives each of its bots, in milli-Elo, ascending by bot."""
    bots = sorted(block.versions)
    tables = [sorted(result.seating) for result in block.results]
    if tables != len(bots) * [bots]:
        raise ValueError(
            f"block {quote(block.number)} needs {len(bots)} matches of bots {quote(bots)}"
        )
    results = pair_results(block.results)
    k = {bot: schedule.k(start[bot].blocks) for bot in bots}
    deltas = dict.fromkeys(bots, 0)
    for i, j in ((i, j) for i in bots for j in bots if i < j):
        p_ij = expectation(start[i].rating, start[j].rating)
        delta = pair_delta(k[i], k[j], len(bots), results[i, j], p_ij)
        deltas[i] += delta
        deltas[j] -= delta
    return deltas


def _check_zero_sum(standings: Mapping[int, Standing]) -> None:
    total = sum(standing.rating for standing in standings.values())
    due = START * len(standings)
    if total != due:
        raise ZeroSumError(
            f"{len(standings)} bots have {total} milli-Elo, {total - due:+} off {due}: "
            "recompute the ladder from its first round"
        )
