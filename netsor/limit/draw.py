"""Drawing the scores of a group: p = L Xi R^T, strip by strip.

With shared matrices the scores of a later layer are correlated with those of earlier ones.  The Gram of all rows so far is
factorised progressively (block Cholesky): rows of a new member are old directions times known coefficients plus new directions.
Xi is kept and extended by the strip that belongs to the new directions; this is the conditional law of the new scores given the
earlier ones (Gaussian conditioning), without ever solving for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from netsor.expectation import psd_root, solve_root
from netsor.expectation.linear_algebra import SEMIDEFINITE
from netsor.ir.expressions import Expr, Index
from netsor.ir.labelled import SAMPLE, Labelled, arrange
from netsor.ir.rewrite import rename_bound, substitute
from netsor.limit.normals import PointSet
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import copy
from netsor.limit.scores import Group, Member, Side

NEW_DIRECTION = 1e-9  # a remainder below this fraction of the squared norm is (close to) rounding, not a new direction


@dataclass
class Strips:
    """The progressive factor of one side: for each strip its coefficients on all strips so far, its own last."""

    rows: dict[Side, list[np.ndarray]] = field(default_factory=dict)
    whiteners: dict[Side, np.ndarray] = field(default_factory=dict)
    order: list[Side] = field(default_factory=list)


@dataclass
class Conditional:
    """The law of a score given what was drawn before: its mean and variance, over (SAMPLE, *axes)."""

    mean: Labelled
    variance: Labelled


class GroupPlan:
    """Sizes of a group: how many normal numbers each member needs, and where its strip of Xi lies."""

    def __init__(self, group: Group, size):
        self.group = group
        self.batch_shape = tuple(size(axis) for axis in group.members[0].batch)
        self.batch = math.prod(self.batch_shape)
        self.extents: list[tuple[int, int]] = []
        left = right = 0
        for member in group.members:
            left += self._new(member.left, size)
            right += self._new(member.right, size)
            self.extents.append((left, right))
        self.size = (left, right)
        self.alike = _sides_are_alike(group)
        infinite = [k for k, axis in enumerate(group.members[0].batch) if axis.range.infinite]
        self.point_axis = infinite[0] if infinite else None
        self.is_infinite = bool(infinite)

    @staticmethod
    def _new(side: Side, size) -> int:
        return 0 if side.reuses is not None else math.prod(size(axis) for axis in side.axes)

    def normals(self, k: int) -> int:
        """Normal numbers per point for the k-th member.  Points run along the infinite axis, if there is one."""
        old, new = (self.extents[k - 1] if k else (0, 0)), self.extents[k]
        batch = self.batch // self.batch_shape[self.point_axis] if self.is_infinite else self.batch
        return batch * (new[0] * new[1] - old[0] * old[1])


class GroupDraw:
    """The state of one group while its members are drawn, for one chunk of points."""

    def __init__(self, plan: GroupPlan, points: PointSet):
        self.plan, self.points = plan, points
        self.count = 1 if plan.is_infinite else len(points)
        self.xi = np.empty((self.count, *plan.batch_shape, *plan.size))
        self.sides = (Strips(), Strips())

    def draw(self, k: int, offset: int, numbers: Numbers, conditional: bool = False) -> tuple[Labelled, Conditional | None]:
        """The k-th member over (SAMPLE, *axes) (no sample axis if the points run along an infinite axis and its law is one)."""
        member = self.plan.group.members[k]
        rows = [self._extend(member, side, numbers) for side in ((0,) if self.plan.alike else (0, 1))]
        rows = rows * 2 if self.plan.alike else rows
        old = self.plan.extents[k - 1] if k else (0, 0)
        new = self.plan.extents[k]
        self._fill(old, new, offset, k)
        xi = self.xi[..., :new[0], :new[1]]
        value = self._place(_product(rows[0], xi, rows[1]), member, numbers)
        law = self._conditional(rows, k, member, numbers) if conditional else None
        return value, law

    # --- the factor --------------------------------------------------------------------------------------------------

    def _extend(self, member: Member, which: int, numbers: Numbers) -> np.ndarray | None:
        """Coefficients of the member's rows on all directions so far: (samples or 1, batch or 1…, rows, directions).

        None stands for the identity."""
        side, strips = (member.left, member.right)[which], self.sides[which]
        if side.reuses is None:
            blocks: list[np.ndarray] = []
            grams = [
                self._gram(gram, member, side, other, numbers) for gram, other in zip(side.grams, strips.order + [side])
            ]
            remainder = grams[-1]
            for position, other in enumerate(strips.order):
                cross = grams[position]
                if blocks:
                    cross = cross - _side_by_side(blocks) @ np.swapaxes(_side_by_side(strips.rows[other][:-1]), -1, -2)
                block = cross @ np.swapaxes(self._whitener(strips, other), -1, -2)
                blocks.append(block)
                remainder = remainder - block @ np.swapaxes(block, -1, -2)
            if blocks:
                remainder = _clean(remainder, grams[-1])
            tolerance = max(SEMIDEFINITE, numbers.allowance(*side.grams).share)
            # a remainder is semidefinite but for rounding; the first Gram must be so by itself
            strips.rows[side] = blocks + [psd_root(remainder, tolerance=np.inf if blocks else tolerance)]
            strips.order.append(side)
        source = side if side.reuses is None else side.reuses
        blocks = strips.rows[source]
        if len(strips.order) == 1 and _is_identity(blocks[0]):
            return None
        later = sum(strips.rows[s][-1].shape[-1] for s in strips.order[len(blocks):])
        return _side_by_side(blocks + [np.zeros((1,) * (blocks[0].ndim - 1) + (later,))] if later else blocks)

    @staticmethod
    def _whitener(strips: Strips, side: Side) -> np.ndarray:
        """L^+ of a strip's own root: what turns its remainder into independent standard normals."""
        if side not in strips.whiteners:
            root = strips.rows[side][-1]
            strips.whiteners[side] = solve_root(root, np.broadcast_to(np.eye(root.shape[-1]), root.shape))
        return strips.whiteners[side]

    def _gram(self, gram: Expr, member: Member, side: Side, other: Side, numbers: Numbers) -> np.ndarray:
        """Shape (samples or 1, batch sizes or 1, rows, other's rows)."""
        batch = tuple(copy(axis, "x") for axis in member.batch)
        rows = tuple(copy(axis, "x") for axis in side.axes)
        columns = tuple(copy(axis, "y") for axis in other.axes)
        numbers.prepare(gram)
        value = numbers.evaluate(gram)
        lead = (SAMPLE, *batch)
        sizes = {label: numbers.size(label) for label in batch + rows + columns}
        kept = tuple(label for label in lead if label in value.labels)
        dense = arrange(value, kept + rows + columns, sizes)
        shape = [value.sizes.get(label, 1) for label in lead]
        count = lambda labels: int(np.prod([sizes[label] for label in labels], dtype=int))  # noqa: E731
        return dense.reshape(shape + [count(rows), count(columns)])

    def _fill(self, old: tuple[int, int], new: tuple[int, int], offset: int, k: int) -> None:
        """Fresh normal numbers for the strip of Xi between ``old`` and ``new``."""
        count = self.plan.normals(k)
        if not count:
            return
        numbers = self.points.columns(offset, count)
        batch = self.plan.batch_shape
        if self.plan.is_infinite:
            axis = self.plan.point_axis
            rest = batch[:axis] + batch[axis + 1:]
            numbers = np.moveaxis(numbers.reshape((len(self.points), *rest, -1)), 0, axis)[None]
        else:
            numbers = numbers.reshape((len(self.points), *batch, -1))
        below = (new[0] - old[0]) * new[1]
        self.xi[..., old[0]:new[0], :new[1]] = numbers[..., :below].reshape(
            self.xi.shape[:-2] + (new[0] - old[0], new[1]))
        self.xi[..., :old[0], old[1]:new[1]] = numbers[..., below:].reshape(
            self.xi.shape[:-2] + (old[0], new[1] - old[1]))

    # --- results -----------------------------------------------------------------------------------------------------

    def _place(self, product: np.ndarray, member: Member, numbers: Numbers) -> Labelled:
        """(samples, batch…, left rows, right rows) to the axes of the score; an axis of both sides is a diagonal."""
        family, left, right = member.family, member.left.axes, member.right.axes
        shape = product.shape[:-2] + tuple(numbers.size(axis) for axis in left + right)
        array = product.reshape(shape)
        labels: list = [SAMPLE, *member.batch, *left, *[("right", axis) for axis in right]]
        for axis in right:
            if axis in left:
                a, b = labels.index(axis), labels.index(("right", axis))
                array = np.moveaxis(np.diagonal(array, axis1=a, axis2=b), -1, 0)
                labels = [axis] + [label for label in labels if label not in (axis, ("right", axis))]
        labels = [label[1] if isinstance(label, tuple) else label for label in labels]
        value = Labelled(array, tuple(labels))
        sizes = {axis: numbers.size(axis) for axis in family.axes}
        data = arrange(value, (SAMPLE, *family.axes), sizes)
        if self.plan.is_infinite and len(data) == 1:
            return Labelled(data[0], family.axes)
        return Labelled(data, (SAMPLE, *family.axes))

    def _conditional(self, rows, k: int, member: Member, numbers: Numbers) -> Conditional:
        """Mean and variance of the member given the scores before it (in fact given the Xi behind them)."""
        old = self.plan.extents[k - 1] if k else (0, 0)
        factors = [np.eye(self.plan.extents[k][side])[None] if r is None else r for side, r in enumerate(rows)]
        known = [factor[..., : old[side]] for side, factor in enumerate(factors)]
        mean = _product(known[0], self.xi[..., : old[0], : old[1]], known[1])
        square = lambda factor: np.sum(factor * factor, axis=-1)  # noqa: E731
        outer = lambda a, b: a[..., :, None] * b[..., None, :]  # noqa: E731
        variance = outer(*map(square, factors)) - outer(*map(square, known))
        variance = np.broadcast_to(np.maximum(variance, 0.0), mean.shape)
        return Conditional(self._place(mean, member, numbers), self._place(variance, member, numbers))


