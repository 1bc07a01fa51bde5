"""Live matches in memory: from a snapshot and new moves to the change that they bring.

Nothing here reads or writes the database or has a clock. A plan gives a `LiveMatch` moves, and
`LiveMatch.decision` returns everything that follows from them.

The log up to ``match.plies`` is whole phases. Behind it wait the choices of the phase that is being
decided, each at the ply that the phase gives its seat. When the last choice is in, the phase is
over, and the match advances to the next phase in which a seat has a choice.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from bots_sdk.statuses import UNFINISHED
from engine.record import fallback
from engine.referee import forfeits
from league.models.matches import Match
from league.play.match_logs import Log
from league.play.rows import MoveRow, OpenTurn, Snapshot, TurnRow
from league.play.seat_logs import SeatNote
from league.play.statements import Answered, Change
from league.play.turn_clocks import bank_after, full_bank, latest_deadline

FORFEIT, TIMEOUT = "forfeit", "timeout"
MAX_PLAYER_FAULTS = 2
"""Faults of a player after which the substitute plays on: before the seat would forfeit."""
LOOK_AGAIN = timedelta(seconds=60)
"""The tick checks a match that waits for remote bots after this time."""
LOOK_FOR_HOUSE = timedelta(seconds=10)
"""The same for a match that waits for a worker: the queue may have lost its task."""

T = TypeVar("T")


def is_away(faults: int) -> bool:
    """Return whether a player with this number of faults is away, so that the substitute plays."""
    return faults >= MAX_PLAYER_FAULTS


class Decision(NamedTuple, Generic[T]):
    """The outcome of a plan on a live match.

    Attributes:
        answer: the answer to the plan's caller.
        change: what to write; None if nothing changes.
        notes: what owners see of hosted bots' answers; stored in the same transaction.
        log: the log after the change; None if the match was not in play.
        has_advanced: whether a phase was finished, or the match was looked after.
        woken_bots: ids of the bots that get a new turn.
        wakes_worker: whether a worker is to move seats of house and hosted bots.
        ends: whether the match is over after the change.
    """

    answer: T
    change: Change | None = None
    notes: Sequence[SeatNote] = ()
    log: Log | None = None
    has_advanced: bool = False
    woken_bots: frozenset[int] = frozenset()
    wakes_worker: bool = False
    ends: bool = False

    @property
    def needs_lock(self) -> bool:
        """Whether the change is to be written under the match's lock.

        The compare-and-set guards a change that starts the match or adds a move. Any other change
        needs the lock, and so does a change that other statements follow. A timeout needs it
        because no deadline moves under it.
        """
        if self.change is None:
            return False
        is_guarded = bool(self.change.moves) or self.change.started_at is not None
        times_out = any(turn.fault == TIMEOUT for turn, _ in self.change.answered)
        return self.ends or bool(self.notes) or times_out or not is_guarded


class LiveMatch:
    """A live match as it was read, with the moves that a plan adds to it.

    Attributes:
        match: its row.
        turns: the last turn of each seat that has had one.
        chosen: by seat, the moves that wait for the last of their phase.
    """

    def __init__(self, snapshot: Snapshot, log: Log | None, now: datetime) -> None:
        """Begin with a snapshot.

        Args:
            snapshot: of the match; it stays as it is.
            log: up to the phase that is being decided; None if it could not be read.
            now: time at which new turns open.
        """
        self.match, self._seats = snapshot.match, snapshot.seats
        self.turns, self.chosen = dict(snapshot.turns), dict(snapshot.chosen)
        self._log = log
        self._now = now
        self._started_at: datetime | None = None
        self._answered: dict[int, Answered] = {}
        self._moves: list[MoveRow] = []
        self._opened: list[OpenTurn] = []
        self._notes: list[SeatNote] = []

    # -- What was read -----------------------------------------------------------------------

    @property
    def is_playing(self) -> bool:
        """Whether the match is in play."""
        return self.match.status == Match.Status.PLAYING

    @property
    def is_waiting(self) -> bool:
        """Whether the match has not started."""
        return self.match.status == Match.Status.WAITING

    @property
    def is_stale(self) -> bool:
        """Whether the match was finished after its row was read, so that its log is gone."""
        return self.match.status in UNFINISHED and self._log is None

    @property
    def log(self) -> Log:
        """The log up to the phase that is being decided.

        Raises:
            RuntimeError: the match is not in play, or is stale.
        """
        if self._log is None:
            raise RuntimeError(f"match {self.match.pk} has no log")
        return self._log

    @property
    def undecided(self) -> list[int]:
        """The seats whose choice is still missing, ascending."""
        return [seat for seat in self.log.state.actors if seat not in self.chosen]

    def seat_of(self, bot_id: int) -> int | None:
        """Return the seat of a bot, or None."""
        for number, seat in enumerate(self._seats):
            if seat.bot_id == bot_id:
                return number
        return None

    def waits_for(self, seat: int) -> bool:
        """Return whether a seat's moves come over the API; if not, a worker makes them.

        A worker moves house and hosted bots, and the substitute of a player who left or had
        `MAX_PLAYER_FAULTS` faults.
        """
        row = self._seats[seat]
        return row.remote and not (row.player and is_away(self.log.faults[seat]))

    def overdue_turns(self, now: datetime) -> list[TurnRow]:
        """Return the open turns whose deadline has passed."""
        return [
            turn for turn in self.turns.values() if turn.decided_at is None and turn.deadline < now
        ]

    # -- What a plan may do ------------------------------------------------------------------

    def start(self) -> None:
        """Start a match that waits."""
        self._started_at = self._now
        self.match = self.match._replace(
            status=Match.Status.PLAYING.value, attempts=self.match.attempts + 1
        )

    def play(self, turn: TurnRow, action: int, decided_at: datetime) -> TurnRow:
        """Decide an open turn by a legal move; return the turn."""
        return self._decide(turn, self.choose(turn.seat, action), "", decided_at)

    def play_fallback(self, turn: TurnRow, fault: str, decided_at: datetime) -> TurnRow:
        """Decide an open turn by the referee's move after a fault; return the turn."""
        return self._decide(turn, self.choose_fallback(turn.seat, fault), fault, decided_at)

    def count_illegal(self, turn: TurnRow) -> TurnRow:
        """Count an illegal answer to an open turn; return the turn."""
        turn = turn._replace(illegal_answers=turn.illegal_answers + 1)
        self._answer(turn, illegal=1)
        return turn

    def choose(self, seat: int, action: int, *, fault: str = "") -> str:
        """Add a seat's move; return its text."""
        text = self.log.state.moves.texts[action]
        self.chosen[seat] = MoveRow(self.match.pk, self._ply_of(seat), seat, text, fault)
        self._moves.append(self.chosen[seat])
        return text

    def choose_by_worker(self, seat: int, action: int) -> str:
        """Add a move that a worker made; it decides the turn that a player has left open."""
        turn = self.turns.get(seat)
        if turn is None or turn.decided_at is not None:
            return self.choose(seat, action)
        return self.play(turn, action, self._now).text

    def choose_fallback(self, seat: int, fault: str) -> str:
        """Add the referee's move for a seat; return its text."""
        legal = self.log.state.legal(seat)
        action = fallback(bytes(self.match.deal_seed), self._ply_of(seat), legal)
        return self.choose(seat, action, fault=fault)

    def note(self, *, seat: int, printed: str, reason: str | None) -> None:
        """Note for its owner what a hosted bot printed, and why its answer is a fault.

        Args:
            seat: number of the bot's seat, which is undecided.
            printed: everything that the bot has printed in the match.
            reason: of the fault; None if the answer is a move.
        """
        self._notes.append(SeatNote(self.match.pk, seat, self._ply_of(seat), printed, reason))

    def decision(self, answer: T, *, look_after: bool = False) -> Decision[T]:
        """Advance to where the match waits for a seat; return everything that is to be done.

        Args:
            answer: the answer to the plan's caller.
            look_after: open missing turns and wake workers even if no phase was finished.
        """
        if not (self._moves or self._answered or self._started_at or look_after):
            return Decision(answer)
        before = self.log.plies
        while not self.undecided and self.log.state.actors:
            self._finish_phase()
        has_advanced = look_after or self.log.plies > before
        if has_advanced:
            self._play_forced_moves()
        ends = not self.log.state.actors
        wakes_worker = has_advanced and not ends and self._open_turns()
        return Decision(
            answer,
            Change(
                self.match._replace(plies=self.log.plies),
                self._started_at,
                list(self._answered.values()),
                self._moves,
                self._opened,
            ),
            self._notes,
            self.log,
            has_advanced,
            frozenset(turn.bot_id for turn in self._opened),
            wakes_worker,
            ends,
        )

    # -- What follows ------------------------------------------------------------------------

    def _ply_of(self, seat: int) -> int:
        """Return the ply that the phase gives a seat that decides in it."""
        return self.log.plies + self.log.state.actors.index(seat)

    def _decide(self, turn: TurnRow, text: str, fault: str, decided_at: datetime) -> TurnRow:
        turn = turn._replace(text=text, fault=fault, decided_at=decided_at)
        self._answer(turn)
        return turn

    def _answer(self, turn: TurnRow, *, illegal: int = 0) -> None:
        before = self._answered.get(turn.seat)
        self._answered[turn.seat] = Answered(turn, illegal + (before.illegal if before else 0))
        self.turns[turn.seat] = turn

    def _play_forced_moves(self) -> None:
        """Play single legal moves and for seats that forfeited, through all phases that end so."""
        while self.log.state.actors:
            for seat in self.undecided:
                legal = self.log.state.legal(seat)
                if len(legal) == 1:
                    self.choose(seat, legal[0])
                elif forfeits(self.log.faults[seat]):
                    self.choose_fallback(seat, FORFEIT)
            if self.undecided:
                return
            self._finish_phase()

    def _finish_phase(self) -> None:
        self._log = self.log.followed_by([self.chosen[seat] for seat in self.log.state.actors])
        self.chosen = {}

    def _open_turns(self) -> bool:
        """Open turns for remote seats with a choice; return whether a worker is to move others."""
        match, now = self.match, self._now
        remote = [seat for seat in self.undecided if self.waits_for(seat)]
        for seat in remote:
            before = self.turns.get(seat)
            if before is not None and before.ply >= self.log.plies:
                continue  # it is open already
            bank_ms = bank_after(before) if before else full_bank(match)
            self._opened.append(
                OpenTurn(
                    pk=0,
                    match_id=match.pk,
                    seat=seat,
                    bot_id=self._seats[seat].bot_id,
                    number=before.number + 1 if before else 0,
                    ply=self._ply_of(seat),
                    deadline=latest_deadline(match, bank_ms, now),
                    bank_ms=bank_ms,
                    opened_at=now,
                    handed_out_at=None,
                )
            )
        wakes_worker = len(remote) < len(self.undecided)
        look_in = LOOK_FOR_HOUSE if wakes_worker else LOOK_AGAIN
        if not look_in / 2 <= match.due_at - now <= look_in:  # else leave the index alone
            self.match = match._replace(due_at=now + look_in)
        return wakes_worker
