"""The graph as a Mermaid flowchart, which Markdown pages of many hosts draw."""

from __future__ import annotations

import json
from collections.abc import Iterator

from netsor.graph.model import Graph, Node
from netsor.graph.placing import lines_of
from netsor.graph.shapes import KINDS

INPUT, VECTOR, GAUSSIAN, NUMBER, RANDOM = ("[/", "/]"), ("[", "]"), ("(", ")"), ("([", "])"), ("{{", "}}")
SHAPES = {"G": GAUSSIAN, "H": VECTOR, "C": NUMBER, "S": RANDOM, "": VECTOR}
CLASSES = {"G": "gaussian", "H": "vector", "C": "number", "S": "random", "": "folded"}


def mermaid(graph: Graph) -> str:
    """The text of a flowchart from above to below."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield from ("---", f"title: {json.dumps(graph.title, ensure_ascii=False)}", "---", "flowchart TD")
    for number, node in enumerate(graph.nodes):
        left, right = INPUT if node.given else SHAPES[node.kind]
        yield f"  n{number}{left}{_label(node)}{right}:::{CLASSES[node.kind]}"
    for edge in graph.edges:
        matrix = f'|"{_escaped(edge.matrix)}"|' if edge.matrix else ""
        yield f"  n{edge.source} {'==>' if edge.matrix else '-->'}{matrix} n{edge.target}"
    for kind, name in CLASSES.items():
        if any(node.kind == kind for node in graph.nodes):
            look = KINDS[kind]
            yield f"  classDef {name} fill:{look.fill},stroke:{look.line},color:#1f2937"
    for style, which in (("stroke-width:4px", "output"), ("stroke-dasharray:5 3", "hidden")):
        numbers = [f"n{number}" for number, node in enumerate(graph.nodes) if getattr(node, which)]
        if numbers:
            yield f"  classDef {which} {style}"
            yield f"  class {','.join(numbers)} {which}"


def _label(node: Node) -> str:
    name = _escaped(node.name) if node.hidden else f"<b>{_escaped(node.name)}</b>"
    kind = f" {node.kind}" if node.kind else ""
    return '"' + "<br/>".join([name + kind, *map(_escaped, lines_of(node))]) + '"'


def _escaped(text: str) -> str:
    """Everything that Mermaid, its Markdown or its HTML could read as more than text, as its entity codes."""
    return "".join(char if char.isalnum() or char in " .,=+-/()[]@∞…·^'" else f"#{ord(char)};" for char in text)
