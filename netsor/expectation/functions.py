"""What can be averaged: functions of one Gaussian variable."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from netsor.nonlinearities.base import Nonlinearity

LAYER = 2.0
"""The scale on which nonlinearities change near zero and near their kinks."""


@dataclass(frozen=True)
class UnaryFunction:
    """A function of one Gaussian variable, possibly composed by the user.

    ``kinks`` are the points where it is not analytic, jumps included: quadrature is exact only when they are all
    there. ``strip`` is a hint to quadrature. Equal keys must mean equal functions.
    """

    key: Hashable
    function: Callable[[np.ndarray], np.ndarray]
    kinks: tuple[float, ...] = ()
    nonlinearity: Nonlinearity | None = None
    parameters: tuple[float, ...] = ()
    parity: int = 0
    polynomial: tuple[float, ...] | None = None
    strip: float = 1.0

    @staticmethod
    def of(nonlinearity: Nonlinearity | str, *parameters: float) -> UnaryFunction:
        """A catalogue entry, by itself or by name."""
        if isinstance(nonlinearity, str):
            from netsor.nonlinearities import get

            nonlinearity = get(nonlinearity)
        parameters = nonlinearity.arguments(*parameters)
        return UnaryFunction(
            key=(nonlinearity.name, *parameters),
            function=lambda x: nonlinearity(x, *parameters),
            kinks=tuple(nonlinearity.kinks(*parameters)),
            nonlinearity=nonlinearity,
            parameters=parameters,
            parity=nonlinearity.parity(*parameters),
            polynomial=nonlinearity.polynomial(*parameters),
            strip=nonlinearity.strip,
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values in float64; overflow becomes inf silently and is caught where expectations are formed."""
        with np.errstate(all="ignore"):
            return np.asarray(self.function(x), dtype=float)

    def breaks(self, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        """Where quadrature in x must not look too coarsely, f(mean + deviation x): shape (laws, breaks).

        The kinks, and points at distances LAYER, 4 LAYER, 16 LAYER, ... from them and from zero: seen from a large
        deviation every nonlinearity has a layer there that no node would hit by chance.
        """
        mean, deviation = np.atleast_1d(mean)[:, None], np.atleast_1d(deviation)[:, None]
        steps = max(0, int(np.ceil(np.log2(deviation.max(initial=1.0) / LAYER) / 2)))
        distances = LAYER * 4.0 ** np.arange(steps)
        centres = np.unique([0.0, *self.kinks])
        graded = (centres[:, None] + np.concatenate([-distances, distances])).ravel()
        return (np.concatenate([np.array(self.kinks, dtype=float), graded]) - mean) / deviation

    @property
    def form(self):
        """Its representation in a family with closed forms, or None."""
        if self.nonlinearity is not None:
            form = self.nonlinearity.form(*self.parameters)
            if form is not None:
                return form
        if self.polynomial is not None:
            from netsor.nonlinearities.forms import PolynomialForm

            return PolynomialForm(self.polynomial)
        return None

    @cached_property
    def local_exponent(self) -> float:
        """The smallest power of the distance with which it behaves at a kink: -1/2 for 1/sqrt|x| at 0, 0 where it stays bounded,
        -inf where it grows faster than any power."""
        near, nearer = (2.0**-k for k in (20, 30))
        smallest = 0.0
        for kink in self.kinks:
            for side in (-1.0, 1.0):
                far, close = np.abs(self(kink + side * (1 + abs(kink)) * np.array([near, nearer])))
                if np.isinf(close) and not np.isinf(far):
                    return -np.inf
                if np.isfinite(close) and close > 1.001 * far > 0:
                    smallest = min(smallest, float(np.log(close / far) / np.log(nearer / near)))
        return smallest

    @property
    def label(self) -> str:
        return self.nonlinearity.name if self.nonlinearity is not None else str(self.key)


@dataclass(frozen=True)
class CellFunction:
    """A function whose parameters differ from cell to cell.

    ``function(x, cells)`` maps x of shape (cells in the slice, points) to the same shape; ``kinks`` has shape
    (cells, number of kinks) and holds +-inf where a cell has fewer.
    """

    function: Callable[[np.ndarray, slice], np.ndarray]
    kinks: np.ndarray

    @property
    def label(self) -> str:
        return "a function with random parameters"

    def at(self, cells: slice, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(self.function(x, cells), dtype=float)
