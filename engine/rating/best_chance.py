"""The probability of each bot of being the best, from the joint covariance of the estimates."""

import numpy as np
import numpy.typing as npt

from engine.rating.covariance import Covariance, as_covariance
from engine.rating.rank_bands import difference_errors

_Floats = npt.NDArray[np.float64]

DRAWS = 40_000
"""Joint draws of all strengths. A probability has a standard error of at most 0.25 points."""

MAX_CANDIDATES = 500
"""The most bots that are drawn: those nearest to the best estimate, in standard errors."""

_HOPELESS = 5.0
"""Standard errors behind the best estimate at which a bot has no chance: less than 1e-6."""

_DRAWS_AT_ONCE = 4000


def best_chances(elo: npt.ArrayLike, covariance: Covariance | npt.ArrayLike) -> _Floats:
    """Return the probability of each bot of being the strongest, shape (N,).

    The strengths are drawn together from a normal distribution with these estimates as means, which
    is their posterior distribution if nothing else is known about them. The seed is fixed, so the
    same fit gives the same numbers. All are NaN if there are fewer than two blocks.

    Args:
        elo: shape (N,), descending, in Elo.
        covariance: of these estimates, in Elo squared; an array has the shape (N, N).
    """
    estimates, joint = np.asarray(elo, float), as_covariance(covariance)
    chances = np.zeros(len(estimates))
    if not len(estimates):
        return chances
    errors = difference_errors(joint, 0)
    if np.isinf(errors).any():
        return np.full(len(estimates), np.nan)
    behind = (estimates[0] - estimates) / np.maximum(errors, 1e-9)
    near = np.argsort(behind, kind="stable")[:MAX_CANDIDATES]
    candidates = np.sort(near[behind[near] < _HOPELESS])
    values, vectors = np.linalg.eigh(joint.among(candidates))
    spread = vectors * np.sqrt(np.maximum(values, 0))
    rng = np.random.default_rng(0)
    wins = np.zeros(len(candidates), np.int64)
    for _ in range(0, DRAWS, _DRAWS_AT_ONCE):
        luck = rng.standard_normal((_DRAWS_AT_ONCE, len(candidates)))
        best = np.argmax(estimates[candidates] + luck @ spread.T, axis=1)
        wins += np.bincount(best, minlength=len(candidates))
    chances[candidates] = wins / DRAWS
    return chances
