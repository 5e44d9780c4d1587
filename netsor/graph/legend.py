"""What the shapes and colours of a drawing mean: only those that occur in it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from netsor.graph.model import Graph, Node
from netsor.graph.placing import SMALL, text_width
from netsor.graph.shapes import KINDS, outline, rounded

SAMPLE_WIDTH, SAMPLE_HEIGHT, LINE = 30.0, 16.0, 26.0
GREY = "#5b6472"


def legend(graph: Graph, width: float, y: float) -> tuple[list[str], float]:
    """The lines of SVG, from height ``y`` on, and how high they are."""
    found, x, row = [], 0.0, 0
    for sample, word in _entries(graph):
        needed = SAMPLE_WIDTH + 8 + text_width(word, SMALL) + 18
        if x and x + needed > width:
            x, row = 0.0, row + 1
        top = y + row * LINE
        found.append(f'<g transform="translate({x:.1f} {top:.1f})">{sample}<text x="{SAMPLE_WIDTH + 8}" y="12" fill="{GREY}">'
                     f"{escape(word)}</text></g>")
        x += needed
    return found, (row + 1) * LINE


def _entries(graph: Graph) -> Iterator[tuple[str, str]]:
    if any(node.given for node in graph.nodes):
        yield _sample(Node("", "G", given=True), GREY, "#f3f4f6"), "input"
    for kind, look in KINDS.items():
        if any(node.kind == kind for node in graph.nodes):
            word = f"{kind}: {look.word}" if kind else look.word
            yield _sample(Node("", kind), look.line, look.fill, dashed=not kind), word
    if any(edge.matrix for edge in graph.edges):
        yield (f'<path d="{rounded(0, 0, SAMPLE_WIDTH, SAMPLE_HEIGHT, 5)}" fill="#1f2937"/><text x="{SAMPLE_WIDTH / 2}" y="12" '
               'text-anchor="middle" fill="#ffffff">W</text>'), "product with a random matrix"
    if any(node.output for node in graph.nodes):
        yield _sample(Node("", "G"), GREY, "#ffffff") + _sample(Node("", "G"), GREY, "#ffffff", inset=3), "output"
    if any(node.hidden for node in graph.nodes):
        yield _sample(Node("", "G"), GREY, "#ffffff", dashed=True), "not named by the program"


def _sample(node: Node, line: str, fill: str, dashed: bool = False, inset: float = 0.0) -> str:
    dashes = ' stroke-dasharray="4 2.5"' if dashed else ""
    path = outline(node, inset, inset, SAMPLE_WIDTH - 2 * inset, SAMPLE_HEIGHT - 2 * inset)
    return f'<path d="{path}" fill="{fill}" stroke="{line}" stroke-width="1.2"{dashes}/>'
