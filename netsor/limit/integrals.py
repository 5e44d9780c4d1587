"""The numeric value of E[...]: an :class:`Expect` handed to the expectation engine in the shape it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from netsor.expectation import Estimate, expect_kernel, expect_pair, expect_several, expect_unary
from netsor.expectation.directions import directions
from netsor.expectation.estimate import NotResolved
from netsor.expectation.grid import GridExpectation, grid_expectation, grid_points
from netsor.expectation.linear_algebra import SEMIDEFINITE
from netsor.expectation.several import CHUNK, TURNED, reduced_root
from netsor.ir.expressions import ONE, Expect, Expr, first, mul, second
from netsor.ir.labelled import CELL, LEADING, POINT, SAMPLE, Labelled, align, arrange
from netsor.ir.rewrite import bound as bound_indices
from netsor.ir.rewrite import children
from netsor.limit.cells import CellEvaluator, Cells, has_leaf
from netsor.limit.leaf_functions import cell_function, static_function
from netsor.limit.dimensions import is_several, is_static, on_a_grid, slots
from netsor.limit.rounding import correlated, nonnegative

if TYPE_CHECKING:
    from netsor.limit.numbers import Numbers

EVALUATIONS = 2**28  # function values per expectation that quasi-random points may take
SAMPLE_EVALUATIONS = 2**9  # and for each sample of the scores, over which errors average anyway
POINTS, FEWEST_POINTS = 2**13, 2**6
NOISE = 0.01  # of a variance: with more in it, what is computed from a covariance would be noise too
GRID_EVALUATIONS = 2**25  # and those that grids may take
REPLICATES = 8  # of quasi-random points that stand in for such grids


@dataclass
class FirstReplicate:
    """What later randomisations take over from the first: expectations on grids with their derivatives, by cell, and the directions in
    which quasi-random points are good."""

    grids: dict[tuple[Expect, int], GridExpectation] = field(default_factory=dict)
    rotations: dict[Expect, np.ndarray] = field(default_factory=dict)


def integrate(expect: Expect, numbers: "Numbers") -> tuple[Labelled, Estimate | None]:
    """The value over all cells, and the engine's estimate (None where the error shows between randomisations)."""
    if is_several(expect):
        return _several(expect, numbers), None
    if on_a_grid(expect):
        return _few(expect, numbers)
    if len(expect.inner) == 1:
        return _unary(mul(*expect.factors), expect, numbers)
    return _pair(expect, numbers)


# --- one variable ----------------------------------------------------------------------------------------------------


def _unary(body: Expr, expect: Expect, numbers: "Numbers") -> tuple[Labelled, Estimate]:
    mean, variance = numbers.evaluate(expect.mean[0]), numbers.evaluate(expect.covariance[0][0])
    if is_static(body):
        (means, variances), labels = align([mean, variance])
        estimate = expect_unary(static_function(body), means, nonnegative(variances, numbers.allowance(expect)))
        return Labelled(estimate.value, labels), estimate
    cells = _cells([mean, variance] + _parameters(body, numbers))
    variances = nonnegative(cells.flatten(variance), numbers.allowance(expect))
    estimate = expect_unary(cell_function(body, cells, numbers), cells.flatten(mean), variances)
    return cells.unflatten(estimate.value), estimate


# --- two variables ---------------------------------------------------------------------------------------------------


def _pair(expect: Expect, numbers: "Numbers") -> tuple[Labelled, Estimate]:
    sides = [mul(*[factor for factor in expect.factors if slots(factor) == {slot}], ONE) for slot in (0, 1)]
    means = [numbers.evaluate(mean) for mean in expect.mean]
    (a, c), (_, b) = (map(numbers.evaluate, row) for row in expect.covariance)
    f, g = map(static_function, sides)
    mirrored = _mirrored(f, g, expect, means, (a, c))
    if mirrored is not None:
        return mirrored
    (m0, m1, v0, v1, cov), labels = align([*means, a, b, c])
    allowance = numbers.allowance(expect)
    v0, v1 = nonnegative(v0, allowance), nonnegative(v1, allowance)
    estimate = expect_pair(f, g, m0, m1, v0, v1, correlated(cov, v0, v1, allowance))
    return Labelled(estimate.value, labels), estimate


