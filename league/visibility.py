"""Visibility: who may see a match, a record, cards, a seed, and what an owner alone may see.

Cards and seeds stay secret as long as a bot could still use them.
"""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists, OuterRef, Q

from league.models import Block, Bot, Match, MatchSeat, Round, Tournament


def may_see_record(match: Match) -> bool:
    """Return whether everybody may see all of a match: its record, all cards, its deal seed.

    The matches of a duplicate block share one deal, and so do those of a duplicate challenge and
    the two matches of a swap block. So their records are secret until all of them are played.
    """
    if match.status != Match.Status.FINISHED:
        return False
    if match.swap_block is not None:
        return not any(twin.is_unfinished for twin in match.swap_block.matches.all())
    if match.challenge is not None and match.challenge.duplicate:
        return not any(twin.is_unfinished for twin in match.challenge.matches.all())
    block = match.block
    return block is None or not block.duplicate or block.state != Block.State.PLAYING


def public_results() -> Q:
    """Return the condition for matches whose record everybody may see, as `may_see_record`.

    Matches of comparisons and of players are left out.
    """
    in_play = Match.objects.unfinished().filter(challenge=OuterRef("challenge"))
    is_open = Q(block=None) | Q(block__duplicate=False) | ~Q(block__state=Block.State.PLAYING)
    is_over = Q(challenge=None) | Q(challenge__duplicate=False) | Q(~Exists(in_play))
    return Q(status=Match.Status.FINISHED, swap_block=None, table=None) & is_open & is_over


def counting_results() -> Q:
    """Return the condition for matches of `public_results` that no decision has made void."""
    return public_results() & ~Q(block__state=Block.State.VOID)


def may_watch(match: Match) -> bool:
    """Return whether spectators may see a match as it stands now, without hidden cards.

    A void match is secret, as its cards may still be played. A match of a duplicate block or
    challenge is secret until its record is public.
    """
    if match.status == Match.Status.FINISHED:
        return may_see_record(match)
    if match.status == Match.Status.VOID:
        return False
    if match.challenge is not None:
        return not match.challenge.duplicate
    return match.block is None or not match.block.duplicate


def may_see_tournament_seed(tournament: Tournament) -> bool:
    """Return whether everybody may see a tournament's seed, from which its rounds derive theirs.

    If a running tournament is cancelled, its seed is public when its last drawn round is applied.
    If it is cancelled before its first round, it has dealt nothing, and its seed stays secret. An
    organiser can take a cancellation back: then later rounds don't use a seed that was public.
    """
    if tournament.state == Tournament.State.CANCELLED and tournament.reopened_at is None:
        applied_at = list(tournament.rounds.order_by().values_list("applied_at", flat=True))
        return bool(applied_at) and None not in applied_at
    return tournament.state == Tournament.State.FINISHED or tournament.reopened_at is not None


def may_see_seed(round_: Round) -> bool:
    """Return whether everybody may see a round's seed.

    A tournament's rounds share its seed, so it is secret until the last of them is applied. A round
    that replays a block, or that a reopened tournament draws, has its own seed.
    """
    if round_.tournament is not None and round_.commitment == round_.tournament.commitment:
        return may_see_tournament_seed(round_.tournament)
    return round_.applied_at is not None


def public_deal_seed(match: Match) -> str | None:
    """Return a match's deal seed as hex digits, or None while it is secret."""
    return match.deal_seed.hex() if may_see_record(match) else None


def public_seed(source: Round | Tournament) -> str | None:
    """Return the seed of a round or tournament as hex digits, or None while it is secret."""
    may_see = may_see_seed(source) if isinstance(source, Round) else may_see_tournament_seed(source)
    return bytes(source.seed).hex() if may_see else None


def owns(user: User | AnonymousUser | None, bot: Bot) -> bool:
    """Return whether a person owns a bot.

    Only the owner may see a version's file, the log of its check, and, of a match, what the bot
    printed, its faults and the receipts of its turns (`own_seats`). House bots have no owner.
    """
    return user is not None and user.pk is not None and bot.owner_id == user.pk


def own_seats(user: User, match: Match) -> list[MatchSeat]:
    """Return the seats of a match with a person's bots, ascending, with bot and version."""
    seats = match.seating.filter(bot__owner=user).select_related("bot", "version")
    return list(seats.order_by("seat"))
