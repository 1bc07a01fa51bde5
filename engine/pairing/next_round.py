"""What an event plays next: a pure function of its settings, who is in it, and what was played."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from engine.pairing.event import (
    Entrant,
    EventSettings,
    Format,
    NextRound,
    PlayedRound,
    awarded,
    owners_of,
    rounds_opened,
    table_without_the_gone,
)
from engine.pairing.knockout import knockout_round
from engine.pairing.round_robin import round_robin_round
from engine.pairing.stages import going_on, seeding, stages
from engine.pairing.swiss import SwissEntrant, swiss_round, swiss_rounds
from engine.pairing.tables import (
    MAX_BLOCKS_PER_ROUND,
    Table,
    derive_pairing_seed,
    meetings,
    table_of,
)


def next_round(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int] = (),
) -> NextRound | None:
    """Return the round that comes after those played, None if the event is over.

    It always ends: a round robin after its tables, a swiss after its rounds, a knockout since each
    round has fewer bots than the one before, and all of them when too few bots are left.

    Args:
        settings: of the event.
        entrants: all who ever started, in any order.
        rounds: in the order in which they were opened, each of their blocks finished or void.
        fill_ins: house bots that are not entered and may take empty seats, the first ones first.

    Raises:
        ValueError: an entrant is among the fill-ins.
    """
    entered = sorted(entrants, key=lambda one: one.bot)
    clash = {one.bot for one in entered} & set(fill_ins)
    if clash:
        raise ValueError(f"bot {min(clash)} is entered, it can't fill in")
    drawn = _NEXT[settings.format](settings, entered, rounds, fill_ins)
    if drawn is None or not (drawn.tables or drawn.byes):
        return None
    return drawn


def is_too_small(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    number: int,
    fill_ins: Sequence[int],
) -> bool:
    """Return whether too few are left for a round to have a table."""
    left = sum(one.is_in(number) for one in entrants)
    return left < 2 or left + len(fill_ins) < settings.fewest


def swiss_length(settings: EventSettings, entrants: Sequence[Entrant]) -> int:
    """Return how many rounds a swiss has, from its settings or from those who started."""
    if settings.rounds is not None:
        return settings.rounds
    return swiss_rounds(sum(one.started for one in entrants))


def _swiss(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    number = rounds_opened(rounds) + 1
    if number > swiss_length(settings, entrants) or is_too_small(
        settings, entrants, number, fill_ins
    ):
        return None
    score: dict[int, Fraction] = defaultdict(Fraction, awarded(rounds))
    byes: Counter[int] = Counter()
    tables: list[Table] = []
    for round_ in rounds:
        byes.update(round_.byes.keys())
        # Blocks of one table in a round are one meeting.
        tables += [Table(bots, True) for bots in dict.fromkeys(b.bots for b in round_.blocks)]
        for block in round_.blocks:
            for bot, taken in block.scores().items():
                score[bot] += taken
    drawn = swiss_round(
        [
            SwissEntrant(one.bot, one.owner, score[one.bot], byes[one.bot])
            for one in entrants
            if one.is_in(number) and not one.away
        ],
        meetings(tables),
        settings.seats,
        derive_pairing_seed(settings.seed, number),
        fewest=settings.fewest,
        fill_ins=fill_ins,
        swaps=settings.swaps,
    )
    return _played_by(settings, number, drawn.tables, drawn.byes)


def _knockout(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    owners = owners_of(entrants)
    seeds = seeding(settings, entrants)
    left = [one.bot for one in entrants if one.is_in(1)]
    number = rounds_opened(rounds)
    if rounds:
        last = stages(rounds, seeds)[-1]
        still_in = {one.bot for one in entrants if one.is_in(number + 1)}
        again = []
        for table in last.tables:
            if table.is_undecided(still_in, settings.extra_blocks):
                here = [*(bot for bot in table.entrants if bot in still_in), *table.fill_ins]
                free = [bot for bot in fill_ins if bot not in here]
                here += free[: max(settings.fewest - len(here), 0)]
                if len(here) >= max(settings.fewest, 2):
                    again.append(table_of(here, {bot: owners.get(bot) for bot in here}))
        if again:
            return NextRound(number, rounds[-1].extra + 1, again, {})
        if last.final:
            return None
        left = going_on(last, entrants, seeds)
    drawn = knockout_round(
        [bot for bot in seeds if bot in set(left)],
        owners,
        settings.seats,
        fewest=settings.fewest,
        fill_ins=fill_ins,
    )
    return _played_by(settings, number + 1, drawn.tables, drawn.byes if drawn.tables else ())


def _round_robin(
    settings: EventSettings,
    entrants: Sequence[Entrant],
    rounds: Sequence[PlayedRound],
    fill_ins: Sequence[int],
) -> NextRound | None:
    number = rounds_opened(rounds) + 1
    if is_too_small(settings, entrants, number, fill_ins):
        return None
    drawn = round_robin_round(settings, entrants, number)
    if drawn is None:
        return None
    owners = owners_of(entrants)
    gone = {one.bot for one in entrants if one.has_left_before(number) or one.away}
    byes = Counter(drawn.missed)
    filled: Counter[int] = Counter()
    tables = []
    most = max(MAX_BLOCKS_PER_ROUND // settings.blocks, 1)
    for planned in drawn.tables:
        free = [bot for bot in fill_ins if filled[bot] < most]
        free.sort(key=lambda bot: filled[bot])
        table = table_without_the_gone(planned.bots, gone, free, settings, owners)
        if table is None:
            byes.update(planned.bots)
        else:
            tables.append(table)
            filled.update(table.bots)
    sat_out = {bot: times * settings.blocks for bot, times in byes.items() if bot not in gone}
    return NextRound(number, 0, [t for t in tables for _ in range(settings.blocks)], sat_out)


def _played_by(
    settings: EventSettings, number: int, tables: Sequence[Table], byes: Sequence[int]
) -> NextRound:
    blocks = [table for table in tables for _ in range(settings.blocks)]
    return NextRound(number, 0, blocks, dict.fromkeys(byes, settings.blocks))


_NEXT = {
    Format.SWISS: _swiss,
    Format.KNOCKOUT: _knockout,
    Format.ROUND_ROBIN: _round_robin,
}
