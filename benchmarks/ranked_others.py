"""Bots with a rank, in a minute: their rounds are played in one process, without the sandbox.

Import it where Django is set up, beside a league that runs. Rounds, matches, ledger and ratings are
written by the league's own code; only the players are shorter. The ladder is paused meanwhile, and
workers don't see the matches.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from itertools import chain
from pathlib import Path
from random import Random

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from bots_sdk.reference import thumb_bot
from engine.deals import SEED_BYTES
from engine.games.game import Observation
from engine.pairing import Table
from engine.referee import Player
from league import bots, competitions, play, ratings
from league.models import Bot, BotSource, BotVersion, Ladder, Match, MatchSeat

_AWAY = timedelta(hours=1)


def add_others(slug: str, first: int, end: int) -> None:
    """Enter hosted bots ``other-FIRST`` to ``other-END``, each with its own owner and with a rank.

    Args:
        slug: of the ladder.
        first: number of the first bot.
        end: number after the last bot; there must be enough new bots for a table.
    """
    ladder = Ladder.objects.get(slug=slug)
    Ladder.objects.filter(pk=ladder.pk).update(paused=True)
    new = [_hosted_bot(number, ladder).pk for number in range(first, end)]
    rng, blocks = Random(end), dict.fromkeys(new, 0)
    while new and min(blocks.values()) < ladder.ranked_from:
        new.sort(key=lambda bot: (blocks[bot], rng.random()))
        starts = range(0, len(new) - ladder.seats + 1, ladder.seats)
        tables = [new[start : start + ladder.seats] for start in starts]
        _play_round(ladder, tables)
        for bot in chain(*tables):
            blocks[bot] += 1
    Ladder.objects.filter(pk=ladder.pk).update(paused=False)


def _hosted_bot(number: int, ladder: Ladder) -> Bot:
    owner = User.objects.create(username=f"other-{number}")
    bot, _ = bots.create_bot(owner=owner, name=f"other-{number}", kind=Bot.Kind.HOSTED)
    bot.current = BotVersion.objects.create(bot=bot, number=1)
    bot.save()
    data = Path(thumb_bot.__file__).read_bytes()
    BotSource.objects.create(version=bot.current, data=data)
    competitions.enter_ladder(ladder=ladder, bot=bot)
    return bot


def _play_round(ladder: Ladder, tables: Sequence[Sequence[int]]) -> None:
    with transaction.atomic():
        Ladder.objects.select_for_update().get(pk=ladder.pk)
        round_ = competitions.open_round(
            ladder=ladder,
            tables=[Table(tuple(sorted(each)), rated=True) for each in tables],
            seed=secrets.token_bytes(SEED_BYTES),
        )
        matches = Match.objects.filter(block__round=round_)
        # As if a worker had them already; without `queued_at` they would wait until they are due.
        now = timezone.now()
        matches.update(due_at=now + _AWAY, queued_at=now)
    for pk in matches.values_list("pk", flat=True):
        assert play.play_match(pk, players=_players), f"match {pk} is played elsewhere"
    ratings.apply_round(round_.pk)


def _players(seating: Sequence[MatchSeat]) -> list[Player]:
    """Return players that choose at random: they differ as little as the bots they stand for."""

    def player(seat: MatchSeat) -> Player:
        rng = Random(seat.pk)

        def choose(observation: Observation) -> str:
            move: str = rng.choice(observation["legal_moves"])
            return move

        return choose

    return [player(seat) for seat in seating]
