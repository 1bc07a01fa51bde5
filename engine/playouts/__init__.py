"""Playouts: matches played on from a position to their end, thousands of times.

`play` returns totals, `evaluate` compares the legal moves of an observation. With the extra
``fast`` of the package a compiled kernel plays, and otherwise the engine; both return the same
numbers. docs/engine.md explains the way of the data.
"""

from collections.abc import Sequence

from engine.games.catalogue import find
from engine.games.game import Observation, State
from engine.playouts import fast, plain, wasm
from engine.playouts.policies import (
    UNIFORM,
    PartridgeTable,
    Policy,
    TwelveDaysTable,
    check_game,
    rule_of_thumb,
)
from engine.playouts.positions import NewMatch, Position, game_and_seats
from engine.playouts.results import Evaluation, Played, evaluation, first_share, half_points

__all__ = [
    "UNIFORM",
    "Evaluation",
    "NewMatch",
    "PartridgeTable",
    "Played",
    "Policy",
    "Position",
    "TwelveDaysTable",
    "evaluate",
    "is_fast",
    "play",
    "rule_of_thumb",
]

MAX_PLAYOUTS = 1_000_000
"""Playouts of one call, for each move."""


def is_fast() -> bool:
    """Return whether the kernel plays: whether the extra ``fast`` is installed and runs here."""
    return wasm.is_available()


def play(
    position: Position,
    playouts: int,
    policy: Policy = UNIFORM,
    seed: int = 0,
    *,
    this_round: bool = False,
    in_kernel: bool | None = None,
) -> Played:
    """Play a position on several times and return the totals.

    Args:
        position: a state, an observation whose hidden cards each playout deals anew, or a
            `NewMatch`.
        playouts: how often, at most `MAX_PLAYOUTS`.
        policy: how all seats choose.
        seed: determines all cards and choices; its lowest 64 bits count.
        this_round: in ``partridge``, stop at the end of the round that is being played.
        in_kernel: whether the kernel plays; by default if it can.

    Raises:
        ValueError: the table of the policy is for the other game, the number of playouts is out of
            range, or no match can reach the position.
        UnknownRulesError: there is no such game or preset, or it does not allow that many seats.
    """
    game, _ = game_and_seats(position)
    check_game(policy, game)
    _check_playouts(playouts, least=0)
    scores = _final_scores(position)
    if scores is not None:
        seats = range(len(scores))
        return Played(
            0,
            tuple([playouts * score for score in scores]),
            tuple([playouts * half_points(scores, seat) for seat in seats]),
            tuple([playouts * first_share(scores, seat) for seat in seats]),
        )
    run = fast.play if _uses_kernel(in_kernel) else plain.play
    return run(position, playouts, policy, seed, this_round)


def evaluate(
    observation: Observation,
    playouts: int,
    policy: Policy = UNIFORM,
    seed: int = 0,
    *,
    moves: Sequence[str] | None = None,
    this_round: bool = False,
    in_kernel: bool | None = None,
) -> list[Evaluation]:
    """Return the mean results of legal moves, from playouts after each of them.

    Each playout deals the hidden cards anew, as `State.sample` does. All moves get the same cards
    and the same luck, so that their differences have a smaller error than their means.

    Args:
        observation: the observation of a seat that must decide.
        playouts: how many, for each move; at most `MAX_PLAYOUTS`.
        policy: how the other seats choose, and this seat after the move.
        seed: determines all cards and choices; its lowest 64 bits count.
        moves: some of the legal moves; by default all.
        this_round: in ``partridge``, stop at the end of the round that is being played. Later
            rounds hardly depend on it and only add noise.
        in_kernel: whether the kernel plays; by default if it can.

    Returns:
        One `Evaluation` for each move, in the order of ``moves``.

    Raises:
        ValueError: a move is not legal, there is nothing to decide, the table of the policy is for
            the other game, or the number of playouts is out of range.
        UnknownRulesError: there is no such game.
    """
    game, seats = game_and_seats(observation)
    check_game(policy, game)
    _check_playouts(playouts, least=1)
    legal = observation["legal_moves"]
    texts = list(legal if moves is None else moves)
    wrong = [text for text in texts if text not in legal]
    if wrong or not legal:
        raise ValueError(f"{wrong[0]!r} is not a legal move" if wrong else "no move to decide on")
    actions = [find(game).moves.ids[text] for text in texts]
    run = fast.evaluate if _uses_kernel(in_kernel) else plain.evaluate
    sums = run(observation, observation["seat"], actions, playouts, policy, seed, this_round)
    return [evaluation(text, playouts, seats, s) for text, s in zip(texts, sums, strict=True)]


def _uses_kernel(in_kernel: bool | None) -> bool:
    if in_kernel and not is_fast():
        raise ValueError("the kernel can't play here; install the extra `fast` of this package")
    return is_fast() if in_kernel is None else in_kernel


def _check_playouts(playouts: int, least: int) -> None:
    if not least <= playouts <= MAX_PLAYOUTS:
        raise ValueError(f"playouts are {least} to {MAX_PLAYOUTS}, not {playouts}")


def _final_scores(position: Position) -> Sequence[int] | None:
    """Return the scores of a position that is over, or None."""
    if isinstance(position, State):
        return position.scores
    return None if isinstance(position, NewMatch) else position["scores"]