def _mirrored(f, g, expect: Expect, means, entries) -> tuple[Labelled, Estimate] | None:
    """The symmetric matrix E f(u_i) f(u_j): half the work, and a diagonal that is known to be one."""
    variance, covariance = entries
    rows, columns = (tuple(pair[side] for pair in expect.mirror) for side in (0, 1))
    if f.key != g.key or not rows or not all(label in covariance.labels for label in rows + columns):
        return None
    batch = tuple(label for label in covariance.labels if label not in rows + columns)
    if not set(variance.labels) <= set(batch + rows) or not set(means[0].labels) <= set(batch + rows):
        return None
    sizes = covariance.sizes
    shape = tuple(sizes[label] for label in batch)
    count = int(np.prod([sizes[label] for label in rows], dtype=int))
    matrix = arrange(covariance, batch + rows + columns, sizes).reshape(shape + (count, count))
    diagonal = arrange(variance, batch + rows, sizes).reshape(shape + (count,))
    if not np.array_equal(np.diagonal(matrix, axis1=-2, axis2=-1), diagonal):
        return None
    if np.min(diagonal, initial=0.0) < 0:
        return None  # rounding: the general way cleans it
    mean = arrange(means[0], batch + rows, sizes).reshape(shape + (count,))
    estimate = expect_kernel(f, mean if np.any(mean) else 0.0, matrix)
    full = [sizes[label] for label in batch + rows + columns]
    return Labelled(estimate.value.reshape(full), batch + rows + columns), estimate


# --- several variables -----------------------------------------------------------------------------------------------


def _several(expect: Expect, numbers: "Numbers") -> Labelled:
    return _quasi_random(_joint_law(expect, numbers), numbers, expect)


def _few(expect: Expect, numbers: "Numbers") -> tuple[Labelled, Estimate | None]:
    """Each cell on a grid of its own; quasi-random points for samples of the scores, over which errors average, for a great many
    cells, and where a function varies too fast."""
    joint = _joint_law(expect, numbers)
    if SAMPLE in joint.cells.labels:
        return _quasi_random(joint, numbers, expect), None
    count, size = joint.mean.shape
    if count * grid_points(size) <= GRID_EVALUATIONS:
        try:
            found = [_on_grid(expect, cell, joint, numbers) for cell in range(count)]
            estimate = Estimate([e.value for e in found], [e.error for e in found], f"quadrature ({size} variables)")
            return joint.over_all_cells(estimate.value), estimate
        except NotResolved:
            pass
    points = quasi_random_points(count, size, False, numbers.points)
    runs = expect_several(
        joint.values, joint.mean[None], joint.covariance[None], points=points, replicates=REPLICATES, laws=joint.laws)
    error = 3 * runs.std(axis=0, ddof=1) / np.sqrt(REPLICATES)
    estimate = Estimate(runs.mean(axis=0), error, f"randomised QMC, {REPLICATES} x {points} points")
    return joint.over_all_cells(estimate.value), estimate


def _on_grid(expect: Expect, cell: int, joint: "JointLaw", numbers: "Numbers") -> Estimate:
    """One cell; by its derivatives where the first randomisation had almost the same law."""
    mean, covariance = joint.mean[cell], joint.covariance[cell]
    known = numbers.first.grids.get((expect, cell))
    near = None if known is None else known.near(mean, covariance)
    if near is not None:
        return near
    found = grid_expectation(lambda x: joint.values(x[None], slice(cell, cell + 1))[0], mean, covariance)
    if numbers.replicate == 0 and not numbers.is_given:
        numbers.first.grids[expect, cell] = found
    return found.estimate


def _quasi_random(joint: "JointLaw", numbers: "Numbers", expect: Expect) -> Labelled:
    """With points of the replicate's own, so that the error shows between replicates."""
    cells = joint.cells
    sampled = SAMPLE in cells.labels
    each = cells.count // cells.sizes[SAMPLE] if sampled and cells.sizes[SAMPLE] else cells.count
    points = quasi_random_points(each, joint.mean.shape[-1], sampled, numbers.points)
    rotations, tolerance = None, max(SEMIDEFINITE, numbers.allowance(expect).share)
    if points >= TURNED and not sampled and not numbers.is_given:
        if expect not in numbers.first.rotations:
            root = reduced_root(joint.covariance, tolerance)
            numbers.first.rotations[expect] = directions(joint.values, joint.mean, root, CHUNK, joint.laws)
        rotations = numbers.first.rotations[expect]
    result = expect_several(
        joint.values, joint.mean[None], joint.covariance[None], points=points, replicates=1, seed=numbers.seed, rotations=rotations,
        laws=joint.laws, tolerance=tolerance)
    numbers.noise = min(max(numbers.noise, points**-0.5), NOISE)  # no more than pseudo-random points would leave
    numbers.note(f"randomised QMC, {points} points")
    return joint.over_all_cells(result[0])


