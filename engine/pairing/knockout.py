"""Knockouts: snake-seeded tables, the top half of each goes on, until one table is left."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from engine.errors import quote
from engine.pairing.seating import party, seat_apart
from engine.pairing.sizes import plan_sizes
from engine.pairing.tables import MAX_EXTRA_BLOCKS, Owners, Table, are_owners_apart, table_of

BlockScores = Mapping[int, Sequence[Fraction]]
"""By entrant at a table: its score S over the regular blocks, then of each extra block."""


class KnockoutRound(NamedTuple):
    """Who plays whom next.

    Attributes:
        tables: of entrants and fill-ins, the one of the best seed first.
        byes: the entrants that go on without playing, best seed first.
        final: whether this is the last round. Without a table then, the first of ``byes`` has won.
    """

    tables: list[Table]
    byes: tuple[int, ...]
    final: bool


def seed_entrants(ratings: Mapping[int, int], seed: bytes) -> list[int]:
    """Return the entrants by rating in milli-Elo, the best first, equal ones by lot."""
    rng = Random(seed)
    lots = {bot: rng.random() for bot in sorted(ratings)}
    return sorted(ratings, key=lambda bot: (-ratings[bot], lots[bot]))


def knockout_round(
    seeding: Sequence[int],
    owners: Owners,
    seats: int,
    *,
    fewest: int = 2,
    fill_ins: Sequence[int] = (),
) -> KnockoutRound:
    """Return the next round of a knockout. Nothing is left to chance: it follows from the seeding.

    With T tables, seeds 1 to T sit at tables 1 to T, seeds T + 1 to 2T at tables T to 1, and so to
    and fro. Where that brings owners together, the lower seed changes places with the seed nearest
    to it that sets it right. `plan_sizes` says what becomes of uneven numbers: fill-ins are the
    lowest seeds and never go on, byes are for the best. As many as one table holds play the final,
    there, whoever owns them; it may be smaller than tables otherwise are.

    Args:
        seeding: who is still in, best seed first; the order is kept from round to round.
        owners: at least of these.
        seats: at a full table.
        fewest: seats that the preset takes.
        fill_ins: house bots that are not entered and may take empty seats, the first ones first.

    Raises:
        ValueError: a bot stands twice, among the entrants or the fill-ins.
    """
    everybody = [*seeding, *fill_ins]
    if len(set(everybody)) < len(everybody):
        twice = Counter(everybody).most_common(1)[0][0]
        raise ValueError(f"bot {quote(twice)} stands twice among entrants and fill-ins")
    known = {bot: owners[bot] for bot in seeding} | dict.fromkeys(fill_ins)
    if len(seeding) <= seats:
        table = everybody[:seats]
        if len(seeding) < 2 or len(table) < fewest:
            return KnockoutRound([], tuple(seeding), final=True)
        return KnockoutRound([table_of(table, known)], (), final=True)
    in_event = {bot: known[bot] for bot in seeding}
    sizes = plan_sizes(in_event, seats, fewest=fewest, fill_ins=len(fill_ins))
    if len(sizes.tables) >= len(in_event) - sizes.byes:
        # To keep owners apart each would sit with house bots alone: nobody would ever go out.
        alone = dict.fromkeys(in_event)
        sizes = plan_sizes(alone, seats, fewest=fewest, fill_ins=len(fill_ins))
    playing = [*seeding[sizes.byes :], *fill_ins[: sizes.fill_ins]]
    tables = _snake(playing, len(sizes.tables), known)
    return KnockoutRound(
        [table_of(table, known) for table in tables], tuple(seeding[: sizes.byes]), final=False
    )


def places_to_advance(entrants: int, *, final: bool) -> int:
    """Return how many of a table's entrants, fill-ins not counted, go on; in a final one wins.

    Of an odd number the one in the middle goes on: it is not in the lower half.
    """
    return 1 if final else (entrants + 1) // 2


def needs_extra_block(scores: BlockScores, places: int, most: int = MAX_EXTRA_BLOCKS) -> bool:
    """Return whether the last to go on and the first to go out are tied and may play on.

    The table plays extra blocks one by one, each deciding only among those still tied: nobody who
    is through can lose that again.

    Args:
        scores: of the table's entrants.
        places: how many go on, from `places_to_advance`.
        most: extra blocks that may be played.

    Raises:
        ValueError: the entrants have not played equally many blocks.
    """
    extra = _count_extra_blocks(scores)
    ranked = sorted((tuple(of) for of in scores.values()), reverse=True)
    tied = 0 < places < len(ranked) and ranked[places - 1] == ranked[places]
    return tied and extra < most


def advancing(scores: BlockScores, places: int, seeding: Sequence[int]) -> list[int]:
    """Return who goes on from a table, best first; those still tied by seed.

    Args:
        scores: of the table's entrants.
        places: how many go on, from `places_to_advance`.
        seeding: of the event, best first; all these entrants are in it.

    Raises:
        ValueError: the entrants have not played equally many blocks.
    """
    _count_extra_blocks(scores)
    by_seed = sorted(scores, key=seeding.index)
    return sorted(by_seed, key=lambda bot: tuple(scores[bot]), reverse=True)[:places]


def _count_extra_blocks(scores: BlockScores) -> int:
    counts = {len(of) for of in scores.values()}
    if len(counts) > 1 or 0 in counts:
        raise ValueError(f"entrants of one table have {quote(sorted(counts))} block scores")
    return max(counts, default=1) - 1


def _snake(playing: Sequence[int], count: int, owners: Owners) -> list[list[int]]:
    """Return so many tables, dealt to and fro, with owners apart if at all possible."""
    table_of_bot: dict[int, int] = {}
    for position, bot in enumerate(playing):
        row, column = divmod(position, count)
        table_of_bot[bot] = count - 1 - column if row % 2 else column
    tables = [[bot for bot in playing if table_of_bot[bot] == number] for number in range(count)]
    _part_owners(tables, playing, owners)
    if all(are_owners_apart(table, owners) for table in tables):
        return tables
    # No single exchange helps any more. This may, or else there is no way at all.
    dealt = [bot for table in tables for bot in table]
    rearranged = seat_apart(dealt, [len(table) for table in tables], owners)
    return rearranged if all(are_owners_apart(table, owners) for table in rearranged) else tables


def _part_owners(tables: list[list[int]], playing: Sequence[int], owners: Owners) -> None:
    """Let those who sit with one of their owner's better seeds change places with the nearest."""
    seed = {bot: number for number, bot in enumerate(playing)}
    of = {bot: party(bot, owners) for bot in playing}
    at = {bot: table for table in tables for bot in table}

    def fits(newcomer: int, leaver: int, table: Sequence[int]) -> bool:
        return all(of[other] != of[newcomer] for other in table if other != leaver)

    for bot in playing:
        here = at[bot]
        if all(of[other] != of[bot] or seed[other] >= seed[bot] for other in here):
            continue
        for other in sorted(playing, key=lambda o: (abs(seed[o] - seed[bot]), seed[o])):
            there = at[other]
            if there is here or not (fits(other, bot, here) and fits(bot, other, there)):
                continue
            here[here.index(bot)], there[there.index(other)] = other, bot
            at[bot], at[other] = there, here
            break
