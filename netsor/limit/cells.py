"""Expressions in Gaussian leaves as vectorised functions over the cells of an expectation.

A cell is one combination of values of the free indices (and of the sample).  Everything in the expression that no leaf enters is
a parameter of the cell.
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Expr, Index, Leaf
from netsor.ir.labelled import CELL, POINT, Labelled, align, arrange
from netsor.ir.rewrite import walk
from netsor.limit.functions import function


def has_leaf(expr: Expr) -> bool:
    cached = expr.__dict__.get("_has_leaf")
    if cached is None:
        cached = any(isinstance(part, Leaf) for part in walk(expr))
        object.__setattr__(expr, "_has_leaf", cached)
    return cached


class Cells:
    """The product of ``labels``, flattened; ``positions(label)`` is the position along a label for every cell."""

    def __init__(self, labels: tuple[Index, ...], sizes: dict[Index, int]):
        self.labels, self.sizes = labels, sizes
        self.shape = tuple(sizes[label] for label in labels)
        self.count = int(np.prod(self.shape, dtype=int))

    def positions(self, label: Index, window: slice | np.ndarray) -> np.ndarray:
        axis = self.labels.index(label)
        after = int(np.prod(self.shape[axis + 1:], dtype=int))
        return (np.arange(self.count)[window] // after) % self.shape[axis]

    def combinations(self, labels: Container[Index]) -> np.ndarray:
        """For every cell a number that says where it lies along some of the labels."""
        own = [label for label in self.labels if label in labels]
        if not own:
            return np.zeros(self.count, dtype=int)
        return np.ravel_multi_index([self.positions(label, slice(None)) for label in own], [self.sizes[label] for label in own])

    def without_mirror_images(self, mirror: tuple[tuple[Index, Index], ...]) -> tuple[np.ndarray, np.ndarray]:
        """One of every two cells that differ by the exchange of the labels in every pair of ``mirror``, in order; and for every cell
        which of those stands for it."""
        own = np.arange(self.count)
        if not mirror or not {label for pair in mirror for label in pair} <= set(self.labels):
            return own, own
        other = {label: self.positions(partner, own) for pair in mirror for label, partner in (pair, pair[::-1])}
        places = [other[label] if label in other else self.positions(label, own) for label in self.labels]
        first_of_two = np.minimum(own, np.ravel_multi_index(places, self.shape))
        return np.unique(first_of_two, return_inverse=True)

    def flatten(self, array: Labelled) -> np.ndarray:
        """The array over all cells, one axis."""
        return arrange(array, self.labels, self.sizes).reshape(self.count)

    def unflatten(self, values: np.ndarray) -> Labelled:
        return Labelled(values.reshape(self.shape), self.labels)


class CellEvaluator(Evaluator):
    """Evaluates an expression in leaves at given points, for a window of cells.

    Results carry the labels CELL and POINT (where they depend on them)."""

    def __init__(self, parent: Evaluator, cells: Cells):
        super().__init__(function, parent.symbols)
        self.parent, self.cells = parent, cells
        self.window = slice(None)
        self.leaves: list[Labelled] = []
        self._parameters: dict[Expr, Labelled] = {}

    def at(self, expr: Expr, leaves: list[Labelled], window: slice | np.ndarray) -> np.ndarray:
        """Values of shape (cells in the window, points)."""
        self.leaves, self.window = leaves, window
        count = self.cells.positions(self.cells.labels[0], window).size if self.cells.labels else 1
        points = leaves[0].sizes[POINT]
        return arrange(self.evaluate(expr), (CELL, POINT), {CELL: count, POINT: points})

    def size(self, index: Index) -> int:
        return self.parent.size(index)

    def _evaluate(self, expr: Expr) -> Labelled:
        if has_leaf(expr):
            return super()._evaluate(expr)
        if isinstance(expr, Index) and expr not in self.cells.labels:
            return super()._evaluate(expr)  # an index of an inner sum
        if expr not in self._parameters:
            self._parameters[expr] = self.parent.evaluate(expr)
        return self._gather(self._parameters[expr])

    def _gather(self, array: Labelled) -> Labelled:
        """Axes over cell labels become the one axis CELL."""
        own = [label for label in array.labels if label in self.cells.labels]
        if not own:
            return array
        rest = tuple(label for label in array.labels if label not in own)
        data = np.transpose(array.data, [array.axis(label) for label in own + list(rest)])
        return Labelled(data[tuple(self.cells.positions(label, self.window) for label in own)], (CELL, *rest))

    def _leaf(self, expr: Leaf) -> Labelled:
        block = self.leaves[expr.slot]
        inner = block.labels[2:]
        if expr.subscripts == inner:
            return block
        if all(isinstance(s, Index) and s.range == own.range for s, own in zip(expr.subscripts, inner)):
            if len(set(expr.subscripts)) == len(inner) and not set(expr.subscripts) & set(self.cells.labels):
                return Labelled(block.data, block.labels[:2] + expr.subscripts)
        places = [self._evaluate(subscript) for subscript in expr.subscripts]
        count, points = block.data.shape[:2]
        axes = [Labelled(np.arange(count), (CELL,)), Labelled(np.arange(points), (POINT,))]
        views, labels = align(axes + places)
        picked = [
            np.clip(np.rint(view).astype(np.intp) - own.range.lo, 0, size - 1)
            for view, own, size in zip(views[2:], inner, block.data.shape[2:])
        ]
        return Labelled(block.data[(views[0], views[1], *picked)], labels)
