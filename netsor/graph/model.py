"""What is drawn: one node for each family, one edge for each use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from netsor.graph.fold import folded, in_order
from netsor.ir.expressions import Call, Coord, Expr, Index, Num, Reduce, ScalarRef, Softmax, Where
from netsor.ir.facts import parts, uses
from netsor.ir.program import (
    Custom, Family, Given, Iid, MatMul, Moment, Nonlin, Program, RandomScalar, ScalarFunction, Score,
)
from netsor.ir.rewrite import walk
from netsor.ir.text import text as _text

NAME_LENGTH = 32  # characters of a node's name; the whole formula is in its tooltip
LAW_LENGTH = 22
FORMULA_LENGTH = 400
_TWICE = re.compile(r"\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)")  # brackets around brackets
INPUTS = (Given, Iid, RandomScalar)


@dataclass(frozen=True)
class Node:
    """A family, or several that are folded into one (kind "").

    ``kind`` is G, H, C or S; ``what`` the rule that makes it; ``axes`` the index sets; ``formula`` the definition; ``hidden`` marks
    what the program does not name."""

    name: str
    kind: str
    what: str = ""
    axes: str = ""
    formula: str = ""
    given: bool = False
    hidden: bool = False
    output: bool = False


@dataclass(frozen=True)
class Edge:
    """The node number ``target`` uses ``source``; ``matrix`` is what multiplies it on the way."""

    source: int
    target: int
    matrix: str = ""


@dataclass(frozen=True)
class Graph:
    """Nodes in the order of the program, edges from earlier ones to later ones."""

    title: str
    subtitle: str = ""
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def graph_of(program: Program, *, fold: bool = True) -> Graph:
    """The graph of a checked program.

    :param fold: draw the middle of a long loop, whose passes are alike, as one node."""
    families = program.families
    number = {family: k for k, family in enumerate(families)}
    outputs = {part.reference.family for output in program.outputs for part in output.parts}
    names = _Names()
    nodes = [_node(family, family in outputs, names) for family in families]
    edges = [_edge(number[source], k, family) for k, family in enumerate(families) for source in uses(family)]
    title = program.docstring.strip().split("\n")[0].strip()
    settings = ", ".join(f"{name} = {_setting(value)}" for name, value in program.parameters.items())
    graph = Graph(program.name, f"{title}\n{settings}".strip(), nodes, edges)
    return _fold(graph, families) if fold else graph


def _fold(graph: Graph, families: list[Family]) -> Graph:
    """The graph with the passes in the middle of a loop as one node."""
    group = folded(families, {(edge.source, edge.target) for edge in graph.edges})
    if group is None:
        return graph
    folded_node = Node(f"⋮ {group.low}..{group.high}", "", f"{group.high - group.low + 1} passes of a loop, alike",
                       formula=_short(", ".join(families[k].label for k in group.members), FORMULA_LENGTH))
    inside = set(group.members)
    node_of = [group.members[0] if k in inside else k for k in range(len(families))]
    edges = {Edge(node_of[edge.source], node_of[edge.target], "" if edge.target in inside else edge.matrix): None
             for edge in graph.edges if not (edge.source in inside and edge.target in inside)}
    order = in_order({k: folded_node if k in inside else graph.nodes[k] for k in node_of}, edges)
    place = {k: position for position, k in enumerate(order)}
    nodes = [folded_node if k in inside else graph.nodes[k] for k in order]
    return replace(graph, nodes=nodes, edges=[Edge(place[e.source], place[e.target], e.matrix) for e in edges])


def text(expr: Expr) -> str:
    """As the language writes it; a second copy of an index is told by a prime, whatever its number."""
    return re.sub(r"'\d+", "'", _text(expr))


class _Names:
    """Families as a reader would call them: those without a name by their formula."""

    def __init__(self) -> None:
        self.known: dict[Family, str] = {}

    def __call__(self, family: Family) -> str:
        if family not in self.known:
            self.known[family] = _short(self.formula(family), NAME_LENGTH) if family.hidden else family.label
        return self.known[family]

    def formula(self, family: Family) -> str:
        """The definition; what has no name in it is written out."""
        match family.definition:
            case Given(mean=mean, covariance=covariance) | RandomScalar(mean=mean, covariance=covariance):
                return f"N({text(mean)}, {text(covariance)})"
            case Iid(law=law):
                return f"{law.name}({', '.join(map(text, law.parameters))})"
            case MatMul(argument=argument) as product:
                return f"{matrix_name(product)} @ {self.reference(argument)}"
            case Score(left=left, right=right):
                return f"dot({self.reference(left)}, {self.reference(right)}) / sqrt({left.family.width or 'n'})"
            case Moment(body=body):
                return f"avg({self.expression(body)})"
            case Nonlin(body=body) | ScalarFunction(body=body):
                return self.expression(body)
            case Custom(rule=rule, arguments=arguments, constants=constants):
                return f"{rule.name}({', '.join([*map(self.reference, arguments), *map(text, constants)])})"
        return " ".join(family.span.text.split()) if family.span else type(family.definition).__name__

    def reference(self, reference: Coord | ScalarRef) -> str:
        if not reference.family.hidden:
            return text(reference)
        body = getattr(reference.family.definition, "body", None)
        bare = not isinstance(reference.family.definition, (Nonlin, ScalarFunction)) or isinstance(body, Call)
        return self(reference.family) if bare else f"({self(reference.family)})"

    def expression(self, body: Expr) -> str:
        """The text of an expression, the elements of hidden families replaced by their names."""
        shown = text(body)
        hidden = [part for part in walk(body) if isinstance(part, (Coord, ScalarRef)) and part.family.hidden]
        for part in sorted(hidden, key=lambda part: -len(text(part))):
            shown = shown.replace(text(part), f"({self(part.family)})")
        shown = _TWICE.sub(r"(\1)", shown.replace(" + (-1) * ", " - "))
        return _short(shown, FORMULA_LENGTH)


def matrix_name(product: MatMul) -> str:
    """``W[1,a]`` or ``W[1,a].T``, as in the product."""
    matrix = product.matrix
    shown = [*map(str, matrix.constants), *map(text, product.matrix_subscripts)]
    transposed = ".T" if product.transposed else ""
    return (f"{matrix.name}[{','.join(shown)}]" if shown else matrix.name) + transposed


def _node(family: Family, output: bool, names: _Names) -> Node:
    return Node(names(family), family.kind, _rule(family, names), ", ".join(map(_range, family.axes)), names.formula(family),
                isinstance(family.definition, INPUTS), family.hidden, output)


def _edge(source: int, target: int, family: Family) -> Edge:
    product = family.definition
    return Edge(source, target, matrix_name(product) if isinstance(product, MatMul) else "")


def _range(axis: Index) -> str:
    return f"{axis.name} = {axis.range.lo}..{'∞' if axis.range.infinite else axis.range.hi}"


def _rule(family: Family, names: _Names) -> str:
    definition = family.definition
    match definition:
        case Given(mean=mean, covariance=Num(value=0)):
            return f"input Const({_short(text(mean), LAW_LENGTH)})"
        case Given() | Iid() | RandomScalar():
            return f"input {_short(names.formula(family), LAW_LENGTH)}"
        case MatMul():
            return "MatMul"
        case Score():
            return "Score"
        case Moment():
            return "Moment"
        case Custom(rule=rule):
            return rule.name
    body = getattr(definition, "body", None)
    if isinstance(body, (Coord, ScalarRef)):
        return f"= {names.reference(body)}"
    called = list(dict.fromkeys(name for expr in parts(family) for name in _functions(expr)))
    if called:
        return _short(", ".join(called), NAME_LENGTH)
    if isinstance(definition, ScalarFunction):
        return "function of scalars"
    return "linear combination" if family.kind == "G" else "coordinatewise"


def _functions(expr: Expr) -> Iterator[str]:
    for part in walk(expr):
        if isinstance(part, Call):
            yield part.function
        elif isinstance(part, Where):
            yield "where"
        elif isinstance(part, Softmax):
            yield f"softmax over {part.index.name}"
        elif isinstance(part, Reduce):
            yield f"{part.op} over {', '.join(index.name for index in part.indices)}"


def _setting(value: object) -> str:
    return "∞" if value == float("inf") else "free" if value is None else str(value)


def _short(shown: str, length: int) -> str:
    return shown if len(shown) <= length else shown[: length - 1] + "…"
