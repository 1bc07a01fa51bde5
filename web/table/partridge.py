"""Events of ``partridge`` as steps: one step a trick, and one for the end."""

from collections.abc import Sequence

from engine.games import events as happened
from engine.games.events import Event
from engine.games.partridge import Partridge
from web.table.steps import Phase, Steps, marked


class Tricks(Steps):
    """Builds the steps of a match of ``partridge``."""

    def __init__(self, names: Sequence[str], rules: str) -> None:
        super().__init__(names)
        self._rounds = Partridge.presets[rules].rounds
        self._sizes = [0 for _ in names]
        self._pool = self._rounds
        self._round = 0
        self._trick = 0
        self._leader = 0
        self._acted = 0
        self._won: list[list[int]] = [[] for _ in names]
        self._got = [0 for _ in names]
        self._gave = [0 for _ in names]

    def add(self, phase: Phase) -> None:
        """Format the events and faults of the next phase; a trick ends with its phase."""
        super().add(phase)
        if self.step is not None and any(seat.won for seat in self.step.seats):
            self._finish_trick()
        if self.step is None and not isinstance(phase.events[-1], happened.MatchOver):
            self._begin_trick()

    def _format(self, event: Event) -> None:
        match event:
            case happened.RoundDealt():
                self._finish_trick()
                self._round, self._trick, self._leader = event.round, 0, event.leader
            case happened.HandDealt():
                self._sizes[event.seat] = event.hand_size
            case happened.CardsLed() | happened.CardsFollowed():
                self._act(event.seat, event.cards)
            case happened.SeatPassed():
                self._act(event.seat, ())
                self.current.seats[event.seat].forced = bool(event.forced)
            case happened.TrickWon():
                self.current.seats[event.seat].won = True
                self._leader = event.seat
                self.explain(event)
            case happened.CardsReturned():
                self.current.seats[event.seat].took_back = True
                self._sizes[event.seat] += len(event.cards)
                self.explain(event)
            case happened.RoundWon():
                self._won[event.seat].append(event.round)
                self.explain(event)
            case happened.GiftMissing():
                self.explain(event)
            case happened.GiftMoved():
                self.points[event.to] += 1
                if event.giver is not None:
                    self.points[event.giver] -= 1
                if self.step is not None:  # the first gifts are dealt before the first trick
                    self.explain(event)
                    self._got[event.to] += 1
                    if event.giver is not None:
                        self._gave[event.giver] += 1
                    self._pool -= event.giver is None
                    self.step.pool = self._pool
            case happened.HandShown(seat=0):
                self._finish_trick()
            case happened.MatchOver():
                step = self.begin("End", "End", "The end")
                self.explain_winners(event)
                for seat in step.seats:
                    at = seat.seat
                    seat.total = _total(self._won[at], seat.points, self._got[at], self._gave[at])
                self.finish()

    def _begin_trick(self) -> None:
        self._trick += 1
        self._acted = 0
        title = f"Round {self._round} of {self._rounds}, trick {self._trick}"
        self.begin(f"Round {self._round}", str(self._trick), title).pool = self._pool

    def _act(self, seat: int, cards: Sequence[int]) -> None:
        """Put a seat's cards on the table; a pass has none."""
        acting = self.current.seats[seat]
        acting.played, acting.order, acting.leads = list(cards), self._acted, not self._acted
        if acting.hand is not None:
            acting.hand = marked([card.rank for card in acting.hand], [("played", cards)])
        self._sizes[seat] -= len(cards)
        self._acted += 1

    def _finish_trick(self) -> None:
        """Take the cards played out of the hands and finish the trick, if there is one."""
        if self.step is None:
            return
        for seat in self.step.seats:
            if seat.hand is not None:
                kept = [card for card in seat.hand if seat.took_back or "played" not in card.marks]
                self.hands[seat.seat] = [card.rank for card in kept]
        self.finish()

    def describe_decision(self) -> None:
        """Describe the pending decision, and the sizes of the hands."""
        led = bool(self._acted)
        leader = self.names[self._leader]
        self.current.reasons.append(f"{leader} {'led' if led else 'leads next'}.")
        for seat, size in zip(self.current.seats, self._sizes, strict=True):
            seat.extra = f"{size} card{'' if size == 1 else 's'} in hand"


def _total(rounds: Sequence[int], gifts: int, got: int, gave: int) -> str:
    """Return how gifts add up: "start 2 · rounds 1 and 3: +4 · given: −1 = 5"; as ``totals.js``."""
    *before, last = map(str, rounds or (0,))
    named = f"rounds {', '.join(before)} and {last}" if before else f"round {last}"
    start = gifts - got + gave
    parts = [f"start {start}"] if start else []
    parts.append(f"{named}: +{got}" if rounds else "won no round")
    if gave:
        parts.append(f"given: −{gave}")
    return f"{' · '.join(parts)} = {gifts}"
