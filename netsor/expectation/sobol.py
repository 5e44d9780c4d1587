"""Scrambled Sobol points, by position."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np

MOST_DIMENSIONS = 1024  # beyond this, points are hardly better than pseudo-random ones and slow to make
BITS = 30


class Sobol:
    """Sobol's sequence in [0, 1)^dimension, scrambled by a random lower triangular matrix and a random shift of the digits.

    Direction numbers of Joe & Kuo 2008; scrambling of Matousek 1998 (J. of Complexity 14, 527-556): every point is uniform, and averages
    over 2^m points are unbiased. Dimension and generator fix the sequence (it is that of ``scipy.stats.qmc.Sobol``).
    """

    def __init__(self, dimension: int, generator: np.random.Generator):
        if not 0 < dimension <= MOST_DIMENSIONS:
            raise ValueError(f"Sobol points have 1 to {MOST_DIMENSIONS} dimensions, not {dimension}")
        stream = generator.spawn(1)[0]  # the generator's own stream stays untouched
        bits = lambda *shape: stream.integers(0, 2, size=(dimension, *shape), dtype=np.uint32)  # noqa: E731
        self._shift = bits(BITS) @ (1 << np.arange(BITS, dtype=np.uint32))
        matrix = np.tril(bits(BITS, BITS), -1) + np.eye(BITS, dtype=np.uint32)
        place = np.arange(BITS - 1, -1, -1, dtype=np.uint32)  # digits, the first of them the most significant bit
        digits = direction_numbers(dimension)[:, :, None] >> place & 1
        # products of digits are counted in float64, exactly and by the fast matrix product
        scrambled = digits.astype(float) @ matrix.swapaxes(1, 2).astype(float) % 2
        self._directions = np.ascontiguousarray((scrambled.astype(np.uint32) @ (1 << place)).T)

    def uniform(self, start: int, stop: int) -> np.ndarray:
        """Points ``start`` to ``stop``, shape (stop - start, dimension), each in the middle of its cell of the grid: never exactly 0."""
        if stop > 1 << BITS:
            raise ValueError(f"there are 2^{BITS} Sobol points, {stop} were asked for")
        if stop <= start:
            return np.empty((0, len(self._shift)))
        # in Gray code's order a point differs from the one before by one direction (Antonov & Saleev 1979)
        position = np.arange(start, stop)
        lowest = position & -position
        points = self._directions[np.frexp(lowest)[1] - 1]
        gray = start ^ start >> 1
        own = [self._directions[bit] for bit in range(BITS) if gray >> bit & 1]
        points[0] = np.bitwise_xor.reduce([self._shift, *own])
        np.bitwise_xor.accumulate(points, axis=0, out=points)
        return (points + 0.5) * 2.0**-BITS

    def normal(self, start: int, stop: int) -> np.ndarray:
        """The same points as standard normal numbers."""
        from scipy.special import ndtri

        uniform = self.uniform(start, stop)
        return ndtri(uniform, out=uniform)


@lru_cache
def direction_numbers(dimension: int) -> np.ndarray:
    """V[d, j], the j-th direction number of dimension d as a binary fraction of BITS digits: shape (dimension, BITS)."""
    table = (files("netsor.expectation") / "direction_numbers.txt").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if not line.startswith("#")]
    numbers = np.empty((dimension, BITS), dtype=np.uint32)
    numbers[0] = 1 << np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    for row, line in enumerate(lines[: dimension - 1], 1):
        _, degree, inner, *initial = map(int, line.split())
        own = [initial[j] << BITS - 1 - j for j in range(degree)]
        for j in range(degree, BITS):
            number = own[j - degree] ^ own[j - degree] >> degree
            for k in range(1, degree):
                if inner >> degree - 1 - k & 1:
                    number ^= own[j - k]
            own.append(number)
        numbers[row] = own
    return numbers
