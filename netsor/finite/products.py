"""The products of a program with each matrix element: which are used once, which again, and how many share a shape."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from netsor.finite.partition import Partition
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Expr, Index, Num
from netsor.ir.labelled import check_size
from netsor.ir.program import Family
from netsor.ir.rewrite import free_indices


@dataclass(frozen=True, eq=False)
class ProductPlan:
    """How the products of one family are drawn.

    ``plain``: the subscripts of the matrix are numbers and different indices, and no argument occurs twice with the same element, so
    that all elements are drawn at once, as arrays over ``batch``.  Otherwise element by element: ``elements`` and ``arguments`` are
    the positions of the matrix and of the argument's vector for every cell of the family.
    ``memory``: the key under which earlier products of these elements are remembered; None if these are the only ones."""

    plain: bool
    batch: tuple[Index, ...]
    elements: np.ndarray
    arguments: np.ndarray
    memory: tuple | None = None


def product_plans(families: list[Family], evaluator: Evaluator) -> dict[Family, ProductPlan]:
    """The plans of all MatMul families of a program."""
    plans: dict[Family, ProductPlan] = {}
    for matrix in dict.fromkeys(family.definition.matrix for family in families):
        own = [family for family in families if family.definition.matrix is matrix]
        used = {family: _elements(family, evaluator) for family in own}
        for kin in _sharing(own, used):
            plain = len({_shape(family) for family in kin}) == 1 and all(_is_plain(family, evaluator) for family in kin)
            memory = (matrix, _shape(kin[0]) if plain else None) if len(kin) > 1 else None
            for family in kin:
                batch = tuple(s for s in family.definition.matrix_subscripts if isinstance(s, Index))
                plans[family] = ProductPlan(plain, batch, used[family], _arguments(family, evaluator), memory)
    return plans


def _sharing(families: list[Family], used: dict[Family, np.ndarray]) -> list[list[Family]]:
    """The families in groups that share elements of their matrix."""
    partition, owner = Partition(), {}
    for family in families:
        partition.join((family, *(owner.setdefault(element, family) for element in np.unique(used[family]).tolist())))
    groups: dict = {}
    for family in families:
        groups.setdefault(partition.find(family), []).append(family)
    return list(groups.values())


def flat(subscripts: tuple[Expr, ...], axes: tuple[Index, ...], over: tuple[Index, ...], evaluator: Evaluator) -> np.ndarray:
    """The positions, in C order over ``axes``, of the element with these subscripts for every value of ``over``."""
    shape = tuple(axis.range.size for axis in over)
    check_size(shape)
    position = np.zeros(shape, dtype=np.intp)
    for subscript, axis in zip(subscripts, axes):
        value = np.rint(evaluator.array(subscript, over)).astype(np.intp) - axis.range.lo
        position = position * axis.range.size + np.clip(value, 0, axis.range.size - 1)
    return position


def _elements(family: Family, evaluator: Evaluator) -> np.ndarray:
    product = family.definition
    return flat(product.matrix_subscripts, product.matrix.axes, family.axes, evaluator)


def _arguments(family: Family, evaluator: Evaluator, over: tuple[Index, ...] | None = None) -> np.ndarray:
    argument = family.definition.argument
    return flat(argument.subscripts, argument.family.axes, family.axes if over is None else over, evaluator)


def _shape(family: Family) -> tuple:
    """The subscripts of the matrix up to the names of indices."""
    return tuple(s.range if isinstance(s, Index) else s for s in family.definition.matrix_subscripts)


def _is_plain(family: Family, evaluator: Evaluator) -> bool:
    subscripts = family.definition.matrix_subscripts
    batch = [s for s in subscripts if isinstance(s, Index)]
    simple = all(isinstance(s, Num) or s in family.axes for s in subscripts) and len(set(batch)) == len(batch)
    if not simple:
        return False
    used = free_indices(family.definition.argument)
    first = tuple(axis for axis in batch if axis in used)
    rest = tuple(axis for axis in family.axes if axis in used and axis not in batch)
    positions = _arguments(family, evaluator, first + rest)
    rows = positions.reshape(math.prod(positions.shape[: len(first)]), -1)
    ordered = np.sort(rows, axis=1)
    return not (ordered[:, 1:] == ordered[:, :-1]).any()
