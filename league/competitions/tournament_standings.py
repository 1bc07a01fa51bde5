"""Standings of a tournament: its rows, the cross table, and the bracket of a knockout."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from engine.pairing import (
    EventStanding,
    OpponentScore,
    Stage,
    advancing_bots,
    count_missed_blocks,
    cross_table,
    rank_event,
    seeding,
    stages,
)
from league.competitions.history import History, history_of
from league.models import Bot, Tournament, TournamentEntry


class TournamentStanding(NamedTuple):
    """An entrant's row in the standings.

    Attributes:
        bot: with its owner.
        row: its rank and the number of each tie-break; a disqualified bot has no rank.
        entry: with its state.
        byes: number of blocks that it missed by byes or void blocks.
    """

    bot: Bot
    row: EventStanding
    entry: TournamentEntry
    byes: int


class CrossRow(NamedTuple):
    """An entrant's row in the cross table.

    Attributes:
        placed: the entrant.
        met: its results by opponent, in the order of the standings, fill-ins last; None if the two
            have not met.
    """

    placed: TournamentStanding
    met: list[tuple[Bot, OpponentScore | None]]


@dataclass(frozen=True)
class BracketSeat:
    """An entrant or a fill-in at a table of a knockout.

    Attributes:
        bot: in the seat.
        seed: 1 the best; None for a fill-in.
        scores: of the regular blocks together, then of each extra block.
        goes_on: whether it goes on; None while that is not decided.
    """

    bot: Bot
    seed: int | None
    scores: tuple[Fraction, ...]
    goes_on: bool | None


@dataclass(frozen=True)
class BracketTable:
    """A table of a knockout's round.

    Attributes:
        seats: best first once a match is finished.
        extra_blocks: number of extra blocks opened so far.
        max_extra: the most extra blocks of a table.
    """

    seats: list[BracketSeat]
    extra_blocks: int
    max_extra: int

    @property
    def extra_numbers(self) -> range:
        """Numbers of the extra blocks whose scores the seats have, from 1."""
        return range(1, max((len(seat.scores) for seat in self.seats), default=1))

    @property
    def by_seed(self) -> bool:
        """Whether seeds decided the cut, because it was still tied after the extra blocks."""
        on = {seat.scores for seat in self.seats if seat.goes_on and seat.seed}
        out = {seat.scores for seat in self.seats if seat.goes_on is False and seat.seed}
        return self.extra_blocks >= self.max_extra and bool(on & out)


@dataclass(frozen=True)
class BracketRound:
    """A round of a knockout; the bots in ``byes`` go on without playing."""

    number: int
    final: bool
    tables: list[BracketTable]
    byes: list[BracketSeat]


def tournament_standings(tournament: Tournament) -> list[TournamentStanding]:
    """Return the standings by the finished blocks, best first."""
    return standings_of(history_of(tournament))


def standings_of(history: History) -> list[TournamentStanding]:
    """Return the standings by the finished blocks, best first."""
    missed = count_missed_blocks(history.rounds)
    rows = rank_event(
        history.event_settings, history.entrants, history.rounds, over=history.is_over
    )
    return [
        TournamentStanding(history.bots[row.bot], row, history.entries[row.bot], missed[row.bot])
        for row in rows
    ]


def cross_table_of(history: History, placed: Sequence[TournamentStanding]) -> list[CrossRow]:
    """Return the cross table: each entrant's results against each opponent.

    Args:
        history: of the tournament.
        placed: the standings, or their first rows; only these get rows and columns.
    """
    met = cross_table(history.rounds)
    shown = [one.bot for one in placed]
    shown += [bot for pk, bot in sorted(history.bots.items()) if pk not in history.entries]
    return [
        CrossRow(one, [(bot, met.get(one.bot.pk, {}).get(bot.pk)) for bot in shown])
        for one in placed
    ]


def bracket_of(history: History) -> list[BracketRound]:
    """Return the rounds of a knockout; empty before the first round and for other formats."""
    if history.tournament.format != Tournament.Format.KNOCKOUT:
        return []
    seeds = seeding(history.event_settings, history.entrants)
    seed = {bot: number for number, bot in enumerate(seeds, 1)}
    drawn = stages(history.rounds, seeds)
    rounds = []
    for at, stage in enumerate(drawn):
        through: set[int] | None = None
        if at + 1 < len(drawn):
            through = set(drawn[at + 1].entrants)
        elif history.is_over:
            on = advancing_bots(stage, history.entrants, seeds)
            through = _winner(stage, history) if stage.final else set(on)

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


def _winner(final: Stage, history: History) -> set[int]:
    """Return the winner of the final, as a set: its best bot that is not disqualified, if any."""
    out = {entrant.bot for entrant in history.entrants if entrant.disqualified}
    inside = [bot for table in final.tables for bot in table.entrants if bot not in out]
    return set(inside[:1])
