"""A program as a graph: its families as nodes, and what uses what as edges; drawn as SVG, or written for Mermaid or Graphviz."""

from __future__ import annotations

from netsor.graph.model import Edge, Graph, Node, graph_of

__all__ = ["Edge", "Graph", "Node", "draw", "graph_of"]

FORMATS = ("svg", "mermaid", "dot")


def draw(graph: Graph, format: str) -> str:
    """The graph in one of FORMATS."""
    if format == "svg":
        from netsor.graph.svg import svg

        return svg(graph)
    if format == "mermaid":
        from netsor.graph.mermaid import mermaid

        return mermaid(graph)
    if format == "dot":
        from netsor.graph.dot import dot

        return dot(graph)
    raise ValueError(f"format is one of {', '.join(FORMATS)}, not {format!r}")
