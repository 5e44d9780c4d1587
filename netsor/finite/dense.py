"""The program at width n, by drawing every matrix: the oracle that everything faster is tested against.

Runs are vectorised: every value carries the labels SAMPLE (the run) and, for vectors, POINT (the coordinate).
"""

from __future__ import annotations

import numpy as np

from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Coord, Expr, Index, ScalarRef, fresh
from netsor.ir.labelled import POINT, SAMPLE, Labelled, arrange, check_size
from netsor.ir.program import Matrix, Program
from netsor.limit.functions import function
from netsor.rules import rule_of

BYTES = 512 * 2**20


def sample_dense(program: Program, width: int, runs: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Draws of every output at width n.

    :returns: for each output an array (runs, *axes) for scalars, (runs, *axes, width) for vectors."""
    chunk = max(1, min(runs, BYTES // (8 * max(_doubles_per_run(program, width), 1))))
    parts = []
    for number, start in enumerate(range(0, runs, chunk)):
        sampler = DenseSampler(program, width, min(chunk, runs - start), np.random.default_rng([seed, number]))
        parts.append(sampler.outputs())
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _doubles_per_run(program: Program, width: int) -> int:
    count = lambda axes: int(np.prod([axis.range.size for axis in axes], dtype=int))  # noqa: E731
    matrices = sum(count(matrix.axes) * width * width for matrix in program.matrices)
    return matrices + sum(count(f.axes) * (width if f.is_vector else 1) for f in program.families)


class DenseSampler(Evaluator):
    """One batch of runs.  ``drawn`` holds the families drawn so far."""

    def __init__(self, program: Program, width: int, runs: int, rng: np.random.Generator):
        super().__init__(function)
        if program.infinite:
            raise ValueError(f"the finite-width reading needs finite values for {', '.join(sorted(program.infinite))}")
        self.program, self.n, self.runs, self.rng = program, width, runs, rng
        self.summed_point: Index = fresh(POINT)
        self._matrices: dict[Matrix, Labelled] = {}
        self.drawn: dict = {}
        for family in program.families:
            self.drawn[family] = rule_of(family).finite(family, self)

    def outputs(self) -> dict[str, np.ndarray]:
        """Arrays (runs, *axes) or (runs, *axes, width)."""
        found = {}
        for output in self.program.outputs:
            tail = (POINT,) if output.is_vector else ()
            shape = (self.runs, *[axis.range.size for axis in output.axes], *([self.n] if tail else []))
            result = np.empty(shape)
            for part in output.parts:
                free = tuple(axis for axis in output.axes if axis not in part.constants)
                sizes = {axis: axis.range.size for axis in free} | {SAMPLE: self.runs, POINT: self.n}
                dense = arrange(self.evaluate(part.reference), (SAMPLE, *free, *tail), sizes)
                place = tuple(
                    part.constants[axis] - axis.range.lo if axis in part.constants else slice(None) for axis in output.axes)
                result[(slice(None), *place)] = dense
            found[output.name] = result
        return found

    # --- what rules ask for ------------------------------------------------------------------------------------------

    def normal(self, labels: tuple[Index, ...]) -> Labelled:
        """Independent standard normal numbers over the labels."""
        sizes = [self._size(label) for label in labels]
        check_size(sizes)
        return Labelled(self.rng.standard_normal(sizes), labels)

    def matrix(self, matrix: Matrix, subscripts: tuple[Expr, ...], column: Index) -> Labelled:
        """An element of a matrix family over (SAMPLE, POINT, column, indices of the subscripts)."""
        if matrix not in self._matrices:
            draw = self.normal((SAMPLE, POINT, column, *matrix.axes))
            scale = Labelled(np.sqrt(self.array(matrix.variance, matrix.axes) / self.n), matrix.axes)
            self._matrices[matrix] = Labelled(draw.data * scale.data, draw.labels)
        entries = self._matrices[matrix]
        leading = (SAMPLE, POINT, column)
        return self.take(entries.data, tuple(axis.range for axis in matrix.axes), subscripts, leading)

    def _size(self, label: Index) -> int:
        special = {SAMPLE: self.runs, POINT: self.n}
        if label in special:
            return special[label]
        return self.n if label.range == POINT.range else label.range.size

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _coord(self, expr: Coord) -> Labelled:
        return self._element(expr)

    def _scalarref(self, expr: ScalarRef) -> Labelled:
        return self._element(expr)

    def _element(self, expr: Coord | ScalarRef) -> Labelled:
        value, axes = self.drawn[expr.family], expr.family.axes
        leading = tuple(label for label in (SAMPLE, POINT) if label in value.labels)
        data = arrange(value, leading + axes, {axis: axis.range.size for axis in axes})
        return self.take(data, tuple(axis.range for axis in axes), expr.subscripts, leading)


