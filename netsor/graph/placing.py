"""The places of everything in the picture: boxes of nodes, labels of matrices, ways of edges."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from netsor.graph.coordinates import centres
from netsor.graph.layers import Layers, layers
from netsor.graph.model import Graph, Node

NAME, SMALL = 13.0, 11.0  # sizes of letters
MONOSPACED, SANS_SERIF = 0.602, 0.58  # width of a letter in units of its size; of sans serif an upper estimate
LINE = 15.0  # height of a line of text
PADDING = 15.0  # beside the text of a node
KIND = 16.0  # room for the letter of the kind
BETWEEN = 26.0  # nodes of a row
JOINT = 8.0  # width of a joint
LABEL_HEIGHT, ABOVE_NODE = 18.0, 12.0  # the label of a matrix, and the arrow from it to its node
RING = 4.0  # the second line around outputs


@dataclass
class Box:
    """A node or label: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    def apart(self, other: Box) -> bool:
        """Whether the two have no point in common."""
        return (self.x + self.width <= other.x or other.x + other.width <= self.x
                or self.y + self.height <= other.y or other.y + other.height <= self.y)


@dataclass
class Placed:
    """``boxes[k]`` is node k's; ``labels`` are those of edges with a matrix; ``ways`` are SVG paths, one for each edge."""

    boxes: list[Box]
    labels: dict[int, Box]
    ways: list[str]
    width: float
    height: float


def text_width(text: str, size: float, letter: float = SANS_SERIF) -> float:
    """About how wide a text is; wide characters count twice."""
    return letter * size * sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def label_width(matrix: str) -> float:
    """How wide the label of a matrix is."""
    return text_width(matrix, SMALL, MONOSPACED) + 16


def lines_of(node: Node) -> list[str]:
    """The small lines of text below a node's name."""
    return [line for line in (node.what, node.axes) if line]


def placed(graph: Graph) -> Placed:
    """Rows from above to below, nothing on top of anything else."""
    found = layers(graph)
    label_of = {edge.target: edge.matrix for edge in graph.edges if edge.matrix}
    sizes = [_size(node, label_of.get(k, "")) for k, node in enumerate(graph.nodes)]
    widths = [width for width, _ in sizes] + [JOINT] * (len(found.row_of) - len(sizes))
    x = centres(found, widths, len(sizes), BETWEEN)
    tops, bottoms, heads = _rows(found, sizes, label_of, x)
    boxes = [Box(x[k] - width / 2, tops[found.row_of[k]] + heads[found.row_of[k]], width, height)
             for k, (width, height) in enumerate(sizes)]
    labels = {}
    for number, edge in enumerate(graph.edges):
        if edge.matrix:
            box = boxes[edge.target]
            width = label_width(edge.matrix)
            labels[number] = Box(box.middle - width / 2, box.y - ABOVE_NODE - LABEL_HEIGHT, width, LABEL_HEIGHT)
    right = max((x[item] + width / 2 for item, width in enumerate(widths)), default=0.0)
    ways = _ways(graph, found, boxes, x, tops, bottoms)
    return Placed(boxes, labels, ways, right, bottoms[-1] if bottoms else 0.0)


def _size(node: Node, label: str) -> tuple[float, float]:
    texts = [text_width(node.name, NAME, MONOSPACED) + KIND, *(text_width(line, SMALL) for line in lines_of(node))]
    width = max(max(texts) + 2 * PADDING, label_width(label) if label else 0, 84)
    return round(width), LINE * (1 + len(lines_of(node))) + 15


def _rows(found: Layers, sizes, label_of, x) -> tuple[list[float], list[float], list[float]]:
    """Top and bottom of each row, and the room for labels above its nodes; the wider an edge swings, the more room it has."""
    swing = [0.0] * len(found.rows)
    for upper, lower in found.links():
        row = found.row_of[upper]
        swing[row] = max(swing[row], abs(x[upper] - x[lower]))
    tops, bottoms, heads, y = [], [], [], 0.0
    for r, row in enumerate(found.rows):
        nodes = [item for item in row if item < len(sizes)]
        heads.append(LABEL_HEIGHT + ABOVE_NODE if any(item in label_of for item in nodes) else ABOVE_NODE / 2)
        tops.append(y)
        bottoms.append(y + heads[r] + max((sizes[item][1] + RING for item in nodes), default=0.0))
        y = bottoms[r] + min(110.0, 30.0 + 0.07 * swing[r])
    return tops, bottoms, heads


def _ways(graph: Graph, found: Layers, boxes: list[Box], x: list[float], tops: list[float], bottoms: list[float]) -> list[str]:
    leaves = _ports(found, boxes, x, first=True)
    enters = _ports(found, boxes, x, first=False)
    ways = []
    for number, (edge, path) in enumerate(zip(graph.edges, found.paths)):
        source, target = boxes[edge.source], boxes[edge.target]
        at = leaves[number]
        start = source.y + source.height + RING * graph.nodes[edge.source].output
        way = [f"M{at:.1f} {start:.1f}V{bottoms[found.row_of[edge.source]]:.1f}"]
        for item in path[1:]:
            row = found.row_of[item]
            to = enters[number] if item == edge.target else x[item]
            middle = (bottoms[row - 1] + tops[row]) / 2
            way.append(f"C{at:.1f} {middle:.1f} {to:.1f} {middle:.1f} {to:.1f} {tops[row]:.1f}")
            end = target.y - RING * graph.nodes[edge.target].output if item == edge.target else bottoms[row]
            way.append(f"V{end:.1f}")
            at = to
        ways.append("".join(way))
    return ways


def _ports(found: Layers, boxes: list[Box], x: list[float], first: bool) -> dict[int, float]:
    """Where each edge leaves its source, or enters its target: side by side in the order of where they come from."""
    at_node: dict[int, list[tuple[float, int]]] = {}
    for number, path in enumerate(found.paths):
        own, other = (path[0], path[1]) if first else (path[-1], path[-2])
        at_node.setdefault(own, []).append((x[other], number))
    found_ports = {}
    for node, edges in at_node.items():
        box, count = boxes[node], len(edges)
        step = min(18.0, (box.width - 44) / max(count - 1, 1))
        for k, (_, number) in enumerate(sorted(edges)):
            found_ports[number] = box.middle + (k - (count - 1) / 2) * step
    return found_ports
