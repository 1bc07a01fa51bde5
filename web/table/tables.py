"""Tables as pages embed them: ``web/table/table.html`` draws a step, JavaScript goes on from it."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from django.urls import reverse

from engine.games.partridge import Partridge
from engine.games.partridge_presets import PartridgeRules
from engine.games.twelve_days import TwelveDays
from engine.games.twelve_days_presets import TwelveDaysRules
from engine.record import Record
from engine.sentences import in_sentences
from league.models import Match
from league.play.headlines import headline, live_headline, seat_names
from league.play.spectating import public_events
from league.visibility import may_see_record
from web.table.live import live_steps
from web.table.replays import faults_of, phases_as_rated, replay_steps
from web.table.steps import SeatStep, Step

_EVENTS = "/api/v1/matches/events"
_PARTRIDGE_DECK = [rank for rank in range(1, 13) for _ in range(rank)]


class Table(NamedTuple):
    """A match as a table on a page.

    Attributes:
        match: with its seating and their bots.
        mode: ``live``, ``replay``, or ``play`` for the player of a seat.
        source: address of the phases, or of the event stream; empty for a table that stands still.
        names: of the players, by seat.
        parts: number of days or rounds of the match.
        steps: all steps of a replay; the current step of a match in play.
        number: of the step to show, from 1.
        own: the seat of the player who sees the page; None for spectators.
        acts: the seats for which the match waits, if the player sees that.
        notes: a remark on a seat, by seat.
    """

    match: Match
    mode: str
    source: str
    names: list[str]
    parts: int
    steps: list[Step]
    number: int
    own: int | None = None
    acts: Sequence[int] = ()
    notes: Mapping[int, str] = MappingProxyType({})

    @property
    def step(self) -> Step:
        """The step to show."""
        return self.steps[self.number - 1]

    @property
    def last(self) -> int:
        """Number of steps."""
        return len(self.steps)

    @property
    def is_live(self) -> bool:
        """Whether spectators watch the match as it is played."""
        return self.mode == "live"

    @property
    def headline(self) -> str:
        """Who leads a live match and by how much, or the result; `table/headline.js` goes on."""
        if not self.is_live:
            return headline(self.match)
        points = [seat.points for seat in self.step.seats]
        preset = self.preset
        begun = preset.starting_gifts if isinstance(preset, PartridgeRules) else 0
        return live_headline(self.match.game, self.names, points, begun)

    @property
    def preset(self) -> TwelveDaysRules | PartridgeRules:
        """The preset of the match, for the rules beside the table."""
        if self.match.game == TwelveDays.game:
            return TwelveDays.presets[self.match.rules]
        return Partridge.presets[self.match.rules]

    @property
    def undealt(self) -> int:
        """Cards of a round of ``partridge`` that nobody gets."""
        seats = len(self.names)
        return len(_PARTRIDGE_DECK) - seats * Partridge.presets[self.match.rules].hand_size(seats)

    @property
    def goal(self) -> str:
        """The goal and the end of the game, for spectators of the deal."""
        preset = self.preset
        if isinstance(preset, TwelveDaysRules):
            return (
                "Most points win. The lowest card that nobody else plays wins the day’s points. "
                f"After day {preset.days}, hands score too: the most 7s give 7 points."
            )
        return (
            f"After round {preset.rounds}, the most gifts win. A seat that wins a trick with its "
            "last cards wins the round: it gets a gift from the pool, and one from the seat with "
            "the most cards."
        )

    @property
    def seats(self) -> list[tuple[int, str]]:
        """Number and name of each seat."""
        return list(enumerate(self.names))

    @property
    def placed(self) -> list[tuple[int, SeatStep, str]]:
        """Place around the table, what the seat did, and the remark on it; the own seat is at 0."""
        count = len(self.names)
        return [
            ((seat.seat - (self.own or 0)) % count, seat, self.notes.get(seat.seat, ""))
            for seat in self.step.seats
        ]


def table_of(match: Match, number: int = 1) -> Table | None:
    """Return the table of a match: its replay once it is open, or what is public while it is live.

    The answer is None if the match has not begun, or if spectators may not see it.

    Args:
        match: with its block, swap block, challenge, and seating with bots.
        number: of the step to show in a replay; the nearest one if there is no such step.
    """
    names = seat_names(match)
    parts = parts_of(match)
    if may_see_record(match):
        steps = replay_steps(match.record, names)
        number = min(max(number, 1), len(steps))
        source = reverse("web:match-phases", args=[match.pk])
        return Table(match, "replay", source, names, parts, steps, number)
    phases = public_events(match)
    if phases is None:
        return None
    return Table(match, "live", _EVENTS, names, parts, live_steps(phases, names)[:1], 1)


def all_phases(match: Match) -> dict[str, Any]:
    """Return all that the browser needs to replay and check an open match, as JSON data.

    ``phases`` lists the deal and each phase with ``ply``, ``events`` with all cards, ``sentences``
    with one sentence for each event, and ``faults`` with seat and kind. ``cards`` is the deck in
    ascending order.
    """
    return phases_of(match.record, seat_names(match), match.commitment)


def phases_of(record: Record, names: Sequence[str], commitment: str) -> dict[str, Any]:
    """Return the same for a record.

    Args:
        record: of a finished match.
        names: of the bots, by seat.
        commitment: the hash of the deal's seed.
    """
    return {
        "game": record.game,
        "rules": record.rules,
        "names": list(names),
        "commitment": commitment,
        "deal_seed": record.deal_seed.hex(),
        "cards": deck_of(record.game, record.rules),
        "phases": list(_phases(record, names)),
    }


def deck_of(game: str, rules: str) -> list[int]:
    """Return the deck of a preset, in ascending order."""
    if game == TwelveDays.game:
        return list(TwelveDays.presets[rules].deck())
    return _PARTRIDGE_DECK


def _phases(record: Record, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    begins_at = 0
    for ply, events, _ in phases_as_rated(record):
        yield {
            "ply": ply,
            "events": [event.as_json() for event in events],
            "sentences": in_sentences(events, names),
            "faults": faults_of(record, begins_at, ply),
        }
        begins_at = ply


def parts_of(match: Match) -> int:
    """Return the number of days or rounds of a match."""
    if match.game == TwelveDays.game:
        return TwelveDays.presets[match.rules].days
    return Partridge.presets[match.rules].rounds
