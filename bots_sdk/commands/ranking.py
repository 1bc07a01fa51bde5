"""A bot's way to a rank: what happens next on a ladder, and when."""

from bots_sdk import answers, calls
from bots_sdk.client import Client
from bots_sdk.commands.errors import ImpossibleError
from bots_sdk.commands.following import follow
from bots_sdk.durations import about
from bots_sdk.errors import ProblemError


def ladder_places(client: Client, bot: str) -> list[answers.LadderPlace]:
    """Return a bot's entries on ladders, each with its blocks and its next block."""
    entries = []
    for each in client.send(calls.ladders())["results"]:
        try:
            entries.append(client.send(calls.ladder_entry(each["slug"], bot)))
        except ProblemError as error:
            if error.code != "not-found":
                raise
    return entries


def follow_to_rank(
    client: Client, ladder: str, bot: str, *, printed: str, quiet: bool
) -> answers.LadderPlace:
    """Show how a bot comes to its rank on a ladder, until it has one.

    Args:
        client: a client of the league.
        ladder: the ladder's slug.
        bot: the bot's name.
        printed: what the command has printed about the bot on this ladder.
        quiet: whether to show nothing.

    Raises:
        ImpossibleError: the bot gets no new matches, and has no block left to play, or had its
            rank before the command.
    """
    is_first = True

    def look() -> answers.LadderPlace:
        nonlocal is_first
        place = client.send(calls.ladder_entry(ladder, bot))
        progress = place["rank_progress"]
        at_rest = is_first if progress is None else not progress["playing"] + progress["queued"]
        if at_rest:
            _require_new_matches(client.send(calls.bot(bot)))
        is_first = False
        return place

    stopped = (
        f"{bot} stays on {ladder} and plays on. `twelfth-night status {bot}` shows its progress."
    )
    return follow(look, _line, news_of=_news, printed=printed, after_stop=stopped, quiet=quiet)


def _require_new_matches(bot: answers.Bot) -> None:
    name = bot["name"]
    if bot["quarantined"]:
        raise ImpossibleError(
            f"{name} is in quarantine: an organiser keeps it out of new matches. So it gets no "
            "rank. The page of the bot shows you the reason."
        )
    if bot["paused"]:
        raise ImpossibleError(
            f"{name} is paused and gets no new matches. Resume it: `twelfth-night bot resume "
            f"{name}`."
        )


def describe_with_rank(client: Client, place: answers.LadderPlace) -> str:
    """Return rank and rating of a bot on a ladder, if it has them, and when it plays next."""
    text = place["next_block"]
    if place["rating"] is None:
        return text
    if place["rank_progress"] is not None:
        return f"rating {place['rating'] / 1000:.0f} so far. {text}"
    rank = client.send(calls.bot_standing(place["bot"], place["ladder"]))["rank"]
    begin = f"rank {rank}, " if rank else ""
    return f"{begin}rating {place['rating'] / 1000:.0f}. {text}"


def print_rank(client: Client, url: str, ladder: str, bot: str) -> None:
    """Print a bot's rank on a ladder."""
    row = client.send(calls.bot_standing(bot, ladder))
    rating = f"{row['rating'] / 1000:.0f}"
    print(
        f"{bot} has rank {row['rank']} on {ladder}, with a rating of {rating}. Every bot begins at "
        f"1500, and a first rank can still change a lot. {url}/bots/{bot}/"
    )


def _news(place: answers.LadderPlace) -> object:
    """Return what changes when a bot comes nearer to its rank; the estimate is no news."""
    progress = place["rank_progress"]
    if progress is None:
        return None
    is_drawn = progress["finished"] + progress["playing"] + progress["queued"] > 0
    return is_drawn, progress["finished"], place["rating"]


def _line(place: answers.LadderPlace) -> str | None:
    """Return how far a bot is; None once it has a rank."""
    progress = place["rank_progress"]
    if progress is None:
        return None
    finished, playing, queued = progress["finished"], progress["playing"], progress["queued"]
    if not finished + playing + queued:
        return place["next_block"]
    needed = progress["needed"]
    if finished >= needed:
        return (
            f"{place['ladder']}: all {needed} blocks finished; the league computes rating and rank"
        )
    rating = "" if place["rating"] is None else f"; rating {place['rating'] / 1000:.0f} so far"
    line = (
        f"{place['ladder']}: {finished} of {needed} blocks finished, {playing} in play, {queued} "
        "waiting to begin"
    )
    later = needed - finished - playing - queued
    line += f", {later} not planned yet{rating}" if later > 0 else rating
    if progress["seconds_left"] is not None:
        line += f"; rank in {about(progress['seconds_left'])}"
    elif not playing + queued:
        line += f". {place['next_block']}"
    return line
