"""A match that a seat forfeited with the highest score: the referee played well for it."""

from collections.abc import Sequence

from engine.games.game import Observation
from engine.referee import Player
from engine.referee import play as play_record
from league import play
from league.models import Match, MatchSeat
from tests.league import small

_GAME, _RULES = "partridge", "eagle-short"


def forfeited_match() -> Match:
    """Store a finished match in which seat 0 forfeited, but has more points than seat 1."""
    versions = small.versions(small.bots(2, prefix="seat"))
    match = play.open_unrated_match(game=_GAME, rules=_RULES, versions=versions)
    seeds = (bytes([number]) * 32 for number in range(256))
    Match.objects.filter(pk=match.pk).update(stored_seed=next(filter(_is_won, seeds)))
    assert play.play_match(match.pk, players=_players)
    match.refresh_from_db()
    assert match.forfeited == [True, False]
    assert match.places == [2, 1]
    return match


def _is_won(seed: bytes) -> bool:
    scores = play_record(_GAME, _RULES, seed, _players([])).record.scores
    return scores[0] > scores[1]


def _players(_: Sequence[MatchSeat]) -> list[Player]:
    return [_broken, _careless]


def _broken(observation: Observation) -> str:
    raise RuntimeError("no idea")


def _careless(observation: Observation) -> str:
    moves: list[str] = observation["legal_moves"]
    return moves[-1]
