"""Which vectors of a program meet: whose relative position matters to the rest of the program.

Vectors meet in a linear combination, in an inner product, as arguments of one matrix (the law of the products depends on their Gram
matrix) and as results of one matrix (which share its randomness).  A product leads from one space to another: an argument does not
meet its result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from netsor.finite.partition import Partition
from netsor.ir.expressions import Expr, Index, Num
from netsor.ir.polynomials import coords, homogeneous_degree
from netsor.ir.program import Family, MatMul, Matrix, Moment, Nonlin, Score
from netsor.ir.rewrite import bound, walk


@dataclass(frozen=True)
class Side:
    """The space of a matrix's columns (``input``) or rows; ``group`` numbers parts of a family that share no element.  ``results``:
    whether products lie in it, which for the columns is so where the transpose is used."""

    matrix: Matrix
    group: int
    input: bool
    results: bool


Node = Family | Side


@dataclass(frozen=True)
class Participant:
    """A node and, for each of its axes, the index of the definition that stands there (None: a number or anything else)."""

    node: Node
    indices: tuple[Index | None, ...]


Interaction = tuple[Participant, ...]


class Groups:
    """Matrix families cut into parts that share no element, by the numbers among the subscripts of their products."""

    def __init__(self, products: Iterable[Family]):
        partition, seen = Partition(), {}
        for family in products:
            own = _source(family)
            partition.find(own)
            for other in seen.setdefault(own[0], []):
                if all(a is None or b is None or a == b for a, b in zip(own[1], other[1])):
                    partition.join((own, other))
            seen[own[0]].append(own)
        numbers: dict = {}
        self._group = {family: numbers.setdefault(partition.find(_source(family)), len(numbers)) for family in products}
        self._results = {(group, family.definition.transposed) for family, group in self._group.items()}

    def side(self, family: Family, argument: bool) -> Side:
        """Where the argument of a product lies, or the product."""
        group, input = self._group[family], family.definition.transposed is not argument
        return Side(family.definition.matrix, group, input, (group, input) in self._results)


def _source(family: Family) -> tuple[Matrix, tuple]:
    subscripts = family.definition.matrix_subscripts
    return family.definition.matrix, tuple(s.value if isinstance(s, Num) else None for s in subscripts)


def is_linear(family: Family) -> bool:
    """Whether a family is by definition a linear combination of vectors, without a constant."""
    return isinstance(family.definition, Nonlin) and homogeneous_degree(family.definition.body) == 1


def is_bilinear(family: Family) -> bool:
    """Whether a family is a sum of inner products."""
    definition = family.definition
    return isinstance(definition, Score) or (isinstance(definition, Moment) and homogeneous_degree(definition.body) == 2)


def interactions(family: Family, groups: Groups) -> list[Interaction]:
    """The meetings that the definition of ``family`` causes (none where a coordinatewise function is applied)."""
    definition = family.definition
    own = lambda expr: _participant(expr.family, expr.subscripts, family, expr)  # noqa: E731
    match definition:
        case MatMul():
            subscripts = definition.matrix_subscripts
            side = lambda argument: _participant(groups.side(family, argument), subscripts, family)  # noqa: E731
            return [(own(definition.argument), side(True)), (Participant(family, family.axes), side(False))]
        case Score():
            return [(own(definition.left), own(definition.right))]
        case Moment() if is_bilinear(family):
            return [tuple(_participant(c.family, c.subscripts, family, definition.body) for c in _ordered(definition.body))]
        case Nonlin() if is_linear(family):
            met = (_participant(c.family, c.subscripts, family, definition.body) for c in _ordered(definition.body))
            return [(Participant(family, family.axes), *met)]
    return []


def _ordered(body: Expr) -> list:
    return sorted(coords(body), key=lambda coord: (coord.family.order, repr(coord)))


def _participant(node: Node, subscripts: tuple[Expr, ...], family: Family, body: Expr | None = None) -> Participant:
    """``subscripts`` as free indices of the definition where they are such, over the whole range of the axis."""
    hidden = frozenset() if body is None else frozenset().union(*(bound(part) for part in walk(body)))
    axes = node.axes if isinstance(node, Family) else node.matrix.axes
    plain = (
        s if isinstance(s, Index) and s in family.axes and s not in hidden and s.range == axis.range else None
        for s, axis in zip(subscripts, axes)
    )
    return Participant(node, tuple(plain))
