"""Items of the feed: what happened to bots and tournaments, found by a task and stored once."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db import transaction
from django.db.models import F, Max, Q, Window
from django.db.models.functions import Rank
from django.utils import timezone

from league.competitions.history import history_of
from league.competitions.tournament_standings import standings_of
from league.feeds.highlight_texts import sentence as highlight_sentence
from league.feeds.highlights import highlights_on
from league.models import (
    Block,
    Bot,
    BotVersion,
    FeedItem,
    Highlight,
    Ladder,
    MatchSeat,
    ModerationEntry,
    Standing,
    Tournament,
    VoidMark,
)

_DAYS = 7
_RECENT = timedelta(days=2)
"""Maximum age of a change that gets an item; a longer pause of the task leaves older ones out."""

Kind = FeedItem.Kind


def write_items(now: datetime) -> None:
    """Store what has happened since the last call. Safe to call any number of times."""
    since = now - timedelta(days=_DAYS)
    _store(_versions(now, since))
    for ladder in Ladder.objects.filter(alarm=""):
        _write_ranks(ladder, now)
    _write_highlights(now, since)
    _store(_starts(since))
    _store(_ends(since))
    _correct_ends(since)


def _store(items: Iterable[FeedItem]) -> None:
    FeedItem.objects.bulk_create(items, ignore_conflicts=True)


def _versions(now: datetime, since: datetime) -> list[FeedItem]:
    """Return an item for each version that has become ready."""
    ready = (
        BotVersion.objects.ready()
        .filter(created_at__gte=since)
        .exclude(bot__kind__in=["house", "player"])
    )
    return [
        FeedItem(
            key=f"version/{version.pk}",
            kind=Kind.VERSION,
            at=now,
            bot_id=version.bot_id,
            number=version.number,
        )
        for version in ready
        if not _known(f"version/{version.pk}")
    ]


def _write_highlights(now: datetime, since: datetime) -> None:
    """Store the highlights of today and yesterday; an item changes when its highlight does.

    So do those of earlier days whose match became void, or counts again, since a time. The other
    highlights of these days are no news.
    """
    recent = {now.date(), (now - timedelta(days=1)).date()}
    marks = VoidMark.objects.filter(made_at__gte=since)
    touched = Highlight.objects.filter(match__block__in=marks.values("block"))
    keys = {_highlight_key(each) for each in touched}
    found = highlights_on(recent | {each.day for each in touched})
    items = {
        key: FeedItem(
            key=key,
            kind=Kind.HIGHLIGHT,
            at=now,
            bot_id=each.bot_id,
            ladder_id=None,
            match_id=each.match_id,
            number=each.step or 0,
            text=f"{each.get_kind_display()} of {each.day:%-d %b %Y}: {highlight_sentence(each)}",
        )
        for each in found
        if (key := _highlight_key(each)) in keys or each.day in recent
    }
    of_days = (Q(key__startswith=f"highlight/{day}/") for day in recent)
    stored = FeedItem.objects.filter(reduce(or_, of_days, Q(key__in=keys)), kind=Kind.HIGHLIGHT)
    known = {item.key: _shown(item) for item in stored}
    same = {key for key, item in items.items() if known.get(key) == _shown(item)}
    if known.keys() - same:
        stored.exclude(key__in=same).delete()
    if fresh := [item for key, item in items.items() if key not in same]:
        _store(fresh)


def _highlight_key(highlight: Highlight) -> str:
    return f"highlight/{highlight.day}/{highlight.kind}/{highlight.game}"


def _shown(item: FeedItem) -> tuple[object, ...]:
    return item.text, item.bot_id, item.match_id, item.number


def _known(key: str) -> bool:
    return FeedItem.objects.filter(key=key).exists()


def _write_ranks(ladder: Ladder, now: datetime) -> None:
    """Store first ranks and changes of ranks on a ladder: one item a bot and day."""
    ranked = Standing.objects.ranked().filter(ladder=ladder)
    ranks = dict(
        ranked.annotate(rank=Window(Rank(), order_by=F("rating").desc())).values_list(
            "bot_id", "rank"
        )
    )
    kinds = [Kind.FIRST_RANK, Kind.RANK]
    items = FeedItem.objects.filter(ladder=ladder, kind__in=kinds)
    last = {item.bot_id: item for item in items.order_by("bot_id", "-at", "-id").distinct("bot_id")}
    new, moved, undone = [], [], []
    for bot, rank in ranks.items():
        before = last.get(bot)
        if before is None:
            kind, key, old = Kind.FIRST_RANK, f"first-rank/{ladder.pk}/{bot}", None
        elif before.number == rank:
            continue
        elif before.kind == Kind.RANK and before.at.date() == now.date():
            if rank == before.before:  # back where it was this morning
                undone.append(before.pk)
            else:
                before.number, before.at = rank, now
                moved.append(before)
            continue
        else:
            kind, key, old = Kind.RANK, f"rank/{ladder.pk}/{bot}/{now.date()}", before.number
        new.append(
            FeedItem(key=key, kind=kind, at=now, bot_id=bot, ladder=ladder, number=rank, before=old)
        )
    if changed := new + moved:
        played = Q(match__block__round__ladder=ladder)
        last_matches = _last_matches([item.bot_id or 0 for item in changed], played)
        for item in changed:
            item.match_id = last_matches.get(item.bot_id or 0)
    _store(new)
    FeedItem.objects.bulk_update(moved, ["number", "at", "match"])
    if undone:
        FeedItem.objects.filter(pk__in=undone).delete()


def _last_matches(bots: Iterable[int], played: Q) -> dict[int, int]:
    """Return each bot's last finished match in which its seat meets the condition ``played``."""
    ids = list(bots)
    seats = MatchSeat.objects.in_finished().filter(
        played,
        bot__in=ids,
        match__bot_ids__overlap=ids,
        match__block__state=Block.State.FINISHED,
    )
    return dict(seats.order_by().values_list("bot").annotate(Max("match_id")))


