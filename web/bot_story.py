"""The story of a bot: where it stands, as a headline, and what comes next, as sentences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.text import get_text_list

from league.models import Bot, BotVersion, Ladder, Tournament, TournamentEntry
from league.models.standings import Hidden
from league.ratings.standings import StandingRow
from web.bot_panels import FirstBlocks
from web.ordinals import ordinal
from web.selectors.bots import Faults
from web.selectors.head_to_head import Rival
from web.selectors.ladders import bot_ahead

_NEAR = 0.05
"""Shares that differ by no more are nearly equal."""


class Step(NamedTuple):
    """What an owner should do next.

    Attributes:
        text: why, as sentences.
        label: of the button.
        address: where the button leads.
    """

    text: str
    label: str
    address: str


def headline(bot: Bot, rows: Sequence[StandingRow], unrated: Sequence[FirstBlocks]) -> str:
    """Return where a bot stands, by its best rank if it has any.

    Args:
        bot: with the rows and ladders below.
        rows: in the order of `web.bot_panels.importance`.
        unrated: the ladders that have not rated it yet.
    """
    if bot.retired_at is not None:
        return f"{bot.name} is deleted"
    if rows and (rank := rows[0].rank) is not None:
        led = [row.standing.ladder.title for row in rows if row.rank == 1]
        if len(led) > 1:
            return (
                f"{bot.name} leads {' and '.join(led) if len(led) == 2 else f'{len(led)} ladders'}"
            )
        does = "leads" if rank == 1 else f"ranks {ordinal(rank)} on"
        return f"{bot.name} {does} {rows[0].standing.ladder.title}"
    if shown := [row.standing.ladder for row in rows if not row.standing.hidden]:
        best = [each.title for each in shown if _is_ahead(bot, each)]
        if best:
            where = best[0] if len(best) == 1 else f"{len(best)} ladders"
            return f"{bot.name} has the best rating on {where}, but no rank yet"
        return f"{bot.name} has no rank yet"
    if rows:
        left = all(row.standing.hidden == Hidden.WITHDRAWN for row in rows)
        return (
            f"{bot.name} has left its ladder{'s' if len(rows) > 1 else ''}"
            if left
            else (f"{bot.name} is idle")
        )
    if unrated:
        return f"{bot.name} awaits its first rating"
    return f"{bot.name} has no rating yet"


def best_place(bots: Iterable[Bot]) -> str:
    """Return which of a person's bots stands best, and where; "" without a rank.

    Args:
        bots: as `web.selectors.bots.bots_of` returns them.
    """
    ranked = [
        # As `bots_of` annotates it.
        (row.higher, -row.rating, bot.name, row.ladder.title)  # type: ignore[attr-defined]
        for bot in bots
        for row in bot.standings.all()
        if not row.is_provisional and not row.hidden
    ]
    if not ranked:
        return ""
    higher, _, name, ladder = min(ranked)
    return (
        f"{name} leads {ladder}"
        if higher == 0
        else f"{name} ranks {ordinal(higher + 1)} on {ladder}"
    )


def _is_ahead(bot: Bot, ladder: Ladder) -> bool:
    """Return whether a bot is provisional and rated above all others of a ladder."""
    first = bot_ahead(ladder)
    return first is not None and first.bot_id == bot.pk


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
            "sandbox. If the version passes, the bot can play."
        )
    if last.state == BotVersion.State.REFUSED:
        return f"The league refused version {last.number}. {must} upload another one."
    return (
        f"Version {last.number} passed its check and is held. {must} promote it to make it the "
        "current version, which plays."
    )


def owners_step(
    bot: Bot,
    versions: Sequence[BotVersion],
    rows: Sequence[StandingRow],
    faults: Faults,
    *,
    online: bool,
    waits: bool,
) -> Step:
    """Return what the owner of a bot should do next.

    Args:
        bot: with its tokens.
        versions: the newest first.
        rows: of the bot, as `headline` takes them.
        faults: in its last matches.
        online: whether it is online.
        waits: whether it is entered on a ladder or in a tournament without a rating there.
    """
    entered = bool(rows) or waits
    hosted = bot.kind == Bot.Kind.HOSTED
    if hosted and ((versions and versions[0].pk != bot.current_id) or bot.current_id is None):
        return _step_of_version(bot, versions)
    if bot.paused:
        return Step("It is paused, so it plays no match.", "Resume the bot", _account())
    if bot.kind == Bot.Kind.REMOTE and not bot.tokens.all():
        manage = reverse("web:bot-manage", args=[bot.name])
        return Step("Its program needs a bot token to play.", "Create a token", manage)
    if bot.kind == Bot.Kind.REMOTE and not online:
        guide = reverse("web:document", args=["remote-bot"])
        return Step(
            "It is offline. Start its program, and it gets turns.", "Run a remote bot", guide
        )
    if not entered:
        text = "It is ready to play. Enter it on a ladder, and it gets a rating."
        return Step(text, "Enter it on a ladder", _account())
    if faults.faults:
        matches = reverse("web:bot-matches", args=[bot.name])
        count = f"{faults.faults} fault{'' if faults.faults == 1 else 's'}"
        text = (
            f"It made {count} in its last {faults.matches} matches. At each fault, the referee "
            "(the program that runs a match) chose the bot's move."
        )
        return Step(text, "Find the faults", matches)
    test = reverse("web:new-challenge", args=[bot.name])
    if not rows:
        return Step("It waits for its first rated block.", "Play a test match now", test)
    first = rows[0].standing
    if first.is_provisional and not first.hidden:
        missing = first.ranked_from - first.blocks_for_rank
        text = f"It gets a rank on {first.ladder.title} after {missing} more blocks."
        return Step(text, "Play a test match now", test)
    if hosted:
        text = "It plays without faults. Upload a version that plays better, and compare the two."
        return Step(text, "Upload a version", reverse("web:upload", args=[bot.name]))
    return Step("It plays without faults.", "Play a test match now", test)


def _step_of_version(bot: Bot, versions: Sequence[BotVersion]) -> Step:
    """Return what to do with the newest version of a hosted bot, which is not the current one."""
    if not versions:
        upload = reverse("web:upload", args=[bot.name])
        text = "It has no version yet. Upload one so that it can play."
        return Step(text, "Upload a file", upload)
    last = versions[0]
    page = reverse("web:version", args=[bot.name, last.number])
    if last.state == BotVersion.State.CHECKING:
        return Step(f"The league checks version {last.number} now.", "Watch the check", page)
    if last.state == BotVersion.State.REFUSED:
        return Step(f"The league refused version {last.number}.", "Read the reason", page)
    if bot.current_id is not None and last.state == BotVersion.State.READY:
        text = f"Version {last.number} is held. Compare it with the current one, or promote it."
        return Step(text, "Compare versions", reverse("web:compare", args=[bot.name]))
    text = f"Version {last.number} passed its check and is held. You must promote it to play."
    return Step(text, "Promote it", page)


def clear_worst(best: list[Rival], worst: list[Rival]) -> list[Rival]:
    """Return the opponents that a bot clearly beats least often.

    An opponent that the bot beats in more than half of their matches is one of them only if its
    share is clearly below the shares of the best.

    Args:
        best: as `web.selectors.head_to_head.rivals` returns them.
        worst: likewise.
    """
    lowest = min((one.share for one in best), default=0.0)
    return [one for one in worst if one.share <= 1 / 2 or one.share < lowest - _NEAR]


def even_shares(bot: Bot, rivals: Sequence[Rival]) -> str:
    """Return a sentence if a bot's shares against its opponents are nearly equal, or else ""."""
    shares = [one.share for one in rivals]
    if len(shares) < 2 or max(shares) - min(shares) > _NEAR:
        return ""
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    range_ = f"{low} %" if low == high else f"{low} to {high} %"
    names = get_text_list([one.name for one in rivals], "and")
    return (
        f"{bot.name} has nearly the same result against {names}: it had the better place in "
        f"{range_} of their matches."
    )


def _account() -> str:
    return reverse("web:account")


def tournaments_of(bot: Bot) -> QuerySet[TournamentEntry]:
    """Return the entries of a bot in tournaments that have not ended, the next one first."""
    coming = [*Tournament.NOT_STARTED, Tournament.State.RUNNING]
    entries = TournamentEntry.objects.filter(
        bot=bot, state=TournamentEntry.State.ENTERED, tournament__state__in=coming
    )
    return entries.select_related("tournament").order_by("tournament__starts_at")
