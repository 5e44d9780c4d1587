"""Vectors that are functions of Gaussian ones: activations, products, normalised vectors."""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import ONE, ZERO, Expr, Leaf
from netsor.ir.polynomials import coords, with_parts
from netsor.ir.rewrite import free_indices
from netsor.ir.program import Iid
from netsor.limit.conditioning import replaced
from netsor.limit.leaf_functions import static_function
from netsor.limit.laws import Empirical, FunctionOfGaussian, LawError
from netsor.limit.dimensions import is_static
from netsor.limit.numbers import Undefined
from netsor.limit.outputs.base import MAX_COVARIANCE, Quantity, Variable
from netsor.limit.statistics import average, excess_kurtosis, jackknife, widened
from netsor.rules import rule_of

ROUNDING = 4 * np.finfo(float).eps  # of a moment that is a sum of a few terms


class FunctionOutput(Quantity):
    """An output of kind H: moments are expectations given the scores, averaged over them."""

    kind = "H"

    def build(self) -> list[Expr]:
        recursion = self.analysis.recursion
        left, right = self.elements("x"), self.elements("y")
        self.full = self.cells <= MAX_COVARIANCE
        raw = lambda r, k: recursion.power(r, k).expression()  # noqa: E731
        self.raw = {k: [(c, raw(r, k)) for c, r in left] for k in (1, 2, 3, 4)}
        self.seconds = [(c, d, recursion.moment(r, q).expression()) for c, r in left for d, q in right] if self.full else []
        self.leaf = self._single_leaf(left)
        extra = [] if self.leaf is None else [piece[-1] for pieces in self.leaf[1:] for piece in pieces]
        return [piece[-1] for pieces in self.raw.values() for piece in pieces] + [p[-1] for p in self.seconds] + extra

    def _single_leaf(self, elements):
        """(function, its argument's mean, its variance) if every element is the same fixed function of one Gaussian variable, or of one
        input that is not Gaussian, and so of a standard normal variable."""
        recursion, found = self.analysis.recursion, []
        for constants, reference in elements:
            body = recursion.gaussian_body(reference)
            variables = coords(body)
            if len(variables) != 1:
                return None
            variable, = variables
            in_leaf = with_parts(body, {variable: Leaf(0)})
            if isinstance(variable.family.definition, Iid):
                in_leaf = replaced(in_leaf, {Leaf(0): rule_of(variable.family).law(variable).of_normal(Leaf(0))})
            if not free_indices(variable) <= free_indices(body) or not is_static(in_leaf):
                return None
            found.append((constants, in_leaf, variable))
        if len({in_leaf for _, in_leaf, _ in found}) != 1:
            return None
        means, variances = [], []
        for constants, _, variable in found:
            standard = isinstance(variable.family.definition, Iid)
            means.append((constants, ZERO if standard else recursion.moment(variable).expression()))
            variances.append((constants, ONE if standard else recursion.covariance(variable, variable).expression()))
        return static_function(found[0][1]), means, variances

    def allocate(self, replicates: int, samples: int) -> None:
        self.moments = np.zeros((4, replicates, samples, *self.shape))
        self.arguments = np.zeros((2, replicates, samples, *self.shape)) if self.leaf is not None else None
        self.second = np.zeros((replicates, self.cells, self.cells)) if self.full else None
        self.counted = np.zeros((replicates, 1, 1))

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        count = self.moments[0, replicate, window].shape[0]
        for k in (1, 2, 3, 4):
            try:
                self.moments[k - 1, replicate, window] = self.assemble(numbers, self.raw[k], self.rows)
            except Undefined:
                if k <= 2:
                    raise
                self.moments[2:, replicate, window] = np.inf  # the variance exists, the kurtosis is infinite
        if self.leaf is not None:
            for k in (1, 2):
                self.arguments[k - 1, replicate, window] = self.assemble(numbers, self.leaf[k], self.rows)
        if self.full:
            second = self.assemble(numbers, self.seconds, self.rows, self.columns)
            second = second.reshape(len(second), self.cells, self.cells)
            self.second[replicate] += second.sum(axis=0) * (count / len(second))
            self.counted[replicate] += count

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates, samples = done
        method, _ = self.method(numbers, replicates, samples)
        relative = 0.0 if self.leaf is None else numbers.quadrature_error(*[piece[-1] for piece in self.leaf[2]])[0]
        moments = self.moments[:, :replicates, :samples]
        statistics = np.moveaxis(moments.mean(axis=2), 0, 1)
        with np.errstate(all="ignore"):
            errors = self._errors(statistics, numbers)
        mean = widened(jackknife(statistics, lambda s: s[0], method), errors[0])
        var = widened(jackknife(statistics[:, :2], lambda s: np.maximum(s[1] - s[0] ** 2, 0.0), method), errors[1])
        if np.isinf(statistics).any():
            kurtosis = Estimate(np.full(self.shape, np.inf), 0.0, "the fourth moment is infinite")
        else:
            kurtosis = widened(jackknife(statistics, _kurtosis, method), errors[2])
        cov = None
        if self.full:
            centre = mean.value.reshape(-1)
            second = self.second / self.counted - np.outer(centre, centre)
            cov = average(second.reshape((replicates, *self.shape, *self.shape)), method)
            cov = widened(cov, self._error(np.mean(self.second / self.counted, axis=0), self.seconds, numbers)
                          + 2 * np.max(np.abs(centre)) * np.max(errors[0]))

        def element(place: tuple[int, ...]):
            at = (slice(None), slice(None), *place)
            if self.leaf is None:
                return Empirical(self.draws(place, numbers))
            own_mean, own_variance = (np.ascontiguousarray(a[:replicates, :samples][at]) for a in self.arguments)
            try:
                return FunctionOfGaussian(self.leaf[0], own_mean, own_variance, method=method, relative_error=relative)
            except LawError:  # the function has no pieces to invert: draws of it tell its law
                return Empirical(self.draws(place, numbers))

        return Variable(self, "function of gaussian", mean, var, kurtosis, cov, element)

    def _error(self, values: np.ndarray, pieces: list, numbers) -> float:
        """The absolute error of quadrature and rounding behind moments that are computed from ``pieces``."""
        relative, _ = numbers.quadrature_error(*[piece[-1] for piece in pieces])
        return (relative + ROUNDING) * float(np.max(np.abs(values), initial=0.0))

    def _errors(self, statistics: np.ndarray, numbers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Absolute errors of mean, variance and kurtosis from those of the raw moments, to first order: central moments are
        differences, and where the mean is large little is left of their digits."""
        m1, m2, m3, m4 = np.abs(statistics.mean(axis=0))
        e1, e2, e3, e4 = (self._error(m, self.raw[k], numbers) for k, m in enumerate((m1, m2, m3, m4), 1))
        variance = np.maximum(m2 - m1**2, 0.0)
        second = e2 + 2 * m1 * e1
        fourth = e4 + 4 * (m1 * e3 + m3 * e1) + 6 * (m1**2 * e2 + 2 * m1 * m2 * e1) + 12 * m1**3 * e1
        with np.errstate(all="ignore"):
            ratio = np.abs(_kurtosis(statistics.mean(axis=0)) + 3)
            kurtosis = np.where(variance > 0, fourth / variance**2 + 2 * ratio * second / variance, 0.0)
        return np.broadcast_to(e1, m1.shape), second, kurtosis

    draw = None
    """Set by the run: draws(count) of the whole output, for laws that have no formula."""

    def draws(self, place: tuple[int, ...], numbers) -> np.ndarray:
        """Independent draws of one element, in 16 replicates."""
        values = self.draw()[(slice(None), *place)]
        return values.reshape(16, -1)


def _kurtosis(raw: np.ndarray) -> np.ndarray:
    """From raw moments 1 to 4."""
    m, second, third, fourth = raw
    return excess_kurtosis(second - m**2, fourth - 4 * m * third + 6 * m**2 * second - 3 * m**4)
