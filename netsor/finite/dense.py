"""The program at width n, by drawing every matrix: the oracle that everything faster is tested against."""

from __future__ import annotations

import numpy as np

from netsor.finite.evaluate import FiniteEvaluator
from netsor.ir.expressions import Expr, Index, fresh
from netsor.ir.labelled import POINT, SAMPLE, Labelled, check_size, contract
from netsor.ir.program import Family, Matrix, Program
from netsor.rules import rule_of

BYTES = 512 * 2**20


def sample_dense(
    program: Program, width: int, runs: int, seed: int = 0, coordinates: int | None = None
) -> dict[str, np.ndarray]:
    """Draws of every output at width n.

    :returns: for each output an array (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors (all if None)."""
    chunk = max(1, min(runs, BYTES // (8 * max(_doubles_per_run(program, width), 1))))
    parts = []
    for number, start in enumerate(range(0, runs, chunk)):
        sampler = DenseSampler(program, width, min(chunk, runs - start), np.random.default_rng([seed, number]))
        parts.append(sampler.outputs(width if coordinates is None else coordinates))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _doubles_per_run(program: Program, width: int) -> int:
    count = lambda axes: int(np.prod([axis.range.size for axis in axes], dtype=int))  # noqa: E731
    matrices = sum(count(matrix.axes) * width * width for matrix in program.matrices)
    return matrices + sum(count(f.axes) * (width if f.is_vector else 1) for f in program.families)


class DenseSampler(FiniteEvaluator):
    """One batch of runs, every vector and every matrix in full."""

    def __init__(self, program: Program, width: int, runs: int, rng: np.random.Generator):
        super().__init__(program, width, runs, rng)
        self._matrices: dict[Matrix, Labelled] = {}
        for family in program.families:
            self.drawn[family] = rule_of(family).finite(family, self)

    # --- what rules ask for ------------------------------------------------------------------------------------------

    def normal(self, labels: tuple[Index, ...]) -> Labelled:
        """Independent standard normal numbers over the labels."""
        sizes = [self._size(label) for label in labels]
        check_size(sizes)
        return Labelled(self.rng.standard_normal(sizes), labels)

    def product(self, family: Family) -> Labelled:
        """The value of a MatMul family."""
        product = family.definition
        column = fresh(POINT)
        matrix = self.matrix(product.matrix, product.matrix_subscripts, column)
        argument = self.evaluate(product.argument)
        labels = tuple(column if label == POINT else label for label in argument.labels)
        return contract([matrix, Labelled(argument.data, labels)], (SAMPLE, POINT, *family.axes))

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
