"""Composite Gauss-Legendre rules for one and two Gaussian variables, split at the kinks of all functions at once."""

import numpy as np

from gaussian_reference.functions import CASES, KINKS

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
REACH = 9.5


def _rule(breaks, low, high, widest):
    """Nodes and weights against the standard normal density on [low, high], no panel wider than ``widest``."""
    breaks = np.unique(np.concatenate([[low, high], breaks[(breaks > low) & (breaks < high)]]))
    edges = np.concatenate([np.linspace(p, q, 1 + int(np.ceil((q - p) / widest)))[:-1] for p, q in zip(breaks, breaks[1:])])
    edges = np.append(edges, high)
    half = np.diff(edges) / 2
    x = (edges[:-1] + half)[:, None] + half[:, None] * NODES
    weights = half[:, None] * WEIGHTS * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    return x.ravel(), weights.ravel()


def _breaks(mean, deviation):
    """Kinks, and layers of width 1 and 4 around them, which look narrow to a wide law."""
    places = np.concatenate([KINKS + shift for shift in (-4.0, -1.0, 0.0, 1.0, 4.0)])
    return (places - mean) / deviation


def one_variable(mean, variance):
    """Nodes u and weights for u ~ N(mean, variance); the range covers e^{2u}."""
    deviation = np.sqrt(variance)
    x, weights = _rule(_breaks(mean, deviation), -REACH - deviation, REACH + 2 * deviation, min(1.0, 3.0 / deviation))
    return mean + deviation * x, weights


def line_table(var_u, cov, var_v):
    """The same table as ``pair_table`` where v = (cov / var_u) u, centred."""
    deviation, slope = np.sqrt(var_u), cov / var_u
    breaks = np.concatenate([_breaks(0.0, deviation), _breaks(0.0, deviation * slope)])
    wide = deviation + np.sqrt(var_v)
    x, weights = _rule(breaks, -REACH - wide, REACH + wide, min(1.0, 3.0 / wide))
    left, right = (np.array([case[2](place) for case in CASES.values()]) for place in (deviation * x, slope * deviation * x))
    return (left * weights) @ right.T, (np.abs(left) * weights) @ np.abs(right).T


def pair_table(mean_u, mean_v, var_u, cov, var_v):
    """E f(u) g(v) and E |f(u) g(v)| for all pairs of CASES: two arrays (cases, cases)."""
    functions = [case[2] for case in CASES.values()]
    deviation_u = np.sqrt(var_u)
    slope = cov / deviation_u
    rest = np.sqrt(var_v - slope**2)
    # where the line of means crosses a kink of g the conditional mean of g turns sharply, over a width rest / slope
    crossings = np.array([])
    if slope:
        sharp = abs(rest / slope)
        crossings = np.concatenate([(KINKS - mean_v) / slope + shift * sharp for shift in (-8, -4, -2, -1, 0, 1, 2, 4, 8)])
    breaks = np.concatenate([_breaks(mean_u, deviation_u), crossings])
    x, outer = _rule(breaks, -REACH - deviation_u, REACH + deviation_u + abs(slope), min(1.0, 3.0 / deviation_u))
    u = mean_u + deviation_u * x
    inner, inner_absolute = np.empty((2, len(functions), len(x)))
    for i, place in enumerate(x):
        centre = mean_v + slope * place
        y, weights = _rule(_breaks(centre, rest), -REACH - rest, REACH + rest, min(1.5, 3.0 / rest))
        values = np.array([g(centre + rest * y) for g in functions])
        inner[:, i], inner_absolute[:, i] = values @ weights, np.abs(values) @ weights
    values = np.array([f(u) for f in functions]) * outer
    return values @ inner.T, np.abs(values) @ inner_absolute.T
