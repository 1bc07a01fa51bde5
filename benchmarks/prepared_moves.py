"""Bots, their matches and their moves, made before a benchmark sends them."""

import json
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import serving

if TYPE_CHECKING:  # Django can be imported once the league has started
    from league.models import BotVersion

RULES = {"twelve-days": "calliope", "partridge": "eagle-short"}
SEATS = 4

Phase = list[tuple[int, int, str]]
"""Seat, turn and move of each seat with a turn."""


class Bot(NamedTuple):
    """A remote bot."""

    version: "BotVersion"
    token: str


def make_bots(client: int) -> list[Bot]:
    from django.contrib.auth.models import User

    from league.bots import create_bot

    owner = User.objects.create(username=f"owner-{client}")
    bots = []
    for seat in range(SEATS):
        bot, token = create_bot(owner=owner, name=f"bot-{client}-{seat}", kind="remote")
        assert bot.current is not None
        bots.append(Bot(bot.current, token))
    return bots


def open_match(bots: list[Bot], game: str) -> tuple[int, list[Phase]]:
    """Open a match; return its id and its moves by phase."""
    from django.utils import timezone

    from league import play
    from league.models import Match

    match = play.open_unrated_match(
        game=game,
        rules=RULES[game],
        versions=[bot.version for bot in bots],
        move_seconds=3600,
    )
    play.open_live(match.pk, timezone.now())
    return match.pk, list(phases(game, Match.objects.get(pk=match.pk).deal_seed))


def phases(game: str, seed: bytes) -> Iterator[Phase]:
    """Play a match at random; yield by phase the moves of the seats that have a choice."""
    from engine.deals import seeded_shuffle
    from engine.games import catalogue

    rng = random.Random(seed)
    state = catalogue.start(game, RULES[game], SEATS, seeded_shuffle(seed))
    turns = [0] * SEATS
    while state.actors:
        phase: Phase = []
        actions = {}
        for seat in state.actors:
            legal = state.legal(seat)
            actions[seat] = rng.choice(legal)
            if len(legal) > 1:
                phase.append((seat, turns[seat], state.moves.texts[actions[seat]]))
                turns[seat] += 1
        state.step_unchecked(actions)
        if phase:
            yield phase


def requests(
    bots: list[Bot], game: str, mode: str, matches_at_once: int
) -> Iterator[tuple[bytes, int]]:
    """Yield requests without end, each with its number of moves."""
    while True:
        matches = [open_match(bots, game) for _ in range(matches_at_once)]
        prepared = list(REQUESTS[mode](bots, matches))
        yield b"", 0  # ready
        yield from prepared


def single(bots: list[Bot], matches: list[tuple[int, list[Phase]]]) -> Iterator[tuple[bytes, int]]:
    """Make one move per request, in one match after another."""
    left = [(match, [move for phase in phases for move in phase]) for match, phases in matches]
    for number in range(max(len(moves) for _, moves in left)):
        for match, moves in left:
            if number < len(moves):
                seat, turn, text = moves[number]
                body = json.dumps({"turn": turn, "move": text}).encode()
                path = f"/api/v1/matches/{match}/moves"
                yield serving.request("POST", path, bots[seat].token, body), 1


def batched(bots: list[Bot], matches: list[tuple[int, list[Phase]]]) -> Iterator[tuple[bytes, int]]:
    """Let each bot in turn make its moves in all matches that wait for it."""
    for number in range(max(len(phases) for _, phases in matches)):
        for seat, bot in enumerate(bots):
            moves = [
                {"match": match, "turn": turn, "move": text}
                for match, phases in matches
                if number < len(phases)
                for mover, turn, text in phases[number]
                if mover == seat
            ]
            if moves:
                body = json.dumps({"moves": moves}).encode()
                yield serving.request("POST", "/api/v1/moves", bot.token, body), len(moves)


REQUESTS = {"single": single, "batched": batched}
