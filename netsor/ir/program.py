"""The program that every reading consumes: families of variables over index sets, each made by one rule.

Families are whole: ``q[a,i] = WQ[a] @ x[i]`` is one :class:`Family` with axes (a, i), whatever the number of heads and tokens.
Only what a program itself defines piece by piece (a loop over layers, ``x[0,i]`` and ``x[l,i]``) becomes several families,
one for each constant part of the subscripts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsor.ir.expressions import Coord, Expr, Index, Range, ScalarRef
from netsor.ir.laws import Law
from netsor.language.source import Source, Span


@dataclass(eq=False)
class ArrayDeclaration:
    """Numbers known before the limit is taken (``data``, ``const``).  ``values`` has one axis per subscript; subscript value v
    of axis k is entry ``v - ranges[k].lo``.  A ``const`` keeps its ``definition``, an expression over ``axes``."""

    name: str
    ranges: tuple[Range, ...]
    values: np.ndarray
    span: Span | None = None
    axes: tuple[Index, ...] = ()
    definition: Expr | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False)
class Matrix:
    """A family of matrices with iid N(0, variance/columns) entries.  ``rows`` and ``columns`` are names of widths; ``variance`` is an
    expression over ``axes``; matrices of different subscripts are independent.  ``constants`` are the constant subscripts of a matrix
    declared in a loop."""

    name: str
    axes: tuple[Index, ...]
    rows: str
    columns: str
    variance: Expr
    constants: tuple[int, ...] = ()
    span: Span | None = None

    def __repr__(self) -> str:
        return self.name


# --- definitions: what a family is.  The rules (netsor.rules) give them their three readings --------------------------


@dataclass(frozen=True, eq=False)
class Given:
    """``input``: coordinates iid N(mean, covariance) over the elements of the family.

    ``second[k]`` is the second copy of axis k that ``covariance`` mentions, or None where elements with different values of
    axis k are independent (``covariance`` then mentions the axis itself only)."""

    mean: Expr
    covariance: Expr
    second: tuple[Index | None, ...]


@dataclass(frozen=True, eq=False)
class Iid:
    """``input`` with a law that is not Gaussian: coordinates iid, elements independent.  The parameters of ``law`` are expressions over the
    axes."""

    law: Law


@dataclass(frozen=True, eq=False)
class MatMul:
    """``matrix[matrix_subscripts] @ argument``, or the product with the transpose of that matrix."""

    matrix: Matrix
    matrix_subscripts: tuple[Expr, ...]
    argument: Coord
    transposed: bool = False

    @property
    def from_width(self) -> str:
        """The width of the argument."""
        return self.matrix.rows if self.transposed else self.matrix.columns

    @property
    def to_width(self) -> str:
        """The width of the product."""
        return self.matrix.columns if self.transposed else self.matrix.rows


@dataclass(frozen=True, eq=False)
class Nonlin:
    """A coordinatewise expression of vectors and random scalars: nonlinearities, products, linear combinations."""

    body: Expr


@dataclass(frozen=True, eq=False)
class Moment:
    """``avg(body)``: the average of a coordinatewise expression over its own width."""

    body: Expr


@dataclass(frozen=True, eq=False)
class Score:
    """``dot(left, right)/sqrt(n)``, n the width of both sides; ``span`` is where the dot stands, if the whole definition is more."""

    left: Coord
    right: Coord
    span: Span | None = None


@dataclass(frozen=True, eq=False)
class RandomScalar:
    """``input g : 1``: scalars drawn from N(mean, covariance) at every width; ``second`` as for :class:`Given`."""

    mean: Expr
    covariance: Expr
    second: tuple[Index | None, ...]


@dataclass(frozen=True, eq=False)
class ScalarFunction:
    """A function of scalars."""

    body: Expr


@dataclass(frozen=True, eq=False)
class Draw:
    """What a rule of a plug-in draws for one call, which stands at ``span``.  A family that is defined part by part is several families
    of one draw."""

    span: Span | None = None


@dataclass(frozen=True, eq=False)
class Custom:
    """A rule of a plug-in applied to vectors (elements of one call share whatever randomness the rule draws) and constants."""

    rule: Any
    arguments: tuple[Coord, ...]
    constants: tuple[Expr, ...] = ()
    draw: Draw = field(default_factory=Draw)


Definition = Given | Iid | MatMul | Nonlin | Moment | Score | RandomScalar | ScalarFunction | Custom


@dataclass(eq=False)
class Family:
    """One definition.  ``pattern`` is the left-hand side's subscripts, numbers and indices; ``axes`` the indices among them.

    ``kind`` is one of G, H (vectors), C, S (scalars); ``width`` the name of a vector's width.  ``hidden`` families are
    subexpressions that the program did not name."""

    name: str
    pattern: tuple[Index | int, ...]
    definition: Definition
    order: int
    kind: str = "?"
    width: str = ""
    hidden: bool = False
    span: Span | None = None
    axes: tuple[Index, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.axes = tuple(part for part in self.pattern if isinstance(part, Index))

    @property
    def is_vector(self) -> bool:
        return isinstance(self.definition, (Given, Iid, MatMul, Nonlin, Custom))

    @property
    def is_sampled(self) -> bool:
        """Whether it is a scalar whose values are drawn: all other random scalars are functions of such."""
        return isinstance(self.definition, (Score, RandomScalar))

    @property
    def label(self) -> str:
        """``x[2,i]`` as a reader would write it."""
        if not self.pattern:
            return self.name
        return f"{self.name}[{','.join(str(part.name if isinstance(part, Index) else part) for part in self.pattern)}]"

    def __getitem__(self, subscripts) -> Coord | ScalarRef:
        """A reference to the element with these values of the axes."""
        subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        return (Coord if self.is_vector else ScalarRef)(self, subscripts)

    @property
    def generic(self) -> Coord | ScalarRef:
        """The reference whose subscripts are the axes themselves."""
        return self[self.axes]

    def __repr__(self) -> str:
        return self.label


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of an output: the value ``reference`` (Coord or ScalarRef, subscripts over ``axes`` of the output or numbers) stands at
    the output's axes, those in ``constants`` fixed."""

    reference: Coord | ScalarRef
    constants: dict[Index, int]


