"""Elo: ratings as a fold over rounds of blocks, in integers, the same to the bit everywhere.

Ratings are in milli-Elo (thousandths of an Elo point). All blocks of a round count with the rating,
K and block counter that each bot has at the start of the round. So the order of the blocks in a
round has no effect. docs/ratings.md explains the system.

The computation uses no binary floats, because the last bits of ``10 ** x`` differ between C
libraries. An expectation is computed with 40 decimal digits and rounded to 9. From there on,
fractions are exact, and ``round`` of a `Fraction` rounds half to even without error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

from engine.errors import quote
from engine.rating.results import MatchResult, pair_results

START = 1_500_000
"""The rating of a bot before its first rated block, in milli-Elo."""

# A context of this module, so that the precision and traps of the caller's thread have no effect.
_DIGITS = Context(prec=40, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
_LN_10 = _DIGITS.ln(Decimal(10))
_NINE_DECIMALS = Decimal("1e-9")
_MILLI_ELO_PER_DECADE = 400_000


class ZeroSumError(ValueError):
    """The ratings of a ladder do not add up to `START` times the number of bots ever rated."""


@dataclass(frozen=True, slots=True)
class KSchedule:
    """The K factors of a ladder: how far a block moves a rating, by a bot's rated blocks.

    Attributes:
        steps: pairs ``(blocks, K)``, ascending by blocks. K in Elo applies to a bot with fewer
            rated blocks than that.
        settled: K in Elo beyond the last step.
        new_version_blocks: the highest value that the block counter keeps when a bot's version
            changes.
    """

    steps: tuple[tuple[int, int], ...] = ((10, 128), (20, 64))
    settled: int = 32
    new_version_blocks: int = 10

    def k(self, blocks: int) -> int:
        """Return K in Elo for a bot with ``blocks`` rated blocks."""
        return next((k for below, k in self.steps if blocks < below), self.settled)


@dataclass(frozen=True, slots=True)
class RatingState:
    """A bot's rating between two rounds of a ladder.

    Attributes:
        rating: in milli-Elo.
        blocks: the counter of rated blocks, which decides K.
        version: the number of the version that was rated last.
    """

    rating: int
    blocks: int
    version: int


@dataclass(frozen=True, slots=True)
class Block:
    """A finished or void block.

    Attributes:
        number: the block's number, unique in its round.
        versions: by bot id, the number of the version that sat at the table. If the blocks of a
            round name two versions of a bot, the higher one counts.
        results: the results of its n matches. Those of a void block are ignored.
        rated: False for a block that is played but changes no rating.
        void: True if the block is cancelled, or marked void by a correction.
    """

    number: int
    versions: Mapping[int, int]
    results: Sequence[MatchResult]
    rated: bool = True
    void: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """The blocks of a round in any order, and the ladder's K schedule when it was drawn."""

    blocks: Sequence[Block]
    k_schedule: KSchedule = field(default_factory=KSchedule)


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A row of the ledger: by how much a block changed a bot's rating, in milli-Elo."""

    block: int
    bot: int
    delta: int


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A row of the ledger: a bot's rating before and after a round.

    Attributes:
        bot: the bot's id.
        before: the state that the round started from. For a new bot it is `START` with no blocks;
            after a change of version its counter is set back (`KSchedule.new_version_blocks`).
        after: the state after all blocks of the round.
    """

    bot: int
    before: RatingState
    after: RatingState


@dataclass(frozen=True, slots=True)
class AppliedRound:
    """The result of applying a round.

    Attributes:
        states: by bot id, the state of each bot ever rated on the ladder.
        blocks: a row per rated block and bot, ascending by block, then bot.
        bots: a row per bot in a rated block, ascending by bot.
    """

    states: Mapping[int, RatingState]
    blocks: tuple[BlockEntry, ...]
    bots: tuple[RoundEntry, ...]


def expectation(rating: int, other: int) -> Fraction:
    """Return the expected pair result of a rating against another, rounded to 9 decimals.

    The formula is ``1 / (1 + 10 ** ((other - rating) / 400 Elo))``; A. E. Elo, "The Rating of
    Chessplayers", 1978. The expectations of two ratings against each other add up to exactly 1. No
    difference of integer ratings has an expectation nearer than 5e-9 of a rounding step to the
    middle of two 9-decimal numbers (except 0 and 1), so 40 digits always round correctly.

    Args:
        rating: in milli-Elo.
        other: in milli-Elo.
    """
    decades = _DIGITS.divide(Decimal(other - rating), Decimal(_MILLI_ELO_PER_DECADE))
    odds = _DIGITS.exp(_DIGITS.multiply(decades, _LN_10))
    share = _DIGITS.divide(Decimal(1), _DIGITS.add(Decimal(1), odds))
    return Fraction(_DIGITS.quantize(share, _NINE_DECIMALS))


def pair_delta(k_i: int, k_j: int, seats: int, s_ij: Fraction, p_ij: Fraction) -> int:
    """Return the rating that a block moves from bot j to bot i, in milli-Elo.

    It is ``1000 (k_i + k_j) / 2 / (seats - 1) * (s_ij - p_ij)``, rounded half to even. What i gains
    j loses, so the sum of all ratings stays the same.

    Args:
        k_i: K of bot i in Elo.
        k_j: K of bot j in Elo.
        seats: the number of seats at the table.
        s_ij: the mean pair result of i against j in the block, 0 to 1.
        p_ij: the `expectation` of i against j.
    """
    return round(Fraction(1000 * (k_i + k_j), 2 * (seats - 1)) * (s_ij - p_ij))


def apply_round(before: Mapping[int, RatingState], finished: Round) -> AppliedRound:
    """Return the rating states after a round, and the round's rows for the ledger.

    A bot in no rated block keeps its state. If a bot plays with another version than the one rated
    last, newer or older, its block counter falls to `KSchedule.new_version_blocks`: the rating is
    that of another program. The counter never rises by this, or a new version would lower the K of
    a bot with few blocks. The function accepts any number of blocks per bot.

    Args:
        before: the states after the previous round, by bot id; not changed.
        finished: the round; each of its blocks is finished or void.

    Raises:
        ZeroSumError: the ratings don't add up, so those in ``before`` don't either.
        ValueError: two blocks have the same number, or a rated block does not have n matches of its
            n bots.
    """
    blocks = _rated_blocks(finished)
    start = _states_at_start(before, blocks, finished.k_schedule)
    block_entries: list[BlockEntry] = []
    ends = dict(start)
    for block in blocks:
        for bot, delta in _deltas(block, start, finished.k_schedule).items():
            block_entries.append(BlockEntry(block.number, bot, delta))
            end = ends[bot]
            ends[bot] = replace(end, rating=end.rating + delta, blocks=end.blocks + 1)
    states = {**before, **ends}
    _check_zero_sum(states)
    return AppliedRound(
        states=states,
        blocks=tuple(block_entries),
        bots=tuple(RoundEntry(bot, start[bot], ends[bot]) for bot in sorted(start)),
    )


def fold(
    rounds: Iterable[Round], before: Mapping[int, RatingState] | None = None
) -> Iterator[AppliedRound]:
    """Apply rounds one after another and yield each result.

    Args:
        rounds: in the order in which the ledger applied them.
        before: the states to start from; None for a ladder without rated bots.

    Raises:
        ZeroSumError: see `apply_round`.
        ValueError: see `apply_round`.
    """
    states = before or {}
    for finished in rounds:
        applied = apply_round(states, finished)
        yield applied
        states = applied.states


def _rated_blocks(finished: Round) -> list[Block]:
    """Return the blocks that are rated and not void, ascending by number."""
    by_number: dict[int, Block] = {}
    for block in finished.blocks:
        if block.number in by_number:
            raise ValueError(f"two blocks of one round have the number {quote(block.number)}")
        by_number[block.number] = block
    return [block for _, block in sorted(by_number.items()) if block.rated and not block.void]


def _states_at_start(
    before: Mapping[int, RatingState], blocks: Sequence[Block], schedule: KSchedule
) -> dict[int, RatingState]:
    """Return the state of each bot in these blocks at the start of the round."""
    versions: dict[int, int] = {}
    for block in blocks:
        for bot, version in block.versions.items():
            versions[bot] = max(version, versions.get(bot, version))
    start = {}
    for bot, version in versions.items():
        state = before.get(bot, RatingState(START, 0, version))
        if version != state.version:
            counter = min(state.blocks, schedule.new_version_blocks)
            state = replace(state, blocks=counter, version=version)
        start[bot] = state
    return start


def _deltas(block: Block, start: Mapping[int, RatingState], schedule: KSchedule) -> dict[int, int]:
    """Return by how much a block changes each bot's rating, in milli-Elo, ascending by bot."""
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


def _check_zero_sum(states: Mapping[int, RatingState]) -> None:
    total = sum(state.rating for state in states.values())
    expected = START * len(states)
    if total != expected:
        raise ZeroSumError(
            f"{len(states)} bots have {total} milli-Elo together, not {expected}: recompute the "
            "ladder from its first round"
        )
