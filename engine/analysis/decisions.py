"""The expected result of each legal move of a decision, and the loss of the move that was made.

Hidden cards are sampled as the seat knew them. Playouts choose the best other move in two steps,
and fresh playouts compare it with the move that was made. So the choice does not make the loss
larger than it is.
"""

from math import sqrt
from random import Random
from statistics import fmean, variance
from typing import NamedTuple

from engine.analysis.exact import expected_of_moves
from engine.analysis.positions import GROUPS
from engine.games.game import Observation
from engine.playouts import evaluate
from engine.playouts.policies import PolicyTable

_FIRST = 8
"""All moves get this part of the playouts of a comparison; the `_KEPT` best get twice as many."""
_KEPT = 4
_LEAST = 8


class Judged(NamedTuple):
    """The comparison of a move with the best other one.

    Attributes:
        best: the best other move.
        loss: its expected result minus that of the move; negative if the move is better.
        error: standard error of the loss; 0 if it is exact.
        is_exact: whether the results were enumerated.
        results: the expected result of each legal move.
    """

    best: str
    loss: float
    error: float
    is_exact: bool
    results: dict[str, float]


def judge(
    observation: Observation, move: str, policy: PolicyTable, playouts: int, seed: int
) -> Judged:
    """Compare a move with the best other one.

    Args:
        observation: of a seat with two or more legal moves.
        move: one of these.
        policy: how all seats go on.
        playouts: of the comparison, for each of both moves.
        seed: of all cards and choices.
    """
    if (exact := expected_of_moves(observation, policy)) is not None:
        best = max((text for text in exact if text != move), key=exact.__getitem__)
        return Judged(best, exact[best] - exact[move], 0.0, True, exact)
    rng = Random(seed)
    results, best = _best_other(observation, move, policy, max(_LEAST, playouts // _FIRST), rng)
    means: list[list[float]] = [[], []]
    for _ in range(GROUPS):
        both = evaluate(
            observation,
            max(1, playouts // GROUPS),
            policy,
            rng.getrandbits(64),
            moves=[move, best],
        )
        for found, of_move in zip(both, means, strict=True):
            of_move.append(found.pair_result)
    results |= {move: fmean(means[0]), best: fmean(means[1])}
    losses = [other - own for own, other in zip(*means, strict=True)]
    return Judged(best, fmean(losses), sqrt(variance(losses) / GROUPS), False, results)


def _best_other(
    observation: Observation, move: str, policy: PolicyTable, playouts: int, rng: Random
) -> tuple[dict[str, float], str]:
    """Return rough results of all legal moves, and the move that seems best but for one."""
    first = evaluate(observation, playouts, policy, rng.getrandbits(64))
    results = {each.move: each.pair_result for each in first}
    others = sorted((text for text in results if text != move), key=lambda text: -results[text])
    if len(others) > 1:
        kept = others[:_KEPT]
        for each in evaluate(observation, 2 * playouts, policy, rng.getrandbits(64), moves=kept):
            results[each.move] = (results[each.move] + 2 * each.pair_result) / 3
        others = sorted(kept, key=lambda text: -results[text])
    return results, others[0]