@dataclass(frozen=True, eq=False)
class Output:
    """What is reported under one name: an array over ``axes``, put together from one or more families."""

    name: str
    axes: tuple[Index, ...]
    parts: tuple[Part, ...]
    span: Span | None = None

    @property
    def is_vector(self) -> bool:
        return isinstance(self.parts[0].reference, Coord)


@dataclass(frozen=True, eq=False)
class Expectation:
    """``expect function(arguments) = value within tolerance`` for every value of ``indices``."""

    function: str
    arguments: tuple[Coord | ScalarRef, ...]
    value: Expr
    tolerance: Expr
    indices: tuple[Index, ...]
    span: Span | None = None


@dataclass(eq=False)
class Program:
    """A checked program.  ``width`` is the first width, ``widths`` the ratio of each one to it.  ``parameters`` are the values in force
    (``math.inf`` for infinite ones, None for free symbols); ``changed`` those set from outside; ``width_spans`` is where widths are
    declared."""

    name: str
    width: str
    widths: dict[str, Any]
    families: list[Family]
    matrices: list[Matrix]
    arrays: list[ArrayDeclaration]
    outputs: list[Output]
    expectations: list[Expectation]
    parameters: dict[str, Any]
    changed: frozenset[str] = frozenset()
    docstring: str = ""
    source: Source | None = None
    warnings: list = field(default_factory=list)
    undetermined: frozenset[str] = frozenset()
    """In a derivation: parameters without a value of their own, and data without numbers."""
    width_spans: dict[str, Span] = field(default_factory=dict)

    @property
    def further_widths(self) -> dict[str, str]:
        """The widths other than the first, as multiples of it: ``{"m": "1/4*n"}``."""
        return {name: f"{ratio}*{self.width}" for name, ratio in self.widths.items() if name != self.width}

    @property
    def ranges(self) -> list[Range]:
        """The ranges of all axes of families, matrices and arrays."""
        axes = [axis.range for owner in (*self.families, *self.matrices) for axis in owner.axes]
        return axes + [range_ for array in self.arrays for range_ in array.ranges]

    @property
    def infinite(self) -> frozenset[str]:
        """Names of the parameters that are infinite."""
        return frozenset(k for k, v in self.parameters.items() if isinstance(v, float) and v == float("inf"))
