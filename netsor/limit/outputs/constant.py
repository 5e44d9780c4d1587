"""Scalars with a deterministic limit."""

from __future__ import annotations

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import Expr
from netsor.limit.laws import Constant
from netsor.limit.outputs.base import Quantity, Variable
from netsor.limit.statistics import average


class ConstantOutput(Quantity):
    """An output of kind C."""

    kind = "C"

    def build(self) -> list[Expr]:
        self.values = self.elements("x")
        return [expr for _, expr in self.values]

    def allocate(self, replicates: int, samples: int) -> None:
        self.value = np.zeros((replicates, *self.shape))

    def collect(self, replicate: int, window: slice, numbers, laws: dict) -> None:
        self.value[replicate] = self.assemble(numbers, self.values, self.rows)[0]

    def finish(self, numbers, done: tuple[int, int]) -> Variable:
        replicates = done[0]
        method, relative = self.method(numbers, replicates, 1)
        mean = average(self.value[:replicates], method, relative)
        zero = Estimate(np.zeros(self.shape), 0.0, "exact")
        cov = Estimate(np.zeros(self.shape + self.shape), 0.0, "exact") if self.cells <= 4096 else None
        return Variable(self, "constant", mean, zero, zero, cov, lambda place: Constant(mean[place]))
