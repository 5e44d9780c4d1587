"""The graph for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from netsor.graph.model import Graph, Node
from netsor.graph.placing import lines_of
from netsor.graph.shapes import KINDS

SHAPES = {"G": "box", "H": "octagon", "C": "ellipse", "S": "hexagon", "": "box"}


def dot(graph: Graph) -> str:
    """The text of a directed graph from above to below."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield f"digraph {_quoted(graph.title)} {{"
    yield f'  label={_quoted(graph.title)} labelloc=t rankdir=TB fontname="sans-serif"'
    yield '  node [fontname="sans-serif" fontsize=11]'
    yield '  edge [fontname="monospace" fontsize=10 color="#7b8594"]'
    for number, node in enumerate(graph.nodes):
        yield f"  n{number} [{' '.join(_attributes(node))}]"
    for edge in graph.edges:
        label = f' [label={_quoted(edge.matrix)} color="#1f2937" penwidth=1.5]' if edge.matrix else ""
        yield f"  n{edge.source} -> n{edge.target}{label}"
    yield "}"


def _attributes(node: Node) -> Iterator[str]:
    look = KINDS[node.kind]
    kind = f"  {node.kind}" if node.kind else ""
    lines = "\n".join([node.name + kind, *lines_of(node)])
    yield f"label={_quoted(lines)}"
    yield f"shape={'parallelogram' if node.given else SHAPES[node.kind]}"
    styles = ["filled", *(["rounded"] if node.kind == "G" and not node.given else []),
              *(["dashed"] if node.hidden or not node.kind else [])]
    yield f'style="{",".join(styles)}" fillcolor="{look.fill}" color="{look.line}"'
    yield f"tooltip={_quoted(node.formula or node.name)}"
    if node.output:
        yield "peripheries=2"


def _quoted(text: str) -> str:
    """A string of the DOT language; line breaks become its own."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
