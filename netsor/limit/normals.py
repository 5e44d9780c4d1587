"""Standard normal numbers for the scores, reproducible from one seed whatever the chunks.

Scrambled Sobol points where the dimension allows, one independent scrambling for each replicate; pseudo-random numbers otherwise, in
blocks with a stream of their own.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from netsor.expectation.sobol import MOST_DIMENSIONS, Sobol

STREAM = 4096  # pseudo-random numbers worth a stream of their own
BLOCK = 4  # fewest points with one stream


class Normals:
    """Points of a standard normal vector of ``dimension`` entries for one replicate."""

    def __init__(self, dimension: int, seed: int, replicate: int, stream: int = 0, quasi: bool = True):
        self.dimension = dimension
        self.key = [seed, replicate, stream]
        self.quasi = quasi and 0 < dimension <= MOST_DIMENSIONS
        self.block = max(1 << (STREAM // max(dimension, 1)).bit_length(), BLOCK)

    def points(self, start: int, stop: int) -> "PointSet":
        """Points ``start`` to ``stop``."""
        return PointSet(self, start, stop, self._sobol.normal(start, stop) if self.quasi else None)

    @cached_property
    def _sobol(self) -> Sobol:
        return Sobol(self.dimension, np.random.default_rng(self.key))


class PointSet:
    """A window of points; entries are asked for by column range."""

    def __init__(self, normals: Normals, start: int, stop: int, quasi: np.ndarray | None):
        self.normals, self.start, self.stop, self.quasi = normals, start, stop, quasi

    def __len__(self) -> int:
        return self.stop - self.start

    def columns(self, first: int, count: int) -> np.ndarray:
        """Shape (points, count).  The same columns are always asked for with the same ``first`` and ``count``."""
        if self.quasi is not None:
            return self.quasi[:, first:first + count]
        result = np.empty((len(self), count))
        size = self.normals.block
        for block in range(self.start // size, -(-self.stop // size)):
            low, high = max(block * size, self.start), min((block + 1) * size, self.stop)
            stream = np.random.SeedSequence([*self.normals.key, first, block])
            generator = np.random.Generator(np.random.SFC64(stream))
            if low == block * size:
                generator.standard_normal(out=result[low - self.start:high - self.start])
            else:
                whole = generator.standard_normal((high - block * size, count))
                result[low - self.start:high - self.start] = whole[low - block * size:]
        return result
