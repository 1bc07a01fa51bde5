"""A bot's next block on a ladder, described in words: when it plays, or why it does not."""

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from bots_sdk.durations import about
from engine.games.titles import counted
from league.bots import Obstacle, obstacles
from league.competitions.ladder_rounds import (
    MAX_OPEN_ROUNDS,
    SETTLED_BLOCKS,
    bots_in_live_matches,
    bots_to_draw,
    open_work,
    pause_of,
)
from league.competitions.placement import MAX_PLACED, REMOTE_BLOCKS, bots_before
from league.competitions.rank_progress import (
    RankProgress,
    rank_progress,
    seconds_to_first_match,
    usual_seconds,
)
from league.models import Bot, Ladder, Standing
from league.models.bots import BotQuerySet
from league.play.standstill import standing_still

_WHY_NOT = {
    Obstacle.QUARANTINED: "It is in quarantine, so it gets no new matches.",
    Obstacle.PAUSED: "Its owner has paused it.",
    Obstacle.NO_VERSION: "It waits for a version that passes its check.",
}
_NUMERALS = {1: "one", 2: "two", 3: "three", 4: "four"}


def describe_next_block(standing: Standing) -> str:
    """Return in a few sentences when the bot of a standing plays next, or why it does not.

    For an owner's bot without a rank, the sentences show how far it is, and estimate when its
    first match begins and when it has a rank.

    Costs up to twelve queries, and twenty more for an owner's bot without a rank, however many
    bots there are.
    """
    ladder, bot = standing.ladder, standing.bot
    if not ladder.entries.filter(bot=bot).exists():
        return "It is not on this ladder now, so only tournaments rate it."
    # Nobody waits for the rank of a house bot.
    progress = None if bot.kind == Bot.Kind.HOUSE else rank_progress(ladder, bot)
    counts = "" if progress is None else f" {_counted(progress)}"
    if (why := _why_not(ladder, bot)) is not None:
        return f"{why}{counts}"
    if not bots_to_draw(ladder).filter(pk=bot.pk).exists():
        return _offline(ladder, bot, progress)
    still = bot.kind != Bot.Kind.REMOTE and standing_still() > 0
    if progress is not None and ladder.rounds.open().filter(placed=bot).exists():
        return _placement(ladder, bot, progress, still=still)
    can_play = bots_to_draw(ladder)
    count, house, owners = can_play.aggregate(
        count=Count("pk"),
        house=Count("pk", filter=Q(owner=None)),
        owners=Count("owner", distinct=True),
    ).values()
    if (few := _too_few(ladder, count, house, owners)) is not None:
        return f"{few}{counts}"
    before = bots_before(ladder, bot)
    if before is not None:
        return _before_placement(ladder, bot, progress, before, still=still)
    if still:
        return f"It waits, because the league's workers play no matches at the moment.{counts}"
    when = _in_own_rounds(standing, can_play)
    if progress is None:
        return when
    if progress.finished >= progress.needed:  # what else it plays is not for its rank
        return f"{counts.lstrip()} {_rank_in(bot, progress)}"
    return f"{when}{counts} {_rank_in(bot, progress)}".rstrip()


def _too_few(ladder: Ladder, count: int, house: int, owners: int) -> str | None:
    """Return what a ladder's bots wait for if too few of them can play; None if enough can."""
    if count < ladder.seats:
        return (
            f"It waits for more bots: a table has {ladder.seats} seats, and {count} of this "
            "ladder's bots can play now."
        )
    if (missing := ladder.seats - house - owners) > 0:
        more = "one more owner" if missing == 1 else f"{missing} more owners"
        return (
            f"It waits for bots of {more}, or for house bots: a table has {ladder.seats} seats, "
            "and an owner's bots take at most one of them."
        )
    return None