def _sides_are_alike(group: Group) -> bool:
    """Whether the rows of both sides have the same Grams, as those of queries and keys that read the same tokens: one factor serves
    both."""
    strips: list[tuple[Side, Side]] = []
    for member in group.members:
        left, right = member.left, member.right
        if left.reuses is not None or right.reuses is not None:
            if (left.reuses, right.reuses) not in strips:
                return False
            continue
        strips.append((left, right))
        if len(left.grams) != len(right.grams):
            return False
        for (one, other), gram, expected in zip(strips, right.grams, left.grams):
            names = _renaming(right, left, "x") | _renaming(other, one, "y")
            ranges = [(old.range, new.range) for old, new in names.items()]
            if len(left.axes) != len(right.axes) or any(old != new for old, new in ranges):
                return False
            if rename_bound(substitute(gram, names)) != rename_bound(expected):
                return False
    return True


def _renaming(old: Side, new: Side, which: str) -> dict[Index, Expr]:
    return {copy(a, which): copy(b, which) for a, b in zip(old.axes, new.axes)}


def _side_by_side(blocks: list[np.ndarray]) -> np.ndarray:
    """Columns of all blocks, whose other axes broadcast."""
    shape = np.broadcast_shapes(*(block.shape[:-1] for block in blocks))
    return np.concatenate([np.broadcast_to(block, shape + block.shape[-1:]) for block in blocks], axis=-1)


def _product(left: np.ndarray | None, xi: np.ndarray, right: np.ndarray | None) -> np.ndarray:
    """left @ xi @ right^T, None standing for the identity."""
    result = xi if left is None else left @ xi
    return result if right is None else result @ np.swapaxes(right, -1, -2)


def _clean(remainder: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """The remainder with rows that are rounding only set to zero."""
    own = np.diagonal(remainder, axis1=-2, axis2=-1)
    real = own > NEW_DIRECTION * np.diagonal(gram, axis1=-2, axis2=-1)
    return remainder * (real[..., :, None] & real[..., None, :])


def _is_identity(root: np.ndarray) -> bool:
    return root.size == root.shape[-1] ** 2 and np.array_equal(root.reshape(root.shape[-2:]), np.eye(root.shape[-1]))
