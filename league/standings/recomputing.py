"""Recomputing: fold all rounds from the records, and compare with what is stored."""

from typing import NamedTuple

from engine.rating import elo
from league.models import Ladder
from league.standings.results import round_to_rate


class Difference(NamedTuple):
    """A bot whose stored rating is not what its matches give; ratings in milli-Elo."""

    bot: int
    stored: int | None
    folded: int | None


def recompute(ladder: Ladder) -> list[Difference]:
    """Return where the stored ratings of a ladder differ from the fold: nowhere, if all is well."""
    rounds = ladder.rounds.filter(applied_at__isnull=False).order_by("number")
    folded: dict[int, int] = {}
    for applied in elo.fold(round_to_rate(round_) for round_ in rounds.iterator(chunk_size=100)):
        folded = {bot: standing.rating for bot, standing in applied.standings.items()}
    stored = dict(ladder.standings.values_list("bot", "rating"))
    return [
        Difference(bot, stored.get(bot), folded.get(bot))
        for bot in sorted(stored.keys() | folded.keys())
        if stored.get(bot) != folded.get(bot)
    ]