def _in_own_rounds(standing: Standing, can_play: BotQuerySet) -> str:
    """Return when one of a ladder's own rounds draws a bot."""
    ladder, bot = standing.ladder, standing.bot
    fewer = _short_of(standing.blocks, can_play, ladder).count()
    house_alone = bot.kind == Bot.Kind.HOUSE and not can_play.filter(owner__isnull=False).exists()
    if house_alone and standing.blocks >= SETTLED_BLOCKS and not fewer:
        return f"It pauses: after {SETTLED_BLOCKS} blocks house bots wait until another bot enters."
    if bot.kind == Bot.Kind.REMOTE and bot.pk in bots_in_live_matches(ladder):
        pause = ladder.round_pause_seconds
        text = "It has unfinished matches. Its next block comes after them"
        return f"{text}{f' and a pause of {pause:g} s' if pause else ''}."
    is_quiet = house_alone or not _short_of(ladder.settled_blocks, can_play, ladder).exists()
    when = _next_round(ladder, is_quiet=is_quiet)
    if not fewer:
        return f"Its next block comes {when}."
    first = "1 other bot goes" if fewer == 1 else f"{fewer} other bots go"
    played = "it has" if fewer == 1 else "they have"
    return (
        f"The league draws the next blocks {when}. {first} first, because {played} played fewer "
        "blocks."
    )


def _short_of(blocks: int, bots: BotQuerySet, ladder: Ladder) -> BotQuerySet:
    """Return the bots with fewer than so many rated blocks on a ladder."""
    if not blocks:
        return bots.none()  # a bot without a standing has 0 blocks, not fewer
    as_many = ladder.standings.filter(bot=OuterRef("pk"), blocks__gte=blocks)
    return bots.exclude(Exists(as_many))


def _why_not(ladder: Ladder, bot: Bot) -> str | None:
    """Return why a bot on a ladder gets no new matches; None if nothing keeps it from them."""
    if ladder.set_aside:
        return (
            "An error keeps this ladder from playing new matches. Its page shows organisers the "
            "reason."
        )
    if ladder.paused:
        return "The ladder is paused."
    return next((_WHY_NOT[each] for each in obstacles(bot) if each in _WHY_NOT), None)


def _offline(ladder: Ladder, bot: Bot, progress: RankProgress | None) -> str:
    """Describe a remote bot that asks for no turns, and how its rank comes if it does."""
    text = (
        "It is offline: it asked for no turns in the last 60 s, so it gets no matches. Start its "
        "program."
    )
    if progress is None:
        return text
    left = max(progress.needed - progress.finished, 0)
    if not left:
        return f"{text} {_counted(progress)} {_rank_in(bot, progress)}"
    seconds = usual_seconds(ladder, bot) * left / progress.needed
    return (
        f"{text} Its first match then begins in {about(seconds_to_first_match(ladder, bot))}. "
        f"{_counted(progress)} If the program answers at once, it has a rank in {about(seconds)}."
    )


def _placement(ladder: Ladder, bot: Bot, progress: RankProgress, *, still: bool) -> str:
    """Describe a placement that goes on."""
    if progress.finished >= progress.needed:
        return f"{_counted(progress)} {_rank_in(bot, progress)}"
    if still:
        begin = "Its first blocks wait, because the league's workers play no matches at the moment."
        return f"{begin} {_counted(progress)}"
    if progress.playing:
        begin = (
            f"Its first blocks are played now{_at_a_time(bot)}, before most blocks of other bots."
        )
    elif not progress.queued:
        begin = f"The league draws its next blocks now{_at_a_time(bot)}."
    elif progress.finished:
        begin = (
            f"Its next blocks begin in a moment{_at_a_time(bot)}, before most blocks of other bots."
        )
    else:
        first = about(seconds_to_first_match(ladder, bot))
        begin = f"Its first match begins in {first}. Its blocks are played before most blocks of "
        begin += f"other bots{_at_a_time(bot)}."
    return f"{begin} {_counted(progress)} {_rank_in(bot, progress)}"


