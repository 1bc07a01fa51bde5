"""The story of a bot: where it stands, as a headline, and what comes next, as sentences."""

from collections.abc import Sequence

from django.db.models import QuerySet

from league.models import Bot, BotVersion, Tournament, TournamentEntry
from league.models.standings import Hidden
from web.bot_panels import FirstBlocks, Panel
from web.ordinals import ordinal


def headline(bot: Bot, panels: Sequence[Panel], unrated: Sequence[FirstBlocks]) -> str:
    """Return where a bot stands, by its best rank if it has any.

    Args:
        bot: with the panels and ladders below.
        panels: in the order of `web.bot_panels.importance`.
        unrated: the ladders that have not rated it yet.
    """
    if bot.retired_at is not None:
        return f"{bot.name} is deleted"
    if panels and (rank := panels[0].row.rank) is not None:
        does = "leads" if rank == 1 else f"ranks {ordinal(rank)} on"
        return f"{bot.name} {does} {panels[0].row.standing.ladder.title}"
    if any(not panel.row.standing.hidden for panel in panels):
        return f"{bot.name} has no rank yet"
    if panels:
        left = all(panel.row.standing.hidden == Hidden.WITHDRAWN for panel in panels)
        return (
            f"{bot.name} has left its ladder{'s' if len(panels) > 1 else ''}"
            if left
            else (f"{bot.name} is idle")
        )
    if unrated:
        return f"{bot.name} awaits its first rating"
    return f"{bot.name} has no rating yet"


def next_step(bot: Bot, versions: Sequence[BotVersion], *, online: bool, owned: bool) -> str:
    """Return what must happen before a bot without a rating gets one, by whom.

    Args:
        bot: that is on no ladder.
        versions: the newest first.
        online: whether it is online.
        owned: whether its owner reads this.
    """
    if bot.retired_at is not None:
        return "Its owner deleted it. Its results stay."
    must = "You must" if owned else "Its owner must"
    if bot.kind == Bot.Kind.HOSTED and bot.current_id is None:
        return _before_first_version(versions, must)
    enter = f"{must} enter it on a ladder or in a tournament. Then it gets a rating."
    if bot.kind == Bot.Kind.HOUSE:
        return "Organisers enter house bots on ladders and in tournaments."
    if bot.kind == Bot.Kind.REMOTE and not online:
        seen = "has not asked" if bot.seen_at is None else "does not ask"
        return f"Its program {seen} the league for turns. {must} start the program. {enter}"
    return f"It is ready to play. {enter}"


def _before_first_version(versions: Sequence[BotVersion], must: str) -> str:
    if not versions:
        return f"It has no version yet. {must} upload one. Then the league checks it."
    last = versions[0]
    if last.state == BotVersion.State.CHECKING:
        return (
            f"The league checks version {last.number} now: it plays a match of each game in the "
            "sandbox. If it passes, it can play."
        )
    if last.state == BotVersion.State.REFUSED:
        return f"The check refused version {last.number}. {must} upload another one."
    return (
        f"Version {last.number} passed its check and is held. {must} promote it: then it is the "
        "version that plays."
    )


def tournaments_of(bot: Bot) -> QuerySet[TournamentEntry]:
    """Return the entries of a bot in tournaments that have not ended, the next one first."""
    coming = [*Tournament.NOT_STARTED, Tournament.State.RUNNING]
    entries = TournamentEntry.objects.filter(
        bot=bot, state=TournamentEntry.State.ENTERED, tournament__state__in=coming
    )
    return entries.select_related("tournament").order_by("tournament__starts_at")
