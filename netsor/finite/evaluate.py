"""What every reading at width n shares: values of families with a label for the run (SAMPLE) and one for the coordinate, and the outputs.

The coordinate's label is POINT for vectors of the first width; each further width has its own."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from netsor.finite.failures import require_finite, sizes_of_widths
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Coord, Index, ScalarRef, Width, fresh
from netsor.ir.facts import by_draw
from netsor.ir.labelled import POINT, SAMPLE, Labelled, arrange, constant, coordinates
from netsor.ir.program import Draw, Family, Output, Program
from netsor.limit.functions import function


class FiniteEvaluator(Evaluator):
    """One batch of runs at width ``n``.  ``drawn`` holds the families drawn so far, ``ahead`` those that are drawn before they are
    due, ``sizes`` the size of every width, ``points`` the label of its coordinates.

    Rules ask for ``evaluate``, ``normal``, ``product``, ``average``, ``drawn_together``, ``sizes``, ``points``, ``runs``, ``rng`` and
    ``summed_point``."""

    def __init__(self, program: Program, n: int, runs: int, rng: np.random.Generator):
        super().__init__(function)
        require_finite(program)
        self.program, self.n, self.runs, self.rng = program, n, runs, rng
        self.sizes = sizes_of_widths(program, n)
        self.points = {name: POINT if name == program.width else coordinates(name) for name in self.sizes}
        self.summed_point: Index = fresh(POINT)
        self.drawn: dict[Family, Labelled] = {}
        self.ahead: dict[Family, Labelled] = {}

    @property
    def families(self) -> list[Family]:
        """The families that are drawn."""
        return self.program.families

    def drawn_together(self, family: Family) -> list[Family]:
        """The families that share the draw of a rule of a plug-in with this one, itself among them."""
        return self._draws[family.definition.draw]

    @cached_property
    def _draws(self) -> dict[Draw, list[Family]]:
        return by_draw(self.families)

    def average(self, value: Labelled) -> Labelled:
        """The average over the coordinates of a vector; what has no coordinates is the same for all."""
        for width, point in self.points.items():
            if point in value.labels:
                axis = value.axis(point)
                return Labelled(value.data.sum(axis=axis) / self.sizes[width], value.labels[:axis] + value.labels[axis + 1:])
        return value

    def outputs(self, recorded: int | None) -> dict[str, np.ndarray]:
        """Arrays (runs, *axes) or (runs, *axes, coordinates): as many of a vector's coordinates as it has, ``recorded`` at most."""
        found = {}
        for output in self.program.outputs:
            width = output.parts[0].reference.family.width
            count = min(self.sizes[width], recorded or self.sizes[width]) if width else 0
            found[output.name] = self.assembled(output, count)
        return found

    def assembled(self, output: Output, count: int) -> np.ndarray:
        """The array (runs, *axes) of a scalar output, or (runs, *axes, count) with the first ``count`` coordinates of a vector."""
        width = output.parts[0].reference.family.width
        tail = (self.points[width],) if width else ()
        result = np.empty((self.runs, *[axis.range.size for axis in output.axes], *([count] if tail else [])))
        for part in output.parts:
            free = tuple(axis for axis in output.axes if axis not in part.constants)
            sizes = {axis: axis.range.size for axis in free} | {SAMPLE: self.runs} | dict.fromkeys(tail, count)
            value = self.evaluate(part.reference)
            if tail and tail[0] in value.labels:
                value = first_points(value, count, tail[0])
            place = tuple(
                part.constants[axis] - axis.range.lo if axis in part.constants else slice(None) for axis in output.axes)
            result[(slice(None), *place)] = arrange(value, (SAMPLE, *free, *tail), sizes)
        return result

    # --- nodes -------------------------------------------------------------------------------------------------------

    def value(self, family: Family) -> Labelled:
        """The value of a family as the expression being evaluated is to see it."""
        return self.drawn[family]

    def _width(self, expr: Width) -> Labelled:
        return constant(self.sizes[expr.name] / self.n)

    def _coord(self, expr: Coord) -> Labelled:
        return self._element(expr)

    def _scalarref(self, expr: ScalarRef) -> Labelled:
        return self._element(expr)

    def _element(self, expr: Coord | ScalarRef) -> Labelled:
        value, axes = self.value(expr.family), expr.family.axes
        leading = tuple(label for label in (SAMPLE, *self.points.values()) if label in value.labels)
        data = arrange(value, leading + axes, {axis: axis.range.size for axis in axes})
        return self.take(data, tuple(axis.range for axis in axes), expr.subscripts, leading)


def first_points(value: Labelled, count: int, point: Index = POINT) -> Labelled:
    """The first coordinates of a vector."""
    axis = value.axis(point)
    if value.data.shape[axis] <= count:
        return value
    return Labelled(value.data[(slice(None),) * axis + (slice(count),)], value.labels)
