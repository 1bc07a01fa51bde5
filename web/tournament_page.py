"""The texts and tables of a tournament's page: its format, tie-breaks, cross table and rounds."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import NamedTuple

from engine.pairing import (
    EventStanding,
    Format,
    OpponentScore,
    TieBreak,
    are_owners_apart,
    count_left_out,
    count_tables,
    swiss_round_count,
)
from league.competitions.history import History
from league.competitions.tournament_standings import (
    CrossRow,
    TournamentStanding,
    cross_table_of,
)
from league.models import Bot, Round, Tournament
from web.ordinals import ordinal

MAX_CROSSED = 24
"""Rows of the cross table; the API has the other rows."""

_PLAIN = (TieBreak.ROUND_REACHED, TieBreak.TABLE_PLACE, TieBreak.SCORE)
_CALLED = {
    TieBreak.HEAD_TO_HEAD: "points against each other (head to head)",
    TieBreak.BUCHHOLZ: "strength of its opponents (Buchholz)",
    TieBreak.SONNEBORN_BERGER: "points from strong opponents (Sonneborn-Berger)",
    TieBreak.WINS: "wins",
    TieBreak.MEAN_POINTS: "mean points",
    TieBreak.LOT: "lot",
}


class StandingsRow(NamedTuple):
    """A row of the standings, and the tie-break that puts it below the row above, as a text."""

    placed: TournamentStanding
    behind: str


class Cell(NamedTuple):
    """A cell of the cross table.

    Attributes:
        text: win share in percent; "" if they never met.
        points: the same in points, with the number of blocks; "" if they never met.
        mark: ``self`` on the diagonal, ``up`` above and ``down`` below half; else "".
        head: the head of its column, which stands above the cell on phones.
    """

    text: str
    points: str
    mark: str
    head: str


class CrossTable(NamedTuple):
    """A cross table.

    Attributes:
        columns: head and bot of each column, in order. The head is the bot's rank; without one it
            is ``H`` for a house bot that fills a seat, else a dash.
        rows: each bot with its cells.
        left_out: number of entrants that are not shown.
    """

    columns: list[tuple[str, Bot]]
    rows: list[tuple[TournamentStanding, list[Cell]]]
    left_out: int


def standings_rows(placed: Sequence[TournamentStanding]) -> list[StandingsRow]:
    """Return the rows of the standings, best first."""
    rows = [StandingsRow(one, "") for one in placed[:1]]
    # Before the first block is over, only the lot would separate them: no result yet.
    rows += [
        StandingsRow(
            one, tie_break(one.row, above.row) if one.row.blocks or above.row.blocks else ""
        )
        for above, one in pairwise(placed)
    ]
    return rows


def ranked(rows: Sequence[StandingsRow]) -> list[StandingsRow]:
    """Return the rows of the bots that have a rank: a disqualified bot wins nothing."""
    return [each for each in rows if each.placed.row.rank is not None]


def _despite_score(row: EventStanding, above: EventStanding) -> str:
    """Return why a row of a knockout stands below a row with a lower score."""
    if row.decided_by == TieBreak.ROUND_REACHED:
        return f"stage reached, {row.round_reached} against {above.round_reached}"
    if row.table_place is None or above.table_place is None:
        return ""
    own, other = ordinal(row.table_place), ordinal(above.table_place)
    return f"place at the table, {own} against {other}"


def tie_break(row: EventStanding, above: EventStanding) -> str:
    """Return the tie-break that separates a row from the row above, with both numbers.

    It is "" if the score, the stage or the place separates them, because the columns show these.
    But if the row above has the lower score, the text names the stage or the place.
    """
    if row.decided_by is None:
        return ""
    if row.decided_by in _PLAIN:
        return _despite_score(row, above) if above.score < row.score else ""
    called = _CALLED[row.decided_by]
    if row.decided_by == TieBreak.LOT:
        own, other = row.lot_text, above.lot_text
        digits = next((n for n in (4, 8) if own[:n] != other[:n]), None)
        return f"{called}, {own[:digits]} against {other[:digits]}"
    at = list(TieBreak).index(row.decided_by)
    numbers = [abs(Fraction(number or 0)) for number in (row.numbers[at], above.numbers[at])]
    for digits in (2, 4, 6):
        texts = [_number(number, digits) for number in numbers]
        if texts[0] != texts[1]:
            break
    return f"{called}, {texts[0]} against {texts[1]}"


def cross_table(history: History, placed: Sequence[TournamentStanding]) -> CrossTable | None:
    """Return the cross table; None before the first round, and in a knockout, which has a bracket.

    Args:
        history: of the tournament.
        placed: its standings.
    """
    if history.tournament.format == Tournament.Format.KNOCKOUT or not history.rounds:
        return None
    rows = cross_table_of(history, placed[:MAX_CROSSED])
    ranks = {row.placed.bot.pk: row.placed.row.rank for row in rows}
    columns = [(_head(ranks.get(bot.pk), bot), bot) for bot, _ in rows[0].met] if rows else []
    cells = [
        (row.placed, [_cell(row, bot, met, _head(ranks.get(bot.pk), bot)) for bot, met in row.met])
        for row in rows
    ]
    return CrossTable(columns, cells, len(history.entries) - len(rows))


def round_names(history: History) -> list[tuple[Round, str]]:
    """Return the rounds that were opened, each with its name; superseded ones and replays last."""
    is_final = False
    named = []
    for round_, played in zip(history.opened, history.rounds, strict=True):
        if not played.extra:
            tables = {block.bots for block in played.blocks}
            is_knockout = history.tournament.format == Tournament.Format.KNOCKOUT
            is_final = is_knockout and len(tables) == 1 and not played.byes
        name = "Final" if is_final else f"Stage {played.number}"
        named.append((round_, f"{name}, extra block {played.extra}" if played.extra else name))
    for round_ in history.set_aside:
        why = "void" if round_.superseded_by_id is not None else "played again"
        named.append((round_, f"Stage {round_.stage}, {why}"))
    return named


def byes_of(history: History, round_: Round) -> list[tuple[Bot, int]]:
    """Return the bots that have byes in a round, each with the number of blocks."""
    at = next((at for at, one in enumerate(history.opened) if one.pk == round_.pk), None)
    if at is None:
        return []
    return [(history.bots[bot], blocks) for bot, blocks in sorted(history.rounds[at].byes.items())]


def planned_rounds(history: History) -> int | None:
    """Return the number of rounds of a Swiss that has begun; None for other formats."""
    if history.tournament.format != Tournament.Format.SWISS or not history.rounds:
        return None
    return swiss_round_count(history.event_settings, history.entrants)


def description_of(history: History) -> Sequence[str]:
    """Return sentences that describe how the tournament is played."""
    tournament = history.tournament
    sentences = []
    if tournament.format == Tournament.Format.SWISS:
        sentences.append(
            "In each stage, bots with similar scores meet; if possible, they have not met before."
        )
        if tournament.swiss_rounds is None:
            sentences.append(
                "The number of stages depends on the number of bots: its base-2 logarithm, rounded "
                "up, plus 2. So 16 bots play 6 stages."
            )
    elif tournament.format == Tournament.Format.KNOCKOUT:
        sentences.append(
            "The first tables are made by rating, so that the best bots meet late. The better half "
            "of each table reaches the next stage."
        )
        limit = tournament.extra_blocks
        blocks = "1 block" if limit == 1 else f"{limit} blocks"
        extra = f"their table plays up to {blocks} more. If they still tie, " if limit else ""
        sentences.append(
            f"If bots tie for a place in the next stage, {extra}the bot with the better seeding "
            "(the higher rating at the start) goes on."
        )
    else:
        sentences.append(_round_robin_description(history))
    if tournament.blocks > 1:
        sentences.append(f"Each table plays {tournament.blocks} blocks.")
    if tournament.late_entry:
        sentences.append(
            "Bots may enter while the tournament runs, but they get no points for missed stages."
        )
    if tournament.fill_in:
        sentences.append("House bots fill empty seats and have no rank.")
    return [*sentences, *_owners_apart(history)]


def _owners_apart(history: History) -> list[str]:
    """Return sentences on how bots of one owner are kept apart, and how often that failed."""
    sentences = [
        "Bots of one owner sit at one table only if there is no other way. A block with two bots "
        "of one owner changes no rating. House bots count as bots of different owners."
    ]
    owners = {pk: bot.owner_id for pk, bot in history.bots.items()}
    blocks = [block.bots for round_ in history.rounds for block in round_.blocks]
    together = sum(not are_owners_apart(bots, owners) for bots in blocks)
    if together:
        sentences.append(f"So far, {together} of {len(blocks)} blocks had two bots of one owner.")
    if history.event_settings.format == Format.ROUND_ROBIN and history.rounds:
        starters = sum(one.started for one in history.entrants)
        seats = min(history.event_settings.seats, starters)
        left_out = count_left_out(history.event_settings, history.entrants)
        if left_out:
            tables = count_tables(starters, seats, history.event_settings.max_tables)
            sentences.append(
                f"Of the {tables} tables of {seats}, {left_out} would seat two bots of one owner. "
                "These tables are not used. Each gives its bots half a point per block, in the "
                "stage in which it would be played, so that the score of every bot counts the "
                "same number of blocks."
            )
    return sentences


def _round_robin_description(history: History) -> str:
    """Return how many tables are played; with numbers once the entrants are final."""
    limit = history.event_settings.max_tables
    started = [one for one in history.entrants if one.started]
    bots = len(started)
    seats = min(history.event_settings.seats, bots)
    if not history.rounds or seats < 2:
        return (
            f"Each possible group of {history.event_settings.seats} bots is a table. If there are "
            f"{limit} such tables or fewer, all of them play. If there are more, only some play: "
            "then all bots play equally often, and all pairs of bots meet about equally often."
        )
    every, played = comb(bots, seats), count_tables(bots, seats, limit)
    if played == every:
        owners = [one.owner for one in started if one.owner is not None]
        apart = len(set(owners)) == len(owners)
        but = (
            "so all pairs meet equally often"
            if apart
            else "except tables with two bots of one owner"
        )
        return (
            f"{bots} bots can form {every} different tables of {seats}. All of them are used, "
            f"{but}."
        )
    each, pair = played * seats // bots, played * comb(seats, 2) / comb(bots, 2)
    return (
        f"{bots} bots can form {every} different tables of {seats}. {played} of them are used. "
        f"Each bot plays at {each} tables. All pairs of bots meet about equally often, "
        f"{_number(Fraction(pair), 2)} times on average."
    )


def _head(rank: int | None, bot: Bot) -> str:
    return str(rank) if rank else "–" if bot.owner_id else "H"


def _cell(row: CrossRow, bot: Bot, met: OpponentScore | None, head: str) -> Cell:
    if bot == row.placed.bot:
        return Cell("", "", "self", head)
    if met is None:
        return Cell("", "", "", head)
    half = Fraction(met.blocks, 2)
    mark = "up" if met.score > half else "down" if met.score < half else ""
    share = f"{round(100 * met.score / met.blocks)}\u00a0%" if met.blocks else ""
    blocks = "1 block" if met.blocks == 1 else f"{met.blocks} blocks"
    return Cell(share, f"{_number(met.score, 2)} points in {blocks}", mark, head)


def _number(number: Fraction | int, digits: int) -> str:
    """Return a number with at most so many decimals, without zeros at the end."""
    text = f"{float(number):.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 2 or text.endswith(".00") else text
