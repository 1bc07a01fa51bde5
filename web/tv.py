"""Tables to watch: the matches in play with the best bots, or replays of recent highlights."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db.models import Max

from engine.games.partridge import Partridge
from engine.games.twelve_days import TwelveDays
from league.archive_files import ArchiveError
from league.feeds import deciding_step, recent_highlights
from league.feeds.highlight_texts import sentence
from league.models import Highlight, Match, Standing
from league.visibility import counting_results, may_see_record, may_watch
from web.selectors.matches import matches_finished, matches_listed, matches_playing
from web.table.tables import Table, table_of

_LOOKED_AT = 30
"""The newest matches in play among which the best bots are looked for."""
_RECENT = 8
"""Number of recent highlights that are replayed in turn."""
_LEAD_TO_END = 4
"""A replay begins at least so many steps before the end of its match."""
_TO_WATCH = {
    TwelveDays.game: "Watch the lowest card that nobody else plays: it wins the day.",
    Partridge.game: "Watch whose hand is empty first. The lowest card wins each trick.",
}
"""What a newcomer should look at, by the name of the game."""


class Channel(NamedTuple):
    """A table to watch.

    Attributes:
        table: live, or a replay that plays by itself.
        highlight: that the replay shows; None if the match is no highlight, or live.
        sentence: what happened in the highlight; "" without one.
    """

    table: Table
    highlight: Highlight | None = None
    sentence: str = ""

    @property
    def to_watch(self) -> str:
        """What a newcomer should look at in this game, in one line."""
        return _TO_WATCH.get(self.table.match.game, "")


def channels(
    count: int,
    *,
    replays: int,
    shown: Collection[int] = (),
    after: int = 0,
    known: Sequence[Highlight] = (),
) -> list[Channel]:
    """Return live tables; if none is live, replays.

    Args:
        count: the most live tables.
        replays: the most replays.
        shown: ids of matches that the page shows already.
        after: id of the match whose replay has just ended; the next one follows.
        known: the highlights of the last day, if the page has them; no query reads them again.
    """
    live = [Channel(table) for table in live_tables(count, shown)]
    return live or replayed(replays, shown, after, known)


def live_tables(count: int, without: Collection[int] = ()) -> list[Table]:
    """Return tables of live matches, those with the best bots first; one query a table.

    Args:
        count: the most tables.
        without: ids of matches that are shown already.
    """
    watchable = [
        match
        for match in matches_playing(_LOOKED_AT)
        if match.live and may_watch(match) and match.pk not in without
    ]
    found = map(table_of, _best_first(watchable)[:count])
    return [table for table in found if table is not None and table.is_live]


def replayed(
    count: int,
    without: Collection[int] = (),
    after: int = 0,
    known: Sequence[Highlight] = (),
) -> list[Channel]:
    """Return replays of recent highlights; if there is none, of the match that finished last.

    Args:
        count: the most replays.
        without: ids of matches that are shown already.
        after: id of a match; those that follow it come first, then the others.
        known: the highlights of the last day, if they are read already.
    """
    if count < 1:
        return []
    recent = [each for each in known if each.match] or recent_highlights(_RECENT)
    at = next((at for at, each in enumerate(recent, 1) if each.match_id == after), 0)
    found: list[Channel] = []
    for each in recent[at:] + recent[:at]:
        if each.match is None or each.match_id in without or len(found) == count:
            continue
        if table := _replay(each.match, _turn(each)):
            found.append(Channel(table, each, sentence(each)))
    if found or recent:
        return found
    last = (match for match in matches_finished(10) if may_see_record(match))
    tables = (_replay(match) for match in last if match.pk not in without)
    table = next((each for each in tables if each is not None), None)
    return [] if table is None else [Channel(table)]


def meanwhile(match: Match) -> list[Channel]:
    """Return a replay to watch while a match without a live table is played, or nothing.

    It is the last public match of the same bots, or else the last one of the same game.

    Args:
        match: with its seating.
    """
    shown = matches_listed().filter(counting_results(), game=match.game).exclude(pk=match.pk)
    of_same_bots = shown.with_bots(*(seat.bot_id for seat in match.seating.all()))
    for found in (of_same_bots.order_by("-pk"), shown.order_by("-finished_at")):
        if (last := found.first()) is not None and (table := _replay(last)) is not None:
            return [Channel(table)]
    return []


def _turn(highlight: Highlight) -> int | None:
    """Return the step in which the winner took the lead, if it is stored with a highlight."""
    return None if highlight.kind == Highlight.Kind.CLOSEST else highlight.step


def _replay(match: Match, turn: int | None = None) -> Table | None:
    """Return the replay of a match; None if the file of its archive is lost.

    It begins with the step in which the winner took the lead, but some steps before the end: there,
    cards lie on the felt, and the result is not known yet. A tie begins as late as a replay may.

    Args:
        match: that everybody may see.
        turn: the step in which the winner took the lead; None: it is looked for.
    """
    winners = [seat.seat for seat in match.seating.all() if seat.place == 1]
    try:
        if turn is None and len(winners) == 1:
            turn = deciding_step(match.record, winners[0])
        table = table_of(match)
    except ArchiveError:
        return None
    if table is None:
        return None
    latest = table.last - _LEAD_TO_END
    return table._replace(number=max(1, min(turn or latest, latest)))


def _best_first(matches: Sequence[Match]) -> list[Match]:
    """Return matches by the mean of their bots' best ratings, the highest first; one query."""
    bots = {seat.bot_id for match in matches for seat in match.seating.all()}
    rated = Standing.objects.filter(bot__in=bots).values("bot").annotate(best=Max("rating"))
    ratings: dict[int, int] = dict(rated.values_list("bot", "best")) if bots else {}

    def strength(match: Match) -> float:
        seats = match.seating.all()
        return sum(ratings.get(seat.bot_id, 0) for seat in seats) / max(1, len(seats))

    return sorted(matches, key=lambda match: (-strength(match), -match.pk))
