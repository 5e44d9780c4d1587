"""The program at width n, by drawing every matrix: the oracle that everything faster is tested against."""

from __future__ import annotations

import math

import numpy as np

from netsor.finite.evaluate import FiniteEvaluator
from netsor.finite.failures import as_diagnostics, check_arguments, sizes_of_widths
from netsor.ir.expressions import Expr, Index, fresh
from netsor.ir.labelled import SAMPLE, Labelled, check_size, contract
from netsor.ir.program import Family, Matrix, Program
from netsor.rules import rule_of

BYTES = 512 * 2**20


def sample_dense(
    program: Program, width: int, runs: int, seed: int = 0, coordinates: int | None = None
) -> dict[str, np.ndarray]:
    """Draws of every output at width n, further widths in proportion.

    :returns: for each output an array (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors (if None: all of its own width).
    :raises ValueError: for an infinite parameter, or where a further width would be zero (:class:`netsor.finite.failures.NoReading`).
    :raises NetsorError: for what takes more memory than there is."""
    check_arguments(program, width, runs, coordinates)
    with as_diagnostics():
        doubles = max(_doubles_per_run(program, width), 1)
        check_size((doubles,))
        chunk = max(1, min(runs, BYTES // (8 * doubles)))
        parts = []
        for number, start in enumerate(range(0, runs, chunk)):
            sampler = DenseSampler(program, width, min(chunk, runs - start), np.random.default_rng([seed, number]))
            parts.append(sampler.outputs(coordinates))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _doubles_per_run(program: Program, width: int) -> int:
    count = lambda axes: math.prod(axis.range.size for axis in axes)  # noqa: E731
    sizes = sizes_of_widths(program, width)
    matrices = sum(count(matrix.axes) * sizes[matrix.rows] * sizes[matrix.columns] for matrix in program.matrices)
    return matrices + sum(count(f.axes) * (sizes[f.width] if f.is_vector else 1) for f in program.families)


class DenseSampler(FiniteEvaluator):
    """One batch of runs, every vector and every matrix in full."""

    def __init__(self, program: Program, width: int, runs: int, rng: np.random.Generator):
        super().__init__(program, width, runs, rng)
        self._matrices: dict[Matrix, np.ndarray] = {}
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
        coordinate, result = self.points[product.from_width], self.points[product.to_width]
        summed = fresh(coordinate)
        row, column = (summed, result) if product.transposed else (result, summed)
        matrix = self.matrix(product.matrix, product.matrix_subscripts, row, column)
        argument = self.evaluate(product.argument)
        labels = tuple(summed if label == coordinate else label for label in argument.labels)
        return contract([matrix, Labelled(argument.data, labels)], (result, *family.axes))

    def matrix(self, matrix: Matrix, subscripts: tuple[Expr, ...], row: Index, column: Index) -> Labelled:
        """An element of a matrix family over (SAMPLE, row, column, indices of the subscripts)."""
        columns = self.sizes[matrix.columns]
        if matrix not in self._matrices:
            shape = (self.runs, self.sizes[matrix.rows], columns, *[axis.range.size for axis in matrix.axes])
            check_size(shape)
            scale = np.sqrt(self.array(matrix.variance, matrix.axes) / columns)
            self._matrices[matrix] = self.rng.standard_normal(shape) * scale
        leading = (SAMPLE, row, column)
        return self.take(self._matrices[matrix], tuple(axis.range for axis in matrix.axes), subscripts, leading)

    def _size(self, label: Index) -> int:
        special = {SAMPLE: self.runs} | {point: self.sizes[width] for width, point in self.points.items()}
        return special[label] if label in special else label.range.size