@dataclass(frozen=True)
class JointLaw:
    """What is integrated over several variables, in C of the cells: all but mirror images of others.

    :ivar mean: (C, k); ``covariance`` (C, k, k); ``laws`` (C,) numbers cells by the two: those with the same number have the same law.
    :ivar values: the function (x (cells in the window, points, k), window of the C cells) -> (cells in the window, points).
    :ivar source: for each of all cells which of the C stands for it."""

    cells: Cells
    mean: np.ndarray
    covariance: np.ndarray
    laws: np.ndarray
    values: Callable[[np.ndarray, slice], np.ndarray]
    source: np.ndarray

    def over_all_cells(self, result: np.ndarray) -> Labelled:
        """Values of the C cells over all of them."""
        return self.cells.unflatten(result[self.source])


def _joint_law(expect: Expect, numbers: "Numbers") -> JointLaw:
    """The law of all variables and the function of them."""
    body = mul(*expect.factors)
    means = [numbers.evaluate(mean) for mean in expect.mean]
    entries = [[numbers.evaluate(entry) for entry in row] for row in expect.covariance]
    inner_copies = {copy(index) for block in expect.inner for index in block for copy in (first, second)}
    arrays = means + [entry for row in entries for entry in row]
    cells = _cells(arrays + _parameters(body, numbers), inner_copies)
    sizes = cells.sizes | {copy(i): numbers.size(i) for block in expect.inner for i in block for copy in (first, second)}
    counts = [int(np.prod([numbers.size(index) for index in block], dtype=int)) for block in expect.inner]
    starts = np.concatenate([[0], np.cumsum(counts)])
    mean = np.empty((cells.count, starts[-1]))
    covariance = np.empty((cells.count, starts[-1], starts[-1]))
    for m, block in enumerate(expect.inner):
        rows = slice(starts[m], starts[m + 1])
        labels = tuple(map(first, block))
        mean[:, rows] = arrange(means[m], cells.labels + labels, sizes).reshape(cells.count, counts[m])
        for k, other in enumerate(expect.inner):
            both = labels + tuple(map(second, other))
            dense = arrange(entries[m][k], cells.labels + both, sizes)
            covariance[:, rows, starts[k]:starts[k + 1]] = dense.reshape(cells.count, counts[m], counts[k])
    place = np.arange(starts[-1])
    covariance[:, place, place] = nonnegative(covariance[:, place, place], numbers.allowance(expect))
    evaluator = CellEvaluator(numbers, cells)
    kept, source = cells.without_mirror_images(expect.mirror)
    _, laws = np.unique(cells.combinations({label for array in arrays for label in array.labels})[kept], return_inverse=True)

    def values(x: np.ndarray, window: slice) -> np.ndarray:
        leaves = [
            Labelled(
                x[:, :, starts[m]:starts[m + 1]].reshape(x.shape[:2] + tuple(numbers.size(i) for i in block)),
                (CELL, POINT, *block),
            )
            for m, block in enumerate(expect.inner)
        ]
        return evaluator.at(body, leaves, kept[window])

    return JointLaw(cells, mean[kept], covariance[kept], laws, values, source)


def quasi_random_points(each: float, dimension: float, sampled: bool, wanted: int = POINTS) -> int:
    """How many points for ``each`` cells (of every sample, if sampled), whatever the size of a chunk of samples: as many as wanted
    (a power of two) within a budget, which grows with what is wanted."""
    budget = (SAMPLE_EVALUATIONS if sampled else EVALUATIONS) * max(1, wanted // POINTS)
    points = FEWEST_POINTS
    while points < (min(wanted, POINTS) if sampled else wanted) and 2 * points * each * dimension <= budget:
        points *= 2
    return points


# --- helpers ---------------------------------------------------------------------------------------------------------


def _parameters(body: Expr, numbers: "Numbers") -> list[Labelled]:
    """The values of all parts that no leaf enters (their labels are labels of cells)."""
    found: list[Labelled] = []
    _collect(body, numbers, found, frozenset())
    return found


def _collect(expr: Expr, numbers: "Numbers", found: list[Labelled], bound: frozenset) -> None:
    if not has_leaf(expr):
        value = numbers.evaluate(expr)
        if any(label in bound for label in value.labels):  # an axis of an inner sum is no axis of the cells
            keep = tuple(k for k, label in enumerate(value.labels) if label in bound)
            value = Labelled(value.data.sum(axis=keep), tuple(label for label in value.labels if label not in bound))
        found.append(value)
        return
    for child in children(expr):
        _collect(child, numbers, found, bound | bound_indices(expr))


def _cells(arrays: list[Labelled], exclude: set = frozenset()) -> Cells:
    sizes: dict = {}
    for array in arrays:
        sizes |= {label: size for label, size in array.sizes.items() if label not in exclude}
    labels = tuple(l for l in LEADING if l in sizes) + tuple(sorted((l for l in sizes if l not in LEADING), key=repr))
    return Cells(labels, sizes)
