"""Live matches to test with, and the choices that fake remote bots make in them."""

import itertools
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User

from engine.games.game import Observation
from league import play
from league.models import Bot, Match
from tests.league import small

START = datetime(2026, 1, 6, 12, tzinfo=UTC)
_numbers = itertools.count()


def second(n: float) -> datetime:
    """Return a time so many seconds after matches here start."""
    return START + timedelta(seconds=n)


def remote_bots(count: int) -> list[Bot]:
    """Store remote bots that may play."""
    number = next(_numbers)
    owner = User.objects.create(username=f"owner-{number}")
    bots = small.bots(count, owner, prefix=f"remote-{number}")
    for bot in bots:
        bot.kind = Bot.Kind.REMOTE
        bot.save()
    return bots


def match_of(
    bots: Sequence[Bot], game: str = "twelve-days", rules: str = "eight-nights", **control: float
) -> Match:
    """Store a match between bots, one second a move and two in the bank, and open it."""
    versions = small.versions(bots)
    times = {"move_seconds": 1.0, "bank_seconds": 2.0, **control}
    match = play.open_unrated_match(game=game, rules=rules, versions=versions, **times)
    assert play.open_live(match.pk, START)
    match.refresh_from_db()
    return match


def choose(observation: Observation) -> str:
    """Return a move that depends on nothing but the observation."""
    rng = Random(json.dumps(observation, sort_keys=True))
    return rng.choice(observation["legal_moves"])


Turn = dict[str, Any]


def first_turn(bot: Bot, now: datetime = START) -> Turn:
    """Hand out the first open turn of a bot."""
    return play.open_turns(bot, now)[0]


def answer(bot: Bot, turn: Turn, now: datetime, move: str | None = None) -> play.Verdict:
    """Submit a bot's move for a turn that it was handed."""
    text = choose(turn["observation"]) if move is None else move
    return play.submit(bot, play.Move(turn["match"], turn["turn"], text), now)


def play_on(
    bots: Sequence[Bot], now: datetime = START, until: Callable[[], bool] = lambda: False
) -> None:
    """Let bots answer all their turns in any order, until none is open or ``until`` is true."""
    rng = Random(7)
    while not until():
        open_now = [(bot, turn) for bot in bots for turn in play.open_turns(bot, now)]
        if not open_now:
            return
        rng.shuffle(open_now)
        for bot, turn in open_now:
            answer(bot, turn, now)
