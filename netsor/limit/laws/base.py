"""What every law offers, in the manner of a frozen distribution of scipy.stats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from netsor.expectation.estimate import Estimate, with_error
from netsor.limit.laws.characteristic import ComplexEstimate

Values = tuple[np.ndarray, np.ndarray]  # values and their errors, both of shape (points,)


class LawError(ValueError):
    """A law has no such number (a density at an atom, say); the message says why."""


class Law(ABC):
    """The law of one coordinate of one element of an output, at infinite width.

    Every number is an :class:`Estimate`.  Its error is one standard error, estimated from the R independent replicates
    that the law was built from (relative accuracy of the error itself 1/sqrt(2(R - 1)); standardised errors follow
    Student's t with R - 1 degrees of freedom), plus a bound for deterministic quadrature.  Rounding is not included.
    Arguments x, q and t are arrays of any shape; numbers that do not exist raise :class:`LawError`.
    """

    kind: str
    method: str

    # --- what a law supplies; x, q, t are one-dimensional -------------------------------------------------------------

    @abstractmethod
    def mean(self) -> Estimate:
        """E X."""

    @abstractmethod
    def var(self) -> Estimate:
        """The central second moment."""

    @abstractmethod
    def kurtosis(self) -> Estimate:
        """The excess kurtosis E(X - EX)^4 / Var(X)^2 - 3; LawError for a constant."""

    @abstractmethod
    def _moment(self, order: int) -> Values:
        """E X^order, order >= 1: value and error of shape ()."""

    @abstractmethod
    def _pdf(self, x: np.ndarray) -> Values:
        """The density; LawError if there is none."""

    @abstractmethod
    def _tail(self, x: np.ndarray, upper: bool) -> Values:
        """P(X > x) if upper, else P(X <= x), each to full relative precision where that is possible."""

    @abstractmethod
    def _quantile(self, q: np.ndarray, upper: bool) -> Values:
        """The smallest x with P(X <= x) >= q (or with P(X > x) <= q if upper), for 0 < q < 1."""

    @abstractmethod
    def _cf(self, t: np.ndarray) -> Values:
        """E exp(itX), complex, and the error of its modulus."""

    @abstractmethod
    def _rvs(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """``count`` independent draws."""

    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The ends of an interval that holds the law (infinite where nothing better is known)."""

    def atoms(self) -> list[tuple[float, Estimate]]:
        """Points of positive probability and their masses."""
        return []

    # --- what follows ------------------------------------------------------------------------------------------------

    def std(self) -> Estimate:
        """The standard deviation; delta method."""
        variance = self.var()
        deviation = float(np.sqrt(variance.value))
        error = float(variance.error) / (2 * deviation) if deviation > 0 else float(np.sqrt(variance.error))
        return Estimate(deviation, error, variance.method)

    def moment(self, order: int) -> Estimate:
        """The raw moment E X^order for order = 0, 1, 2, ...; LawError if it leaves the floating-point range."""
        if int(order) != order or order < 0:
            raise ValueError(f"moments are of order 0, 1, 2, ..., not {order}")
        if order == 0:
            return Estimate(1.0, 0.0, "exact")
        with np.errstate(over="ignore", invalid="ignore"):
            value, error = self._moment(int(order))
        if not np.isfinite(value) or not np.isfinite(error):
            raise LawError(f"the moment of order {order} leaves the floating-point range")
        return Estimate(value, error, self.method)

    def pdf(self, x: Any) -> Estimate:
        """The density (continuous from the right where it jumps); LawError at atoms."""
        return self._over(x, self._pdf)

    def logpdf(self, x: Any) -> Estimate:
        """The logarithm of the density; its error is the relative error of the density."""
        return self._over(x, self._logpdf)

    def cdf(self, x: Any) -> Estimate:
        """P(X <= x)."""
        return self._over(x, lambda flat: self._tail(flat, False))

    def sf(self, x: Any) -> Estimate:
        """P(X > x), precise in the upper tail."""
        return self._over(x, lambda flat: self._tail(flat, True))

    def logcdf(self, x: Any) -> Estimate:
        """log P(X <= x)."""
        return self._over(x, lambda flat: self._logtail(flat, False))

    def logsf(self, x: Any) -> Estimate:
        """log P(X > x)."""
        return self._over(x, lambda flat: self._logtail(flat, True))

    def ppf(self, q: Any) -> Estimate:
        """Quantiles: the smallest x with P(X <= x) >= q; the support's ends at 0 and 1, NaN outside [0, 1]."""
        return self._over(q, lambda flat: self._all_quantiles(flat, False))

    def isf(self, q: Any) -> Estimate:
        """Upper quantiles, precise for small q: the smallest x with P(X > x) <= q."""
        return self._over(q, lambda flat: self._all_quantiles(flat, True))

    def interval(self, confidence: float) -> tuple[Estimate, Estimate]:
        """The ends of the interval that leaves (1 - confidence)/2 on both sides."""
        outside = 0.5 * (1.0 - confidence)
        return self.ppf(outside), self.isf(outside)

    def cf(self, t: Any) -> ComplexEstimate:
        """The characteristic function E exp(itX)."""
        t = np.asarray(t, dtype=float)
        value, error = self._cf(t.ravel())
        return ComplexEstimate(value.reshape(t.shape), error.reshape(t.shape), self.method)

    def rvs(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> np.ndarray | float:
        """Independent draws of shape ``size`` (a float for None), from a seed, a Generator, or fresh entropy."""
        generator = np.random.default_rng(random_state)
        if size is None:
            return float(self._rvs(1, generator)[0])
        shape = (size,) if np.ndim(size) == 0 else tuple(size)
        return self._rvs(int(np.prod(shape, dtype=int)), generator).reshape(shape)

    def describe(self) -> dict[str, Any]:
        """What a report shows: kind, mean, variance, excess kurtosis, atoms if there are any, and method.

        Numbers that do not exist (the kurtosis of a constant, moments that diverge) are None.
        """
        summary = {
            "kind": self.kind, "mean": _if_any(self.mean), "variance": _if_any(self.var),
            "excess kurtosis": _if_any(self.kurtosis),
        }
        atoms = self.atoms()
        return summary | ({"atoms": atoms} if atoms else {}) | {"method": self.method}

    def __repr__(self) -> str:
        shown = {name: estimate for name, estimate in self._shown().items() if estimate is not None}
        numbers = [f"{name} {with_error(float(e.value), float(e.error))}" for name, e in shown.items()]
        return f"<{self.kind}: {', '.join(numbers) or 'without moments'} [{self.method}]>"

    def _shown(self) -> dict[str, Estimate | None]:
        return {"mean": _if_any(self.mean), "variance": _if_any(self.var)}

    # --- defaults and plumbing ---------------------------------------------------------------------------------------

    def _logpdf(self, x: np.ndarray) -> Values:
        return logarithm(*self._pdf(x))

    def _logtail(self, x: np.ndarray, upper: bool) -> Values:
        return logarithm(*self._tail(x, upper))

    def _over(self, x: Any, numbers) -> Estimate:
        """``numbers`` of the flattened array; NaN in, NaN out."""
        x = np.asarray(x, dtype=float)
        flat = x.ravel()
        known = ~np.isnan(flat)
        value, error = np.full(flat.shape, np.nan), np.full(flat.shape, np.nan)
        if known.any():
            value[known], error[known] = numbers(flat[known])
        return Estimate(value.reshape(x.shape), error.reshape(x.shape), self.method)

    def _all_quantiles(self, q: np.ndarray, upper: bool) -> Values:
        value, error = np.full(q.shape, np.nan), np.full(q.shape, np.nan)
        left, right = self.support()
        value[q == 0], value[q == 1] = (right, left) if upper else (left, right)
        error[(q == 0) | (q == 1)] = 0.0
        inner = (q > 0) & (q < 1)
        if inner.any():
            value[inner], error[inner] = self._quantile(q[inner], upper)
        return value, error

    def _refuse_density(self, places: np.ndarray) -> None:
        """LawError that names the heaviest of the atoms at ``places``."""
        place, mass = max((atom for atom in self.atoms() if atom[0] in places), key=lambda atom: float(atom[1].value))
        raise LawError(
            f"there is no density: the law has an atom of mass {with_error(float(mass.value), float(mass.error))} "
            f"at {place:.6g}; use cdf, which includes it"
        )


def _if_any(number: Callable[[], Estimate]) -> Estimate | None:
    try:
        return number()
    except LawError:
        return None


def logarithm(value: np.ndarray, error: np.ndarray) -> Values:
    """The logarithm, -inf without error for 0; delta method."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(value), np.where(value > 0, error / value, 0.0)
