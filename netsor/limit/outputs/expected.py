"""What an ``expect`` line asks for."""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import Coord, Expr
from netsor.ir.program import Expectation, Output, Part
from netsor.ir.rewrite import substitute
from netsor.limit.analysis import Analysis
from netsor.limit.outputs.base import Quantity, Variable
from netsor.limit.recursion import copy
from netsor.limit.scores import covariance_of_scores
from netsor.limit.statistics import average
from netsor.rules import rule_of


def expected_quantity(expectation: Expectation, analysis: Analysis, make) -> Quantity:
    """The quantity behind an expectation; ``make`` builds the quantity of an output."""
    first, *rest = expectation.arguments
    name = repr(expectation.arguments)
    if rest and rest[0] != first:
        output = Output(name, expectation.indices, tuple(Part(a, {}) for a in expectation.arguments), expectation.span)
        return CrossCovariance(output, analysis)
    return make(Output(name, expectation.indices, (Part(first, {}),), expectation.span), analysis)


def read(expectation: Expectation, variable: Variable) -> Estimate:
    """The expectation's value over its indices."""
    if expectation.function == "cov":
        return variable.var
    return variable.mean if expectation.function == "mean" else variable.excess_kurtosis


class CrossCovariance(Quantity):
    """The covariance of two elements for every value of the indices (reported in the place of the variance)."""

    kind = "?"

    def build(self) -> list[Expr]:
        moment = self.analysis.recursion
        scores = self.analysis.randomness.scores
        names = {axis: copy(axis, "x") for axis in self.output.axes}
        self.pair = tuple(substitute(part.reference, names) for part in self.output.parts)
        if all(r.family.is_sampled and scores(r.family) == {r.family} for r in self.pair):
            self.means = [({}, rule_of(r.family).mean(r)) for r in self.pair]
            self.covariance = [({}, covariance_of_scores(*self.pair, moment).expression())]
        elif all(isinstance(r, Coord) for r in self.pair):
            self.means = [({}, moment.moment(r).expression()) for r in self.pair]
            self.covariance = [({}, moment.covariance(*self.pair).expression())]
        else:
            # given the scores a coordinate and a scalar, or two scalars, are independent: their conditional means vary together
            given = [moment.moment(r).expression() if isinstance(r, Coord) else r for r in self.pair]
            self.means, self.covariance = [({}, value) for value in given], []
        return [e for _, e in self.means + self.covariance]

    def allocate(self, replicates: int, samples: int) -> None:
        self.mean = np.zeros((2, replicates, *self.shape))
        self.product = np.zeros((replicates, *self.shape))
        self.counted = np.zeros((replicates, *[1] * len(self.shape)))

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        count = window.stop - window.start
        left, right = (self.assemble(numbers, [piece], self.rows) for piece in self.means)
        product = left * right
        if self.covariance:
            product = product + self.assemble(numbers, self.covariance, self.rows)
        self.counted[replicate] += count
        for target, value in ((self.mean[0], left), (self.mean[1], right), (self.product, product)):
            target[replicate] += value.sum(axis=0) * (count / len(value))

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates, samples = done
        method, relative = self.method(numbers, replicates, samples)
        means = self.mean / self.counted
        centre = means.mean(axis=1)
        values = self.product / self.counted - centre[0] * centre[1]
        cov = average(values, method, relative)
        zero = Estimate(np.zeros(self.shape), 0.0, "exact")
        return Variable(self, "covariance", average(means[0], method, relative), cov, zero, None, None)
