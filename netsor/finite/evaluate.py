"""What every reading at width n shares: values of families with labels SAMPLE (the run) and POINT (the coordinate), and the outputs."""

from __future__ import annotations

import numpy as np

from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Coord, Index, ScalarRef, fresh
from netsor.ir.labelled import POINT, SAMPLE, Labelled, arrange
from netsor.ir.program import Family, Program
from netsor.limit.functions import function


class FiniteEvaluator(Evaluator):
    """One batch of runs at width ``n``.  ``drawn`` holds the families drawn so far.

    Rules ask for ``evaluate``, ``normal``, ``product``, ``average``, ``n``, ``runs``, ``rng`` and ``summed_point``."""

    def __init__(self, program: Program, n: int, runs: int, rng: np.random.Generator):
        super().__init__(function)
        if program.infinite:
            raise ValueError(f"the finite-width reading needs finite values for {', '.join(sorted(program.infinite))}")
        self.program, self.n, self.runs, self.rng = program, n, runs, rng
        self.summed_point: Index = fresh(POINT)
        self.drawn: dict[Family, Labelled] = {}

    def average(self, value: Labelled) -> Labelled:
        """The average over the n coordinates of a vector; what has no coordinates is the same for all."""
        if POINT not in value.labels:
            return value
        axis = value.axis(POINT)
        return Labelled(value.data.sum(axis=axis) / self.n, value.labels[:axis] + value.labels[axis + 1:])

    def outputs(self, coordinates: int) -> dict[str, np.ndarray]:
        """Arrays (runs, *axes) or (runs, *axes, coordinates)."""
        found = {}
        for output in self.program.outputs:
            tail = (POINT,) if output.is_vector else ()
            shape = (self.runs, *[axis.range.size for axis in output.axes], *([coordinates] if tail else []))
            result = np.empty(shape)
            for part in output.parts:
                free = tuple(axis for axis in output.axes if axis not in part.constants)
                sizes = {axis: axis.range.size for axis in free} | {SAMPLE: self.runs, POINT: coordinates}
                value = self.evaluate(part.reference)
                if POINT in value.labels:
                    value = first_points(value, coordinates)
                place = tuple(
                    part.constants[axis] - axis.range.lo if axis in part.constants else slice(None) for axis in output.axes)
                result[(slice(None), *place)] = arrange(value, (SAMPLE, *free, *tail), sizes)
            found[output.name] = result
        return found

    # --- nodes -------------------------------------------------------------------------------------------------------

    def value(self, family: Family) -> Labelled:
        """The value of a family as the expression being evaluated is to see it."""
        return self.drawn[family]

    def _coord(self, expr: Coord) -> Labelled:
        return self._element(expr)

    def _scalarref(self, expr: ScalarRef) -> Labelled:
        return self._element(expr)

    def _element(self, expr: Coord | ScalarRef) -> Labelled:
        value, axes = self.value(expr.family), expr.family.axes
        leading = tuple(label for label in (SAMPLE, POINT) if label in value.labels)
        data = arrange(value, leading + axes, {axis: axis.range.size for axis in axes})
        return self.take(data, tuple(axis.range for axis in axes), expr.subscripts, leading)


def first_points(value: Labelled, count: int) -> Labelled:
    """The first coordinates of a vector."""
    axis = value.axis(POINT)
    if value.data.shape[axis] <= count:
        return value
    return Labelled(value.data[(slice(None),) * axis + (slice(count),)], value.labels)
