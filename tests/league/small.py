"""A small league to test with: a ladder, some bots, and players that cost nothing."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from random import Random
from typing import Any
from zlib import crc32

from django.contrib.auth.models import User
from django.utils import timezone

from engine.games.game import Observation
from engine.pairing import Table
from engine.referee import Player
from league import competitions, play, ratings
from league.models import Bot, BotVersion, Ladder, Match, MatchSeat, Round, Tournament

RANKED_FROM: int = Ladder._meta.get_field("ranked_from").default
"""The blocks that a rank needs on a ladder whose organisers have not changed the setting."""


def ladder(slug: str = "quick", seats: int = 3) -> Ladder:
    """Store a ladder of short matches; only one of the games is for two."""
    game, rules = ("partridge", "eagle-short") if seats == 2 else ("twelve-days", "eight-nights")
    return Ladder.objects.create(slug=slug, title=slug.title(), game=game, rules=rules, seats=seats)


def rank_from(ladder: Ladder, blocks: int) -> None:
    """Change the number of blocks that a rank needs on a ladder."""
    ladder.ranked_from = blocks
    ladder.save(update_fields=["ranked_from"])
    ratings.copy_ranked_from(ladder.pk)


def bots(count: int, owner: User | None = None, prefix: str = "bot") -> list[Bot]:
    """Store bots that may play; house bots unless they have an owner."""
    made = []
    for number in range(count):
        kind = Bot.Kind.HOUSE if owner is None else Bot.Kind.HOSTED
        bot = Bot.objects.create(name=f"{prefix}-{number}", kind=kind, owner=owner)
        bot.current = BotVersion.objects.create(bot=bot, number=1)
        bot.save()
        made.append(bot)
    return made


def versions(bots: Iterable[Bot]) -> list[BotVersion]:
    """Return the current version of each bot."""
    return [bot.current for bot in bots if bot.current is not None]


def players(seating: Sequence[MatchSeat]) -> list[Player]:
    """Return a player a seat whose strength goes by the bot's name, the same at every call."""

    def player(seat: MatchSeat) -> Player:
        rng = Random(seat.bot.name)
        strength = crc32(seat.bot.name.encode()) % 4

        def choose(observation: Observation) -> str:
            moves: list[str] = observation["legal_moves"]
            return rng.choice(moves[: 1 + strength])

        return choose

    return [player(seat) for seat in seating]


def tournament(of: Ladder, *, house_bots: bool = True, **event_settings: Any) -> Tournament:
    """Announce a tournament that is due now; it could be entered for an hour."""
    now = timezone.now()
    announced = competitions.announce_tournament(
        title="A tournament",
        ladder=of,
        starts_at=now - timedelta(seconds=1),
        entries_open_at=now - timedelta(hours=1),
        house_bots=house_bots,
        **event_settings,
    )
    announced.open_seconds = 3600.0
    announced.save(update_fields=["open_seconds"])
    return announced


def play_round(of: Ladder, *tables: Sequence[int]) -> Round:
    """Play and apply one of a ladder's own rounds, with the bots of these ids at its tables."""
    drawn = [Table(tuple(sorted(table)), True) for table in tables]
    round_ = competitions.open_round(ladder=of, tables=drawn, seed=bytes([of.rounds.count()]) * 32)
    run_once()
    return round_


def set_places(matches: Iterable[Match], place: Callable[[int], int]) -> None:
    """Store other places of finished matches, from the id of the bot in each seat."""
    for match in matches:
        Match.objects.filter(pk=match.pk).update(places=[place(bot) for bot in match.bot_ids])


def run_all() -> None:
    """Do what the tasks do until nothing is left to do."""
    for _ in range(100):
        due = run_once()
        running = Tournament.objects.exclude(state__in=["finished", "cancelled"])
        if not due and not running.exists():
            return
    raise AssertionError("the league does not come to an end")


def run_once() -> int:
    """Do what the tasks do at a tick; return how many matches were due."""
    for tournament_id in competitions.tournaments_to_advance():
        competitions.advance_tournament(tournament_id)
    played = play_due()
    for round_id in ratings.rounds_to_apply():
        ratings.apply_round(round_id)
    return played


def play_due() -> int:
    """Play the matches that are due, as they are handed out; return how many these were."""
    played = 0
    while due := play.claim_due_hosted():
        for match_id in due:
            play.play_match(match_id, players=players)
        played += len(due)
    return played
