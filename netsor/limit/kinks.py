"""Where a composed function of one variable is not analytic.

A kink of a composition is a point where an inner expression meets a kink of the function around it, or where the two sides of a
condition are equal.  Inner expressions that are affine in the variable are solved; for others the sign changes and touching
points on a fine grid are refined by bisection.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsor import nonlinearities
from netsor.ir.elementary import ELEMENTARY
from netsor.ir.expressions import Call, Compare, Expr, Leaf, Num, Pow, Reduce, add, lift, mul
from netsor.ir.rewrite import walk

REACH = 1e4  # roots are searched in [-REACH, REACH]
GRID = np.sinh(np.linspace(-np.arcsinh(REACH), np.arcsinh(REACH), 4001))
MAX_KINKS = 64


def crossings(expr: Expr) -> list[Expr]:
    """Expressions in the variable whose zeros are the candidates for kinks of ``expr``."""
    found: list[Expr] = []
    for part in walk(expr):
        match part:
            case Call(function=name, arguments=arguments) if name in ("max", "min"):
                found += [add(a, mul(-1, b)) for k, a in enumerate(arguments) for b in arguments[:k]]
            case Call(function=name, arguments=arguments) if name not in ELEMENTARY:
                parameters = [argument for argument in arguments[1:]]
                found += [add(arguments[0], mul(-1, kink)) for kink in _kinks(name, parameters)]
            case Compare(left=left, right=right):
                found.append(add(left, mul(-1, right)))
            case Pow(base=base, exponent=Num(value=value)) if value != int(value) or value < 0:
                found.append(base)
            case Reduce(op="max" | "min"):
                pass  # several variables: never a function of one
    return [e for e in dict.fromkeys(found) if any(isinstance(part, Leaf) for part in walk(e))]


def _kinks(name: str, parameters: list[Expr]) -> list[Expr]:
    nonlinearity = nonlinearities.get(name)
    if all(isinstance(parameter, Num) for parameter in parameters):
        return [lift(float(kink)) for kink in nonlinearity.kinks(*(float(p.value) for p in parameters))]
    # random parameters: kinks are either fixed or among the parameters themselves (clip)
    probe = nonlinearity.kinks(*(float(2 + 3 * k) for k in range(len(parameters))))
    moved = nonlinearity.kinks(*(float(5 + 7 * k) for k in range(len(parameters))))
    found = []
    for before, after in zip(probe, moved):
        matching = [p for k, p in enumerate(parameters) if before == 2 + 3 * k and after == 5 + 7 * k]
        found.append(matching[0] if matching else lift(float(before)))
    return found


def roots(function: Callable[[np.ndarray], np.ndarray], affine: bool, cells: int) -> np.ndarray:
    """Zeros of ``function`` (x of shape (cells, points) -> the same shape): shape (cells, count), padded with inf."""
    if affine:
        at = function(np.broadcast_to(np.array([0.0, 1.0]), (cells, 2)))
        slope = at[:, 1] - at[:, 0]
        with np.errstate(all="ignore"):
            zero = np.where(slope != 0, -at[:, 0] / slope, np.inf)
        return np.where(np.isfinite(zero), zero, np.inf)[:, None]
    values = np.asarray(function(np.broadcast_to(GRID, (cells, GRID.size))))
    left, right = values[:, :-1], values[:, 1:]
    cell, position = np.nonzero((left * right < 0) | (left == 0))
    zeros = _bisect(function, cell, GRID[position], GRID[position + 1], cells)
    touch_cell, touch = _touching(values)
    found: list[list[float]] = [[] for _ in range(cells)]
    for c, zero in [*zip(cell, zeros), *zip(touch_cell, GRID[touch])]:
        found[c].append(float(zero))
    width = min(max(map(len, found), default=0), MAX_KINKS)
    result = np.full((cells, width), np.inf)
    for c, own in enumerate(found):
        nearest = sorted(own, key=abs)[:width]
        result[c, : len(nearest)] = nearest
    return result


def _bisect(function, cell, low, high, cells) -> np.ndarray:
    """Refine sign changes (cell[k], low[k], high[k]) all at once; ``function`` takes all cells, so columns are used in turn."""
    low, high = low.copy(), high.copy()
    if not low.size:
        return low
    counts = np.bincount(cell, minlength=cells)
    column = np.concatenate([np.arange(count) for count in counts])
    grid = np.zeros((cells, counts.max()))

    def at(x: np.ndarray) -> np.ndarray:
        grid[cell, column] = x
        return np.asarray(function(grid))[cell, column]

    sign = np.sign(at(low))
    for _ in range(80):
        middle = 0.5 * (low + high)
        same = np.sign(at(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


def _touching(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Grid points where the function comes to zero without changing sign (|x|-like touching at 0 is a grid point)."""
    size = np.abs(values)
    inner = size[:, 1:-1]
    smallest = (inner <= size[:, :-2]) & (inner <= size[:, 2:]) & (inner <= 1e-12)
    cell, position = np.nonzero(smallest & (values[:, :-2] * values[:, 2:] > 0))
    return cell, position + 1
