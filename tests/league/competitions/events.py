"""Tournaments for tests: started ones, their tables, and bots that come and go."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from league import competitions, ratings
from league.models import (
    Block,
    Bot,
    Tournament,
)
from tests.league import small


def begun(bots: int = 7, seats: int = 4, **event_settings: Any) -> Tournament:
    """Return a tournament whose first round is open and not played."""
    tournament = small.tournament(small.ladder(seats=seats), **event_settings)
    small.bots(bots)
    competitions.advance_tournament(tournament.pk)
    return again(tournament)


def entered_by(bots: list[Bot], seats: int = 3, **event_settings: Any) -> Tournament:
    """Return a tournament of these bots alone that is due to start."""
    ladder = small.ladder(seats=seats)
    tournament = small.tournament(ladder, house_bots=False, **event_settings)
    Tournament.objects.update(starts_at=timezone.now() + timedelta(hours=1))
    competitions.advance_tournament(tournament.pk)
    for bot in bots:
        competitions.enter(tournament=tournament, bot=bot)
    Tournament.objects.update(starts_at=timezone.now())
    return tournament


def again(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_related("ladder").get(pk=tournament.pk)


def tables(tournament: Tournament) -> list[list[int]]:
    """Return the bots of each block, round by round."""
    blocks = Block.objects.filter(round__tournament=tournament).order_by("number")
    return [sorted(block.bots.values_list("bot", flat=True)) for block in blocks]


def play_round() -> None:
    """Play all that is due, and close what is over; the next round is not opened."""
    assert small.play_due()
    for round_id in ratings.rounds_to_apply():
        assert ratings.apply_round(round_id)


def late_bot(name: str = "late-bot") -> Bot:
    owner, _ = User.objects.get_or_create(username="ada")
    [bot] = small.bots(1, owner=owner, prefix=name)
    return bot


def pause(bot: Bot, *, paused: bool = True) -> None:
    Bot.objects.filter(pk=bot.pk).update(paused=paused)
