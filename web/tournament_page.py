"""What the page of a tournament says: how it is played, why each stands where, who met whom."""

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
    count_tables,
    swiss_round_count,
)
from league.competitions.history import History
from league.competitions.tournament_standings import CrossRow, Placed, cross_table_of
from league.models import Bot, Round, Tournament

MAX_CROSSED = 24
"""Rows of the cross table; more than that nobody reads on a page."""

_PLAIN = (TieBreak.ROUND_REACHED, TieBreak.TABLE_PLACE, TieBreak.SCORE)
_CALLED = {
    TieBreak.HEAD_TO_HEAD: "head to head",
    TieBreak.BUCHHOLZ: "Buchholz",
    TieBreak.SONNEBORN_BERGER: "Sonneborn-Berger",
    TieBreak.WINS: "wins",
    TieBreak.MEAN_POINTS: "mean points",
    TieBreak.LOT: "lot",
}


class Standing(NamedTuple):
    """A row of the standings, with the tie-break that puts it below the row above, in words."""

    placed: Placed
    behind: str


class Cell(NamedTuple):
    """A cell of the cross table.

    Attributes:
        text: what was taken, of how many blocks; empty where the two have not met.
        mark: ``self`` on the diagonal, ``up`` and ``down`` for more and less than half.
    """

    text: str
    mark: str


class Crossed(NamedTuple):
    """The cross table of a page: its columns in order, and its rows.

    Attributes:
        columns: the rank of each and the bot; no rank for house bots that fill in.
        left_out: entrants that are not shown.
    """

    columns: list[tuple[int | None, Bot]]
    rows: list[tuple[Placed, list[Cell]]]
    left_out: int


def standings_told(placed: Sequence[Placed]) -> list[Standing]:
    """Return the standings, best first, each row with what separates it from the one above."""
    told = [Standing(one, "") for one in placed[:1]]
    told += [Standing(one, behind(one.row, above.row)) for above, one in pairwise(placed)]
    return told


def behind(row: EventStanding, above: EventStanding) -> str:
    """Return which tie-break separates a row from the one above, with both numbers.

    Empty where the columns say it at a glance: by score, or how far each came.
    """
    if row.decided_by is None or row.decided_by in _PLAIN:
        return ""
    called = _CALLED[row.decided_by]
    if row.decided_by == TieBreak.LOT:
        own, other = row.lot_text, above.lot_text
        digits = next((n for n in (4, 8) if own[:n] != other[:n]), None)
        return f"{called}, {own[:digits]} against {other[:digits]}"
    at = list(TieBreak).index(row.decided_by)
    numbers = [abs(number or 0) for number in (row.numbers[at], above.numbers[at])]
    for digits in (2, 4, 6):
        told = [_number(number, digits) for number in numbers]
        if told[0] != told[1]:
            break
    return f"{called}, {told[0]} against {told[1]}"


def cross_table_told(history: History, placed: Sequence[Placed]) -> Crossed | None:
    """Return the cross table; None in a knockout, whose bracket says more, and before any round.

    Args:
        history: of the tournament.
        placed: its standings.
    """
    if history.tournament.format == Tournament.Format.KNOCKOUT or not history.rounds:
        return None
    rows = cross_table_of(history, placed[:MAX_CROSSED])
    ranks = {row.placed.bot.pk: row.placed.row.rank for row in rows}
    columns = [(ranks.get(bot.pk), bot) for bot, _ in rows[0].met] if rows else []
    told = [(row.placed, [_cell(row, bot, met) for bot, met in row.met]) for row in rows]
    return Crossed(columns, told, len(history.entries) - len(rows))


def rounds_named(history: History) -> list[tuple[Round, str]]:
    """Return the rounds that were opened with what they are called."""
    is_final = False
    named = []
    for round_, played in zip(history.opened, history.rounds, strict=True):
        if not played.extra:
            tables = {block.bots for block in played.blocks}
            is_knockout = history.tournament.format == Tournament.Format.KNOCKOUT
            is_final = is_knockout and len(tables) == 1 and not played.byes
        name = "Final" if is_final else f"Round {played.number}"
        named.append((round_, f"{name}, extra block {played.extra}" if played.extra else name))
    return named


def byes_of(history: History, round_: Round) -> list[tuple[Bot, int]]:
    """Return who sits blocks of a round out, and how many."""
    at = next(at for at, one in enumerate(history.opened) if one.pk == round_.pk)
    return [(history.bots[bot], blocks) for bot, blocks in sorted(history.rounds[at].byes.items())]