def _before_placement(
    ladder: Ladder, bot: Bot, progress: RankProgress | None, before: int, *, still: bool
) -> str:
    """Describe a placement that has not begun, or goes on with the next blocks in a moment.

    Args:
        ladder: the ladder.
        bot: the bot.
        progress: its way to a rank.
        before: how many bots are placed before it.
        still: whether workers play no matches at the moment.
    """
    word = "next" if progress and progress.finished + progress.playing else "first"
    if before:
        others = counted(before, "other bot")
        begin = f"Its {word} blocks come soon, after those of {others}."
    elif word == "first":
        begin = f"Its first blocks come next{_at_a_time(bot)}. They are played before most blocks "
        begin += "of other bots."
    else:
        begin = f"The league draws its next blocks now{_at_a_time(bot)}."
    if progress is None:
        return begin
    if still:
        return f"{begin} {_counted(progress)}"
    wait = _seconds_to_a_place(ladder, bot, before)
    if word == "first":
        begin += f" Its first match begins in {about(wait + seconds_to_first_match(ladder, bot))}."
    return f"{begin} {_counted(progress)} {_rank_in(bot, progress, wait)}"


def _seconds_to_a_place(ladder: Ladder, bot: Bot, before: int) -> float:
    """Return about how long a bot waits until placements before it are over.

    `MAX_PLACED` bots of its kind are placed at a time, and one bot of each owner.
    """
    same = Q(kind=Bot.Kind.REMOTE) if bot.kind == Bot.Kind.REMOTE else ~Q(kind=Bot.Kind.REMOTE)
    # A draw may have placed this bot since it was found waiting.
    others = Bot.objects.filter(same, placements__in=ladder.rounds.open()).exclude(pk=bot.pk)
    owners = list(others.distinct().values_list("owner", flat=True))
    placements = max(len(owners) + before - MAX_PLACED + 1, 0) / MAX_PLACED
    if bot.owner_id in owners:
        placements = max(placements, 1.0)
    return usual_seconds(ladder, bot) * placements if placements else 0.0


def _counted(progress: RankProgress) -> str:
    """Return how many blocks a rank needs, and how many there are in each state."""
    finished, playing, queued = progress.finished, progress.playing, progress.queued
    text = f"A rank needs {progress.needed} blocks"
    if not finished + playing + queued:
        return f"{text}."
    text += f"; finished: {finished}, in play: {playing}, waiting to begin: {queued}"
    later = progress.needed - finished - playing - queued
    return f"{text}, not planned yet: {later}." if later > 0 else f"{text}."


def _rank_in(bot: Bot, progress: RankProgress, wait: float = 0.0) -> str:
    """Return when a bot probably has a rank, after a wait of so many seconds."""
    if progress.finished >= progress.needed:
        return "The league computes its rank."
    if progress.seconds_left is None:
        return ""
    rank = f"it has a rank in {about(wait + progress.seconds_left)}."
    if bot.kind != Bot.Kind.REMOTE:
        return f"I{rank[1:]}"
    return f"{'At this pace' if progress.finished else 'If its program answers at once'}, {rank}"


def _at_a_time(bot: Bot) -> str:
    """Return how many blocks of a bot's placement are drawn together, if not all of them."""
    return f", {_NUMERALS[REMOTE_BLOCKS]} at a time" if bot.kind == Bot.Kind.REMOTE else ""


def _next_round(ladder: Ladder, *, is_quiet: bool) -> str:
    """Return when a ladder's next round opens, as the end of a sentence."""
    work = open_work()[ladder.pk]
    pause = pause_of(ladder, is_quiet=is_quiet)
    if work.is_enough:
        if not work.waiting:
            return "after the first blocks of a new bot"
        if work.waiting == 1:
            return "after the match that is queued now"
        return f"after the {work.waiting} matches that are queued now"
    if work.rounds >= MAX_OPEN_ROUNDS or (pause and work.rounds):
        return "after the blocks that are already planned"
    until = work.pause_ends(pause)
    if until is None or until <= timezone.now():
        return "now"
    return f"in {(until - timezone.now()).total_seconds():.0f} s"
