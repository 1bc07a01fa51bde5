"""The fold of a ladder: its ratings, computed from the records alone, round by round.

It follows the order in which the ledger applied the rounds (`Round.applied_number`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.rating import elo
from league.models import Ladder, Round
from league.ratings.match_results import SeatDifference, round_to_rate
from league.ratings.totals import Totals, totals_of

_CHUNK = 100
"""Rounds read at a time."""


class DamagedError(Exception):
    """A round's rows are missing or can't be read, so the fold can't go on."""


class FoldedRound(NamedTuple):
    """A round with its blocks and the standings that it gave."""

    round: Round
    finished: elo.Round
    applied: elo.AppliedRound


@dataclass(slots=True)
class Fold:
    """The state of a fold.

    Attributes:
        ladder: to fold.
        standings: by bot, after the last folded round.
        sums: totals of the folded rounds.
        wrong: numbers beside seats that differ from the records.
        done: applied number of the last folded round, which is the number of folded rounds.
    """

    ladder: Ladder
    standings: Mapping[int, elo.RatingState] = field(default_factory=dict)
    sums: Totals = field(default_factory=Totals)
    wrong: list[SeatDifference] = field(default_factory=list)
    done: int = 0

    def go_on(
        self,
        *,
        up_to: int | None = None,
        void: frozenset[int] = frozenset(),
        restored: frozenset[int] = frozenset(),
    ) -> Iterator[FoldedRound]:
        """Fold the applied rounds that are not folded yet, in the order of application.

        Args:
            up_to: applied number of the last round to fold; None: all.
            void: ids of blocks to treat as void, beyond the void ones.
            restored: ids of void blocks to treat as finished.

        Raises:
            DamagedError: the round named in the text can't be folded.
        """
        rounds = self.ladder.rounds.applied().filter(applied_number__gt=self.done)
        if up_to is not None:
            rounds = rounds.filter(applied_number__lte=up_to)
        for round_ in rounds.order_by("applied_number").iterator(chunk_size=_CHUNK):
            if round_.applied_number != self.done + 1:
                raise DamagedError(f"no round has the applied number {self.done + 1}")
            try:
                finished = round_to_rate(round_, void, self.wrong, restored=restored)
                applied = elo.apply_round(self.standings, finished)
                self.sums.add(totals_of(finished))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Missing rows raise any of these; a missing record raises a ValueError.
                cause = str(error) if isinstance(error, ValueError) else repr(error)
                raise DamagedError(f"round {round_.number} can't be folded: {cause}") from error
            self.standings = applied.states
            self.done = round_.applied_number
            yield FoldedRound(round_, finished, applied)
