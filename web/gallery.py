"""Samples of every component of `docs/design.md`, in all states, for the gallery of components.

No sample is stored: matches are of random moves with a fixed seed, and all names are made up. So
the links of the gallery lead to pages that need not exist.
"""

from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.datastructures import MultiValueDict

from engine.deals import seeded_shuffle
from engine.games import catalogue
from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from engine.playback import play_back
from engine.record import Fault, Record, fallback
from league.competitions.tournament_standings import BracketRound, BracketSeat, BracketTable
from league.models import (
    Block,
    Bot,
    BotVersion,
    Highlight,
    Ladder,
    Match,
    MatchSeat,
    Standing,
    Tournament,
)
from league.ratings.habits import Rate
from league.ratings.last_matches import RatedMatch
from league.ratings.standings import TREND_ROUNDS, StandingRow
from web.bot_panels import Result
from web.charts.lines import Chart, chart
from web.event_story import UndrawnStage
from web.forms import SignUpForm, UploadForm
from web.gallery_analyses import analysed
from web.highlights import shown
from web.player_page import MoveChoice
from web.selectors.form import Form, Mark, result_mark
from web.selectors.head_to_head import Score
from web.selectors.ladders import Movement
from web.table.live import live_steps
from web.table.steps import Card
from web.table.tables import Table, table_of

_NAMES = (
    "ada-1",
    "house-counting",
    "a-name-of-thirty-two-characters",
    "bo",
    "partridge-in-a-pear-tree",
    "swan",
    "house-random",
    "drummer-12",
)
_TABLES = (
    ("twelve-days", "calliope", 3),
    ("twelve-days", "calliope", 4),
    ("twelve-days", "eight-players", 8),
    ("partridge", "eagle-short", 2),
    ("partridge", "eagle-short", 4),
    ("partridge", "eagle-short", 8),
    *(("twelve-days", "eight-players", seats) for seats in (5, 6, 7)),
    *(("partridge", "eagle-short", seats) for seats in (3, 5, 6, 7)),
)
"""Game, preset and seats. Together these are all numbers of seats of each game."""
_PASTS = (
    ("live", "live, with nothing newer to see"),
    ("behind", "live, looking back"),
    ("over", "over, looking back"),
)
"""States of the look-back at a live match, and what they are called."""
_FIRST_MATCH = 900_001
_MARKED = (Card(7, ("received",)), Card(9, ("scored",)))
_MOVE = MoveChoice("play 7", "Play this card", "play", [7])
_AT = datetime(2026, 1, 6, 20, 0, tzinfo=UTC)


class Sample(NamedTuple):
    """A table of the gallery.

    Attributes:
        title: what it is a sample of.
        table: to draw.
        small: whether it has no transport, legend and rules.
        past: state of the look-back at a live match: ``live``, ``behind`` or ``over``; "" for none.
    """

    title: str
    table: Table
    small: bool
    past: str = ""


def samples() -> dict[str, Any]:
    """Return the context of the gallery: a sample of each component in each state."""
    return {
        "large": [Sample(f"{_called(at)}, replay", _replay(at, 0.4), False) for at in _all()],
        "in_play": [Sample(f"{_called(at)}, live", _live(at), False) for at in (1, 4)],
        "looking_back": [
            Sample(f"{_called(1)}, {words}", _live(1, number), False, past)
            for number, (past, words) in enumerate(_PASTS, 6)
        ],
        "analysed": analysed(_replay(1, 0.4, 4), match_of(1).record),
        "small": [
            *(Sample(f"{_called(at)}, live, small", _live(at, 1), True) for at in _all()),
            *(Sample(f"{_called(at)}, the end, small", _replay(at, 1.0, 2), True) for at in (1, 4)),
        ],
        "charts": _charts(),
        "states": _states(),
        "ranks": [1, 2, 3, 4, 128],
        "stages": range(1, 13),
        "trends": [34_000, -12_000, 0, None],
        "results": [_result(mark) for mark in _RESULTS],
        "bot_form": Form([*_RESULTS]),
        "rates": _rates(),
        "scores": [
            Score("seat 0", 24, 0.0, 0.0, 0.1),
            Score("seat 1", 128, 0.5, 0.4, 0.6),
            Score("a preset with a long name", 7, 1.0, 0.6, 1.0),
        ],
        "forms": [
            SignUpForm(auto_id="fresh_%s"),
            UploadForm({}, MultiValueDict(), auto_id="wrong_%s"),
        ],
        "bracket": _bracket(),
        "undrawn": [UndrawnStage(3, final=True, bots=4, tables=1)],
        "match": match_of(0),
        "highlights": shown(_highlights()),
        "top": Movement(_ladder(), _rows()),
        "ladder": _ladder(),
        "groups": [
            ("ranked", [(row, None) for row in _rows()[:3]]),
            ("provisional", [(row, None) for row in _rows()[3:]]),
        ],
        "trend_rounds": TREND_ROUNDS,
        "page": Paginator(range(100), 10).page(3),
        "at": _AT,
        "cards": [*(Card(rank) for rank in range(13)), *_MARKED],
        "seated": [_seated(5)],
        "hand": [(rank, _MOVE if rank % 3 else None) for rank in range(2, 13)],
    }


