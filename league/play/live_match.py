"""A live match inside a transaction that holds its lock: adding moves, and going on from them.

The log up to ``match.plies`` is whole phases. Behind it wait the choices of the phase that is
being decided, each at the ply that the phase gives its seat. When the last is in, the phase is
done, and the referee goes on to the next that asks somebody.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property

from django.db import transaction

from engine.record import Fault, Record, fallback
from engine.referee import FAULTS_TO_FORFEIT
from league.models import Bot, Match, Turn
from league.play import wakeups
from league.play.clocks import Stopwatch, bank_after, full_bank, latest_deadline
from league.play.finishing import finish
from league.play.match_logs import Log, cache, logs_of
from league.play.rows import MoveRow, TurnRow
from league.play.statements import Change, Sight, read, write

FORFEIT = "forfeit"
LOOK_AGAIN = timedelta(seconds=60)
"""When the tick looks after a match in play that ought to go on by itself."""
LOOK_FOR_HOUSE = timedelta(seconds=10)
"""The same for one that waits for a worker: the queue may have lost its task."""


class LockNeededError(Exception):
    """What is to be done with a match needs its lock, or it was changed by another meanwhile."""


class Table:
    """A live match as it was read, with the choices that wait in its phase.

    Under the lock everything can be done with it. Without, a plain move can; whatever else raises
    `LockNeededError`, with nothing written.
    """

    def __init__(self, sight: Sight, watch: Stopwatch, *, is_locked: bool) -> None:
        self.match, self.seats, self.turns, self.chosen = sight
        self.watch = watch
        self._is_locked = is_locked
        self._decided: list[TurnRow] = []
        self._new: list[MoveRow] = []
        self._opened: list[TurnRow] = []
        self._has_gone_on = False
        self._asks_house = False

    @classmethod
    def seen(cls, match_ids: Iterable[int], watch: Stopwatch) -> "dict[int, Table]":
        """Return the tables of live matches by id, without locking; none where there is none."""
        return {
            match_id: cls(sight, watch, is_locked=False)
            for match_id, sight in read(match_ids).items()
        }

    @classmethod
    def locked(cls, match_id: int, watch: Stopwatch) -> "Table | None":
        """Lock a live match and return its table; None if there is none."""
        match = lock(match_id)
        return match and cls.of(match, watch)

    @classmethod
    def of(cls, match: Match, watch: Stopwatch) -> "Table":
        """Return the table of a live match that is locked."""
        sight = read([match.pk])[match.pk]
        return cls(sight._replace(match=match), watch, is_locked=True)

    def need_lock(self) -> None:
        """Raise `LockNeededError` unless the match is locked."""
        if not self._is_locked:
            raise LockNeededError

    @cached_property
    def log(self) -> Log:
        """The log up to the phase that is being decided."""
        log = logs_of([self.match]).get(self.match.pk)
        if log is None:
            self.need_lock()  # it was finished since its row was read
            raise RuntimeError(f"match {self.match.pk} has lost moves of its log")
        return log

    @property
    def is_playing(self) -> bool:
        """Whether the match is in play."""
        return self.match.status == Match.Status.PLAYING

    def is_overdue(self, now: datetime) -> bool:
        """Return whether the deadline of an open turn has passed."""
        return any(turn.decided_at is None and turn.deadline < now for turn in self.turns.values())

    def seat_of(self, bot: Bot) -> int | None:
        """Return the seat that a bot has, or None."""
        for number, seat in enumerate(self.seats):
            if seat.bot_id == bot.pk:
                return number
        return None

    def turn(self, seat: int, number: int) -> Turn | TurnRow | None:
        """Return a turn of a seat, or None if it has not had it."""
        last = self.turns.get(seat)
        if last is None or number > last.number:
            return None
        if number == last.number:
            return last
        return Turn.objects.filter(match=self.match.pk, seat=seat, number=number).first()

    @property
    def undecided(self) -> list[int]:
        """The seats whose choice is still missing, ascending."""
        return [seat for seat in self.log.state.actors if seat not in self.chosen]

    def ply_of(self, seat: int) -> int:
        """Return the ply that the phase gives a seat that decides in it."""
        return self.log.plies + self.log.state.actors.index(seat)

    def choose(self, seat: int, action: int, *, fault: str = "") -> str:
        """Add a seat's move to the log; return its text."""
        text = self.log.state.moves.texts[action]
        self.chosen[seat] = MoveRow(self.match.pk, self.ply_of(seat), seat, text, fault)
        self._new.append(self.chosen[seat])
        return text

    def choose_fallback(self, seat: int, fault: str) -> str:
        """Add the referee's move in a seat's stead; return its text."""
        legal = self.log.state.legal(seat)
        action = fallback(bytes(self.match.deal_seed), self.ply_of(seat), legal)
        return self.choose(seat, action, fault=fault)

    def decide(self, turn: TurnRow, text: str, fault: str, now: datetime) -> None:
        """Note what was played in a turn, and when."""
        turn.text, turn.fault, turn.decided_at = text, fault, now
        self._decided.append(turn)

    def go_on(self, *, opening: bool = False) -> None:
        """Bring the match to where it waits for somebody; nothing is written yet but its end.

        Args:
            opening: also where no phase was finished, look for turns that were not opened yet.
        """
        before = self.log.plies
        while not self.undecided and self.log.state.actors:
            self._finish_phase()
        self._has_gone_on = opening or self.log.plies > before
        if self._has_gone_on:
            self._play_for_those_without_choice()
        self.match.plies = self.log.plies
        if not self.log.state.actors:
            self._finish()
        elif self._has_gone_on:
            self._asks_house = self._open_turns()

    def write(self) -> None:
        """Write what was done under the lock, but for the end of the match, which is written."""
        self.need_lock()
        if self.is_playing and write_all([self]):
            raise RuntimeError(f"match {self.match.pk} has changed under its lock")

    @property
    def change(self) -> Change | None:
        """What there is to write; None if there is nothing."""
        if not (self._decided or self._new or self._opened or self._has_gone_on):
            return None
        return Change(self.match, self._decided, self._new, self._opened)

    def tell(self) -> None:
        """After what was written is committed, keep the log and wake those who wait."""
        if self._has_gone_on:
            match, log = self.match, self.log
            transaction.on_commit(lambda: cache.put(match, log))
            bots = {turn.bot_id for turn in self._opened}
            wakeups.announce(match_id=match.pk, bot_ids=bots, house=self._asks_house)

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

    def _open_turns(self) -> bool:
        """Ask the remote seats that have a choice; return whether a worker is to move others."""
        match, now = self.match, self.watch.now()
        asked = [seat for seat in self.undecided if self.seats[seat].remote]
        for seat in asked:
            before = self.turns.get(seat)
            if before is not None and before.ply >= self.log.plies:
                continue  # it is open already
            bank_ms = bank_after(before) if before else full_bank(match)
            self._opened.append(
                TurnRow(
                    pk=0,  # it has none yet
                    match_id=match.pk,
                    seat=seat,
                    bot_id=self.seats[seat].bot_id,
                    number=before.number + 1 if before else 0,
                    ply=self.ply_of(seat),
                    opened_at=now,
                    deadline=latest_deadline(match, bank_ms, now),
                    bank_ms=bank_ms,
                )
            )
        house = len(asked) < len(self.undecided)
        look_in = LOOK_FOR_HOUSE if house else LOOK_AGAIN
        if not look_in / 2 <= match.due_at - now <= look_in:  # else leave the index alone
            match.due_at = now + look_in
        return house

    def _finish(self) -> None:
        self.need_lock()
        if not write([Change(self.match, self._decided, self._new, ())]):
            raise RuntimeError(f"match {self.match.pk} has changed under its lock")
        match, state = self.match, self.log.state
        moves = list(match.live_moves.order_by("ply"))
        seating = match.seating.select_related("bot").order_by("seat")
        record = Record(
            game=match.game,
            rules=match.rules,
            seats=match.seats,
            deal_seed=bytes(match.deal_seed),
            moves=tuple((move.seat, move.text) for move in moves),
            scores=state.scores or (),
            places=state.places or (),
            faults=tuple(Fault(move.ply, move.seat, move.fault) for move in moves if move.fault),
            players=tuple(seat.bot.name for seat in seating),
        )
        forfeited = [
            seat for seat, faults in enumerate(self.log.faults) if faults >= FAULTS_TO_FORFEIT
        ]
        finish(match, record, forfeited, self.watch.now())
        match.live_moves.all().delete()
        transaction.on_commit(lambda: cache.drop(match))
        wakeups.announce(match_id=match.pk, bot_ids=(), house=False)


def write_all(tables: Iterable[Table]) -> set[int]:
    """Write what was done at tables; return the ids of those matches that had changed meanwhile.

    Raises:
        OperationalError: see `statements.write`.
    """
    changed = {table.match.pk: (table, change) for table in tables if (change := table.change)}
    if not changed:
        return set()
    written = write(change for _, change in changed.values())
    for match_id in written:
        changed[match_id][0].tell()
    return changed.keys() - written


def lock(match_id: int) -> Match | None:
    """Lock the row of a live match and return it."""
    return Match.objects.select_for_update(no_key=True).filter(pk=match_id, live=True).first()
