"""The syntax tree: one dataclass for each rule of grammar.lark, each with the span it was read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netsor.language.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span

    def children(self) -> Iterator[Node]:
        """The nodes directly below this one, in the order of the text."""
        for field in self.__slots__:  # those of the class itself: all but the span
            value = getattr(self, field)
            if value.__class__ is tuple:
                yield from (each for each in value if isinstance(each, Node))
            elif isinstance(value, Node):
                yield value


def node(cls):
    """A kind of node. Nodes are compared by identity: the same text at two places is two nodes."""
    return dataclass(frozen=True, slots=True, eq=False)(cls)


@node
class Identifier(Node):
    name: str


# --- expressions


@node
class Number(Node):
    """A literal; an int where the text has neither point nor exponent."""

    value: int | float
    text: str


@node
class Infinity(Node):
    pass


@node
class Name(Node):
    """`x`, `x[l,i]` or `z.p[1,2]`; `subscripts` is empty where there are no brackets."""

    path: tuple[Identifier, ...]
    subscripts: tuple[Node, ...]

    @property
    def dotted(self) -> str:
        return ".".join(part.name for part in self.path)


@node
class Transpose(Node):
    """`W.T`, `W[a].T`"""

    operand: Name


@node
class Keyword(Node):
    """`c=0.1` in the arguments of a call."""

    name: Identifier
    value: Node


@node
class Call(Node):
    """`f(x, c=0.1)`"""

    function: Name
    arguments: tuple[Node, ...]
    keywords: tuple[Keyword, ...]


@node
class Range(Node):
    """`low..high`, both included."""

    low: Node
    high: Node


@node
class Binder(Node):
    """`j`, or `o in -1..1` with a range of its own."""

    name: Identifier
    range: Range | None


@node
class Guard(Node):
    """`if j <= i`"""

    condition: Node


@node
class Reduction(Node):
    """`sum(body for a, o in -1..1 if guard)`; also softmax, where the binder stays free."""

    function: Name
    body: Node
    binders: tuple[Binder, ...]
    guard: Guard | None


@node
class Conditional(Node):
    """`value if condition else otherwise`"""

    value: Node
    condition: Node
    otherwise: Node


@node
class Either(Node):
    """`a or b or …`"""

    operands: tuple[Node, ...]


@node
class Both(Node):
    """`a and b and …`"""

    operands: tuple[Node, ...]


@node
class Negation(Node):
    """`not a`"""

    operand: Node


@node
class Compare(Node):
    """`a < b <= c`: one operator fewer than operands."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@node
class Add(Node):
    """`a + b - c`: signs are "+" or "-", one for each operand, the first "+"."""

    operands: tuple[Node, ...]
    signs: tuple[str, ...]


@node
class Multiply(Node):
    """`a * b / c`, read from the left: operators are "*" or "/", one for each operand, the first "*"."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@node
class Negative(Node):
    """`-a`"""

    operand: Node


@node
class MatMul(Node):
    """`W @ x`"""

    left: Node
    right: Node


@node
class Power(Node):
    """`a^b`"""

    base: Node
    exponent: Node


# --- statements


@node
class Element(Node):
    """A name as it is declared: `x[l+1, b]`."""

    name: Identifier
    subscripts: tuple[Node, ...]


@node
class Setting(Node):
    """`H = 2` in `param`."""

    name: Identifier
    default: Node | None


@node
class WidthNew(Node):
    """`n`"""

    name: Identifier


@node
class WidthRatio(Node):
    """`m = 2*n`"""

    name: Identifier
    value: Node


@node
class WidthLike(Node):
    """`n like x`"""

    name: Identifier
    like: Identifier


@node
class Width(Node):
    entries: tuple[WidthNew | WidthRatio | WidthLike, ...]


@node
class Param(Node):
    settings: tuple[Setting, ...]


@node
class IndexIn(Node):
    names: tuple[Identifier, ...]
    range: Range


@node
class IndexLike(Node):
    names: tuple[Identifier, ...]
    like: Identifier


@node
class File(Node):
    """`"x.npy"`: the name without its quotes."""

    name: str


@node
class List(Node):
    """`[1, 2]` or `[[1, 2], [3, 4]]`"""

    items: tuple[Node, ...]


@node
class Data(Node):
    element: Element
    value: File | List | None


@node
class Const(Node):
    element: Element
    value: Node


@node
class Law(Node):
    """`N(0, 1/n)`"""

    name: Identifier
    arguments: tuple[Node, ...]


@node
class Input(Node):
    """`size` is the width after the colon, None where there is none."""

    elements: tuple[Element, ...]
    size: Node | None
    law: Law


@node
class Shape(Node):
    """`(rows, columns)`"""

    rows: Node
    columns: Node


@node
class Matrix(Node):
    elements: tuple[Element, ...]
    shape: Shape | None
    law: Law


@node
class Formal(Node):
    """`x[i]` or `c=0.1` in the head of a `def` or `block`."""

    element: Element
    default: Node | None


@node
class Function(Node):
    name: Identifier
    formals: tuple[Formal, ...]
    body: Node


@node
class Block(Node):
    name: Identifier
    formals: tuple[Formal, ...]
    statements: tuple[Node, ...]


@node
class Loop(Node):
    name: Identifier
    range: Range
    statements: tuple[Node, ...]


@node
class Return(Node):
    value: Node


@node
class ImportFile(Node):
    file: File


@node
class ImportStd(Node):
    path: tuple[Identifier, ...]


@node
class Definition(Node):
    """`x[i] : H = relu(h[i])`; `kind` is the annotation, None where there is none."""

    element: Element
    kind: Identifier | None
    value: Node


@node
class Output(Node):
    names: tuple[Name, ...]


@node
class Expect(Node):
    value: Node
    expected: Node
    tolerance: Node


@node
class Program(Node):
    source: Source
    docstring: str
    statements: tuple[Node, ...]
