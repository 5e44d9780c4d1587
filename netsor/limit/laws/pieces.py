"""A function of one variable cut into pieces on which it is monotone, so that {f <= x} is a union of intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.expectation.functions import UnaryFunction
from netsor.limit.laws.base import LawError
from netsor.limit.laws.inversion import EPS, find_roots

COARSE, FINEST = 2**12, 2**20  # points of the grid; refined until the number of turning points settles
MOST_TURNS = 2**13
NOISE = 16 * EPS  # of the largest value, by which terms that cancel in a tail may be off
# offsets from 0 and from the kinks, where the features of a function are
HALF_LINE = np.sinh(np.linspace(0.0, np.arcsinh(1e8), 2001))
NEAR = np.concatenate([-HALF_LINE[:0:-1], HALF_LINE])
GOLDEN = 0.5 * (3 - np.sqrt(5))


@dataclass(frozen=True)
class MonotonePieces:
    """``low < high`` are the ends of the pieces in z (the outer ones infinite), ``inner_low`` and ``inner_high`` points
    just inside of them, ``at_low`` and ``at_high`` the limits of the function there; ``flat`` marks constant pieces."""

    function: UnaryFunction
    low: np.ndarray
    high: np.ndarray
    inner_low: np.ndarray
    inner_high: np.ndarray
    at_low: np.ndarray
    at_high: np.ndarray
    flat: np.ndarray
    kinks: np.ndarray

    def __len__(self) -> int:
        return len(self.low)

    def direction(self) -> int:
        """1 or -1 if the function never decreases or never increases; 0 otherwise."""
        within = np.sign(self.at_high - self.at_low)
        between = np.sign(self.at_low[1:] - self.at_high[:-1])
        signs = np.concatenate([within, between])
        return 1 if np.all(signs >= 0) else -1 if np.all(signs <= 0) else 0

    def solve(self, x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """The z with f(z) = x[k] in the piece[k], for pairs of which the piece takes the value."""
        def gap(z: np.ndarray, pair: np.ndarray) -> np.ndarray:
            return self.function(z) - x[pair]

        root = find_roots(gap, self.inner_low[piece], self.inner_high[piece])
        root = np.where(x == self.at_low[piece], np.maximum(self.low[piece], -np.finfo(float).max), root)
        return np.where(x == self.at_high[piece], np.minimum(self.high[piece], np.finfo(float).max), root)


def monotone_pieces(function: UnaryFunction, centre: float, scale: float, reach: float) -> MonotonePieces:
    """The pieces of ``function`` on [centre - reach, centre + reach] (and out to its kinks), for a variable of standard
    deviation ``scale``.

    Turning points are found between the declared kinks on a grid that is refined until their number settles; if it does not, once
    more without those that rounding may have made where the function is far below its largest values, as in the tail of
    z (1 + erf z).  Raises LawError if it does not settle then either (the function oscillates faster than any law of it could be
    told), and where the function is not a number.
    """
    kinks = np.unique([kink for kink in function.kinks if np.isfinite(kink)])
    left, right = min([centre - reach, *(kinks - scale)]), max([centre + reach, *(kinks + scale)])
    edges = np.concatenate([[left], kinks, [right]])
    offset = 16 * EPS * np.maximum(np.abs(edges), min(1.0, scale))
    offset[[0, -1]] = 0.0
    for noise in (0.0, NOISE):
        found, points = None, COARSE
        while points <= FINEST:
            grid = _grid(centre, scale, left, right, kinks, points)
            segments = [_segment(grid, edges, offset, k) for k in range(len(edges) - 1)]
            brackets = [_turns(function, z, noise) for z in segments]
            count = [len(sign) for sign, *_ in brackets]
            if found == count:
                cut = [_refined(function, *bracket) for bracket in brackets]
                return _assemble(function, segments, edges, cut)
            if sum(count) > MOST_TURNS:
                break
            found, points = count, points * 4
    raise LawError(
        f"{function.label} oscillates too fast for its distribution function: it turns at least {sum(count)} times "
        "where its argument lives"
    )


def _grid(centre, scale, left, right, kinks, points) -> np.ndarray:
    parts = [np.linspace(centre - 12 * scale, centre + 12 * scale, points + 1)]
    parts += [np.linspace(left, right, points // 4 + 1)]
    parts += [feature + NEAR for feature in (0.0, *kinks[:64])]
    grid = np.unique(np.concatenate(parts))
    return grid[(grid > left) & (grid < right)]


def _segment(grid, edges, offset, k) -> np.ndarray:
    """The grid between two edges, with ends just inside of them."""
    low, high = edges[k] + offset[k], edges[k + 1] - offset[k + 1]
    return np.concatenate([[low], grid[(grid > low) & (grid < high)], [high]])


def _turns(function: UnaryFunction, z: np.ndarray, noise: float) -> tuple[np.ndarray, ...]:
    """Where the function turns on the grid z: 1 for up, then down (-1 otherwise), and three points around the place.

    Differences below ``noise`` times the largest value are none."""
    values = function(z)
    if np.isnan(values).any():
        place = z[np.isnan(values)][0]
        raise LawError(f"{function.label} is not a number at {place:.6g}, a value that its argument can take")
    before, after = values[:-1], values[1:]
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    rounding = np.maximum(4 * EPS * np.abs(before), noise * largest)
    with np.errstate(invalid="ignore"):
        direction = (after > before + rounding).astype(int) - (after < before - rounding)
    moving = np.flatnonzero(direction)
    turns = np.flatnonzero(direction[moving[1:]] != direction[moving[:-1]])
    last, following = moving[turns], moving[turns + 1]
    return direction[last].astype(float), z[last], z[following], z[following + 1]


def _refined(
    function: UnaryFunction, sign: np.ndarray, left: np.ndarray, middle: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """Turning points by golden section; the point of the grid if it is as good, which is exact for a square."""
    if not len(sign):
        return left
    a, b = left + GOLDEN * (right - left), right - GOLDEN * (right - left)
    fa, fb = sign * function(a), sign * function(b)
    for _ in range(60):
        lower = fa >= fb
        left, right = np.where(lower, left, a), np.where(lower, b, right)
        a, b = np.where(lower, left + GOLDEN * (right - left), b), np.where(lower, a, right - GOLDEN * (right - left))
        fresh = sign * function(np.where(lower, a, b))
        fa, fb = np.where(lower, fresh, fb), np.where(lower, fa, fresh)
    place = 0.5 * (left + right)
    return np.where(sign * function(middle) >= sign * function(place), middle, place)


def _assemble(function, segments, edges, cut) -> MonotonePieces:
    rows, flat = [], []
    for k, (z, turns) in enumerate(zip(segments, cut)):
        ends = np.array([edges[k], *turns, edges[k + 1]])
        inner = np.array([z[0], *turns, z[-1]])
        values = np.array(function(inner))
        if k > 0:
            values[0] = _limit(function, edges[k], z[1], values[0])
        if k + 2 < len(edges):
            values[-1] = _limit(function, edges[k + 1], z[-2], values[-1])
        rows += list(zip(ends[:-1], ends[1:], inner[:-1], inner[1:], values[:-1], values[1:]))
        constant = False
        if not len(turns):
            # between kinks the function is analytic: constant on all of it (far tails included) or nowhere
            constant = _is_constant(function(_whole_interval(z, k == 0, k + 2 == len(edges))))
        flat += [constant] * (len(turns) + 1)
    low, high, inner_low, inner_high, at_low, at_high = map(np.array, zip(*rows))
    low[0], high[-1] = -np.inf, np.inf
    flat = np.array(flat)
    at_high = np.where(flat, at_low, at_high)
    return MonotonePieces(function, low, high, inner_low, inner_high, at_low, at_high, flat, edges[1:-1])


def _is_constant(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and np.ptp(values) <= 16 * EPS * np.abs(values).max())


def _whole_interval(z: np.ndarray, first: bool, last: bool) -> np.ndarray:
    """The grid, extended beyond the window on open sides: a saturated tanh is not constant."""
    parts = [z]
    if first:
        parts.append(np.minimum(z[-1], 0.0) + NEAR[NEAR < 0])
    if last:
        parts.append(np.maximum(z[0], 0.0) + NEAR[NEAR > 0])
    if first and last:
        parts.append(NEAR)
    return np.concatenate(parts)


def _limit(function, kink: float, further: float, value: float) -> float:
    """The one-sided limit at a kink: the value there unless the function jumps."""
    at_kink, next_value = function(np.array([kink, further]))
    with np.errstate(invalid="ignore"):
        variation = 1e-5 * abs(next_value - at_kink) + 16 * EPS * abs(at_kink)
        return float(at_kink) if abs(value - at_kink) <= variation else float(value)
