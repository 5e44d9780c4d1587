"""E f(U) g(V) where the parameters of f or g differ from cell to cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from netsor.expectation.estimate import Estimate
from netsor.expectation.functions import CellFunction, UnaryFunction
from netsor.expectation.plane import PlaneRule


def expect_cell_pairs(f: UnaryFunction | CellFunction, g: UnaryFunction | CellFunction, cells: Any) -> Estimate:
    """Two-dimensional quadrature of every cell by itself, split at its own kinks; constant variables are constants."""
    rho, sine = cells.correlation()
    value, error = np.empty(len(cells)), np.empty(len(cells))
    for cell in range(len(cells)):
        one = _standardised(f, cell, cells.mean_f[cell], np.sqrt(cells.var_f[cell]))
        two = _standardised(g, cell, cells.mean_g[cell], np.sqrt(cells.var_g[cell]))
        constant = cells.var_f[cell] == 0 or cells.var_g[cell] == 0
        angle = (0.0, 1.0) if constant else (rho[cell], sine[cell])
        matrix, gap = PlaneRule(one[0], two[0], one[1], two[1]).matrix(*angle)
        value[cell], error[cell] = matrix[0, 0], gap[0, 0]
    return Estimate(value, error, "quadrature (two variables, split at kinks)")


def _standardised(f: UnaryFunction | CellFunction, cell: int, mean: float, deviation: float):
    """The function of one cell on a standard normal variable, and its kinks there."""
    if isinstance(f, CellFunction):
        kinks = np.asarray(f.kinks, dtype=float)[cell]

        def function(x: np.ndarray) -> np.ndarray:
            row = (mean + deviation * x).reshape(1, -1)
            return f.at(slice(cell, cell + 1), row).reshape(1, *x.shape)
    else:
        kinks = np.array(f.kinks, dtype=float)

        def function(x: np.ndarray) -> np.ndarray:
            return f(mean + deviation * x)[None]

    kinks = kinks[np.isfinite(kinks)]
    return function, (kinks - mean) / deviation if deviation > 0 else np.empty(0)
