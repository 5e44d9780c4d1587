"""What an expression of the language stands for while a program is elaborated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING

from netsor.ir.expressions import Coord, Expr, Index
from netsor.ir.program import Draw, Matrix
from netsor.language.source import Span

if TYPE_CHECKING:
    from netsor.language.scope import BlockEntity, FunctionEntity


class Level(IntEnum):
    """What a value is known to be: a number before the limit is taken, a scalar of the program, a vector."""

    NUMBER = 0
    SCALAR = 1
    VECTOR = 2

    @property
    def word(self) -> str:
        return ("a constant", "a scalar", "a vector")[self]


@dataclass(frozen=True)
class Dot:
    """`dot(left, right)` of vectors of one width, whose scale stands elsewhere in the product."""

    left: Expr
    right: Expr
    width: str


@dataclass(frozen=True)
class Product:
    """`matrix[subscripts] @ argument`, or with the transpose of that matrix"""

    matrix: Matrix
    subscripts: tuple[Expr, ...]
    argument: Coord
    transposed: bool = False


@dataclass(frozen=True)
class Average:
    """`avg(body)` over the coordinates of a vector of that width."""

    body: Expr
    width: str


@dataclass(frozen=True)
class CustomCall:
    """A rule of a plug-in with its arguments."""

    rule: object
    arguments: tuple[Coord, ...]
    constants: tuple[Expr, ...]
    draw: Draw


Pending = Dot | Product | Average | CustomCall


@dataclass(frozen=True)
class Value:
    """A number, scalar or vector.

    `pending` is a rule that has not become a family yet: if it is all there is on the right of a definition, the family
    that is defined is itself the result of the rule; otherwise it becomes a hidden family. `expr` is then the
    coefficient of a Dot. `widths` are the powers of widths (and of sums of such) that multiply the whole. `width` is
    the width of a vector.
    """

    level: Level
    expr: Expr
    span: Span
    widths: Mapping[Expr, Fraction] = field(default_factory=dict)
    pending: Pending | None = None
    width: str = ""


@dataclass(frozen=True)
class Condition:
    """A truth value; `static` where it is known before any index has a value, `width` where it is one of vectors."""

    level: Level
    expr: Expr | None
    span: Span
    static: bool | None = None
    width: str = ""


@dataclass(frozen=True)
class MatrixValue:
    """An element of a family of matrices, or its transpose."""

    matrix: Matrix
    subscripts: tuple[Expr, ...]
    span: Span
    transposed: bool = False

    @property
    def shape(self) -> tuple[str, str]:
        """The widths that it leads to and from."""
        rows, columns = self.matrix.rows, self.matrix.columns
        return (columns, rows) if self.transposed else (rows, columns)


@dataclass(frozen=True)
class FunctionValue:
    """What is called, by name: a function of the catalogue, built in or of a plug-in, a `def` or a block of the program."""

    name: str
    span: Span
    entity: FunctionEntity | BlockEntity | None = None


class NeedsValues(Exception):
    """What is being elaborated differs from value to value of this index: give the index its values one by one."""

    def __init__(self, index: Index):
        super().__init__(index)
        self.index = index


class Poisoned(Exception):
    """Something that was already reported makes this statement meaningless; nothing more is said about it."""
