"""The graph as a picture: an SVG document that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from netsor.graph.legend import legend
from netsor.graph.model import Graph, Node
from netsor.graph.placing import KIND, LINE, MONOSPACED, NAME, RING, SMALL, Box, Placed, lines_of, placed, text_width
from netsor.graph.shapes import KINDS, outline, rounded

MARGIN = 28.0
NARROWEST = 560.0
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
INK, GREY, EDGE = "#1f2937", "#5b6472", "#7b8594"


def svg(graph: Graph) -> str:
    """The drawing, with title and legend."""
    drawn = placed(graph)
    width = max(drawn.width, NARROWEST)
    head = list(_head(graph, width))
    top = MARGIN + 26 + 17 * (len(head) - 1) + 14
    foot, foot_height = legend(graph, width, drawn.height + 30)
    height = top + drawn.height + 30 + foot_height + MARGIN
    left = MARGIN + (width - drawn.width) / 2
    full = width + 2 * MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full:.0f}" height="{height:.0f}" viewBox="0 0 {full:.0f} {height:.0f}" '
        f'role="img" font-family="{escape(SANS)}" font-size="{SMALL:g}" fill="{INK}">',
        f"<title>{escape(graph.title)}</title>",
        "<defs>" + _arrow("arrow", EDGE) + _arrow("product", INK) + "</defs>",
        f'<rect width="{full:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        *head,
        f'<g transform="translate({left:.1f} {top:.1f})">',
        *_edges(graph, drawn),
        *(_node(node, box) for node, box in zip(graph.nodes, drawn.boxes)),
        "</g>",
        f'<g transform="translate({MARGIN:.1f} {top:.1f})">',
        *foot,
        "</g>",
        "</svg>",
        "",
    ])


def _head(graph: Graph, width: float) -> Iterator[str]:
    yield (f'<text x="{MARGIN}" y="{MARGIN + 14}" font-size="19" font-weight="600">'
           f"{escape(_cut(graph.title, width / 19))}</text>")
    for k, line in enumerate(filter(None, graph.subtitle.split("\n"))):
        yield (f'<text x="{MARGIN}" y="{MARGIN + 36 + 17 * k}" font-size="12" fill="{GREY}">'
               f"{escape(_cut(line, width / 12))}</text>")


def _cut(line: str, ems: float) -> str:
    letters = int(ems / 0.5)
    return line if len(line) <= letters else line[: letters - 1] + "…"


def _arrow(name: str, colour: str) -> str:
    return (f'<marker id="{name}" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 .6L8 4L0 7.4z" fill="{colour}"/></marker>')


def _edges(graph: Graph, drawn: Placed) -> Iterator[str]:
    for edge, way in zip(graph.edges, drawn.ways):
        look = ("product", INK, 1.5) if edge.matrix else ("arrow", EDGE, 1.2)
        yield (f'<path d="{way}" fill="none" stroke="{look[1]}" stroke-width="{look[2]}" marker-end="url(#{look[0]})"/>')
    for number, box in drawn.labels.items():
        yield matrix_label(graph.edges[number].matrix, box)


def matrix_label(name: str, box: Box) -> str:
    """A matrix on its edge: light on dark."""
    return (f'<g><path d="{rounded(box.x, box.y, box.width, box.height, 5)}" fill="{INK}"/>'
            f'<text x="{box.middle:.1f}" y="{box.y + 12.8:.1f}" text-anchor="middle" font-family="{escape(MONO)}" fill="#ffffff">'
            f"{escape(name)}</text></g>")


def _node(node: Node, box: Box) -> str:
    look = KINDS[node.kind]
    dashed = ' stroke-dasharray="5 3"' if node.hidden or not node.kind else ""
    y = box.y + 19.5
    name_width = text_width(node.name, NAME, MONOSPACED)
    kind_width = KIND if node.kind else 0
    start = box.middle - (name_width + kind_width) / 2
    weight = "400" if node.hidden else "600"
    return "".join([
        f"<g><title>{escape(_tooltip(node))}</title>",
        _ring(node, box) if node.output else "",
        f'<path d="{outline(node, box.x, box.y, box.width, box.height)}" fill="{look.fill}" stroke="{look.line}" '
        f'stroke-width="1.4"{dashed}/>',
        f'<text x="{start:.1f}" y="{y:.1f}" font-family="{escape(MONO)}" font-size="{NAME:g}" font-weight="{weight}" '
        f'textLength="{name_width:.1f}" lengthAdjust="spacingAndGlyphs">{escape(node.name)}</text>',
        f'<text x="{start + name_width + kind_width:.1f}" y="{y:.1f}" text-anchor="end" font-weight="700" fill="{look.line}">'
        f"{node.kind}</text>" if node.kind else "",
        *(f'<text x="{box.middle:.1f}" y="{y + LINE * (k + 1):.1f}" text-anchor="middle" fill="{GREY}">{escape(line)}</text>'
          for k, line in enumerate(lines_of(node))),
        "</g>",
    ])


def _ring(node: Node, box: Box) -> str:
    return (f'<path d="{outline(node, box.x - RING, box.y - RING, box.width + 2 * RING, box.height + 2 * RING)}" fill="#ffffff" '
            f'stroke="{KINDS[node.kind].line}" stroke-width="1.4"/>')


def _tooltip(node: Node) -> str:
    parts = [f"{node.name} = {node.formula}" if node.formula and not node.hidden else node.formula or node.name]
    parts += [KINDS[node.kind].word] if node.kind else []
    return "; ".join([*parts, *(["output"] if node.output else [])])

