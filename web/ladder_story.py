"""The story of the ladders in a list: who leads, by how much, and who moved, as sentences."""

from collections.abc import Sequence

from league.models import Ladder, Standing
from league.ratings.standings import TREND_ROUNDS, StandingRow
from web.selectors.ladders import Movement


def headline(tops: Sequence[Movement]) -> str:
    """Return who leads the ladders, or what happened on one of them; "" before any rank."""
    leaders = [name for top in tops if (name := _leader(top))]
    names = list(dict.fromkeys(leaders))
    if len(leaders) == len(tops) and len(names) in (1, 2):
        if len(names) == 2:
            return f"{names[0]} and {names[1]} lead"
        many = len(leaders) > 1
        which = ("both ladders" if len(leaders) == 2 else "all ladders") if many else "the ladder"
        return f"{names[0]} leads {which}"
    for top in tops:
        if (best := top.ahead) is not None:
            return f"{best.bot.name} is ahead on {top.ladder.title}"
    return next((f"{_leader(top)} leads {top.ladder.title}" for top in tops if _leader(top)), "")


def of_page(ladder: Ladder, leaders: Sequence[StandingRow], ahead: Standing | None) -> str:
    """Return who leads a ladder, as the headline of its page; its title before any rank.

    Args:
        ladder: of the page.
        leaders: the first two ranked bots; empty on other pages than the first.
        ahead: the provisional bot that is rated above all ranked bots, if there is one.
    """
    if ahead is not None:
        return f"{ahead.bot.name} is ahead on {ladder.title}"
    if not leaders:
        return ladder.title
    first, *others = [row.standing for row in leaders]
    if others and _lead(first, others[0]) == 0:
        return f"{first.bot.name} and {others[0].bot.name} lead {ladder.title}"
    return f"{first.bot.name} leads {ladder.title}"


def of(top: Movement) -> str:
    """Return who leads a ladder, by how much, and which of its best bots moved most."""
    ranked = [row for row in top.rows if row.rank is not None]
    if (best := top.ahead) is not None:
        left = best.ranked_from - best.blocks_for_rank
        blocks = "1 more block" if left == 1 else f"{left} more blocks"
        return f"{best.bot.name} has the highest rating, but needs {blocks} for a rank."
    if not ranked:
        return ""
    first = ranked[0].standing.bot.name
    text, is_it = f"{first} is the only ranked bot.", True
    if len(ranked) > 1:
        lead = _lead(ranked[0].standing, ranked[1].standing)
        second = ranked[1].standing.bot.name
        text = f"{first} leads by {lead} Elo." if lead else f"{first} and {second} share the lead."
        is_it = lead > 0
    moved = max(ranked, key=lambda row: abs(row.trend or 0))
    points = round((moved.trend or 0) / 1000)
    if not points:
        return text
    name = "It" if is_it and moved is ranked[0] else moved.standing.bot.name
    way = "gained" if points > 0 else "lost"
    return f"{text} {name} {way} most: {abs(points)} in {TREND_ROUNDS} rating rounds."


def _leader(top: Movement) -> str:
    """Return the name of the bot that leads a ladder.

    It is "" without a ranked bot, in a tie, and while a provisional bot is ahead.
    """
    ranked = [row.standing for row in top.rows if row.rank is not None]
    if not ranked or top.ahead:
        return ""
    if ranked[1:] and _lead(*ranked[:2]) == 0:
        return ""
    return ranked[0].bot.name


def _lead(first: Standing, second: Standing) -> int:
    """Return by how many Elo points a bot leads, as `leader.html` does; 0 if two share the lead."""
    return round((first.rating - second.rating) / 1000)