@cache
def match_of(at: int) -> Match:
    """Return a finished match that is not stored.

    Args:
        at: which of the kinds of tables, from 0.

    Raises:
        IndexError: there is no such kind.
    """
    game, rules, seats = _TABLES[at]
    record = _record(game, rules, seats)
    found = Match(
        pk=_FIRST_MATCH + at,
        game=game,
        rules=rules,
        seats=seats,
        status=Match.Status.FINISHED,
        stored_seed=record.deal_seed,
        packed_record=Match.pack(record),
    )
    # What a query prefetches, so that no query looks for the seats.
    found._prefetched_objects_cache = {  # type: ignore[attr-defined]  # of Django
        "seating": [
            MatchSeat(
                match=found, seat=seat, bot=Bot(name=name), place=place, score=score, faults=0
            )
            for seat, (name, place, score) in enumerate(
                zip(_NAMES[:seats], record.places, record.scores, strict=True)
            )
        ]
    }
    return found


def _record(game: str, rules: str, seats: int) -> Record:
    """Return a match of random moves; near the middle the referee made one of them."""
    without = _played(game, rules, seats)
    return _played(game, rules, seats, 4 * len(without.moves) // 10)


def _played(game: str, rules: str, seats: int, fault_at: int | None = None) -> Record:
    """Return a match of random moves, with the fallback after a timeout.

    Args:
        game: its name.
        rules: the preset.
        seats: number of seats.
        fault_at: the first choice between several moves from this ply on times out; None: no
            choice does.
    """
    rng, seed = Random(12), bytes(range(32))
    state = catalogue.start(game, rules, seats, seeded_shuffle(seed))
    moves: list[tuple[int, str]] = []
    fault: Fault | None = None
    while not state.is_over:
        chosen = {}
        for seat in state.actors:
            legal, ply = state.legal(seat), len(moves)
            is_fault = fault is None and fault_at is not None and ply >= fault_at and len(legal) > 1
            chosen[seat] = fallback(seed, ply, legal) if is_fault else rng.choice(legal)
            if is_fault:
                fault = Fault(ply, seat, "timeout")
            moves.append((seat, state.moves.texts[chosen[seat]]))
        state.step_unchecked(chosen)
    scores, places = state.scores or (), state.places or ()
    faults = () if fault is None else (fault,)
    return Record(game, rules, seats, seed, tuple(moves), scores, places, faults)


def _all() -> range:
    return range(len(_TABLES))


def _called(at: int) -> str:
    game, _, seats = _TABLES[at]
    title = {TwelveDays.game: "12 Days", Partridge.game: "12 Days of Christmas"}[game]
    return f"{title}, {seats} seats"


def _replay(at: int, share: float, number: int = 0) -> Table:
    """Return the replay of a match at a share of its steps."""
    table = table_of(match_of(at))
    assert table is not None, "the record of a finished match without a block is public"
    step = max(1, round(share * table.last))
    source = reverse("web:gallery-phases", args=[at])
    return table._replace(match=_numbered(at, number), source=source, number=step)


def _live(at: int, number: int = 3) -> Table:
    """Return a match as it was in play, with the events that everybody may see."""
    replay = _replay(at, 0)
    phases = list(play_back(match_of(at).record))
    begun = phases[: 6 * len(phases) // 10]
    seen = [[event.seen_by(None) for event in phase.events] for phase in begun]
    steps: Sequence[Any] = live_steps(seen, replay.names)[:1]
    return replay._replace(
        match=_numbered(at, 10 * number),
        mode="live",
        source="",
        steps=list(steps),
        number=1,
    )


def _seated(at: int) -> Sample:
    """Return a match as the player of its first seat sees it."""
    live = _live(at, 5)
    seated = live._replace(mode="play", own=0, acts=(0, 1), notes={1: "left; swan plays on"})
    return Sample(f"{_called(at)}, for a player", seated, small=False)


def _numbered(at: int, number: int) -> Match:
    """Return a match with its own number: no two tables of a page have the same one."""
    found = copy(match_of(at))
    found.pk += 100 * number
    return found


def _charts() -> list[tuple[str, Chart]]:
    rng = Random(1)
    lines = []
    for line in range(8):
        value, values = 1500.0, []
        for _ in range(40):
            values.append(value + 10 * line)
            value += rng.uniform(-25, 25)
        lines.append((_NAMES[line], values))
    name, own = lines[0]
    low, high = [value - 40 for value in own], [value + 40 for value in own]
    marks = {
        at: f"Rating round {at}: {own[at]:.0f}, version {1 + (at > 20)}" for at in range(1, 40, 3)
    }
    found = [
        ("One line", chart([lines[0]], "first", "last")),
        (
            "Band, points with a text each, and where a version begins",
            chart([(name, own), lines[1]], "a", "b", [(low, high)], marks=marks, begins={22: "v2"}),
        ),
        ("Eight lines", chart(lines, "before rating round 1", "after rating round 40")),
        ("Two points", chart([("Elo", [1500, 1512])], "before", "after")),
    ]
    return [(title, drawn) for title, drawn in found if drawn is not None]


def _states() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the states of each kind of thing: its name, and class and words of each state."""
    kinds: list[tuple[str, Any]] = [
        ("tournament", Tournament.State),
        ("match", Match.Status),
        ("block", Block.State),
        ("version", BotVersion.State),
    ]
    return [(name, kind.__name__, list(kind.choices)) for name, kind in kinds]


_RESULTS = (
    result_mark(1, 2, tied=False),
    result_mark(1, 2, tied=True),
    result_mark(2, 2, tied=False),
    result_mark(2, 4, tied=False),
    result_mark(3, 4, tied=False),
)


def _result(mark: Mark) -> Result:
    rated = RatedMatch(_FIRST_MATCH, 4, 1, False, 1.0, 0.4)
    return Result(match_of(1), rated, *mark)


def _rates() -> list[Rate]:
    return [
        Rate("gives-low", "gives a low card, up to 4", 12, 48, 0.25, 0.4),
        Rate("passes", "never passes", 0, 48, 0.0, 0.5),
        Rate("leads-set", "always leads a set", 48, 48, 1.0, None),
    ]


def _bracket() -> list[BracketRound]:
    def seat(at: int, *scores: float, on: bool | None) -> BracketSeat:
        return BracketSeat(
            Bot(name=_NAMES[at]), at + 1 if at < 7 else None, tuple(map(Fraction, scores)), on
        )

    first = [
        BracketTable([seat(0, 0.75, on=True), seat(3, 0.25, on=False)], 0, 1),
        BracketTable([seat(1, 0.5, 0.5, on=True), seat(2, 0.5, 0.5, on=False)], 1, 1),
        BracketTable([seat(4, on=None), seat(7, on=None)], 0, 1),
    ]
    second = [BracketTable([seat(0, on=None), seat(1, on=None)], 0, 1)]
    return [
        BracketRound(1, final=False, tables=first, byes=[seat(5, on=True)]),
        BracketRound(2, final=False, tables=second, byes=[]),
    ]


def _highlights() -> list[Highlight]:
    """Return one highlight of each kind, of a game each: a day, a trick, counted hands, the end."""
    found = []
    for kind, at, step in zip(
        Highlight.Kind.values, (1, 4, 2, 3, 3), (3, 5, 99, 3, 99), strict=True
    ):
        match = match_of(at)
        bots = [seat.bot for seat in match.seating.all()]
        found.append(
            Highlight(
                kind=kind,
                day=_AT.date(),
                game=match.game,
                bot=bots[0],
                opponent=bots[1],
                match=match,
                ladder=_ladder(),
                step=step,
                number=12,
                mistake={"seat": 0, "step": 3, "move": "play 7", "best": "play 2", "loss": 0.21},
            )
        )
    return found


@cache
def _ladder() -> Ladder:
    return Ladder(slug="sample", title="Sample", game="twelve-days", rules="calliope", seats=4)


def _rows() -> list[StandingRow]:
    trends = [34_000, -12_000, 0, None]
    rows = []
    for at, trend in enumerate(trends):
        standing = Standing(
            ladder=_ladder(), bot=Bot(name=_NAMES[at]), rating=1_700_000 - 50_000 * at, matches=99
        )
        standing.blocks, standing.ranked_from = (40, 20) if at < 3 else (7, 20)
        standing.quarantined = at == 2  # type: ignore[attr-defined]  # as lists annotate it
        rows.append(StandingRow(standing, at + 1 if at < 3 else None, trend))
    return rows
