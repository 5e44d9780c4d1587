"""Arrays with named axes: a NumPy array and one label (an :class:`Index`) per axis.

No axis is ever broadcast to a label it does not carry: what does not depend on an index has no such axis, and a sum of
products is contracted pairwise, each step one batched matrix product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from collections.abc import Iterable, Sequence

import numpy as np

from netsor.ir.expressions import Index, Range

SAMPLE = Index("sample", Range(1, None), "label")
"""The axis over samples of the random scalars; always leads."""

POINT = Index("point", Range(1, None), "label")
"""The axis over quadrature or quasi-random points inside one expectation; leads after SAMPLE."""

CELL = Index("cell", Range(1, None), "label")
"""The axis over the cells of one expectation (all values of its indices and samples, flattened)."""

LEADING = (SAMPLE, CELL, POINT)


def coordinates(width: str) -> Index:
    """The axis over the coordinates of vectors of a further width, a leading one like POINT (which is that of the first width)."""
    return Index(width, POINT.range, "width")


def is_leading(label: Index) -> bool:
    """Whether the axis stands for samples, points or coordinates and not for an index of the program."""
    return label in LEADING or label.tag == "width"


MEMORY_LIMIT = 4 * 2**30
"""Bytes that a single array may take before :class:`TooLarge` is raised."""


SAID = 10**30
"""Larger numbers are not written out."""


MOST_AXES = 64
"""NumPy's own limit."""


class TooLarge(Exception):
    """An array would take more memory than is sensible.  ``bytes`` says how much."""

    def __init__(self, elements: int):
        self.bytes = 8 * elements
        many = f"{elements:,} numbers ({8 * elements / 2**30:.1f} GiB)" if elements < SAID else f"over {SAID:,} numbers"
        super().__init__(f"an array of {many} would be needed")


class TooManyAxes(TooLarge):
    """An array would have more axes than NumPy allows."""

    def __init__(self, axes: int):
        Exception.__init__(self, f"an array with {axes} axes would be needed, {MOST_AXES} are possible")


@dataclass(frozen=True, eq=False)
class Labelled:
    """``data`` with one label per axis."""

    data: np.ndarray
    labels: tuple[Index, ...] = ()

    def __post_init__(self) -> None:
        assert np.ndim(self.data) == len(self.labels), (np.shape(self.data), self.labels)

    @property
    def sizes(self) -> dict[Index, int]:
        return dict(zip(self.labels, np.shape(self.data)))

    def axis(self, label: Index) -> int:
        return self.labels.index(label)


def constant(value) -> Labelled:
    return Labelled(np.asarray(value))


def check_axes(count: int) -> None:
    if count > MOST_AXES:
        raise TooManyAxes(count)


def check_size(sizes: Iterable[int]) -> None:
    elements = math.prod(sizes)
    if 8 * elements > MEMORY_LIMIT:
        raise TooLarge(elements)


def align(arrays: Sequence[Labelled]) -> tuple[list[np.ndarray], tuple[Index, ...]]:
    """The arrays as views that broadcast against each other, and the labels of the result (leading labels first)."""
    sizes: dict[Index, int] = {}
    for array in arrays:
        sizes |= array.sizes
    further = tuple(label for label in sizes if is_leading(label) and label not in LEADING)
    labels = tuple(label for label in LEADING if label in sizes) + further + tuple(l for l in sizes if not is_leading(l))
    check_size(sizes.values())
    check_axes(len(labels))
    views = []
    for array in arrays:
        order = [array.axis(label) for label in labels if label in array.labels]
        shape = [sizes[label] if label in array.labels else 1 for label in labels]
        views.append(np.transpose(array.data, order).reshape(shape))
    return views, labels


def arrange(array: Labelled, labels: Sequence[Index], sizes: dict[Index, int]) -> np.ndarray:
    """The plain array with exactly these axes in this order; absent ones are broadcast (a read-only view)."""
    order = [array.axis(label) for label in labels if label in array.labels]
    shape = [array.sizes[label] if label in array.labels else 1 for label in labels]
    full = [array.sizes.get(label, sizes[label] if label in sizes else 1) for label in labels]
    check_size(full)
    return np.broadcast_to(np.transpose(array.data, order).reshape(shape), full)


def contract(arrays: Sequence[Labelled], keep: Iterable[Index]) -> Labelled:
    """The product of the arrays summed over every label not in ``keep``, leading ones excepted.

    Greedy pairwise contraction: at each step the pair with the cheapest product is joined by one batched matrix product."""
    keep = set(keep)
    scale = 1.0
    pending: list[Labelled] = []
    for array in arrays:
        if array.labels:
            pending.append(array)
        else:
            scale = scale * array.data
    sizes = {label: size for array in pending for label, size in array.sizes.items()}

    def wanted(label: Index, others: list[Labelled]) -> bool:
        return label in keep or is_leading(label) or any(label in other.labels for other in others)

    def drop(array: Labelled, others: list[Labelled]) -> Labelled:
        gone = tuple(k for k, label in enumerate(array.labels) if not wanted(label, others))
        if not gone:
            return array
        left = tuple(label for k, label in enumerate(array.labels) if k not in gone)
        return Labelled(array.data.sum(axis=gone), left)

    pending = [drop(array, pending[:k] + pending[k + 1:]) for k, array in enumerate(pending)]
    while len(pending) > 1:
        best = None
        for i in range(len(pending)):
            for j in range(i):
                rest = [array for k, array in enumerate(pending) if k not in (i, j)]
                union = set(pending[i].labels) | set(pending[j].labels)
                left = {label for label in union if wanted(label, rest)}
                cost = (math.prod(sizes[l] for l in union), math.prod(sizes[l] for l in left))
                if best is None or cost < best[0]:
                    best = cost, i, j, left
        _, i, j, left = best
        joined = _join(pending[j], pending[i], left, sizes)
        pending = [array for k, array in enumerate(pending) if k not in (i, j)] + [joined]
    if not pending:
        return constant(scale)
    result = drop(pending[0], [])
    return result if isinstance(scale, float) and scale == 1.0 else Labelled(result.data * scale, result.labels)


def _join(left: Labelled, right: Labelled, keep: set[Index], sizes: dict[Index, int]) -> Labelled:
    shared = [label for label in left.labels if label in right.labels]
    summed = [label for label in shared if label not in keep]
    batch = [label for label in shared if label in keep]
    batch.sort(key=lambda label: LEADING.index(label) if label in LEADING else len(LEADING))
    if not summed:
        (a, b), labels = align([left, right])
        return Labelled(a * b, labels)
    rows = [label for label in left.labels if label not in right.labels]
    columns = [label for label in right.labels if label not in left.labels]
    size = lambda labels: math.prod(sizes[label] for label in labels)  # noqa: E731
    check_size([size(batch + rows + columns)])
    shape = [sizes[label] for label in batch]
    a = np.transpose(left.data, [left.axis(l) for l in batch + rows + summed]).reshape(shape + [size(rows), size(summed)])
    b = np.transpose(right.data, [right.axis(l) for l in batch + summed + columns])
    product = a @ b.reshape(shape + [size(summed), size(columns)])
    labels = batch + rows + columns
    return Labelled(product.reshape([sizes[label] for label in labels]), tuple(labels))
