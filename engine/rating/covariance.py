"""The joint covariance of a ladder's estimates: as a matrix, or in parts for large ladders."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Positions = Sequence[int] | npt.NDArray[np.int64]


@runtime_checkable
class Covariance(Protocol):
    """The covariance of N estimates, in Elo squared; each row adds up to 0.

    All entries are infinite if there are fewer than two blocks.
    """

    def variances(self) -> _Floats:
        """Return the diagonal, shape (N,)."""

    def row(self, position: int) -> _Floats:
        """Return the covariances of one estimate with all, shape (N,)."""

    def among(self, positions: _Positions) -> _Floats:
        """Return the covariance matrix of some estimates, in the order of their positions."""


class MatrixCovariance:
    """A covariance that is a matrix in memory."""

    def __init__(self, matrix: npt.ArrayLike) -> None:
        """Keep a matrix of shape (N, N), in Elo squared."""
        self._matrix = np.asarray(matrix, float)

    def variances(self) -> _Floats:
        """Return the diagonal, shape (N,)."""
        return np.diag(self._matrix)

    def row(self, position: int) -> _Floats:
        """Return the covariances of one estimate with all, shape (N,)."""
        row: _Floats = self._matrix[position]
        return row

    def among(self, positions: _Positions) -> _Floats:
        """Return the covariance matrix of some estimates, in the order of their positions."""
        at = np.asarray(positions, np.int64)
        part: _Floats = self._matrix[np.ix_(at, at)]
        return part


class PartOfCovariance:
    """The covariance of some of the estimates of another, in a new order."""

    def __init__(self, whole: Covariance, positions: _Positions) -> None:
        """Keep the estimates at these positions of the whole."""
        self._whole = whole
        self._positions = np.asarray(positions, np.int64)

    def variances(self) -> _Floats:
        """Return the diagonal, shape (N,)."""
        variances: _Floats = self._whole.variances()[self._positions]
        return variances

    def row(self, position: int) -> _Floats:
        """Return the covariances of one estimate with all, shape (N,)."""
        row: _Floats = self._whole.row(int(self._positions[position]))[self._positions]
        return row

    def among(self, positions: _Positions) -> _Floats:
        """Return the covariance matrix of some estimates, in the order of their positions."""
        return self._whole.among(self._positions[np.asarray(positions, np.int64)])


def as_covariance(covariance: Covariance | npt.ArrayLike) -> Covariance:
    """Return a covariance unchanged, and an array of shape (N, N) as a covariance."""
    if isinstance(covariance, Covariance):
        return covariance
    return MatrixCovariance(covariance)
