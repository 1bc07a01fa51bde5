"""How a tournament stands: its rows, the cross table, and the bracket of a knockout."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from engine.pairing import (
    EventStanding,
    OpponentScore,
    advancing_bots,
    count_missed_blocks,
    cross_table,
    rank_event,
    seeding,
    stages,
)
from league.competitions.history import History, history_of
from league.models import Bot, Tournament, TournamentEntry


class Placed(NamedTuple):
    """An entrant and where it stands.

    Attributes:
        bot: with its owner.
        row: its rank, with the number of every tie-break; without a rank if it is disqualified.
        entry: whether it is still in.
        byes: blocks that it sat out, or that were given up.
    """

    bot: Bot
    row: EventStanding
    entry: TournamentEntry
    byes: int


class CrossRow(NamedTuple):
    """What an entrant took from all others.

    Attributes:
        placed: the entrant.
        met: by opponent, in the order of the standings, fill-ins last; None for who was not met.
    """

    placed: Placed
    met: list[tuple[Bot, OpponentScore | None]]


@dataclass(frozen=True)
class BracketSeat:
    """An entrant, or a house bot that fills in, at a table of a knockout.

    Attributes:
        seed: 1 the best; None for a house bot that fills in.
        scores: of the regular blocks together, then of each extra block.
        goes_on: None while that is not decided.
    """

    bot: Bot
    seed: int | None
    scores: tuple[Fraction, ...]
    goes_on: bool | None


@dataclass(frozen=True)
class BracketTable:
    """A table of a knockout's round; ``seats`` best first once anything is played.

    Attributes:
        extra_blocks: opened so far.
        max_extra: that may be.
    """

    seats: list[BracketSeat]
    extra_blocks: int
    max_extra: int

    @property
    def by_seed(self) -> bool:
        """Whether the cut is still tied after the extra blocks, so that the better seed went on."""
        on = {seat.scores for seat in self.seats if seat.goes_on and seat.seed}
        out = {seat.scores for seat in self.seats if seat.goes_on is False and seat.seed}
        return self.extra_blocks >= self.max_extra and bool(on & out)


@dataclass(frozen=True)
class BracketRound:
    """A round of a knockout; ``byes`` go on without playing."""

    number: int
    final: bool
    tables: list[BracketTable]
    byes: list[BracketSeat]


def tournament_standings(tournament: Tournament) -> list[Placed]:
    """Return how the entrants stand, best first, by the blocks that are finished."""
    return standings_of(history_of(tournament))


def standings_of(history: History) -> list[Placed]:
    """Return how the entrants stand, best first, by the blocks that are finished."""
    missed = count_missed_blocks(history.rounds)
    rows = rank_event(
        history.event_settings, history.entrants, history.rounds, over=history.is_over
    )
    return [
        Placed(history.bots[row.bot], row, history.entries[row.bot], missed[row.bot])
        for row in rows
    ]


def cross_table_of(history: History, placed: Sequence[Placed]) -> list[CrossRow]:
    """Return who took what from whom.

    Args:
        history: of the tournament.
        placed: its standings, or the first of them; only these have rows and columns.
    """
    met = cross_table(history.rounds)
    shown = [one.bot for one in placed]
    shown += [bot for pk, bot in sorted(history.bots.items()) if pk not in history.entries]
    return [
        CrossRow(one, [(bot, met.get(one.bot.pk, {}).get(bot.pk)) for bot in shown])
        for one in placed
    ]


def bracket_of(history: History) -> list[BracketRound]:
    """Return the rounds of a knockout; empty before the first, and for other formats."""
    if history.tournament.format != Tournament.Format.KNOCKOUT:
        return []
    seeds = seeding(history.event_settings, history.entrants)
    seed = {bot: number for number, bot in enumerate(seeds, 1)}
    told = stages(history.rounds, seeds)
    rounds = []
    for at, stage in enumerate(told):
        through: set[int] | None = None
        if at + 1 < len(told):
            through = set(told[at + 1].entrants)
        elif history.is_over:
            on = advancing_bots(stage, history.entrants, seeds)
            through = {table.entrants[0] for table in stage.tables} if stage.final else set(on)

        def seat(
            bot: int,
            scores: tuple[Fraction, ...] = (),
            through: set[int] | None = through,
        ) -> BracketSeat:
            goes_on = None if through is None else bot in through
            return BracketSeat(history.bots[bot], seed.get(bot), scores, goes_on)

        tables = [
            BracketTable(
                [
                    *(seat(bot, table.scores[bot]) for bot in table.entrants),
                    *(seat(bot) for bot in table.fill_ins),
                ],
                table.extra_blocks,
                history.event_settings.extra_blocks,
            )
            for table in stage.tables
        ]
        byes = [seat(bot) for bot in stage.byes]
        rounds.append(BracketRound(stage.number, stage.final, tables, byes))
    return rounds
