"""Vectors by their coordinates in an orthonormal frame of R^n that is never formed.

The frame begins with the unit vectors of the recorded coordinates.  A Gaussian vector that is independent of everything before has
independent standard normal coordinates along the frame so far and a remainder of chi-distributed length in the n - rank dimensions
left, whose direction becomes the next vector of the frame (Bartlett 1933).  With rank n the frame is complete and no remainder is
left, so the law is exact for every n.
"""

from __future__ import annotations

import numpy as np


class Frame:
    """Independent frames over (runs, *batch), all of the same rank."""

    def __init__(self, lead: tuple[int, ...], n: int, recorded: int, rng: np.random.Generator):
        self.lead, self.n, self.rank, self.rng = lead, n, recorded, rng

    def fresh(self, count: int) -> np.ndarray:
        """``count`` new independent N(0, I) vectors for each frame: coordinates (*lead, count, rank); the rank grows."""
        known, new = self.rank, min(count, self.n - self.rank)
        self.rank = known + new
        drawn = self.rng.standard_normal((*self.lead, count, self.rank))
        if new:
            remainder = drawn[..., :new, known:]
            remainder *= np.tri(new, k=-1)
            degrees = self.n - known - np.arange(new)
            positions = np.arange(new)
            remainder[..., positions, positions] = np.sqrt(self.rng.chisquare(degrees, (*self.lead, new)))
        return drawn


def padded(coordinates: np.ndarray, rank: int) -> np.ndarray:
    """Coordinates (..., r) in a frame that has grown to ``rank`` since."""
    missing = rank - coordinates.shape[-1]
    if not missing:
        return coordinates
    result = np.zeros((*coordinates.shape[:-1], rank))
    result[..., :-missing] = coordinates
    return result


def inner(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Inner products of vectors (..., a, n) and (..., b, n): (..., a, b)."""
    rank = max(left.shape[-1], right.shape[-1])
    return padded(left, rank) @ np.swapaxes(padded(right, rank), -1, -2)



def magnitude(vectors: np.ndarray) -> np.ndarray:
    """The largest absolute coordinate of vectors (..., n) as (..., 1); 1 for zero vectors and for those that are not finite."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    return np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
