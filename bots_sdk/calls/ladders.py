"""Calls on ladders."""

from bots_sdk import answers
from bots_sdk.call import Call, read_bytes, read_nothing, url_path
from bots_sdk.pages import Page


def ladders(limit: int | None = None) -> Call[Page[answers.Ladder]]:
    """List the ladders."""
    return Call("GET", "ladders", query={"limit": limit})


def ladder(slug: str) -> Call[answers.LadderDetail]:
    """Get a ladder."""
    return Call("GET", url_path("ladders", slug))


def ladder_standings(
    slug: str, *, hidden: bool = False, limit: int | None = None
) -> Call[Page[answers.Standing]]:
    """List the standings of a ladder: ranked bots by rating, then provisional bots.

    Args:
        slug: the ladder.
        hidden: whether to add hidden bots at the end.
        limit: the number of bots on a page.
    """
    query = {"hidden": "true" if hidden else None, "limit": limit}
    return Call("GET", url_path("ladders", slug, "standings"), query=query)


def ladder_cross_table(
    slug: str, *, bot: str | None = None, limit: int | None = None
) -> Call[Page[answers.Meeting]]:
    """List the share of each bot, or of one bot, against each opponent in rated blocks."""
    query = {"bot": bot, "limit": limit}
    return Call("GET", url_path("ladders", slug, "cross-table"), query=query)


def ladder_ledger(
    slug: str,
    *,
    bot: str | None = None,
    round: int | None = None,
    revision: int | None = None,
    limit: int | None = None,
) -> Call[Page[answers.RatingChange]]:
    """List every rating change with its blocks, matches and seeds, the latest first."""
    query = {"bot": bot, "round": round, "revision": revision, "limit": limit}
    return Call("GET", url_path("ladders", slug, "ledger"), query=query)


def ladder_revisions(slug: str, limit: int | None = None) -> Call[Page[answers.Revision]]:
    """List the corrections of a ladder, the latest first."""
    return Call("GET", url_path("ladders", slug, "revisions"), query={"limit": limit})


def ladder_export(slug: str) -> Call[bytes]:
    """Download a ladder as one file in JSON Lines: rounds, records and ledger."""
    return Call("GET", url_path("ladders", slug, "export"), read=read_bytes)


def fair_play(slug: str) -> Call[answers.FairPlay]:
    """Get the pairs of bots that may help each other. Needs an organiser's owner token."""
    return Call("GET", url_path("ladders", slug, "fair-play"))


def ladder_rounds(slug: str, limit: int | None = None) -> Call[Page[answers.Round]]:
    """List the rounds of a ladder, the latest first."""
    return Call("GET", url_path("ladders", slug, "rounds"), query={"limit": limit})


def enter_ladder(slug: str, bot: str) -> Call[answers.LadderEntry]:
    """Enter a bot on a ladder. Needs an owner token or the bot's token."""
    return Call("PUT", url_path("ladders", slug, "entries", bot))


def ladder_entry(slug: str, bot: str) -> Call[answers.LadderPlace]:
    """Get a bot's entry on a ladder, and when the bot plays next."""
    return Call("GET", url_path("ladders", slug, "entries", bot))


def leave_ladder(slug: str, bot: str) -> Call[None]:
    """Take a bot off a ladder. Needs an owner token or the bot's token."""
    return Call("DELETE", url_path("ladders", slug, "entries", bot), read=read_nothing)
