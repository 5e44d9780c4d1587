"""The law of recorded coordinates given everything else, run by run: finite-width densities without a histogram.

Vectors of which nothing but coordinates is wanted are drawn last.  Where they are linear in the last products with Gaussian matrices,
their coordinates are Gaussian given all vectors and scalars before: a coordinate of the output has a mean (what comes from vectors
drawn before, a residual stream say) and a covariance over the elements of the output.  Averaging these Gaussians over runs gives
densities and distribution functions at finite width whose error is that of the mixing variable alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.finite.exact import ExactSampler
from netsor.finite.frame import padded
from netsor.finite.interactions import is_linear
from netsor.finite.plan import Held, Plan
from netsor.ir.expressions import ZERO
from netsor.ir.facts import uses
from netsor.ir.labelled import Labelled
from netsor.ir.program import Family, Given, MatMul, Output


@dataclass(frozen=True)
class ConditionalLaw:
    """Given everything drawn before, a coordinate of the output is N(mean, covariance), independent of the others:
    ``mean`` (runs, *axes), ``covariance`` (runs, *axes, *axes)."""

    mean: np.ndarray
    covariance: np.ndarray


def conditionally_gaussian(plan: Plan) -> list[Output]:
    """The outputs whose coordinates are Gaussian given what is drawn before them."""
    linear: set[Family] = set()
    for family in plan.families:
        definition = family.definition
        if plan.held[family] > Held.ROWS or isinstance(definition, MatMul):
            linear.add(family)  # drawn before, or Gaussian given its argument
        elif isinstance(definition, Given) and definition.mean == ZERO:
            linear.add(family)
        elif is_linear(family) and all(used in linear for used in uses(family) if used.is_vector):
            linear.add(family)
    return [
        output for output in plan.program.outputs
        if output.is_vector and all(
            part.reference.family in linear and plan.held[part.reference.family] == Held.ROWS for part in output.parts)
    ]


class ConditionalSampler(ExactSampler):
    """One batch of runs with the last normals left undrawn.

    A vector of which only coordinates are wanted is held as (first coordinate of what was drawn before, coefficients of the normals
    to come): every new normal is one more unit coefficient."""

    def __init__(self, plan: Plan, n: int, runs: int, rng: np.random.Generator):
        self._directions = 0
        super().__init__(plan, n, 1, runs, rng)

    def law(self, output: Output) -> ConditionalLaw:
        """The conditional law of one coordinate of an output (one of :func:`conditionally_gaussian`)."""
        held = self.assembled(output, 1 + self._directions)
        axes = held.shape[1:-1]
        rows = held.reshape(self.runs, -1, held.shape[-1])
        covariance = rows[..., 1:] @ rows[..., 1:].swapaxes(-1, -2)
        return ConditionalLaw(held[..., 0], covariance.reshape(self.runs, *axes, *axes))

    def value(self, family: Family) -> Labelled:
        value, point = super().value(family), self.points.get(family.width)
        if not self._rows_only or point not in value.labels:
            return value
        value = self.drawn[family] if self.plan.held[family] == Held.ROWS else value
        moved = np.moveaxis(value.data, value.axis(point), -1)
        labels = tuple(label for label in value.labels if label != point)
        return Labelled(padded(moved, 1 + self._directions), (*labels, point))

    def _coordinates(self, lead: tuple[int, ...], count: int) -> np.ndarray:
        if self.plan.held[self._target] != Held.ROWS:
            return super()._coordinates(lead, count)
        new = int(np.prod(lead[1:], dtype=int))
        units = np.eye(new, 1 + self._directions + new, 1 + self._directions)
        self._directions += new
        return np.broadcast_to(units, (lead[0], *units.shape)).reshape(*lead, units.shape[-1])
