"""Events of ``twelve-days`` as steps: one step a day, and one for the counted hands."""

from collections.abc import Sequence

from engine.games import events as happened
from engine.games.events import Event
from engine.games.twelve_days import TwelveDays
from web.table.steps import Card, Steps, marked


class Days(Steps):
    """Builds the steps of a match of ``twelve-days``."""

    def __init__(self, names: Sequence[str], rules: str) -> None:
        super().__init__(names)
        self._days = TwelveDays.presets[rules].days
        self._received: list[int | None] = [None for _ in names]
        self._has_given = False
        self._counts: list[happened.HandCounted] = []

    def _format(self, event: Event) -> None:
        match event:
            case happened.DayStarted():
                self._finish_day()
                title = f"Day {event.day} of {self._days}"
                self.begin("Days", str(event.day), title).pot = list(event.pot)
            case happened.CardGiven():
                self._has_given = True
                self.current.seats[event.seat].given = event.rank
                self._received[event.to] = event.rank
            case happened.CardPlayed():
                seat = self.current.seats[event.seat]
                seat.played, seat.order = [event.rank], event.seat
            case happened.DayWon() | happened.PotAwarded():
                self.current.seats[event.seat].won = True
                self.explain(event)
                if event.to is not None:
                    self.points[event.to] += event.points
            case happened.DayCarried() | happened.PotLost():
                self.explain(event)
            case happened.CardDrawn():
                self.current.seats[event.seat].drawn = event.rank
            case happened.HandShown(seat=0):
                self._finish_day()
            case happened.HandCounted():
                self._counts.append(event)
            case happened.MatchOver():
                self._count(event)

    def _finish_day(self) -> None:
        """Mark the cards that moved today and finish the day, if there is one."""
        if self.step is None:
            return
        for seat, hand, received in zip(self.step.seats, self.hands, self._received, strict=True):
            if hand is None:
                continue
            given = [] if seat.given is None else [seat.given]
            came = [] if received is None else [received]
            played = seat.played or []
            seat.hand = marked(hand, [("given", given), ("received", came), ("played", played)])
            drawn = [] if seat.drawn is None else [seat.drawn]
            self.hands[seat.seat] = _without([*hand, *came, *drawn], [*given, *played])
        self._received = [None for _ in self.names]
        self._has_given = False
        self.finish()

    def _count(self, event: happened.MatchOver) -> None:
        """Show the hands with the ranks that each of them scores."""
        step = self.begin("End", "End", "The end: hands are counted")
        self.explain_winners(event)
        step.reasons.append("The seats that hold the most cards of a rank score that rank.")
        for seat, hand, count in zip(step.seats, self.hands, self._counts, strict=True):
            scored = {*count.most, *count.tied}
            seat.hand = [
                Card(rank, ("scored",) if rank in scored else ()) for rank in sorted(hand or ())
            ]
            self.explain(count)
            seat.total = _total(seat.before, count)
        self.points = list(event.scores)
        self.finish()

    def describe_decision(self) -> None:
        """Describe the pending decision, unless the reasons have: the winner must award the day."""
        if not self.current.reasons:
            choice = "choose a card to play" if self._has_given else "give a card to the left"
            self.current.reasons.append(f"Now all seats {choice}.")


def _total(before: int, count: happened.HandCounted) -> str:
    """Return how points add up: "days 36 · most 12s: 12 · tied 6s: 6 = 54"; as ``totals.js``."""
    ranks = [f"most {rank}s:\N{NO-BREAK SPACE}{rank}" for rank in count.most]
    ranks += [f"tied {rank}s:\N{NO-BREAK SPACE}{rank}" for rank in count.tied]
    return " · ".join([f"days {before}", *(ranks or ["hand 0"])]) + f" = {before + count.points}"


def _without(hand: list[int], gone: Sequence[int]) -> list[int]:
    for rank in gone:
        hand.remove(rank)
    return hand
