"""A live match inside a transaction that holds its lock: adding moves, and going on from them.

The log up to ``match.plies`` is whole phases. Behind it wait the choices of the phase that is
being decided, each at the ply that the phase gives its seat. When the last is in, the phase is
done, and the referee goes on to the next that asks somebody.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property

from django.db import transaction

from engine.record import Fault, Record, fallback
from engine.referee import FAULTS_TO_FORFEIT
from league.models import Bot, LiveMove, Match, MatchSeat, Turn
from league.play import wakeups
from league.play.clocks import Stopwatch, bank_after, full_bank, latest_deadline
from league.play.finishing import finish
from league.play.logs import Log, cache, log_of

FORFEIT = "forfeit"
LOOK_AGAIN = timedelta(seconds=60)
"""When the tick looks after a match in play that ought to go on by itself."""
LOOK_FOR_HOUSE = timedelta(seconds=10)
"""The same for one that waits for a worker: the queue may have lost its task."""


class Table:
    """A live match that is locked, with the choices that wait in its phase."""

    def __init__(self, match: Match, watch: Stopwatch) -> None:
        self.match = match
        self.watch = watch
        self.log: Log = log_of(match)
        self.chosen: dict[int, LiveMove] = {
            move.seat: move for move in match.live_moves.filter(ply__gte=match.plies)
        }
        self._new: list[LiveMove] = []
        self._opened: list[Turn] = []

    @classmethod
    def locked(cls, match_id: int, watch: Stopwatch) -> "Table | None":
        """Lock a live match and return its table; None if it is not being played."""
        match = lock(match_id)
        if match is None or match.status != Match.Status.PLAYING:
            return None
        return cls(match, watch)

    @property
    def undecided(self) -> list[int]:
        """The seats whose choice is still missing, ascending."""
        return [seat for seat in self.log.state.actors if seat not in self.chosen]

    @cached_property
    def seating(self) -> Sequence[MatchSeat]:
        """Who sits where."""
        return list(self.match.seating.select_related("bot").order_by("seat"))

    def is_remote(self, seat: int) -> bool:
        """Return whether a seat is asked over the API."""
        return self.seating[seat].bot.kind == Bot.Kind.REMOTE

    def ply_of(self, seat: int) -> int:
        """Return the ply that the phase gives a seat that decides in it."""
        return self.log.plies + self.log.state.actors.index(seat)

    def choose(self, seat: int, action: int, *, fault: str = "") -> str:
        """Add a seat's move to the log; return its text."""
        text = self.log.state.moves.texts[action]
        self.chosen[seat] = LiveMove(
            match=self.match, ply=self.ply_of(seat), seat=seat, text=text, fault=fault
        )
        self._new.append(self.chosen[seat])
        return text

    def choose_fallback(self, seat: int, fault: str) -> str:
        """Add the referee's move in a seat's stead; return its text."""
        legal = self.log.state.legal(seat)
        action = fallback(bytes(self.match.deal_seed), self.ply_of(seat), legal)
        return self.choose(seat, action, fault=fault)

    def go_on(self, *, opening: bool = False) -> None:
        """Write the moves chosen, and bring the match to where it waits for somebody.

        Args:
            opening: also where no phase was finished, look for turns that were not opened yet.
        """
        before = self.log.plies
        while not self.undecided and self.log.state.actors:
            self._finish_phase()
        if self.log.plies > before or opening:
            self._play_for_those_without_choice()
        LiveMove.objects.bulk_create(self._new)
        if not self.log.state.actors:
            self._finish()
        elif self.log.plies > before or opening:
            self._open_turns()
        if self.log.plies > before:
            match, log = self.match, self.log
            transaction.on_commit(
                lambda: cache.put(match, log) if log.state.actors else cache.drop(match)
            )

    def _play_for_those_without_choice(self) -> None:
        """Make forced moves and those of seats that forfeited, through all phases they finish."""
        while self.log.state.actors:
            for seat in self.undecided:
                legal = self.log.state.legal(seat)
                if len(legal) == 1:
                    self.choose(seat, legal[0])
                elif self.log.forfeited(seat):
                    self.choose_fallback(seat, FORFEIT)
            if self.undecided:
                return
            self._finish_phase()

    def _finish_phase(self) -> None:
        self.log = self.log.followed_by([self.chosen[seat] for seat in self.log.state.actors])
        self.chosen = {}

    def _open_turns(self) -> None:
        """Ask the remote seats that have a choice; have a worker move the others."""
        match, now = self.match, self.watch.now()
        asked = [seat for seat in self.undecided if self.is_remote(seat)]
        last = {
            turn.seat: turn
            for turn in match.turns.filter(seat__in=asked)
            .order_by("seat", "-number")
            .distinct("seat")
        }
        for seat in asked:
            before = last.get(seat)
            if before is not None and before.ply >= self.log.plies:
                continue  # it is open already
            bank_ms = bank_after(before) if before else full_bank(match)
            self._opened.append(
                Turn(
                    match=match,
                    seat=seat,
                    bot_id=self.seating[seat].bot_id,
                    number=before.number + 1 if before else 0,
                    ply=self.ply_of(seat),
                    opened_at=now,
                    deadline=latest_deadline(match, bank_ms, now),
                    bank_ms=bank_ms,
                )
            )
        Turn.objects.bulk_create(self._opened)
        house = len(asked) < len(self.undecided)
        match.plies = self.log.plies
        match.due_at = now + (LOOK_FOR_HOUSE if house else LOOK_AGAIN)
        match.save(update_fields=["status", "attempts", "plies", "due_at", "started_at"])
        wakeups.announce(
            match_id=match.pk, bot_ids={turn.bot_id for turn in self._opened}, house=house
        )

    def _finish(self) -> None:
        match, state = self.match, self.log.state
        moves = list(match.live_moves.order_by("ply"))
        record = Record(
            game=match.game,
            rules=match.rules,
            seats=match.seats,
            deal_seed=bytes(match.deal_seed),
            moves=tuple((move.seat, move.text) for move in moves),
            scores=state.scores or (),
            places=state.places or (),
            faults=tuple(Fault(move.ply, move.seat, move.fault) for move in moves if move.fault),
            players=tuple(seat.bot.name for seat in self.seating),
        )
        forfeited = [
            seat for seat, faults in enumerate(self.log.faults) if faults >= FAULTS_TO_FORFEIT
        ]
        finish(match, record, forfeited, self.watch.now())
        match.live_moves.all().delete()
        wakeups.announce(match_id=match.pk, bot_ids=(), house=False)


def lock(match_id: int) -> Match | None:
    """Lock the row of a live match and return it."""
    return Match.objects.select_for_update(no_key=True).filter(pk=match_id, live=True).first()
