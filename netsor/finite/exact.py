"""The program at width n without any matrix: exact in law for every n, at a cost linear in n.

The law of products with a Gaussian matrix depends on the arguments through their Gram matrix only, so W @ X with (1/n) X.T X = L L.T is
drawn as G L.T, G an iid normal n x s matrix; a matrix that was used before is drawn given its earlier products
(:mod:`netsor.finite.gaussian_matrix`).  What is held of each vector is decided beforehand (:mod:`netsor.finite.plan`).
"""

from __future__ import annotations

import math

import numpy as np

from netsor.expectation.linear_algebra import psd_root
from netsor.finite.evaluate import FiniteEvaluator, first_points
from netsor.finite.frame import Frame, inner, magnitude, padded
from netsor.finite.gaussian_matrix import GaussianMatrix
from netsor.finite.plan import Held, Plan
from netsor.ir.expressions import Coord, Index, Range
from netsor.ir.labelled import SAMPLE, Labelled, arrange, check_size
from netsor.ir.program import Family
from netsor.rules import rule_of

VECTOR = Index("vector", Range(1, None), "label")
"""The axis over all vectors that a matrix element is applied to."""

SMALLEST_SQUARE = 1e-200
"""Below this a squared length loses digits to underflow."""


class ExactSampler(FiniteEvaluator):
    """One batch of runs; ``recorded`` coordinates of outputs are drawn (None: all)."""

    def __init__(self, plan: Plan, n: int, recorded: int | None, runs: int, rng: np.random.Generator):
        super().__init__(plan.program, n, runs, rng)
        self.plan = plan
        self._recorded = {width: min(size, recorded or size) for width, size in self.sizes.items()}
        self._frames = {
            space: Frame((runs, *space.sizes), self.sizes[space.width], self._recorded[space.width] * space.recorded, rng)
            for space in plan.spaces
        }
        self._matrices: dict[tuple, GaussianMatrix] = {}
        self._roots: dict[Family, dict[tuple, np.ndarray]] = {}
        for family in plan.families:
            self._target = family
            self._rows_only = family.is_vector and plan.held[family] == Held.ROWS
            self.drawn[family] = rule_of(family).finite(family, self)
            for done in plan.dropped.get(family, ()):
                del self.drawn[done]
                self._roots.pop(done, None)
        self._rows_only = True

    @property
    def families(self) -> list[Family]:
        return self.plan.families

    def value(self, family: Family) -> Labelled:
        """Recorded coordinates where only those are wanted; coordinates in the frame as it is now, or all."""
        value, point = self.drawn[family], self.points.get(family.width)
        if point not in value.labels:
            return value
        if self._rows_only:
            return first_points(value, self._recorded[family.width], point)
        if self.plan.held[family] == Held.FRAME:
            moved = np.moveaxis(value.data, value.axis(point), -1)
            labels = tuple(label for label in value.labels if label != point)
            return Labelled(padded(moved, self._frames[self.plan.space_of[family]].rank), (*labels, point))
        return value

    # --- what rules ask for ------------------------------------------------------------------------------------------

    def normal(self, labels: tuple[Index, ...]) -> Labelled:
        """Independent standard normal vectors over the labels, held as the family that is being drawn is."""
        point = self.points[self._target.width]
        return self._vectors({label: label.range.size for label in labels if label not in (SAMPLE, point)})

    def _vectors(self, sizes: dict[Index, int]) -> Labelled:
        held, width = self.plan.held[self._target], self._target.width
        point = self.points[width]
        if held != Held.FRAME:
            count = self.sizes[width] if held == Held.ALL else self._recorded[width]
            return Labelled(self._coordinates((self.runs, *sizes.values()), count), (SAMPLE, *sizes, point))
        space = self.plan.space_of[self._target]
        batch = tuple(self._target.axes[position] for position in space.batch[self._target])
        others = {label: size for label, size in sizes.items() if label not in batch}
        drawn = self._frames[space].fresh(math.prod(others.values()))
        shape = (self.runs, *[sizes[label] for label in batch], *others.values(), drawn.shape[-1])
        return Labelled(drawn.reshape(shape), (SAMPLE, *batch, *others, point))

    def _coordinates(self, lead: tuple[int, ...], count: int) -> np.ndarray:
        """``count`` independent standard normal coordinates of each of some vectors."""
        check_size((*lead, count))
        return self.rng.standard_normal((*lead, count))

    def product(self, family: Family) -> Labelled:
        """The value of a MatMul family."""
        self._rows_only = False
        plan = self.plan.products[family]
        return self._all_elements(family) if plan.plain else self._element_by_element(family)

    # --- products ----------------------------------------------------------------------------------------------------

    def _all_elements(self, family: Family) -> Labelled:
        """Products with all elements of the matrix at once: arrays (runs, *batch, vectors, coordinates)."""
        plan, product = self.plan.products[family], family.definition
        argument, point = self.evaluate(product.argument), self.points[product.from_width]
        batch = plan.batch
        vectors = tuple(label for label in argument.labels if label not in (SAMPLE, point, *batch))
        sizes = {label: label.range.size for label in (*batch, *vectors)}
        sizes |= {SAMPLE: self.runs, point: self.sizes[product.from_width]}
        present = tuple(label for label in batch if label in argument.labels)
        dense = arrange(argument, (SAMPLE, *present, *vectors, point), sizes)
        lead = [sizes[label] if label in present else 1 for label in batch]
        dense = dense.reshape(self.runs, *lead, math.prod(sizes[label] for label in vectors), dense.shape[-1])
        variance = self.take(self._variances(family), tuple(a.range for a in product.matrix.axes), product.matrix_subscripts)
        deviation = np.sqrt(arrange(variance, batch, sizes) / self.sizes[product.matrix.columns])
        if plan.memory is None:
            root = self._root(product.argument, batch, dense)
            result = deviation[..., None, None] * root @ self._fresh(batch, dense.shape[-2])
        else:
            matrix = self._matrices.setdefault(plan.memory, GaussianMatrix(deviation))
            full = np.broadcast_to(dense, (self.runs, *[sizes[label] for label in batch], *dense.shape[-2:]))
            times = matrix.transposed_times if product.transposed else matrix.times
            result = times(full, lambda count: self._fresh(batch, count))
        shape = (self.runs, *[sizes[label] for label in (*batch, *vectors)], result.shape[-1])
        return Labelled(result.reshape(shape), (SAMPLE, *batch, *vectors, self.points[family.width]))

    def _element_by_element(self, family: Family) -> Labelled:
        """Products where elements of the matrix have different arguments each: one element after the other."""
        plan, product = self.plan.products[family], family.definition
        argument = product.argument.family
        columns, point = self.sizes[product.matrix.columns], self.points[argument.width]
        sizes = {axis: axis.range.size for axis in argument.axes} | {SAMPLE: self.runs, point: self.sizes[argument.width]}
        dense = arrange(self.value(argument), (SAMPLE, *argument.axes, point), sizes)
        dense = dense.reshape(self.runs, -1, dense.shape[-1])
        variances = self._variances(family).reshape(-1)
        place = np.empty(plan.elements.shape, dtype=np.intp)
        rows: list[np.ndarray] = []
        done = 0
        for element in np.unique(plan.elements).tolist():
            cells = plan.elements == element
            used, place[cells] = np.unique(plan.arguments[cells], return_inverse=True)
            place[cells] += done
            done += len(used)
            vectors, deviation = dense[:, used], np.sqrt(variances[element] / columns)
            if plan.memory is None:
                rows.append(deviation * gram_root(vectors) @ self._fresh((), len(used)))
            else:
                matrix = self._matrices.setdefault((*plan.memory, element), GaussianMatrix(deviation))
                times = matrix.transposed_times if product.transposed else matrix.times
                rows.append(times(vectors, lambda count: self._fresh((), count)))
        rank = max(row.shape[-1] for row in rows)
        result = np.concatenate([padded(row, rank) for row in rows], axis=1)[:, place]
        return Labelled(result, (SAMPLE, *family.axes, self.points[family.width]))

    def _variances(self, family: Family) -> np.ndarray:
        """The variance of the entries, times the number of columns, of every element of the matrix family."""
        matrix = family.definition.matrix
        return self.array(matrix.variance, matrix.axes)

    def _fresh(self, batch: tuple[Index, ...], count: int) -> np.ndarray:
        """Independent N(0, I) vectors (runs, *batch, count, coordinates)."""
        drawn = self._vectors({label: label.range.size for label in batch} | {VECTOR: count})
        return arrange(drawn, (SAMPLE, *batch, VECTOR, self.points[self._target.width]), {})

    def _root(self, argument: Coord, batch: tuple[Index, ...], vectors: np.ndarray) -> np.ndarray:
        """The root of the Gram matrix of arguments, found once for all matrices that are applied to them."""
        known = self._roots.setdefault(argument.family, {})
        if (argument, batch) not in known:
            known[argument, batch] = gram_root(vectors)
        return known[argument, batch]


def gram_root(vectors: np.ndarray) -> np.ndarray:
    """L with L L^T the Gram matrix of vectors (..., count, n).  The row of a vector that is not finite is NaN, as products with it are."""
    gram = inner(vectors, vectors)
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    extreme = ~(np.isfinite(squares) & (squares > SMALLEST_SQUARE)).all(axis=-1)
    if not extreme.any():
        return psd_root(gram)
    lengths = magnitude(vectors[extreme])  # squares of these would overflow or vanish
    broken = ~np.isfinite(vectors[extreme]).all(axis=-1)
    scaled = np.where(broken[..., None], 0.0, vectors[extreme] / lengths)
    gram[extreme] = inner(scaled, scaled)
    root = psd_root(gram)
    root[extreme] *= np.where(broken[..., None], np.nan, lengths)
    return root
