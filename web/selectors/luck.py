"""How much of a ladder's numbers is luck, for its page; requests only read the last count."""

from engine.rating.noise import Noise, noise_after
from league.competitions.settings_checks import k_problems
from league.models import Ladder, LuckCount, TwinErrors
from league.ratings.match_results import k_schedule

NOISE_AFTER = (1, 2, 5, 10, 20, 50, 100, 200, 400)
"""The numbers of blocks for which the page shows the noise."""


def noise_of(ladder: Ladder, count: LuckCount | None) -> list[Noise]:
    """Return the noise after `NOISE_AFTER` blocks; empty if its error or schedule is unknown."""
    if count is None or count.block_error is None or k_problems(ladder.k_schedule):
        return []
    return noise_after(NOISE_AFTER, count.block_error, k_schedule(ladder.k_schedule))


def twin_errors(count: LuckCount | None) -> dict[int, TwinErrors]:
    """Return the errors about twins by the id of the first twin; empty before the first count."""
    if count is None:
        return {}
    return {row.bot_id: row for row in count.twins.all()}
