"""Which elements of an output, and which pairs of them, are compared: all of them, or a stated selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netsor.limit.outputs.base import Variable

MAX_ELEMENTS = 64
MAX_PAIRS = 512
MAX_DISTRIBUTIONS = 16


def choose_elements(size: int, most: int = MAX_ELEMENTS) -> np.ndarray:
    """Positions among ``size`` elements: all, or ``most`` at equal distances with both ends."""
    if size <= most:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, most).round().astype(int))


def choose_pairs(count: int, most: int = MAX_PAIRS) -> np.ndarray:
    """Pairs i < j among ``count`` elements, shape (pairs, 2): all, or ``most`` of them drawn once and for all."""
    pairs = np.stack(np.triu_indices(count, 1), axis=1)
    if len(pairs) <= most:
        return pairs
    chosen = np.random.default_rng(0).choice(len(pairs), size=most, replace=False)
    return pairs[np.sort(chosen)]


def label(variable: Variable, flat: int) -> str:
    """``y[2]`` for an element, as the program counts it."""
    if not variable.shape:
        return variable.name
    place = np.unravel_index(flat, variable.shape)
    values = ",".join(str(axis.range.lo + int(k)) for axis, k in zip(variable.indices, place))
    return f"{variable.name} at {values}" if variable.name.endswith("]") else f"{variable.name}[{values}]"
