"""Scores that depend on no other score, with covariance E[Z^u Z^v Z^{u'} Z^{v'}], and random scalars among the inputs: exactly Gaussian."""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import Expr
from netsor.limit.laws import GaussianMixture
from netsor.limit.outputs.base import MAX_COVARIANCE, Quantity, Variable
from netsor.limit.scores import covariance_of_scores
from netsor.limit.statistics import average
from netsor.rules import rule_of


class ExactScoreOutput(Quantity):
    """An output made of scores of the first level."""

    kind = "S"

    def build(self) -> list[Expr]:
        left, right = self.elements("x"), self.elements("y")
        covariance = lambda p, q: covariance_of_scores(p, q, self.analysis.recursion).expression()  # noqa: E731
        self.means = [(c, rule_of(p.family).mean(p)) for c, p in left]
        self.full = self.cells <= MAX_COVARIANCE
        self.covariances = [(c, d, covariance(p, q)) for c, p in left for d, q in right] if self.full else []
        self.variances = [(c, covariance(p, p)) for c, p in left]
        return [piece[-1] for piece in self.means + self.covariances + self.variances]

    def allocate(self, replicates: int, samples: int) -> None:
        self.mean = np.zeros(self.shape)
        self.variance = np.zeros((replicates, *self.shape))
        self.covariance = np.zeros((replicates, *self.shape, *self.shape)) if self.full else None

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        self.mean[...] = self.assemble(numbers, self.means, self.rows)[0]
        self.variance[replicate] = self.assemble(numbers, self.variances, self.rows)[0]
        if self.full:
            self.covariance[replicate] = self.assemble(numbers, self.covariances, self.rows, self.columns)[0]

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates = done[0]
        method, relative = self.method(numbers, replicates, 1)
        mean, zero = (Estimate(values, 0.0, "exact") for values in (self.mean, np.zeros(self.shape)))
        var = average(self.variance[:replicates], method, relative)
        cov = average(self.covariance[:replicates], method, relative) if self.full else None
        element = lambda place: GaussianMixture(  # noqa: E731
            mean.value[place], np.array([[var.value[place]]]), method=method, relative_error=relative)
        return Variable(self, "gaussian", mean, var, zero, cov, element)
