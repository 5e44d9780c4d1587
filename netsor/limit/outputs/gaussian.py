"""Vectors that are Gaussian given the scores: Gaussian, or a Gaussian scale mixture.

With m and V the conditional mean and covariance: mean E m, covariance E V + Cov m; the excess kurtosis of one coordinate is
(E[3 V^2 + 6 V d^2 + d^4])/(E[V + d^2])^2 - 3 with d = m - E m, for m = 0 the familiar 3 Var(V)/(E V)^2.
"""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import ZERO, Expr
from netsor.ir.kernel import Kernel
from netsor.limit.laws import GaussianMixture
from netsor.limit.numbers import Undefined
from netsor.limit.outputs.base import MAX_COVARIANCE, Quantity, Variable
from netsor.limit.rounding import nonnegative
from netsor.limit.statistics import average, excess_kurtosis, jackknife


class GaussianOutput(Quantity):
    """An output of kind G."""

    kind = "G"

    def build(self) -> list[Expr]:
        recursion = self.analysis.recursion
        left, right = self.elements("x"), self.elements("y")
        self.full = self.cells <= MAX_COVARIANCE
        self.means = [(c, recursion.moment(r).expression()) for c, r in left]
        pairs = [(c, d, recursion.covariance(r, q)) for c, r in left for d, q in right] if self.full else []
        self.covariances = [(c, d, kernel.expression()) for c, d, kernel in pairs]
        self.variances = [(c, self._variance(recursion.covariance(r, r))) for c, r in left] if not self.full else []
        self.centred = all(mean == ZERO for _, mean in self.means)
        return [piece[-1] for piece in self.means + self.covariances + self.variances]

    @staticmethod
    def _variance(kernel: Kernel) -> Expr:
        return kernel.expression()

    def allocate(self, replicates: int, samples: int) -> None:
        self.mean = None if self.centred else np.zeros((replicates, samples, *self.shape))
        self.variance = np.zeros((replicates, samples, *self.shape))
        self.second = np.zeros((replicates, self.cells, self.cells)) if self.full else None
        self.counted = np.zeros((replicates, 1, 1))

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        count = self.variance[replicate, window].shape[0]
        mean = 0.0
        if not self.centred:
            self.mean[replicate, window] = mean = self.assemble(numbers, self.means, self.rows)
        if not self.full:
            self.variance[replicate, window] = self.assemble(numbers, self.variances, self.rows)
            return
        covariance = self.assemble(numbers, self.covariances, self.rows, self.columns)
        covariance = covariance.reshape(len(covariance), self.cells, self.cells)
        diagonal = np.diagonal(covariance, axis1=1, axis2=2)
        self.variance[replicate, window] = nonnegative(diagonal, numbers.allowance(*self.expressions)).reshape((-1, *self.shape))
        total = covariance.sum(axis=0) * (count / len(covariance))
        if not self.centred:
            flat = np.broadcast_to(mean, (count, *self.shape)).reshape(count, self.cells)
            total = total + flat.T @ flat
        self.second[replicate] += total
        self.counted[replicate] += count

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates, samples = done
        variance = self.variance[:replicates, :samples]
        method, relative = self.method(numbers, replicates, samples)
        mean = np.zeros((1, 1, *self.shape)) if self.centred else self.mean[:replicates, :samples]
        centre = mean.mean(axis=(0, 1))
        offset = mean - centre
        if not np.isfinite(variance).all():
            raise Undefined("its variance is not finite", tuple(self.families))
        statistics = np.stack(
            [
                np.mean(variance + offset**2, axis=1),
                np.mean(3 * variance**2 + 6 * variance * offset**2 + offset**4, axis=1),
            ], axis=1,
        )
        if "QMC" in method:
            statistics[:, 1] -= 3 * _noise(statistics[:, 0])
        var = jackknife(statistics[:, :1], lambda s: s[0], method, relative)
        single = samples == 1  # several replicates of one variance: a Gaussian whose variance has an error
        kurtosis = (
            Estimate(np.zeros(self.shape), 0.0, "exact") if single
            else jackknife(statistics, lambda s: excess_kurtosis(s[0], s[1]), method, relative)
        )
        exact_mean = Estimate(np.zeros(self.shape), 0.0, "exact")
        means = exact_mean if self.centred else average(self.mean[:replicates, :samples].mean(axis=1), method, relative)
        cov = None
        if self.full:
            flat = centre.reshape(-1)
            second = self.second / self.counted - np.outer(flat, flat)
            cov = average(second.reshape((replicates, *self.shape, *self.shape)), method, relative)

        def element(place: tuple[int, ...]) -> GaussianMixture:
            at = (slice(None), slice(None), *place)
            if single:
                spread = var.error[place] / var.value[place] if var.value[place] > 0 else 0.0
                return GaussianMixture(means.value[place], np.array([[var.value[place]]]), method=method, relative_error=spread)
            own = 0.0 if self.centred else np.ascontiguousarray(self.mean[:replicates, :samples][at])
            return GaussianMixture(own, np.ascontiguousarray(variance[at]), method=method, relative_error=relative)

        law = "gaussian" if single else "gaussian mixture"
        return Variable(self, law, means, var, kurtosis, cov, element)


def _noise(second: np.ndarray) -> np.ndarray:
    """The variance of the replicates' means: quasi-random integrals have an error of their own in each replicate, which is no part
    of the variance of V."""
    return np.var(second, axis=0, ddof=1) if len(second) > 1 else np.zeros_like(second[0])
