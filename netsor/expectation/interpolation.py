"""Arrays of many pairs without a closed form, by interpolation of the dual function."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np

from netsor.expectation.dual import DualFunction
from netsor.expectation.estimate import Estimate
from netsor.expectation.family import Interval
from netsor.expectation.functions import UnaryFunction
from netsor.nonlinearities.forms.geometry import half_angle

WANTED = 1e-10
# Below these numbers of distinct cells direct quadrature is cheaper than building an interpolant:
# (all variances equal, varying), for smooth functions and for those that need graded panels.
FEW_SMOOTH = (16, 100)
FEW_PANELS = (100, 400)
# Beyond this many cells an interpolant that misses the wanted error is used all the same, and its error stated.
TOO_MANY = 20_000
# A patch of variances spans at most this ratio.
PATCH = 256.0
_CACHE_SIZE = 64
_cache: OrderedDict[Any, DualFunction] = OrderedDict()


def dual_function(f: UnaryFunction, g: UnaryFunction, ranges_f: tuple, ranges_g: tuple) -> DualFunction:
    """The interpolant for these ranges, kept for later calls."""
    key = (f.key, g.key, ranges_f, ranges_g)
    if key in _cache:
        _cache.move_to_end(key)
        return _cache[key]
    dual = DualFunction(f, g, ranges_f, ranges_g)
    _cache[key] = dual
    while len(_cache) > _CACHE_SIZE:
        _cache.popitem(last=False)
    return dual


def law_ranges(mean: np.ndarray, variance: np.ndarray) -> tuple[Interval, Interval]:
    """Intervals of the means and of the log variances, widened to coarse marks so that they recur."""
    low, high = float(np.min(mean)), float(np.max(mean))
    means = Interval(low, low, 1)
    if high > low:
        mark = 2.0 ** math.floor(math.log2(high - low)) / 4
        means = Interval(math.floor(low / mark) * mark, math.ceil(high / mark) * mark, 8)
    low, high = float(np.log(np.min(variance))), float(np.log(np.max(variance)))
    if high - low < 1e-12:
        return means, Interval(low, low, 1)
    mark = 0.125 if high - low < 0.5 else 0.5
    low, high = math.floor(low / mark) * mark, math.ceil(high / mark) * mark
    return means, Interval(low, high, 6 + int(2 * (high - low)))


def patches(variance: np.ndarray) -> list[np.ndarray]:
    """Positions grouped so that no group spans a ratio of variances beyond PATCH."""
    logs = np.log(variance)
    low, high = float(logs.min()), float(logs.max())
    count = max(1, math.ceil((high - low) / math.log(PATCH)))
    if count == 1:
        return [np.arange(len(variance))]
    group = np.minimum(((logs - low) / (high - low) * count).astype(int), count - 1)
    return [np.flatnonzero(group == number) for number in range(count) if np.any(group == number)]


def interpolated_pairs(f: UnaryFunction, g: UnaryFunction, cells) -> Estimate | None:
    """Arrays of pairs; passes when there are few, or when the wanted error is missed and they are not too many."""
    constant = all(np.ptp(part) == 0 for part in (cells.mean_f, cells.mean_g, cells.var_f, cells.var_g))
    distinct, back = cells.distinct()
    smooth = not f.kinks and not g.kinks and max(cells.var_f.max(), cells.var_g.max()) < 30.0
    if len(distinct) <= (FEW_SMOOTH if smooth else FEW_PANELS)[0 if constant else 1]:
        return None
    value, error = np.empty(len(distinct)), np.empty(len(distinct))
    worst = 0.0
    for rows in patches(distinct.var_f):
        for inner in patches(distinct.var_g[rows]):
            part = distinct[rows[inner]]
            dual = dual_function(f, g, law_ranges(part.mean_f, part.var_f), law_ranges(part.mean_g, part.var_g))
            worst = max(worst, dual.error)
            if dual.error > WANTED and len(distinct) <= TOO_MANY:
                return None
            value[rows[inner]], error[rows[inner]] = _on_cells(dual, part)
    return Estimate(value[back], error[back], f"interpolation in the angle (relative error {worst:.0e})")


def _on_cells(dual: DualFunction, cells) -> tuple[np.ndarray, np.ndarray]:
    value, unit = np.empty(len(cells)), np.empty(len(cells))
    for start in range(0, len(cells), 2**14):
        chunk = slice(start, start + 2**14)
        part = cells[chunk]
        left = dual.factors_at(0, part.mean_f, part.var_f)
        right = dual.factors_at(1, part.mean_g, part.var_g)
        value[chunk] = dual.on_cells(half_angle(part.var_f, part.cov, part.var_g), left, right)
        unit[chunk] = dual.scale(0, dual.first.basis(part.mean_f, part.var_f))
        unit[chunk] *= dual.scale(1, dual.second.basis(part.mean_g, part.var_g))
    return value, dual.error * unit
