"""The fold of a ladder from its records alone, round by round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.rating import elo
from league.models import Ladder, Round
from league.ratings.match_results import SeatDifference, round_to_rate
from league.ratings.tallies import Tallies, tally

_CHUNK = 100
"""Rounds read at a time."""


class DamagedError(Exception):
    """What a round is made of is not there, or can't be read, so that nothing follows from it."""


@dataclass(slots=True)
class Fold:
    """How far a ladder is folded.

    Attributes:
        ladder: to fold.
        standings: by bot, after the last round so far.
        sums: of what else its rounds came to.
        wrong: what seats of its matches have stored otherwise than the records.
        done: number of that round.
    """

    ladder: Ladder
    standings: Mapping[int, elo.RatingState] = field(default_factory=dict)
    sums: Tallies = field(default_factory=Tallies)
    wrong: list[SeatDifference] = field(default_factory=list)
    done: int = 0

    def go_on(
        self, *, up_to: int | None = None, void: frozenset[int] = frozenset()
    ) -> Iterator[tuple[Round, elo.AppliedRound]]:
        """Fold the rounds that are applied and not folded yet; yield each with what it came to.

        Args:
            up_to: number of the last round to fold; None: all.
            void: ids of blocks to take as void, beyond those that are.

        Raises:
            DamagedError: the round named in it can't be folded.
        """
        rounds = self.ladder.rounds.filter(applied_at__isnull=False, number__gt=self.done)
        if up_to is not None:
            rounds = rounds.filter(number__lte=up_to)
        for round_ in rounds.order_by("number").iterator(chunk_size=_CHUNK):
            try:
                finished = round_to_rate(round_, void, self.wrong)
                applied = elo.apply_round(self.standings, finished)
                self.sums.add(tally(finished))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                # Rows that are gone show in many ways; a record that is, as a ValueError.
                said = str(error) if isinstance(error, ValueError) else repr(error)
                raise DamagedError(f"round {round_.number} can't be folded: {said}") from error
            self.standings = applied.states
            self.done = round_.number
            yield round_, applied
