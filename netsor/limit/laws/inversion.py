"""Solving equations in one unknown, many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EPS = np.finfo(float).eps
MOST_STEPS = 2200  # bisection through the whole floating-point range would end before


def find_roots(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Zeros in [low, high], to rounding: Chandrupatla's safeguarded inverse quadratic interpolation.

    function(x, problem) gives the values of the problems with these numbers.  Where both ends have one sign the
    end with the smaller absolute value is returned: a zero at an end, seen from the wrong side by rounding.
    Source: T. R. Chandrupatla, Advances in Engineering Software 28 (1997) 145-149.
    """
    if not len(low):
        return np.empty(0)
    problem = np.arange(len(low))
    a, b = np.array(low, dtype=float), np.array(high, dtype=float)
    fa, fb = function(a, problem), function(b, problem)
    root = np.where(np.abs(fa) <= np.abs(fb), a, b)
    going = np.flatnonzero(np.sign(fa) * np.sign(fb) < 0)
    a, b, fa, fb, problem = a[going], b[going], fa[going], fb[going], problem[going]
    step = np.full(len(a), 0.5)
    for _ in range(MOST_STEPS):
        if not len(problem):
            break
        x = a + step * (b - a)
        fx = function(x, problem)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(np.abs(fa) <= np.abs(fb), a, b)
        root[problem] = best
        width = np.abs(b - a)
        tolerance = 2 * EPS * np.abs(best) + np.finfo(float).tiny
        going = (width > 2 * tolerance) & (fa != 0)
        with np.errstate(all="ignore"):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            curved = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
            inverse = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            least = tolerance / width
            step = np.clip(np.where(curved & np.isfinite(inverse), inverse, 0.5), least, 1 - least)
        a, b, fa, fb, step, problem = (array[going] for array in (a, b, fa, fb, step, problem))
    return root


def find_quantiles(
    tail: Callable[[np.ndarray], np.ndarray], q: np.ndarray, upper: bool, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Solutions of tail(x) = q in [low, high], found on the scale of log tail.

    tail is P(X <= .) or, if upper, P(X > .), continuous inside the brackets.
    """
    log_q, sign = np.log(q), -1.0 if upper else 1.0

    def gap(x: np.ndarray, problem: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return sign * (np.log(tail(x)) - log_q[problem])

    return find_roots(gap, low, high)
