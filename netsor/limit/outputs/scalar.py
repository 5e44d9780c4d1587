"""Random scalars that are sampled: later scores, softmax weights, norms, functions of scores."""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import Expr
from netsor.limit.laws import Constant, Empirical, GaussianMixture
from netsor.limit.levels import Level
from netsor.limit.outputs.base import MAX_COVARIANCE, Quantity, Variable, one_element
from netsor.limit.statistics import average, excess_kurtosis, jackknife


class ScalarOutput(Quantity):
    """An output of kind S.  Scores are Gaussian given the earlier ones, and reported as such a mixture; other scalars by samples."""

    kind = "S"

    def build(self) -> list[Expr]:
        self.values = self.elements("x")
        self.is_score = len(self.families) == 1 and self.families[0].is_sampled
        self.full = self.cells <= MAX_COVARIANCE
        return [expr for _, expr in self.values]

    @property
    def recorded(self) -> set:
        """Scores whose conditional law is wanted."""
        return set(self.families) if self.is_score and self.level == Level.SAMPLE else set()

    def allocate(self, replicates: int, samples: int) -> None:
        self.value = np.zeros((replicates, samples, *self.shape))
        self.conditional = np.zeros((2, replicates, samples, *self.shape)) if self.recorded else None
        self.seen_conditional = False

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        self.value[replicate, window] = self.assemble(numbers, self.values, self.rows)
        law = laws.get(self.families[0])
        if self.recorded and law is not None:
            self.seen_conditional = True
            (constants, reference), = self.values
            for k, part in enumerate((law.mean, law.variance)):
                array = numbers.take(
                    part.data, tuple(axis.range for axis in self.families[0].axes), reference.subscripts, part.labels[:1])
                self.conditional[k, replicate, window] = one_element(array, numbers.replicate).data

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates, samples = done
        value = self.value[:replicates, :samples]
        method = f"{replicates} x {samples} samples"
        if self.level == Level.REPLICATE and samples == 1:
            return self._averaged(average(value[:, 0], f"{replicates} randomisations"))
        centre = value.mean(axis=(0, 1))
        offset = value - centre
        statistics = np.stack([np.mean(offset**2, axis=1), np.mean(offset**4, axis=1)], axis=1)
        mean = average(value.mean(axis=1), method)
        var = jackknife(statistics[:, :1], lambda s: s[0], method)
        kurtosis = jackknife(statistics, lambda s: excess_kurtosis(s[0], s[1]), method)
        cov = None
        if self.full:
            flat = offset.reshape(replicates, samples, self.cells)
            second = np.matmul(np.swapaxes(flat, 1, 2), flat) / samples
            cov = average(second.reshape((replicates, *self.shape, *self.shape)), method)
        mixture = self.conditional is not None and self.seen_conditional

        def element(place: tuple[int, ...]):
            at = (slice(None), slice(None), *place)
            if mixture:
                own_mean, own_variance = (np.ascontiguousarray(c[:replicates, :samples][at]) for c in self.conditional)
                return GaussianMixture(own_mean, own_variance, method=method)
            return Empirical(np.ascontiguousarray(value[at]))

        return Variable(self, "gaussian mixture" if mixture else "function of gaussian", mean, var, kurtosis, cov, element)

    def _averaged(self, mean: Estimate) -> Variable:
        """Functions of averages over infinite axes are numbers: replicates differ by noise alone."""
        zero = Estimate(np.zeros(self.shape), 0.0, "exact")
        cov = Estimate(np.zeros(self.shape + self.shape), 0.0, "exact") if self.full else None
        return Variable(self, "constant", mean, zero, zero, cov, lambda place: Constant(mean[place]))
