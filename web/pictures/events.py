"""Pictures of ladders and tournaments: the top of the standings, or the head of the bracket."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from engine.games.titles import title
from league.competitions.history import History, history_of
from league.competitions.tournament_standings import (
    BracketRound,
    BracketSeat,
    TournamentStanding,
    bracket_of,
    standings_of,
)
from league.models import Ladder, Tournament
from web.pictures.text import Fitted, fitted
from web.selectors.ladders import standings_page

_ROWS = 7
_STAGES = 3
_TOP, _FLOOR = 226, 596
_HIGHEST_ROW = 72
_TIE_ROW, _TIE_GAP = 34, 12


class Row(NamedTuple):
    """A row of standings.

    Attributes:
        y: of its base line, in pixels.
        rank: as a text.
        name: of the bot.
        by: its owner; "" for house bots.
        number: its rating or score.
        first: whether it is the leader.
    """

    y: int
    rank: str
    name: Fitted
    by: Fitted
    number: str
    first: bool


class Line(NamedTuple):
    """A bot at a table of a bracket: its base line, name and score, and whether it goes on."""

    y: int
    name: Fitted
    score: str
    on: bool


class Tie(NamedTuple):
    """A table of a bracket: its upper edge and height in pixels, and its bots."""

    y: int
    height: int
    lines: list[Line]


class Stage(NamedTuple):
    """A column of a bracket.

    Attributes:
        x: left edge in pixels.
        width: in pixels.
        name: such as "Final".
        ties: the tables that fit.
        more: a sentence on the others; "" if all fit.
    """

    x: float
    width: float
    name: str
    ties: list[Tie]
    more: str


def ladder_svg(ladder: Ladder) -> str:
    """Return the picture of a ladder as SVG: the best bots with their ratings."""
    page, rows = standings_page(ladder, "", "1", _ROWS)
    placed = [
        (
            "–" if row.rank is None else str(row.rank),
            row.standing.bot.name,
            _owner(row.standing.bot.owner),
            f"{row.standing.rating / 1000:.0f}",
        )
        for row in rows
    ]
    return standings_svg(
        kicker=f"Ladder · {title(ladder.game, ladder.rules)}, {ladder.seats} seats",
        called=ladder.title,
        state=_bots(page.paginator.count) if rows else "No bot has a rating yet.",
        rows=placed,
    )


def tournament_svg(tournament: Tournament) -> str:
    """Return the picture of a tournament as SVG: its state and its bracket, standings or entries.

    Args:
        tournament: with its ladder.
    """
    history = history_of(tournament)
    placed = standings_of(history)
    bracket = bracket_of(history)
    kicker = f"{tournament.get_format_display().capitalize()} · {tournament.ladder.title}"
    state = _state(history, placed)
    if bracket:
        context = _head(kicker, tournament.title, state)
        context["stages"] = _stages(bracket)
        return render_to_string("web/pictures/bracket.svg", context)
    begun = any(one.row.blocks for one in placed)
    rows = [
        (
            str(one.row.rank) if begun and one.row.rank is not None else "–",
            one.bot.name,
            _owner(one.bot.owner),
            f"{float(one.row.score):.2f}" if begun else "",
        )
        for one in placed[:_ROWS]
    ]
    return standings_svg(kicker=kicker, called=tournament.title, state=state, rows=rows)


def standings_svg(
    *, kicker: str, called: str, state: str, rows: Iterable[tuple[str, str, str, str]]
) -> str:
    """Return a picture of rows under a headline as SVG.

    Args:
        kicker: the kind of page.
        called: the headline.
        state: a sentence.
        rows: at most 7, each with rank, name, quiet words and number; the first rank is gold.
    """
    placed = list(rows)
    step = min(_HIGHEST_ROW, (_FLOOR - _TOP) // max(1, len(placed)))
    size = 32 if step < 60 else 38
    context = _head(kicker, called, state)
    context["size"] = size
    context["height"] = step * len(placed) + 14
    context["rows"] = [
        Row(
            _TOP + step // 2 + 10 + step * at,
            rank,
            fitted(name, 620, size, 24),
            fitted(by, 240, 22),
            number,
            rank == "1",
        )
        for at, (rank, name, by, number) in enumerate(placed)
    ]
    return render_to_string("web/pictures/standings.svg", context)


def _head(kicker: str, called: str, state: str) -> dict[str, Any]:
    return {
        "kicker": fitted(kicker, 880, 24),
        "title": fitted(called, 1120, 58, 38),
        "state": fitted(state, 1120, 28, 22),
    }


def _bots(count: int) -> str:
    return f"{count} bot{'' if count == 1 else 's'}"


def _owner(owner: Any) -> str:
    return "" if owner is None else f"by {owner.get_username()}"


def _state(history: History, placed: Sequence[TournamentStanding]) -> str:
    """Return the state of a tournament as a sentence."""
    tournament = history.tournament
    match tournament.state:
        case Tournament.State.CANCELLED:
            return "Cancelled"
        case Tournament.State.FINISHED:
            # Disqualified bots stand last and have no rank.
            has_winner = bool(placed) and placed[0].row.rank is not None
            return f"Finished: {placed[0].bot.name} wins." if has_winner else "Finished"
        case Tournament.State.RUNNING:
            stage = history.rounds[-1].number if history.rounds else 0
            return f"Running: stage {stage} is in play." if stage else "The tournament has begun."
        case Tournament.State.ENTRIES_OPEN:
            bots = _bots(len(placed))
            return f"Entries are open: {bots} so far. Play starts {_when(tournament.starts_at)}."
    return f"Entries open {_when(tournament.entries_open_at)}."


def _when(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def _stages(bracket: Sequence[BracketRound]) -> list[Stage]:
    """Return the last stages as columns, each with the tables that fit."""
    shown = bracket[-_STAGES:]
    gap = 28
    width = (1120 - gap * (len(shown) - 1)) / len(shown)
    return [_stage(each, 40 + at * (width + gap), width) for at, each in enumerate(shown)]


def _stage(stage: BracketRound, x: float, width: float) -> Stage:
    tables = [table.seats for table in stage.tables] + [[seat] for seat in stage.byes]
    y = _TOP + 40
    ties: list[Tie] = []
    for seats in tables:
        height = _TIE_ROW * len(seats) + 8
        room = _FLOOR - (0 if len(ties) + 1 == len(tables) else 34)
        if y + height > room:
            break
        lines = [_line(seat, y + 28 + _TIE_ROW * at, width) for at, seat in enumerate(seats)]
        ties.append(Tie(y, height, lines))
        y += height + _TIE_GAP
    left = len(tables) - len(ties)
    more = f"and {left} more table{'' if left == 1 else 's'}" if left else ""
    return Stage(x, width, "Final" if stage.final else f"Stage {stage.number}", ties, more)


def _line(seat: BracketSeat, y: int, width: float) -> Line:
    score = f"{float(sum(seat.scores)):.2f}" if seat.scores else "bye" if seat.goes_on else ""
    return Line(y, fitted(seat.bot.name, width - 110, 22, 18), score, bool(seat.goes_on))
