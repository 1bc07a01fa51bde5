"""How a tournament stands, from its finished matches."""

from collections import defaultdict
from typing import NamedTuple

from engine.pairing.tiebreaks import PlayedMatch, Row, rank_entrants
from league.models import Block, Bot, MatchSeat, Tournament


class Placed(NamedTuple):
    """An entrant and where it stands.

    Attributes:
        bot: with its owner.
        row: its rank, with the number of every tie-break.
    """

    bot: Bot
    row: Row


def tournament_standings(tournament: Tournament) -> list[Placed]:
    """Return how the entrants stand, best first, by the blocks that are finished.

    A void block counts for nobody. Costs two queries, however many matches there are.
    """
    entries = tournament.entries.select_related("bot__owner")
    bots = {entry.bot_id: entry.bot for entry in entries}
    seats = (
        MatchSeat.objects.filter(
            match__block__round__tournament=tournament, match__block__state=Block.State.FINISHED
        )
        .order_by("match__block", "match", "seat")
        .values_list("match__block", "match", "bot", "place", "score")
    )
    blocks: dict[int, dict[int, list[tuple[int, int, int]]]] = defaultdict(dict)
    for block, match, bot, place, score in seats:
        blocks[block].setdefault(match, []).append((bot, place or 0, score or 0))
    played = [[_played(table) for table in matches.values()] for matches in blocks.values()]
    rows = rank_entrants(bots, played, bytes(tournament.seed))
    return [Placed(bots[row.bot], row) for row in rows]


def _played(table: list[tuple[int, int, int]]) -> PlayedMatch:
    seating, places, points = zip(*table, strict=True)
    return PlayedMatch(seating, places, points)
