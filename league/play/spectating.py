"""Spectators: what the public sees of a match, now and event by event.

`league.visibility` decides who may see it.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F, Max, Q

from engine.games.events import Event
from engine.games.game import State
from engine.playback import Phase, deal, play_on, with_places
from engine.record import replay, write
from engine.sentences import in_sentences
from league.models import Block, Match
from league.play.headlines import seat_name
from league.play.match_logs import logs_of
from league.visibility import may_see_record, may_watch


def public_view(match: Match) -> dict[str, Any] | None:
    """Return what a spectator sees of a match now, or None if spectators may not see it."""
    if not may_watch(match):
        return None
    if match.status == Match.Status.FINISHED:
        record = match.record
        return replay(record, len(record.moves)).spectate()
    log = logs_of([match]).get(match.pk)
    if log is None:  # the match advanced after its row was read
        match.refresh_from_db()
        return public_view(match) if match.status != Match.Status.PLAYING else None
    return log.state.spectate()


def public_events(match: Match) -> list[list[Event]] | None:
    """Return the public events of the deal and of each phase of a match in play.

    The answer is None if the match is not in play, or if spectators may not see it. Costs one
    query, and one more if the match went on meanwhile.

    Args:
        match: the match, with its block.
    """
    if match.status != Match.Status.PLAYING or not may_watch(match):
        return None
    moves = stored_moves(match, 0)
    if moves is None:
        match.refresh_from_db()
        return public_events(match) if match.status == Match.Status.PLAYING else None
    dealt = deal_of(match)
    return [_public(phase) for phase in (dealt, *play_on(dealt.state, moves))]


def live_now(count: int = 12) -> list[int]:
    """Return the ids of the newest live matches that spectators may watch; costs one query.

    Matches of players and of comparisons are left out, as in lists.
    """
    playing = Match.objects.playing().live().outside_comparisons().without_players()
    found = playing.select_related("block", "challenge").order_by("-pk")
    newest = found.defer("packed_record")[: 3 * count]
    return [match.pk for match in newest if may_watch(match)][:count]


class FeedState(NamedTuple):
    """The state from which the events of a match follow: in the same state there is no new event.

    Attributes:
        status: of the match.
        plies: length of its log.
        deadline: the latest one in the current phase.
    """

    status: str
    plies: int
    deadline: datetime | None

    @property
    def is_in_play(self) -> bool:
        """Whether the match is in play. After it, events may wait for matches of the same deal."""
        return self.status == Match.Status.PLAYING


def feed_states(match_ids: Collection[int]) -> dict[int, FeedState]:
    """Return the states of matches from which their events follow, by match id.

    Costs one query, and another one for matches of duplicate challenges and swap blocks.

    A match that waits, a hosted match in play, and a match with a secret deal have no events, so
    they are left out. A deal is secret while a match of the same block, challenge or swap block is
    in play.
    """
    hidden = Q(status=Match.Status.WAITING) | Q(status=Match.Status.PLAYING, live=False)
    secret = Q(block__duplicate=True, block__state=Block.State.PLAYING)
    shown = Match.objects.filter(pk__in=match_ids).exclude(hidden)
    found = shown.exclude(secret & ~Q(status=Match.Status.VOID)).order_by()
    of_phase = Max("turns__deadline", filter=Q(turns__ply__gte=F("plies")))
    rows = found.annotate(deadline=of_phase).values_list(
        *("pk", "status", "plies", "deadline", "challenge", "challenge__duplicate", "swap_block")
    )
    states: dict[int, FeedState] = {}
    twins: dict[int, tuple[str, int]] = {}
    for pk, status, plies, deadline, challenge, duplicate, swap_block in rows:
        states[pk] = FeedState(status, plies, deadline)
        if status != Match.Status.VOID and (duplicate or swap_block):
            twins[pk] = ("challenge", challenge) if duplicate else ("swap_block", swap_block)
    in_play = _in_play({*twins.values()}) if twins else set()
    return {pk: state for pk, state in states.items() if twins.get(pk) not in in_play}


def _in_play(groups: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
    """Return the challenges and swap blocks that have an unfinished match.

    Their ids bound the query. A condition in `feed_states` would read all matches in play.
    """
    ids: dict[str, list[int]] = {"challenge": [], "swap_block": []}
    for kind, pk in groups:
        ids[kind].append(pk)
    unfinished = Match.objects.unfinished().order_by()
    of_these = Q(challenge__in=ids["challenge"]) | Q(swap_block__in=ids["swap_block"])
    found = unfinished.filter(of_these).values_list("challenge", "swap_block")
    return {
        (kind, pk)
        for row in found
        for kind, pk in zip(("challenge", "swap_block"), row, strict=True)
        if (kind, pk) in groups
    }


def public_record_line(match: Match) -> str | None:
    """Return the record of a match as a line of a file of records, or None while it is secret."""
    return write(match.record) if may_see_record(match) else None


class FeedEvent(NamedTuple):
    """One step of a match for spectators.

    Attributes:
        kind: ``phase``, or ``end`` for the last.
        id: length of the log after the phase, or ``end``.
        data: ``match``, its id. For a phase also ``ply``, the length of the log, the public view
            after it, ``events``, the public events in it, ``sentences``, one for each event, and
            ``to_act``, the seats that decide next. For the end ``status`` and, if the match is
            finished, ``scores`` and ``places``.
    """

    kind: str
    id: str
    data: dict[str, Any]


class PhaseClock(NamedTuple):
    """The clock of the phase for which a match waits.

    The phase has one deadline in public, the latest one of its turns. A deadline for each seat
    would show which seat has decided already, or has no choice.

    Attributes:
        to_act: the seats that decide in the phase.
        deadline: when the phase is over at the latest; None if no seat in it has a clock.
    """

    to_act: list[int]
    deadline: datetime | None


class MatchFeed:
    """A match as events for spectators: one for the deal and one for each phase.

    The events are the same while the match is played and from its record. Threads must not share
    a feed.

    Attributes:
        over: whether the last event was returned.
        clock: of the match in play at the last call; None if spectators may not see it.
    """

    def __init__(self, match_id: int) -> None:
        self._match_id = match_id
        self._state: State | None = None
        self._names: list[str] = []
        self._plies = 0
        self.over = False
        self.clock: PhaseClock | None = None

    def new_events(self) -> list[FeedEvent]:
        """Return the events since the last call; three queries at most.

        If a query fails, the next call returns all events since the last call that succeeded.

        Raises:
            Match.DoesNotExist: the match does not exist.
        """
        match = Match.objects.select_related("block", "swap_block", "challenge").get(
            pk=self._match_id
        )
        self.clock = None
        if self.over:
            return []
        if match.status == Match.Status.VOID:
            self.over = True
            return [FeedEvent("end", "end", {"match": match.pk, "status": match.status})]
        if may_see_record(match):
            record = match.record
            events = self._events_of(match, record.moves[self._plies :])
            self.over = True
            end = {
                "match": match.pk,
                "status": match.status,
                "scores": record.scores,
                "places": match.places,
            }
            return [*events, FeedEvent("end", "end", end)]
        if match.status != Match.Status.PLAYING or not match.live or not may_watch(match):
            return []
        moves = stored_moves(match, self._plies)
        if moves is None:
            return []
        # Read it before the events: if a query fails, the next call still returns all events.
        deadline = self._deadline(match)
        events = self._events_of(match, moves)
        assert self._state is not None, "the deal begins the events"
        self.clock = PhaseClock(list(self._state.actors), deadline)
        return events

    def _deadline(self, match: Match) -> datetime | None:
        """Return the latest deadline in the current phase, also of turns that are decided."""
        found = match.turns.filter(ply__gte=match.plies).aggregate(latest=Max("deadline"))
        latest: datetime | None = found["latest"]
        return latest

    def _events_of(self, match: Match, moves: Sequence[tuple[int, str]]) -> list[FeedEvent]:
        """Return the events of further whole phases."""
        found = []
        if self._state is None:
            dealt = deal_of(match)
            seating = match.seating.select_related("bot__player").order_by("seat")
            self._names = [seat_name(seat) for seat in seating]
            self._state = dealt.state
            found.append(_feed_event(match, dealt, self._names))
        for phase in play_on(self._state, moves, self._plies):
            self._plies = phase.ply
            found.append(_feed_event(match, phase, self._names))
        return found


def _feed_event(match: Match, phase: Phase, names: Sequence[str]) -> FeedEvent:
    """Return a phase as spectators see it: the public view after it, and its public events."""
    events: Sequence[Event] = _public(phase)
    if match.places is not None:
        events = with_places(events, match.places)
    details = {
        "events": [event.as_json() for event in events],
        "sentences": in_sentences(events, names),
        "to_act": list(phase.state.actors),
    }
    place = {"match": match.pk, "ply": phase.ply}
    return FeedEvent("phase", str(phase.ply), {**place, **phase.state.spectate(), **details})


def _public(phase: Phase) -> list[Event]:
    """Return the events of a phase without their secrets."""
    return [event.seen_by(None) for event in phase.events]


def deal_of(match: Match) -> Phase:
    """Return the deal of a match, with all its secrets."""
    return deal(match.game, match.rules, match.seats, match.deal_seed)


def stored_moves(match: Match, ply: int) -> list[tuple[int, str]] | None:
    """Return the moves of a match from a ply on; None if it was finished since it was read."""
    moves = match.live_moves.filter(ply__gte=ply, ply__lt=match.plies).order_by("ply")
    found = list(moves.values_list("seat", "text"))
    return found if len(found) >= match.plies - ply else None
