"""Standings of a tournament: the score, and every tie-break with its number."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from engine.deals import derive
from engine.rating.blocks import MatchResult, pair_results

_LOT_BYTES = 8


class TieBreak(StrEnum):
    """What standings go by, the first that differs decides; the first two in knockouts alone."""

    ROUND_REACHED = "round-reached"
    TABLE_PLACE = "table-place"
    SCORE = "score"
    HEAD_TO_HEAD = "head-to-head"
    BUCHHOLZ = "buchholz"
    SONNEBORN_BERGER = "sonneborn-berger"
    WINS = "wins"
    MEAN_POINTS = "mean-points"
    LOT = "lot"


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A finished match of a block.

    Attributes:
        seating: bot ids by seat.
        places: by seat, as they count for rating (`rated_places`); 1 the best.
        points: by seat, as the game scored them.
    """

    seating: tuple[int, ...]
    places: tuple[int, ...]
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Where a bot stands, and why.

    Attributes:
        rank: from 1; never shared, as the lot decides in the end. None for one that has none.
        bot: its id.
        round_reached: in a knockout, the last round that it was in; None otherwise.
        table_place: its place at its table there, 1 the best; None where that is not decided.
        score: S, the sum over its blocks of the mean share of opponents beaten, ties half; what
            was awarded for byes included.
        head_to_head: what it took from those with the same S, in a knockout those who came as far
            with it, block by block in the mean, summed over them; None if there are none or not all
            of these have met.
        buchholz: mean S of its opponents less the lowest, each opponent once.
        sonneborn_berger: sum over blocks and opponents of s_ij times the opponent's S.
        wins: matches in first place alone.
        mean_points: a match.
        lot: of the seed; the higher stands first.
        blocks: finished.
        matches: in these.
        decided_by: the first tie-break in which it differs from the row above; None at the top.
    """

    rank: int | None
    bot: int
    round_reached: int | None
    table_place: int | None
    score: Fraction
    head_to_head: Fraction | None
    buchholz: Fraction
    sonneborn_berger: Fraction
    wins: int
    mean_points: Fraction
    lot: int
    blocks: int
    matches: int
    decided_by: TieBreak | None

    @property
    def lot_text(self) -> str:
        """The lot in hex; of two the higher is the later in the alphabet, too."""
        return f"{self.lot:0{2 * _LOT_BYTES}x}"

    @property
    def numbers(self) -> tuple[Fraction | int | None, ...]:
        """The number of each `TieBreak`, in their order, the higher the better."""
        return (
            self.round_reached,
            self.table_place and -self.table_place,
            self.score,
            self.head_to_head,
            self.buchholz,
            self.sonneborn_berger,
            self.wins,
            self.mean_points,
            self.lot,
        )


def rank_entrants(
    entrants: Iterable[int],
    blocks: Iterable[Sequence[PlayedMatch]],
    seed: bytes,
    *,
    awarded: Mapping[int, Fraction] | None = None,
    reached: Mapping[int, tuple[int, int | None]] | None = None,
) -> list[Row]:
    """Return the standings of a tournament, best first (spec "Formats").

    Only entrants have a row. Others at their tables (fill-ins, the withdrawn or disqualified that
    are not among the entrants any more) count as opponents, with the S that they made.

    Args:
        entrants: who is ranked; one without a block stands with zeros.
        blocks: the matches of each finished block that counts. Void ones, and the extra ones of a
            knockout, are left out by the caller.
        seed: of the tournament; the lot comes of it.
        awarded: S for blocks not played, as `engine.pairing.swiss.BYE` a block.
        reached: in a knockout, by entrant, the last round that it was in and its place at its
            table there, None where that is not decided; it comes before all else.

    Raises:
        ValueError: a block without matches, or whose matches are not all of one table.
    """
    tally = _Tally(blocks, awarded or {})
    came = reached or {}
    bots = sorted(set(entrants))
    head_to_head: dict[int, Fraction | None] = {}
    groups: dict[object, list[int]] = defaultdict(list)
    for bot in bots:
        groups[came.get(bot), tally.score[bot]].append(bot)
    for tied in groups.values():
        head_to_head |= tally.head_to_head(tied)
    rows = [
        Row(
            rank=0,
            bot=bot,
            round_reached=came[bot][0] if bot in came else None,
            table_place=came[bot][1] if bot in came else None,
            score=tally.score[bot],
            head_to_head=head_to_head[bot],
            buchholz=tally.buchholz(bot),
            sonneborn_berger=tally.sonneborn_berger(bot),
            wins=tally.wins[bot],
            mean_points=Fraction(tally.points[bot], max(tally.matches[bot], 1)),
            lot=int.from_bytes(derive(seed, f"lot/{bot}")[:_LOT_BYTES], "big"),
            blocks=tally.blocks[bot],
            matches=tally.matches[bot],
            decided_by=None,
        )
        for bot in bots
    ]
    # None stands in a whole group that is equal in what comes before, or in none of it.
    rows.sort(key=lambda row: ([number or 0 for number in row.numbers], row.bot), reverse=True)
    return [
        replace(row, rank=rank, decided_by=_what_decided(row, above))
        for rank, (row, above) in enumerate(zip(rows, [None, *rows], strict=False), 1)
    ]


def _what_decided(row: Row, above: Row | None) -> TieBreak | None:
    if above is None:
        return None
    numbers = zip(TieBreak, row.numbers, above.numbers, strict=True)
    # Lots have 64 bits; should two be equal all the same, the ids decide as a lot would.
    return next((tie_break for tie_break, own, other in numbers if own != other), TieBreak.LOT)


class _Tally:
    """All that blocks say of the bots that sat at them."""

    def __init__(
        self, blocks: Iterable[Sequence[PlayedMatch]], awarded: Mapping[int, Fraction]
    ) -> None:
        self.score = defaultdict(Fraction, awarded)
        self.blocks: Counter[int] = Counter()
        self.matches: Counter[int] = Counter()
        self.wins: Counter[int] = Counter()
        self.points: Counter[int] = Counter()
        self._results: dict[int, dict[int, list[Fraction]]] = defaultdict(dict)
        for matches in blocks:
            self._add(matches)

    def _add(self, matches: Sequence[PlayedMatch]) -> None:
        results = pair_results([MatchResult(match.seating, match.places) for match in matches])
        table = matches[0].seating
        self.blocks.update(table)
        for (bot, other), s_ij in results.items():
            self.score[bot] += s_ij / (len(table) - 1)
            self._results[bot].setdefault(other, []).append(s_ij)
        for match in matches:
            self.matches.update(match.seating)
            for bot, place, points in zip(match.seating, match.places, match.points, strict=True):
                self.points[bot] += points
                self.wins[bot] += place == 1 and match.places.count(1) == 1

    def head_to_head(self, tied: Sequence[int]) -> dict[int, Fraction | None]:
        """Return what each of those with one score took from the others, None if not all met."""
        # Of many that are tied two have mostly not met, and the first such pair is soon found.
        if len(tied) < 2 or any(b not in self._results[a] for a in tied for b in tied if a != b):
            return dict.fromkeys(tied)
        return {bot: self._taken(bot, tied) for bot in tied}

    def _taken(self, bot: int, others: Sequence[int]) -> Fraction:
        """Return what a bot took from others, in the mean of the blocks with each."""
        met = (self._results[bot][other] for other in others if other != bot)
        return sum((sum(of, Fraction()) / len(of) for of in met), Fraction())

    def buchholz(self, bot: int) -> Fraction:
        """Return the mean S of a bot's opponents less the lowest; of one opponent, that one's."""
        scores = sorted(self.score[other] for other in self._results[bot])
        counted = scores[1:] or scores
        return sum(counted, Fraction()) / max(len(counted), 1)

    def sonneborn_berger(self, bot: int) -> Fraction:
        """Return the sum over blocks and opponents of s_ij times the opponent's S."""
        against = self._results[bot].items()
        return sum((sum(s, Fraction()) * self.score[other] for other, s in against), Fraction())