def length_of(history: History) -> int | None:
    """Return how many rounds a swiss that has begun will have; None for other formats."""
    if history.tournament.format != Tournament.Format.SWISS or not history.rounds:
        return None
    return swiss_round_count(history.event_settings, history.entrants)


def in_its_words(history: History) -> Sequence[str]:
    """Return how the tournament is played, a sentence each."""
    tournament = history.tournament
    told = []
    if tournament.format == Tournament.Format.SWISS:
        told.append("In each round bots with like scores sit together, if possible for the first.")
        if tournament.swiss_rounds is None:
            told.append("With n entrants there are log2(n) rounds, rounded up, and 2 more.")
    elif tournament.format == Tournament.Format.KNOCKOUT:
        told.append("Tables are seeded by rating; the better half of each goes on.")
        most = tournament.extra_blocks
        blocks = "1 block" if most == 1 else f"{most} blocks"
        played_on = f" is played on, for {blocks} at most; then" if most else ":"
        told.append(f"A tie at the cut{played_on} the better seed goes on.")
    else:
        told.append(_round_robin_in_words(history))
    if tournament.blocks > 1:
        told.append(f"A table plays {tournament.blocks} blocks.")
    if tournament.late_entry:
        told.append("Entries are taken while it runs, without points for what was missed.")
    if tournament.fill_in:
        told.append("House bots take empty seats; they are not ranked.")
    return [*told, *_owners_apart(history)]


def _owners_apart(history: History) -> list[str]:
    """Return how bots of one owner are kept apart, and how often that could not be done."""
    told = ["Bots of one owner meet only where there is no other way, and are not rated then."]
    owners = {pk: bot.owner_id for pk, bot in history.bots.items()}
    blocks = [block.bots for round_ in history.rounds for block in round_.blocks]
    together = sum(not are_owners_apart(bots, owners) for bots in blocks)
    if together:
        told.append(f"So far {together} of {len(blocks)} blocks had to seat them together.")
    if history.event_settings.format == Format.ROUND_ROBIN and history.rounds:
        starters = sum(one.started for one in history.entrants)
        seats = min(history.event_settings.seats, starters)
        # Nobody has left yet, so who sits out does so for the sake of owners.
        left_out = sum(history.rounds[0].byes.values()) // (seats * history.event_settings.blocks)
        if left_out:
            tables = count_tables(starters, seats, history.event_settings.max_tables)
            told.append(
                f"Of the {tables} tables of {seats} at the start, {left_out} would have seated two "
                "of an owner. They are not played, and count half for each bot at them, so "
                "that all scores are of as many blocks."
            )
    return told


def _round_robin_in_words(history: History) -> str:
    """Return how many tables are played, in numbers once it is known who plays."""
    most = history.event_settings.max_tables
    started = [one for one in history.entrants if one.started]
    bots = len(started)
    seats = min(history.event_settings.seats, bots)
    if not history.rounds or seats < 2:
        return (
            f"Every table is played once where there are at most {most}; of more, a choice at "
            "which everybody sits equally often and pairs meet as equally as can be."
        )
    every, played = comb(bots, seats), count_tables(bots, seats, most)
    if played == every:
        owners = [one.owner for one in started if one.owner is not None]
        apart = len(set(owners)) == len(owners)
        but = "so all pairs meet equally often" if apart else "but those with two of one owner"
        return f"Each of the {every} tables of {seats} that {bots} bots make is played once, {but}."
    each, pair = played * seats // bots, played * comb(seats, 2) / comb(bots, 2)
    return (
        f"Of the {every} tables of {seats} that {bots} bots make {played} are played: everybody "
        f"sits at {each}, and pairs meet as equally as can be, {_number(Fraction(pair), 2)} times "
        "in the mean."
    )


def _cell(row: CrossRow, bot: Bot, met: OpponentScore | None) -> Cell:
    if bot == row.placed.bot:
        return Cell("", "self")
    if met is None:
        return Cell("", "")
    half = Fraction(met.blocks, 2)
    mark = "up" if met.score > half else "down" if met.score < half else ""
    return Cell(f"{_number(met.score, 2)}/{met.blocks}", mark)


def _number(number: Fraction | int, digits: int) -> str:
    """Return a number as short as it can be told with so many decimals."""
    text = f"{float(number):.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 2 or text.endswith(".00") else text
