"""What happens in a tournament now and next: the stage in play, and stages not drawn yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.pairing.knockout import places_to_advance
from league.competitions.history import History
from league.competitions.tournament_standings import BracketRound
from league.models import Match, Tournament
from web.selectors.matches import matches_listed
from web.selectors.rounds import Progress, progress_of


@dataclass(frozen=True)
class Now:
    """The stage that is open.

    Attributes:
        name: of the stage, such as "Stage 2" or "Final".
        progress: its blocks.
        playing: number of its matches that are being played at this moment.
        waiting: number of its matches that wait to be played.
    """

    name: str
    progress: Progress
    playing: int
    waiting: int


_MAX_PLAYING = 6


class UndrawnStage(NamedTuple):
    """A stage of a knockout that is not drawn yet.

    Attributes:
        number: of the stage.
        final: whether its table is the final.
        bots: number of entrants that reach it.
        tables: number of full tables that they need; byes may make it lower.
    """

    number: int
    final: bool
    bots: int
    tables: int


def now(history: History, names: Sequence[str]) -> Now | None:
    """Return the last stage that was opened; None before the first one. Costs two queries.

    Args:
        history: of the tournament.
        names: of its opened rounds, in order.
    """
    if not history.opened:
        return None
    last = history.opened[-1]
    states = list(Match.objects.filter(block__round=last).values_list("status", flat=True))
    return Now(
        names[len(history.opened) - 1],
        progress_of([last])[last.pk],
        states.count(Match.Status.PLAYING),
        states.count(Match.Status.WAITING),
    )


def undrawn_stages(bracket: Sequence[BracketRound], seats: int) -> list[UndrawnStage]:
    """Return the stages after the last one drawn, if no entrant withdraws.

    Args:
        bracket: the stages that are drawn.
        seats: the seats of a full table.
    """
    if not bracket or bracket[-1].final:
        return []
    undrawn: list[UndrawnStage] = []
    last = bracket[-1]
    sizes = [sum(seat.seed is not None for seat in table.seats) for table in last.tables]
    number, bots = last.number, len(last.byes) + _advancing(sizes)
    while not undrawn or not undrawn[-1].final:
        number += 1
        tables = -(-bots // seats)
        undrawn.append(UndrawnStage(number, bots <= seats, bots, tables))
        bots = _advancing([bots // tables + (at < bots % tables) for at in range(tables)])
    return undrawn


def _advancing(sizes: Sequence[int]) -> int:
    return sum(places_to_advance(size, final=False) for size in sizes)


def playing(history: History) -> list[Match]:
    """Return some matches of the last stage that are being played, with seats and bots."""
    if not history.opened or history.is_over:
        return []
    found = matches_listed().playing().filter(block__round=history.opened[-1])
    return list(found.order_by("-live", "pk")[:_MAX_PLAYING])


def in_short(tournament: Tournament) -> list[str]:
    """Return two sentences on how a tournament works, for somebody who never saw one."""
    score = (
        "In each block, a bot scores the share of its opponents that it beats. Its score is the sum"
    )
    if tournament.format == Tournament.Format.KNOCKOUT:
        return [
            "The better half of each table goes on to the next stage, and the others are out.",
            "The best bot of the last table, the final, wins.",
        ]
    if tournament.format == Tournament.Format.SWISS:
        return [
            "In each stage, bots with similar scores meet.",
            f"{score} over all its blocks. After the last stage, the highest score wins.",
        ]
    return [
        "All bots meet all others about equally often.",
        f"{score} over all its blocks. The highest score wins.",
    ]
