"""The look of each kind: a shape and a colour, so that neither alone has to be told apart.

Colours after Okabe & Ito 2008, lightened for the areas.
"""

from __future__ import annotations

from typing import NamedTuple

from netsor.graph.model import Node


class Look(NamedTuple):
    """``line`` and ``fill`` are colours; ``word`` explains the kind in the legend."""

    line: str
    fill: str
    word: str


KINDS = {
    "G": Look("#0072b2", "#dcecf7", "vector, Gaussian given the random scalars"),
    "H": Look("#b86e00", "#fdf0d5", "vector, not Gaussian"),
    "C": Look("#007a5a", "#d9f1e8", "scalar, a number in the limit"),
    "S": Look("#a8447a", "#f8e3ee", "scalar, random in the limit"),
    "": Look("#6b7280", "#f3f4f6", "passes of a loop, alike"),
}


def outline(node: Node, x: float, y: float, width: float, height: float) -> str:
    """The SVG path of a node's shape, from its upper left corner: inputs slanted, G round at the corners, H cut, C round at
    the ends, S pointed at the ends."""
    left, right, top, bottom, middle = x, x + width, y, y + height, y + height / 2
    if node.given:
        slant = 9
        return _polygon((left + slant, top), (right, top), (right - slant, bottom), (left, bottom))
    if node.kind == "H":
        cut = 7
        return _polygon((left + cut, top), (right - cut, top), (right, top + cut), (right, bottom - cut), (right - cut, bottom),
                        (left + cut, bottom), (left, bottom - cut), (left, top + cut))
    if node.kind == "S":
        point = 12
        return _polygon((left + point, top), (right - point, top), (right, middle), (right - point, bottom),
                        (left + point, bottom), (left, middle))
    return rounded(x, y, width, height, height / 2 if node.kind == "C" else 10)


def rounded(x: float, y: float, width: float, height: float, radius: float) -> str:
    """The SVG path of a rectangle with round corners."""
    r, w, h = min(radius, width / 2, height / 2), width, height
    return (f"M{x + r:.1f} {y:.1f}h{w - 2 * r:.1f}a{r:.1f} {r:.1f} 0 0 1 {r:.1f} {r:.1f}v{h - 2 * r:.1f}"
            f"a{r:.1f} {r:.1f} 0 0 1 {-r:.1f} {r:.1f}h{2 * r - w:.1f}a{r:.1f} {r:.1f} 0 0 1 {-r:.1f} {-r:.1f}"
            f"v{2 * r - h:.1f}a{r:.1f} {r:.1f} 0 0 1 {r:.1f} {-r:.1f}z")


def _polygon(*points: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "z"
