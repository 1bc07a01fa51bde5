"""The results of an analysis, and the marks of decisions.

A chance is the expected share of the first place, which tied seats share. All other values are win
shares: the mean pair result against the other seats, 0 to 1.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from engine.referee import FAULTS_TO_FORFEIT

BEST, FINE, MISTAKE, BLUNDER = MARKS = ("best", "fine", "mistake", "blunder")

MISTAKE_LOSS = 0.03
"""The smallest loss of a mistake, in win share."""
BLUNDER_LOSS = 0.1
"""The smallest loss of a blunder."""
_MIDDLE = 1e-9
_LEAST_GAIN = 0.05
"""Places; less is 0.0 in words."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
"""Places in words; no game has more seats."""
ERRORS = 2.4
"""A loss of fewer standard errors is no mistake: Student's t at 95 % for 7 degrees of freedom."""


def mark(loss: float, error: float) -> str:
    """Return the mark of a decision.

    Args:
        loss: estimated loss against the best other move; not positive if there is none.
        error: its standard error; 0 if the loss is exact.
    """
    if loss <= 0:
        return BEST
    if loss < MISTAKE_LOSS or loss <= ERRORS * error:
        return FINE
    return BLUNDER if loss >= BLUNDER_LOSS else MISTAKE


def places(share: float, seats: int) -> float:
    """Return how many places a difference of win share is worth."""
    return share * (seats - 1)


def signed(gained: float) -> str:
    """Return gained places with a sign; 0.0 has none."""
    text = f"{gained:+.1f}"
    return "0.0" if float(text) == 0 else text


