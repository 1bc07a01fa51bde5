"""The standings of an event: the score, and each tie-break with its number."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from engine.deals import derive
from engine.rating.results import MatchResult, pair_results, win_shares

_LOT_BYTES = 8


class TieBreak(StrEnum):
    """The numbers that rank entrants, in order: the first one that differs decides.

    Only knockouts use the first two. `LOT` is a drawing of lots: a number from the event's seed.
    """

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
class EventStanding:
    """An entrant's row in the standings of an event.

    Attributes:
        rank: from 1, without ties, because lots decide in the end; None for a disqualified bot.
        bot: the bot's id.
        round_reached: the last round of a knockout that it was in; None in other formats.
        table_place: its place at its table there, 1 the best; None if it is not decided.
        score: S, the sum of its win shares over its blocks, plus the awards for byes.
        head_to_head: the sum of its mean pair results against the entrants with the same S (in a
            knockout, also the same result). None if there are none, or if two of them never met.
        buchholz: the mean S of its opponents, each once, without the lowest.
        sonneborn_berger: the sum over blocks and opponents of s_ij times the opponent's S.
        wins: the number of matches that it won without a tie for first place.
        mean_points: the mean game points of its matches.
        lot: its drawn number; the higher number ranks first.
        blocks: the number of its finished blocks.
        matches: the number of matches in these blocks.
        decided_by: the first tie-break in which it differs from the row above; None in the first
            row.
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
        """The lot in hexadecimal, of fixed length: the order of texts is the order of lots."""
        return f"{self.lot:0{2 * _LOT_BYTES}x}"

    @property
    def numbers(self) -> tuple[Fraction | int | None, ...]:
        """The number of each `TieBreak`, in its order; the higher number ranks first."""
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
    blocks: Iterable[Sequence[MatchResult]],
    seed: bytes,
    *,
    awarded: Mapping[int, Fraction] | None = None,
    knockout_results: Mapping[int, tuple[int, int | None]] | None = None,
) -> list[EventStanding]:
    """Return the standings of an event, best first.

    Only the entrants passed here have a row. Other bots at their tables (fill-ins, or disqualified
    bots) count as opponents, with their S.

    Args:
        entrants: the ids of the bots to rank; a bot without a block has zeros.
        blocks: the match results of each block that counts. The caller leaves out void blocks and
            the extra blocks of a knockout.
        seed: 32 bytes, the event's seed; the lots come from it.
        awarded: by bot, the score for blocks that it missed (`event.awarded_scores`).
        knockout_results: in a knockout, by bot, the last round that it was in and its place there,
            None if that is not decided (`knockout_stages.KnockoutResult`). They come before the
            score.

    Raises:
        ValueError: a block has no matches, a match has no scores, or the matches of a block are of
            different bots.
    """
    totals = _Totals(blocks, awarded or {})
    results = knockout_results or {}
    bots = sorted(set(entrants))
    head_to_head: dict[int, Fraction | None] = {}
    groups: dict[object, list[int]] = defaultdict(list)
    for bot in bots:
        groups[results.get(bot), totals.score[bot]].append(bot)
    for tied in groups.values():
        head_to_head |= totals.head_to_head(tied)
    rows = [
        EventStanding(
            rank=0,
            bot=bot,
            round_reached=results[bot][0] if bot in results else None,
            table_place=results[bot][1] if bot in results else None,
            score=totals.score[bot],
            head_to_head=head_to_head[bot],
            buchholz=totals.buchholz(bot),
            sonneborn_berger=totals.sonneborn_berger(bot),
            wins=totals.wins[bot],
            mean_points=Fraction(totals.points[bot], max(totals.matches[bot], 1)),
            lot=int.from_bytes(derive(seed, f"lot/{bot}")[:_LOT_BYTES], "big"),
            blocks=totals.blocks[bot],
            matches=totals.matches[bot],
            decided_by=None,
        )
        for bot in bots
    ]
    # Rows with equal numbers before a None all have None there, so 0 may replace it.
    rows.sort(key=lambda row: ([number or 0 for number in row.numbers], row.bot), reverse=True)
    return [
        replace(row, rank=rank, decided_by=_deciding_tie_break(row, above))
        for rank, (row, above) in enumerate(zip(rows, [None, *rows], strict=False), 1)
    ]


def _deciding_tie_break(row: EventStanding, above: EventStanding | None) -> TieBreak | None:
    """Return the first tie-break in which a row differs from the row above it."""
    if above is None:
        return None
    numbers = zip(TieBreak, row.numbers, above.numbers, strict=True)
    # If two lots of 64 bits are equal, the ids decide in their place.
    return next((tie_break for tie_break, own, other in numbers if own != other), TieBreak.LOT)


class _Totals:
    """The sums of each bot over all blocks, and its pair results by opponent."""

    def __init__(
        self, blocks: Iterable[Sequence[MatchResult]], awarded: Mapping[int, Fraction]
    ) -> None:
        self.score = defaultdict(Fraction, awarded)
        self.blocks: Counter[int] = Counter()
        self.matches: Counter[int] = Counter()
        self.wins: Counter[int] = Counter()
        self.points: Counter[int] = Counter()
        self._results: dict[int, dict[int, list[Fraction]]] = defaultdict(dict)
        for matches in blocks:
            self._add(matches)

    def _add(self, matches: Sequence[MatchResult]) -> None:
        results = pair_results(matches)
        for (bot, other), s_ij in results.items():
            self._results[bot].setdefault(other, []).append(s_ij)
        for bot, share in win_shares(results).items():
            self.blocks[bot] += 1
            self.score[bot] += share
        for match in matches:
            self.matches.update(match.seating)
            for bot, place, points in zip(match.seating, match.places, match.scores, strict=True):
                self.points[bot] += points
                self.wins[bot] += place == 1 and match.places.count(1) == 1

    def head_to_head(self, tied: Sequence[int]) -> dict[int, Fraction | None]:
        """Return the head-to-head number of each bot of a tied group; see `EventStanding`."""
        # In a large group two bots have mostly not met; `any` stops at the first such pair.
        if len(tied) < 2 or any(b not in self._results[a] for a in tied for b in tied if a != b):
            return dict.fromkeys(tied)
        return {bot: self._score_against(bot, tied) for bot in tied}

    def _score_against(self, bot: int, others: Sequence[int]) -> Fraction:
        """Return the sum over the others of a bot's mean pair result against each."""
        by_opponent = (self._results[bot][other] for other in others if other != bot)
        return sum((sum(s, Fraction()) / len(s) for s in by_opponent), Fraction())

    def buchholz(self, bot: int) -> Fraction:
        """Return the mean S of a bot's opponents without the lowest, unless it is the only one."""
        scores = sorted(self.score[other] for other in self._results[bot])
        counted = scores[1:] or scores
        return sum(counted, Fraction()) / max(len(counted), 1)

    def sonneborn_berger(self, bot: int) -> Fraction:
        """Return the sum over blocks and opponents of s_ij times the opponent's S."""
        against = self._results[bot].items()
        return sum((sum(s, Fraction()) * self.score[other] for other, s in against), Fraction())
