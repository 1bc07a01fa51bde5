"""The next round of an event: a pure function of its settings, entrants and rounds so far."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from engine.blocks import MIN_SEATS
from engine.errors import quote
from engine.pairing.event import (
    Entrant,
    EventSettings,
    Format,
    NextRound,
    PlayedRound,
    awarded_scores,
    filled_table,
    owners_of,
    rounds_opened,
)
from engine.pairing.knockout import knockout_round
from engine.pairing.knockout_stages import Stage, advancing_bots, seeding, stages
from engine.pairing.round_robin import (
    RoundRobinTables,
    max_tables_of_a_bot,
    round_robin_round,
)
from engine.pairing.swiss import SwissEntrant, default_swiss_rounds, swiss_round
from engine.pairing.tables import Table, count_meetings, derive_pairing_seed


def next_round(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int] = (),
) -> NextRound | None:
    """Return the round after those played, or None if the event is over.

    Each event ends: a round robin after its tables, a Swiss after its rounds, a knockout because
    each round has fewer bots than the previous one. All formats end if too few bots are left.

    Args:
        settings: the settings of the event.
        entrants: all bots ever entered, in any order.
        rounds: in the order of their opening; each of their blocks is finished or void.
        fill_ins: ids of house bots that may take empty seats, in order of preference.

    Raises:
        ValueError: a bot is an entrant and a fill-in.
    """
    entered = sorted(entrants, key=lambda entrant: entrant.bot)
    both = {entrant.bot for entrant in entered} & set(fill_ins)
    if both:
        raise ValueError(f"bot {quote(min(both))} is entered, so it can't fill in")
    drawn = _DRAW[settings.format](settings, entered, rounds, fill_ins)
    if drawn is None or not (drawn.tables or drawn.byes):
        return None
    return drawn


def has_too_few_entrants(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    number: int,
    fill_ins: Sequence[int],
) -> bool:
    """Return whether round ``number`` would have no table because too few entrants are left."""
    left = sum(entrant.is_in(number) for entrant in entrants)
    return left < MIN_SEATS or left + len(fill_ins) < settings.min_seats


def swiss_round_count(settings: EventSettings, entrants: Sequence[Entrant]) -> int:
    """Return the number of rounds of a Swiss: the setting, or the default for its starters."""
    if settings.rounds is not None:
        return settings.rounds
    return default_swiss_rounds(sum(entrant.started for entrant in entrants))


def _swiss(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    number = rounds_opened(rounds) + 1
    if number > swiss_round_count(settings, entrants) or has_too_few_entrants(
        settings, entrants, number, fill_ins
    ):
        return None
    score: dict[int, Fraction] = defaultdict(Fraction, awarded_scores(rounds))
    byes: Counter[int] = Counter()
    tables: list[Table] = []
    for round_ in rounds:
        byes.update(round_.byes.keys())
        # Blocks of one table in a round are one meeting.
        tables += [Table(bots, True) for bots in dict.fromkeys(b.bots for b in round_.blocks)]
        for block in round_.blocks:
            for bot, share in block.scores().items():
                score[bot] += share
    drawn = swiss_round(
        [
            SwissEntrant(entrant.bot, entrant.owner, score[entrant.bot], byes[entrant.bot])
            for entrant in entrants
            if entrant.is_in(number) and not entrant.sits_out
        ],
        count_meetings(tables),
        settings.seats,
        derive_pairing_seed(settings.seed, number),
        min_seats=settings.min_seats,
        fill_ins=fill_ins,
        max_swaps=settings.max_swaps,
    )
    return _regular_round(settings, number, drawn.tables, dict.fromkeys(drawn.byes, 1))


def _knockout(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    seeds = seeding(settings, entrants)
    number = rounds_opened(rounds)
    if rounds:
        last = stages(rounds, seeds)[-1]
        undecided = _undecided_tables(settings, entrants, last, fill_ins)
        if undecided:
            return NextRound(number, rounds[-1].extra + 1, undecided, {})
        if last.final:
            return None
        playing = advancing_bots(last, entrants, seeds)
    else:
        playing = seeds
    drawn = knockout_round(
        playing,
        owners_of(entrants),
        settings.seats,
        min_seats=settings.min_seats,
        fill_ins=fill_ins,
    )
    byes = drawn.byes if drawn.tables else ()
    return _regular_round(settings, number + 1, drawn.tables, dict.fromkeys(byes, 1))


def _undecided_tables(
    settings: EventSettings, entrants: Sequence[Entrant], stage: Stage, fill_ins: Sequence[int]
) -> list[Table]:
    """Return the tables of a stage that play an extra block, with the bots that are still in."""
    owners = owners_of(entrants)
    still_in = {entrant.bot for entrant in entrants if entrant.is_in(stage.number + 1)}
    tables = []
    for table in stage.tables:
        if table.is_undecided(still_in, settings.extra_blocks):
            bots = [*(bot for bot in table.entrants if bot in still_in), *table.fill_ins]
            filled = filled_table(bots, fill_ins, settings.min_seats, settings, owners)
            if filled is not None:
                tables.append(filled)
    return tables


def _round_robin(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    """Return the next round in which a bot plays or has a bye.

    If all bots of a round's tables are away, the round has no table and no bye. It is left out, and
    the next round is drawn.
    """
    number = rounds_opened(rounds) + 1
    if has_too_few_entrants(settings, entrants, number, fill_ins):
        return None
    counted = _count_blocks(rounds)
    while (planned := round_robin_round(settings, entrants, number)) is not None:
        planned = planned._replace(missed=_not_counted_yet(settings, planned, counted))
        drawn = _without_absent(settings, entrants, number, planned, fill_ins)
        if drawn.tables or drawn.byes:
            return drawn
        number += 1
    return None


def _count_blocks(rounds: Iterable[PlayedRound]) -> Counter[int]:
    """Return by bot the number of blocks that it sat at or sat out."""
    counted: Counter[int] = Counter()
    for round_ in rounds:
        counted.update(bot for block in round_.blocks for bot in block.bots)
        counted.update(round_.byes)
    return counted


def _not_counted_yet(
    settings: EventSettings, planned: RoundRobinTables, counted: Mapping[int, int]
) -> Counter[int]:
    """Return by bot the tables left out that count in a round, without those that counted before.

    An earlier version of this code counted all of them in the first round. Events that began with
    it may still run.
    """
    to_play = Counter(bot for table in planned.tables for bot in table.bots)
    return Counter(
        {
            bot: min(missed, room)
            for bot, missed in planned.missed.items()
            if (room := planned.so_far[bot] - to_play[bot] - counted[bot] // settings.blocks) > 0
        }
    )


def _without_absent(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    number: int,
    planned: RoundRobinTables,
    fill_ins: Sequence[int],
) -> NextRound:
    """Return a round of a round robin with the bots that can play, and fill-ins for the others."""
    owners = owners_of(entrants)
    absent = {entrant.bot for entrant in entrants if entrant.is_away(number) or entrant.sits_out}
    byes = Counter(planned.missed)
    seated: Counter[int] = Counter()
    tables = []
    max_tables = max_tables_of_a_bot(settings)
    for each in planned.tables:
        bots = [bot for bot in each.bots if bot not in absent]
        free = [bot for bot in fill_ins if seated[bot] < max_tables]
        free.sort(key=lambda bot: seated[bot])
        table = filled_table(bots, free, settings.seats, settings, owners) if bots else None
        if table is None:
            byes.update(each.bots)
        else:
            tables.append(table)
            seated.update(table.bots)
    present = {bot: times for bot, times in byes.items() if bot not in absent}
    return _regular_round(settings, number, tables, present)


def _regular_round(
    settings: EventSettings, number: int, tables: Iterable[Table], byes: Mapping[int, int]
) -> NextRound:
    """Return a round with all blocks of its tables.

    Args:
        settings: the settings of the event.
        number: the round's number.
        tables: its tables, each once.
        byes: by bot, the number of tables that it sits out.
    """
    return NextRound(
        number,
        0,
        [table for table in tables for _ in range(settings.blocks)],
        {bot: missed * settings.blocks for bot, missed in byes.items()},
    )


_DRAW = {
    Format.SWISS: _swiss,
    Format.KNOCKOUT: _knockout,
    Format.ROUND_ROBIN: _round_robin,
}
