"""The law of a function of one coordinate whose conditional law is Gaussian."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from netsor.expectation import UnaryFunction
from netsor.expectation.estimate import Estimate
from netsor.expectation.panels import composite
from netsor.limit.laws.base import LawError, Values
from netsor.limit.laws.component_means import component_means
from netsor.limit.laws.components import Components
from netsor.limit.laws.gaussian_mixture import GaussianMixture
from netsor.limit.laws.pieces import MonotonePieces, monotone_pieces
from netsor.limit.laws.point_masses import PointMasses
from netsor.limit.laws.replicated import ReplicatedLaw
from netsor.limit.laws.replicates import influence_error, replicated, sampling_text, standard_error
from netsor.limit.laws.slopes import derivative

REACH = 40.0  # standard deviations; the mass beyond underflows
NEGLIGIBLE = 1e-30
ROOTS = 2**18  # roots held at a time
SHORT = 0.25  # of the smallest standard deviation: an eight-point rule is exact to rounding
STEP = 1e-3  # in log V, for the effect of an error of the variances


class FunctionOfGaussian(ReplicatedLaw):
    """X = phi(Z) with Z given (m, V) ~ N(m, V); samples of m and V have shape (R, M), or are scalars.

    phi is cut into monotone pieces, so {phi <= x} is a union of intervals and the distribution function is exact given
    the components; so are the atoms, where phi is flat between two kinks.  The density is
    sum over the roots of phi(z) = x of the density of Z over abs(phi'(z)).  Moments are one-dimensional quadratures.
    Errors as for :class:`GaussianMixture`.
    """

    kind = "function of gaussian"

    def __init__(
        self, function: UnaryFunction, mean: Any, variance: Any, *,
        method: str | None = None, relative_error: float = 0.0,
    ):
        self.function = function
        self.means, self.variances = replicated(mean, variance)
        if self.variances.min() < 0:
            raise ValueError(f"a variance of the argument is negative: {self.variances.min():.6g}")
        if not 0 <= relative_error < np.inf:
            raise ValueError(f"the relative error of the variances is {relative_error}")
        self.relative_error = float(relative_error)
        text = sampling_text(self.variances.shape)
        self.method = text if self.variances.shape == (1, 1) and not relative_error else method or text
        self.components = Components(self.means, self.variances)
        spread = self.components.spread
        self.centre = float(self.means.mean())
        self._known: dict = {}
        self.pieces = None
        if spread.any():
            self._least_deviation = float(self.components.deviation[spread].min())
            self.pieces = self._cut()
            self._masses = self._probability(self.pieces.low, self.pieces.high)
        self.points = self._atoms()

    def _cut(self) -> MonotonePieces:
        deviation = float(self.components.deviation.max())
        off_centre = float(np.abs(self.means - self.centre).max())
        return monotone_pieces(self.function, self.centre, deviation + off_centre / 12, REACH * deviation + off_centre)

    def _atoms(self) -> PointMasses:
        """Flat pieces, and components of variance 0."""
        point = self.variances == 0
        values = np.zeros_like(self.means)
        values[point] = self.function(self.means[point])
        if not np.isfinite(values).all():
            raise LawError(f"{self.function.label} is not a finite number at a value of its argument")
        fixed = PointMasses.of_samples(values, point)
        if self.pieces is None:
            return fixed
        flat = self.pieces.flat
        places = np.concatenate([fixed.places, self.pieces.at_low[flat]])
        return PointMasses(places, np.concatenate([fixed.masses, self._masses[:, flat]], axis=1))

    def _probability(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """P(low < Z <= high) of the components that are no atoms: (R, intervals)."""
        result = np.empty((self.variances.shape[0], len(low)))
        short = high - low < SHORT * self._least_deviation
        if short.any():  # no difference of nearly equal numbers
            nodes, weights = composite(np.stack([low[short], high[short]], axis=1), nodes=8)
            values = self.components.density(nodes.ravel()).reshape(-1, *nodes.shape)
            result[:, short] = np.sum(values * weights, axis=2)
        if not short.all():
            result[:, ~short] = self._difference(low[~short], high[~short])
        return result

    def _difference(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The same as the difference of two tails, on the side of the interval; equal ends are evaluated once."""
        upper = low >= self.centre
        keys = np.stack([np.concatenate([low, high]), np.concatenate([upper, upper])])
        keys, back = np.unique(keys, axis=1, return_inverse=True)
        tails = self.components.tail(keys[0], keys[1] > 0)[:, back.ravel()]
        difference = tails[:, : len(low)] - tails[:, len(low):]
        return np.where(upper, difference, -difference)

    # --- distribution function and density ---------------------------------------------------------------------------

    def _tail_replicates(self, x: np.ndarray, upper: bool) -> np.ndarray:
        """Whole pieces, and the parts of those that take the value x."""
        total = self.points.tail(x, upper)
        p = self.pieces
        for part, piece, at, root in self._roots(x):
            least, most = np.minimum(p.at_low, p.at_high), np.maximum(p.at_low, p.at_high)
            level = x[part, None]
            whole = (least > level) if upper else (most <= level)
            total[:, part] += self._masses @ (whole & ~p.flat).T
            from_root = (p.at_low[piece] < p.at_high[piece]) == upper
            low, high = np.where(from_root, root, p.low[piece]), np.where(from_root, p.high[piece], root)
            np.add.at(total, (slice(None), at), self._probability(low, high))
        return total

    def _density_replicates(self, x: np.ndarray) -> np.ndarray:
        return self._through_roots(x, self.components.density)

    def _through_roots(self, x: np.ndarray, density) -> np.ndarray:
        """The sum over the roots of phi(z) = x of density(z) / abs(phi'(z))."""
        total = np.zeros((self.variances.shape[0], len(x)))
        for _, piece, at, root in self._roots(x):
            if not len(at):
                continue
            inside = np.clip(root, self.pieces.inner_low[piece], self.pieces.inner_high[piece])
            slope = np.abs(derivative(self.function, inside, self.pieces.kinks)[0])
            value = density(root)
            with np.errstate(divide="ignore", invalid="ignore"):
                np.add.at(total, (slice(None), at), np.where(value > 0, value / slope, 0.0))
        return total

    def _roots(self, x: np.ndarray):
        """In parts of x: the slice, and for each root the number of its piece and of its x (of all), and its place.

        Bounded pieces without noticeable mass are passed over."""
        if self.pieces is None:
            return
        p = self.pieces
        noticed = ~p.flat & ((self._masses.mean(axis=0) > NEGLIGIBLE) | np.isinf(p.low) | np.isinf(p.high))
        least, most = np.minimum(p.at_low, p.at_high), np.maximum(p.at_low, p.at_high)
        step = max(1, ROOTS // len(p))
        for start in range(0, len(x), step):
            level = x[start:start + step, None]
            at, piece = np.nonzero(noticed & (least <= level) & (level < most))
            yield slice(start, start + step), piece, at + start, p.solve(x[at + start], piece)

    def _pdf(self, x: np.ndarray) -> Values:
        bad = self.points.at(x)
        if bad.any():
            self._refuse_density(x[bad])
        return super()._pdf(x)

    def _density_slope(self, x: np.ndarray) -> np.ndarray:
        return self._through_roots(x, self.components.density_slope).mean(axis=0)

    def _tail_slope(self, x: np.ndarray) -> np.ndarray:
        """No probability changes by more than E|z^2 - 1|/4 = phi(1) per relative change of the variance."""
        return np.full(x.shape, math.exp(-0.5) / math.sqrt(2 * math.pi))

    # --- quantiles and draws -----------------------------------------------------------------------------------------

    def _quantile(self, q: np.ndarray, upper: bool) -> Values:
        """Of a monotone phi: phi at the quantile of Z, with the error that this quantile's error makes."""
        direction = self.pieces.direction() if self.pieces is not None else 0
        if not direction:
            return super()._quantile(q, upper)
        argument = GaussianMixture(self.means, self.variances, relative_error=self.relative_error)
        z, error = argument._quantile(q, upper == (direction > 0))
        value, below, above = (self.function(place) for place in (z, z - error, z + error))
        return value, np.maximum(np.abs(below - value), np.abs(above - value))

    def _bracket(self, q: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
        """The range of phi over all z that matter at this level."""
        if self.pieces is None:
            return np.full(q.shape, self.points.places[0]), np.full(q.shape, self.points.places[-1])
        low, high = self.components.extremes(ndtri(q / 2))[0], self.components.extremes(-ndtri(q / 2))[1]
        ends = np.concatenate([self.pieces.at_low, self.pieces.at_high])
        places = np.concatenate([self.pieces.inner_low, self.pieces.inner_high])
        inside = (places >= low[:, None]) & (places <= high[:, None])
        outer = np.stack([self.function(low), self.function(high)], axis=1)
        values = np.concatenate([np.where(inside, ends, outer[:, :1]), outer], axis=1)
        most = np.finfo(float).max
        return np.clip(values.min(axis=1), -most, most), np.clip(values.max(axis=1), -most, most)

    def _rvs(self, count: int, generator: np.random.Generator) -> np.ndarray:
        chosen = generator.integers(self.means.size, size=count)
        normal = generator.standard_normal(count)
        return self.function(self.components.mean[chosen] + self.components.deviation[chosen] * normal)

    def support(self) -> tuple[float, float]:
        values = [self.points.places]
        if self.pieces is not None:
            values += [self.pieces.at_low, self.pieces.at_high, _far_values(self.function)]
        values = np.concatenate(values)
        return float(values.min()), float(values.max())

    # --- moments -----------------------------------------------------------------------------------------------------

    def mean(self) -> Estimate:
        return self._average(self._power(1))

    def var(self) -> Estimate:
        return self._average(self._power(2, float(self.mean().value)))

    def kurtosis(self) -> Estimate:
        if len(self.points) == 1 and (self.pieces is None or self.pieces.flat.all()):
            raise LawError("the law is a constant: its kurtosis is not defined")
        mu = float(self.mean().value)
        first, second, third, fourth = (self._each(self._power(k, mu)) for k in (1, 2, 3, 4))
        variance, skew, size = second[0].mean(), third[0].mean(), fourth[0].mean()
        if variance <= 0:
            raise LawError("the variance vanishes to rounding: the kurtosis cannot be told")
        influence = (fourth[0] - 4 * skew * first[0]) / variance**2 - 2 * size / variance**3 * second[0]
        certain = fourth[1].mean() / variance**2 + 2 * size / variance**3 * second[1].mean()
        return Estimate(size / variance**2 - 3, influence_error(influence) + certain, self._with(fourth[2]))

    def _moment(self, order: int) -> Values:
        estimate = self._average(self._power(order))
        return estimate.value, estimate.error

    def _cf(self, t: np.ndarray) -> Values:
        value, error = np.empty(len(t), dtype=complex), np.empty(len(t))
        for k, one in enumerate(t):
            parity = self.function.parity
            waves = [
                self._composed(("cos", one), lambda y, t=one: np.cos(t * y), abs(parity)),
                self._composed(("sin", one), lambda y, t=one: np.sin(t * y), parity),
            ]
            parts = [self._integrated(wave) for wave in waves]
            replicates = np.stack([part[0].mean(axis=1) for part in parts], axis=1)
            value[k] = complex(*replicates.mean(axis=0))
            error[k] = np.hypot(*standard_error(replicates)) + sum(part[1].mean() for part in parts)
        return value, error

    def _power(self, order: int, about: float = 0.0) -> UnaryFunction:
        """(phi - about)^order."""
        parity = self.function.parity**order if about == 0 else max(self.function.parity, 0)
        polynomial = self.function.polynomial
        if polynomial is not None:
            shifted = np.polynomial.polynomial.polysub(polynomial, [about])
            polynomial = tuple(np.polynomial.polynomial.polypow(shifted, order))
        return self._composed(("power", order, about), lambda y: (y - about) ** order, parity, polynomial)

    def _composed(self, key, outer, parity: int, polynomial=None) -> UnaryFunction:
        phi = self.function
        return UnaryFunction(
            (*key, phi.key), lambda z: outer(phi(z)), phi.kinks, parity=parity, polynomial=polynomial, strip=phi.strip
        )

    def _each(self, g: UnaryFunction) -> tuple[np.ndarray, np.ndarray, str]:
        """E g given each component, with the error of quadrature and of the variances; kept for later calls."""
        if g.key not in self._known:
            self._known[g.key] = self._integrated(g)
        return self._known[g.key]

    def _integrated(self, g: UnaryFunction) -> tuple[np.ndarray, np.ndarray, str]:
        value, error, method = component_means(g, self.means, self.variances)
        if self.relative_error:
            moved = [component_means(g, self.means, self.variances * np.exp(s * STEP))[0] for s in (1, -1)]
            error = error + self.relative_error * np.abs(moved[0] - moved[1]) / (2 * STEP)
        return value, error, method

    def _average(self, g: UnaryFunction) -> Estimate:
        value, error, method = self._each(g)
        return Estimate(value.mean(), influence_error(value) + error.mean(), self._with(method))

    def _with(self, quadrature: str) -> str:
        own = "" if self.method == "exact" else self.method
        return "; ".join(part for part in (own, quadrature) if part)


def _far_values(function: UnaryFunction) -> np.ndarray:
    """The limits of the function at both ends of the line, as far as they can be told."""
    ends = np.array(function(np.array([-np.inf, np.inf])), dtype=float)
    for k, sign in enumerate((-1.0, 1.0)):
        if np.isnan(ends[k]):
            near, far, farther = function(sign * np.array([1e4, 1e6, 1e8]))
            grows = abs(farther) > 10 * abs(far) > 100 * abs(near)
            ends[k] = np.copysign(np.inf, farther) if grows else np.nan
    return ends[~np.isnan(ends)]
