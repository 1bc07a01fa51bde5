"""What the public may see of a match: never a hidden card before the end."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.game import State
from engine.record import Record, replay, write
from league.models import Match
from league.play.match_logs import logs_of
from league.visibility import is_open_to_all


def public_view(match: Match) -> dict[str, Any] | None:
    """Return what a spectator sees of a match now, or None where nothing may be seen.

    Nothing is seen of a void match, whose cards may still be played, nor of one in a duplicate
    block that is still being played.
    """
    if match.status == Match.Status.FINISHED:
        if not is_open_to_all(match):
            return None
        record = match.record
        return replay(record, len(record.moves)).spectate()
    if match.status == Match.Status.VOID or (match.block and match.block.duplicate):
        return None
    log = logs_of([match]).get(match.pk)
    if log is None:  # it went on while we looked
        match.refresh_from_db()
        return public_view(match) if match.status != Match.Status.PLAYING else None
    return log.state.spectate()


def record_line(match: Match) -> str:
    """Return the record of a match that `is_open_to_all`, as it stands in a file of records."""
    record: Record = match.record
    return write(record)


class Event(NamedTuple):
    """What spectators are told at once.

    Attributes:
        kind: ``phase``, or ``end`` for the last.
        id: the length of the log it tells of, or ``end``.
        data: of a phase what the public sees after it; of the end ``status``, and where the match
            was finished ``scores`` and ``places``.
    """

    kind: str
    id: str
    data: dict[str, Any]


class Telling:
    """A match as it is told to those who watch it: one event for the deal and one a phase.

    Told live or from the record, the events are the same. Threads must not share it.

    Attributes:
        over: whether the last event has been told.
    """

    def __init__(self, match_id: int) -> None:
        self._match_id = match_id
        self._state: State | None = None
        self._plies = 0
        self.over = False

    def go_on(self) -> list[Event]:
        """Return the events since the last call; two queries at most.

        Raises:
            Match.DoesNotExist: there is no such match.
        """
        match = Match.objects.select_related("block", "swap_block").get(pk=self._match_id)
        if self.over:
            return []
        if match.status == Match.Status.VOID:
            self.over = True
            return [Event("end", "end", {"status": match.status})]
        if is_open_to_all(match):
            record = match.record
            events = self._tell(match, record.moves[self._plies :])
            self.over = True
            end = {"status": match.status, "scores": record.scores, "places": record.places}
            return [*events, Event("end", "end", end)]
        if match.status != Match.Status.PLAYING or not match.live:
            return []
        moves = match.live_moves.filter(ply__gte=self._plies, ply__lt=match.plies)
        told = list(moves.order_by("ply").values_list("seat", "text"))
        if len(told) < match.plies - self._plies:
            return []  # it was finished meanwhile
        return self._tell(match, told)

    def _tell(self, match: Match, moves: Sequence[tuple[int, str]]) -> list[Event]:
        """Return the events of moves that are those of whole phases."""
        events = []
        if self._state is None:
            shuffle = seeded_shuffle(bytes(match.deal_seed))
            self._state = catalogue.start(match.game, match.rules, match.seats, shuffle)
            events.append(self._event())
        state = self._state
        left = list(reversed(moves))
        while left:
            for _ in state.actors:
                seat, text = left.pop()
                state.step_unchecked({seat: state.moves.ids[text]})
                self._plies += 1
            events.append(self._event())
        return events

    def _event(self) -> Event:
        assert self._state is not None
        return Event("phase", str(self._plies), self._state.spectate())