def _starts(since: datetime) -> list[FeedItem]:
    """Return an item for each tournament that has started."""
    started = Tournament.objects.filter(
        state__in=[Tournament.State.RUNNING, Tournament.State.FINISHED], starts_at__gte=since
    )
    return [
        FeedItem(
            key=f"started/{each.pk}",
            kind=Kind.STARTED,
            at=each.starts_at,
            tournament=each,
            ladder_id=each.ladder_id,
            number=each.entries.count(),
        )
        for each in started
        if not _known(f"started/{each.pk}")
    ]


def _ends(since: datetime) -> list[FeedItem]:
    """Return an item for each tournament that is over, and one for each of its bots."""
    over = Tournament.objects.filter(
        state=Tournament.State.FINISHED, finished_at__gte=since
    ).select_related("ladder")
    return [item for each in over if not _known(f"finished/{each.pk}") for item in _end_of(each)]


def _end_of(tournament: Tournament) -> list[FeedItem]:
    """Return the items of the end of a tournament; none if it is not over."""
    if tournament.state != Tournament.State.FINISHED or tournament.finished_at is None:
        return []
    placed = [row for row in standings_of(history_of(tournament)) if row.row.rank is not None]
    winner = placed[0].bot if placed else None
    about = {
        "at": tournament.finished_at,
        "tournament": tournament,
        "ladder_id": tournament.ladder_id,
    }
    played = Q(match__block__round__tournament=tournament)
    last_matches = _last_matches([row.bot.pk for row in placed], played)
    items = [
        FeedItem(
            key=f"placed/{tournament.pk}/{row.bot.pk}",
            kind=Kind.PLACED,
            bot=row.bot,
            number=row.row.rank or 0,
            match_id=last_matches.get(row.bot.pk),
            **about,
        )
        for row in placed
    ]
    end = FeedItem(
        key=f"finished/{tournament.pk}",
        kind=Kind.FINISHED,
        bot=winner,
        number=len(placed),
        match_id=last_matches.get(winner.pk) if winner else None,
        **about,
    )
    return [*items, end]


def _correct_ends(since: datetime) -> None:
    """Replace the items of ends that a decision of an organiser has changed since a time.

    The lists of tournaments read their winners from these items.
    """
    decided = ModerationEntry.objects.filter(made_at__gte=since)
    touched = Tournament.objects.filter(
        Q(pk__in=decided.values("tournament"))
        | Q(pk__in=decided.values("block__round__tournament"))
    )
    for each in touched.select_related("ladder"):
        stored = each.feed_items.filter(kind__in=[Kind.FINISHED, Kind.PLACED])
        before = set(stored.values_list("key", "bot", "number"))
        items = _end_of(each) if before else []
        if before != {(item.key, item.bot_id, item.number) for item in items}:
            with transaction.atomic():
                stored.delete()
                _store(items)


def last_ends(count: int) -> list[FeedItem]:
    """Return the ends of the last tournaments with a winner, newest first, of two days at most."""
    ends = FeedItem.objects.filter(
        kind=Kind.FINISHED, bot__isnull=False, at__gte=timezone.now() - _RECENT
    )
    return list(ends.select_related("bot", "ladder", "tournament").order_by("-at", "-id")[:count])


def sentence(item: FeedItem) -> str:
    """Return an item, with its bot, ladder and tournament, as a sentence without a full stop."""
    match item.kind:
        case Kind.VERSION if item.bot and item.bot.kind == Bot.Kind.REMOTE:
            return f"{_name(item.bot)}: the new remote bot is ready to play"
        case Kind.VERSION:
            return f"{_name(item.bot)}: version {item.number} is ready to play"
        case Kind.FIRST_RANK:
            return f"{_name(item.bot)} gets its first rank on {item.ladder}: {item.number}"
        case Kind.RANK:
            way = "climbs" if item.number < (item.before or 0) else "falls"
            return (
                f"{_name(item.bot)} {way} from rank {item.before} to {item.number} on {item.ladder}"
            )
        case Kind.STARTED:
            return f"{item.tournament} has begun with {item.number} bots"
        case Kind.FINISHED:
            if item.bot is None:
                return f"{item.tournament} is over: nobody has a rank"
            return f"{item.bot.name} wins {item.tournament}"
        case Kind.HIGHLIGHT:
            return item.text
    if item.number == 1:
        knockout = item.tournament and item.tournament.format == Tournament.Format.KNOCKOUT
        return f"{_name(item.bot)} wins {'the final of ' if knockout else ''}{item.tournament}"
    return f"{_name(item.bot)} finishes {item.tournament} with rank {item.number}"


def _name(bot: Bot | None) -> str:
    return "a deleted bot" if bot is None else bot.name
