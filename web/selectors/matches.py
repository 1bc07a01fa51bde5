"""Matches for pages: lists, one match with its seats, and the matches in play."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from league.feeds import is_close, is_shutout, kinds_of
from league.models import Block, Bot, Match, MatchAnalysis, MatchSeat, Tournament
from league.models.matches import MatchQuerySet
from league.visibility import may_see_record, public_results

SEATING = Prefetch(
    "seating", queryset=MatchSeat.objects.select_related("bot").order_by("match", "seat")
)


class NextStart(NamedTuple):
    """What plays next.

    Attributes:
        waiting: number of matches that wait to be played.
        tournament: the next one that starts; None without one.
    """

    waiting: int
    tournament: Tournament | None


def matches_listed() -> MatchQuerySet:
    """Return matches with their bots and block, without records.

    Matches of comparisons are left out; the comparison's page shows their result. Matches of
    players are in no list.
    """
    listed = (
        Match.objects.outside_comparisons().without_players().with_deals().defer("packed_record")
    )
    return listed.prefetch_related(SEATING)


def matches_compared() -> MatchQuerySet:
    """Return matches of comparisons in their order, with their bots, without records."""
    compared = Match.objects.of_comparisons().with_deals().defer("packed_record")
    return compared.prefetch_related(SEATING).order_by("pk")


def matches_playing(count: int) -> QuerySet[Match]:
    """Return some matches in play: live matches first, then the newest."""
    playing = Q(status=Match.Status.PLAYING)
    # As two conditions, so that PostgreSQL uses the index of each kind of unfinished match.
    found = matches_listed().filter((playing & Q(live=True)) | (playing & Q(live=False)))
    return found.order_by("-live", "-pk")[:count]


def matches_finished(count: int) -> QuerySet[Match]:
    """Return the matches that finished last, of those whose result everybody may see."""
    return matches_listed().filter(public_results()).order_by("-finished_at")[:count]


def tagged(matches: Sequence[Match]) -> Sequence[Match]:
    """Give each match its ``tags``: "upset", "comeback", "close match", "shutout"; one query.

    Args:
        matches: as `matches_listed` returns them.
    """
    kinds = kinds_of(match.pk for match in matches)
    for match in matches:
        tags: list[str] = []
        is_void = match.block is not None and match.block.state == Block.State.VOID
        if not is_void and may_see_record(match):  # a highlight may be older than a decision
            tags += [kinds[match.pk]] if match.pk in kinds else []
            tags += ["close match"] * is_close(match) + ["shutout"] * is_shutout(match)
        match.tags = tags  # type: ignore[attr-defined]  # for the template of a row
    return matches


def results_first(matches: QuerySet[Match], count: int) -> list[Match]:
    """Return some matches: those with a result that is open to all, then the others; two queries.

    Args:
        matches: as `matches_found` returns them.
        count: at most so many.
    """
    shown = list(matches.filter(public_results())[:count])
    if len(shown) < count:
        shown += matches.exclude(pk__in=[each.pk for each in shown])[: count - len(shown)]
    return shown


def grouped(matches: Iterable[Match]) -> list[list[Match]]:
    """Return the matches of a list by block and challenge; the others by game, in their order.

    Args:
        matches: as `matches_found` or `matches_of` return them.
    """

    def place(match: Match) -> tuple[object, ...]:
        return match.block_id, match.challenge_id, match.game, match.rules

    return [list(those) for _, those in groupby(matches, key=place)]


def next_start() -> NextStart:
    """Return what plays next while no match is in play. Costs two queries."""
    waiting = Match.objects.outside_comparisons().without_players().waiting()
    coming = Tournament.objects.to_come().filter(starts_at__gt=timezone.now())
    return NextStart(waiting.count(), coming.order_by("starts_at", "pk").first())


def matches_with_seats() -> QuerySet[Match]:
    """Return matches with all that their page shows."""
    return Match.objects.select_related(
        "block__round__tournament", "block__round__ladder", "challenge"
    ).prefetch_related("seating__bot", "seating__version")


def neighbour_matches(match: Match) -> tuple[Match | None, Match | None]:
    """Return the matches before and after one: of its challenge, or its block and those beside it.

    A place is None if there is no such match. Matches whose record is not public are skipped.
    """
    if match.block is not None:
        at = match.block.number
        of_round = Q(block__round=match.block.round_id)
        # Few rows in a large round: this block and the one beside it.
        after = Q(block=match.block, number__gt=match.number) | of_round & Q(block__number=at + 1)
        before = Q(block=match.block, number__lt=match.number) | of_round & Q(block__number=at - 1)
        order: tuple[str, ...] = ("block__number", "number")
    elif match.challenge_id is not None:
        of_challenge = Q(challenge=match.challenge_id)
        after = of_challenge & Q(number__gt=match.number)
        before = of_challenge & Q(number__lt=match.number)
        order = ("number",)
    else:
        return None, None
    shown = Match.objects.filter(public_results()).only("pk").order_by(*order)
    return shown.filter(before).last(), shown.filter(after).first()


STATES = {"": "all matches", "playing": "in play", "finished": "finished", "waiting": "waiting"}
"""The states that a list of matches can be limited to, with their words."""

_OF_BOTS = 1000
"""A search for bots looks through so many of their last matches."""
_BOTS = 50


def matches_found(wanted: str, game: str, state: str) -> QuerySet[Match]:
    """Return matches, the newest first; of a search, among the last `_OF_BOTS`.

    Args:
        wanted: part of a bot's name; "" for all.
        game: by name; "" for both.
        state: one of `STATES`; "" for all matches that have begun.
    """
    found = _with_places(matches_listed())
    if wanted:
        bots = Bot.objects.filter(name__contains=wanted.lower()).values("pk")[:_BOTS]
        theirs = Match.objects.outside_comparisons().without_players()
        theirs = theirs.with_any_bot(bots.values_list("pk", flat=True))
        numbers = theirs.order_by("-pk").values_list("pk", flat=True)[:_OF_BOTS]
        found = found.filter(pk__in=list(numbers))
    if game:
        found = found.filter(game=game)
    if state:
        return found.filter(status=state).order_by("-pk")
    return found.begun().order_by("-pk")


def _with_places(matches: MatchQuerySet) -> MatchQuerySet:
    """Join where each match was planned, for `grouped`, and whether it is analysed."""
    done = MatchAnalysis.objects.filter(match=OuterRef("pk"), finished_at__isnull=False)
    joined = matches.select_related("block__round__ladder", "block__round__tournament")
    return joined.annotate(is_analysed=Exists(done))


def last_numbers(bot: Bot, count: int = _OF_BOTS) -> list[int]:
    """Return the ids of a bot's last matches that have begun, the newest first."""
    theirs = Match.objects.outside_comparisons().without_players().with_bots(bot.pk)
    begun = theirs.begun().order_by("-pk")
    return list(begun.values_list("pk", flat=True)[:count])


def matches_of(numbers: Iterable[int]) -> list[Match]:
    """Return matches by their ids, with what a list shows, the newest first."""
    listed = _with_places(matches_listed())
    return list(listed.filter(pk__in=list(numbers)).order_by("-pk"))


def matches_waiting(bot: Bot) -> int:
    """Return how many matches of a bot wait to be played."""
    waiting = MatchSeat.objects.outside_comparisons().without_players().of_bot(bot.pk)
    return waiting.filter(match__status=Match.Status.WAITING).count()