@dataclass(frozen=True, slots=True)
class Chance:
    """The chances at a point of the match, with all hands open.

    Attributes:
        ply: the number of moves made.
        seats: of each seat, the chance of the first place; they add up to 1.
        before_cards: the same after the moves of the phase, before its new cards; None if no cards
            came.
        decider: the seat whose decision alone best explains the largest change by moves; None
            if none explains a quarter of it.
    """

    ply: int
    seats: tuple[float, ...]
    before_cards: tuple[float, ...] | None = None
    decider: int | None = None

    @property
    def after_moves(self) -> tuple[float, ...]:
        """The chances after the moves of the phase, before any new cards."""
        return self.seats if self.before_cards is None else self.before_cards

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Return the chances that `asdict` and JSON made of them."""
        cards = data["before_cards"]
        before = None if cards is None else tuple(cards)
        return cls(data["ply"], tuple(data["seats"]), before, data["decider"])


@dataclass(frozen=True, slots=True)
class Decision:
    """A move that a seat chose among several.

    Attributes:
        ply: index of the move in the record.
        seat: the seat.
        phase: name of the phase, as in observations.
        move: the move that was made.
        best: the best legal move, or the move itself if no other one was found to be better.
        loss: expected result of `best` minus that of `move`; never negative.
        error: standard error of the difference to the best other move; 0 if it is exact.
        mark: one of `MARKS`.
        is_exact: whether the results were enumerated.
        fault: kind of the fault if the referee made the move; None if the seat did.
        results: the expected result of each legal move, in canonical order.
    """

    ply: int
    seat: int
    phase: str
    move: str
    best: str
    loss: float
    error: float
    mark: str
    is_exact: bool
    fault: str | None
    results: dict[str, float]


@dataclass(frozen=True, slots=True)
class Total:
    """The parts of a seat's result, which add up: 0.5 + deal + draws + play + others = result.

    Attributes:
        seat: the seat.
        deal: change by the first deal, the position at the table included.
        draws: change by later cards: draws, and the deals of later rounds.
        play: change by the seat's own decisions.
        others: change by the decisions of other seats.
        result: the win share of the match.
        luck_error: standard error of `deal` + `draws`.
        play_error: standard error of `play`.
        loss: sum of the losses of the seat's decisions.
    """

    seat: int
    deal: float
    draws: float
    play: float
    others: float
    result: float
    luck_error: float
    play_error: float
    loss: float

    @property
    def luck(self) -> float:
        """The change by cards: `deal` + `draws`."""
        return self.deal + self.draws

    def in_words(self, parts: Mapping[str, float], results: Sequence[float], worse: int) -> str:
        """Return the seat's place, what moved it most towards it, and what its moves lost.

        Parts that look equal are named together.

        Args:
            parts: by name, parts of the result that add up to its distance from 0.5.
            results: win shares of all seats.
            worse: number of the seat's decisions that lost something.
        """
        seats = len(results)
        place = _ORDINALS[sum(each > self.result + _MIDDLE for each in results)]
        is_shared = sum(abs(each - self.result) < _MIDDLE for each in results) > 1
        text = f"shared {place} place" if is_shared else f"took {place} place"
        if abs(self.result - 0.5) > _MIDDLE:
            choose = max if self.result > 0.5 else min
            most = signed(places(choose(parts.values()), seats))
            causes = [name for name in parts if signed(places(parts[name], seats)) == most]
            text += f", mostly because of {' and '.join(causes)} ({most}"
            text += " each)" if causes[1:] else ")"
        lost = places(self.loss, seats)
        if lost < _LEAST_GAIN or self.result > 1 - _MIDDLE:
            return f"{text}."
        if worse == 1:
            cause = "1 of its decisions was worse than the best move: it lost"
        else:
            cause = f"{worse} of its decisions were worse than the best moves. Together they lost"
        return f"{text}. {cause} {lost:.1f} places."


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a match.

    Attributes:
        version: number of the method that made it; results of other versions don't compare.
        playouts: the playouts of each comparison and of each chance.
        chances: after the deal, and after each phase.
        decisions: by ply.
        totals: by seat.
    """

    version: int
    playouts: int
    chances: tuple[Chance, ...]
    decisions: tuple[Decision, ...]
    totals: tuple[Total, ...]

    def in_words(self, total: Total, parts: Mapping[str, float]) -> str:
        """Return `Total.in_words` of one of the totals."""
        own = [each for each in self.decisions if each.seat == total.seat]
        worse = sum(each.loss > 0 for each in own)
        text = total.in_words(parts, [each.result for each in self.totals], worse)
        if sum(each.fault is not None for each in own) >= FAULTS_TO_FORFEIT:
            text += " It forfeited, so it is last."
        return text

    def rated(self, places: Sequence[int], forfeited: Collection[int]) -> Self:
        """Return the analysis with the final places; playouts order the seats by points alone.

        A seat that forfeited is last. Its loss by the forfeit is a part of its own play, and the
        gain of the other seats is a part of `Total.others`.

        Args:
            places: the final places of the match, by seat.
            forfeited: the seats that forfeited.
        """
        totals = tuple(
            _rated(total, places, has_forfeited=total.seat in forfeited) for total in self.totals
        )
        return replace(self, totals=totals)

    def as_json(self) -> dict[str, Any]:
        """Return the analysis as JSON data."""
        found: dict[str, Any] = asdict(self)
        for name in ("chances", "decisions", "totals"):
            found[name] = list(found[name])
        for chance in found["chances"]:
            for name in ("seats", "before_cards"):
                chance[name] = None if chance[name] is None else list(chance[name])
        return found

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Return the analysis that `as_json` wrote."""
        return cls(
            data["version"],
            data["playouts"],
            tuple(map(Chance.from_json, data["chances"])),
            tuple(Decision(**each) for each in data["decisions"]),
            tuple(Total(**each) for each in data["totals"]),
        )


def _rated(total: Total, places: Sequence[int], *, has_forfeited: bool) -> Total:
    """Return a seat's parts so that they add up to the share of its place."""
    own = places[total.seat]
    others = [place for seat, place in enumerate(places) if seat != total.seat]
    share = sum((own < place) + (own == place) / 2 for place in others) / len(others)
    change = share - total.result
    if abs(change) < _MIDDLE:
        return total
    if has_forfeited:
        return replace(total, result=share, play=total.play + change)
    return replace(total, result=share, others=total.others + change)
