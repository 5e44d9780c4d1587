"""A layered layout, first half: which row each node stands in, and in which order.

Rows are by the longest path from the inputs; an input stands right above its first use.  An edge over several rows has a
joint in each row between.  The order within rows is by barycentres (Sugiyama, Tagawa & Toda 1981), the best of several sweeps.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field

from netsor.graph.model import Graph
from netsor.language.diagnostics import Diagnostic, NetsorError

SWEEPS = 24
LARGEST = 10_000  # nodes and joints


@dataclass
class Layers:
    """``rows[r]`` lists items from left to right: nodes by their number, then joints; ``paths[e]`` are the items of edge e
    from its source to its target."""

    rows: list[list[int]]
    paths: list[list[int]]
    row_of: list[int] = field(default_factory=list)

    def links(self) -> list[tuple[int, int]]:
        """The pieces of edges between neighbouring rows."""
        return [link for path in self.paths for link in zip(path, path[1:])]


def layers(graph: Graph) -> Layers:
    """Rows and order of a graph's nodes; NetsorError if there are too many for a picture."""
    row_of = _rows(graph)
    joints = sum(row_of[edge.target] - row_of[edge.source] - 1 for edge in graph.edges)
    if len(row_of) + joints > LARGEST:
        raise NetsorError(Diagnostic(
            "N512", f"a picture of {len(row_of):,} nodes and {len(graph.edges):,} edges is too large to be drawn",
            hint="set fewer layers with --set; --format dot writes graphs of any size"))
    paths = []
    for edge in graph.edges:
        joints = list(range(len(row_of), len(row_of) + row_of[edge.target] - row_of[edge.source] - 1))
        row_of += [row_of[edge.source] + 1 + k for k in range(len(joints))]
        paths.append([edge.source, *joints, edge.target])
    rows: list[list[int]] = [[] for _ in range(max(row_of, default=-1) + 1)]
    for item, row in enumerate(row_of):
        rows[row].append(item)
    found = Layers(rows, paths, row_of)
    _order(found)
    return found


def _rows(graph: Graph) -> list[int]:
    rows = [0] * len(graph.nodes)
    edges = sorted(graph.edges, key=lambda edge: edge.source)
    for edge in edges:  # sources come before their targets
        rows[edge.target] = max(rows[edge.target], rows[edge.source] + 1)
    uses: dict[int, list[int]] = {}
    for edge in edges:
        uses.setdefault(edge.source, []).append(rows[edge.target])
    for source in set(uses) - {edge.target for edge in edges}:
        rows[source] = min(uses[source]) - 1
    return rows


def _order(found: Layers) -> None:
    above: dict[int, list[int]] = {item: [] for item in range(len(found.row_of))}
    below: dict[int, list[int]] = {item: [] for item in range(len(found.row_of))}
    for upper, lower in found.links():
        below[upper].append(lower)
        above[lower].append(upper)
    best, least = [list(row) for row in found.rows], _crossings(found.rows, below)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        rows = found.rows if downwards else found.rows[::-1]
        for fixed, moved in zip(rows, rows[1:]):
            place = {item: k for k, item in enumerate(fixed)}
            neighbours = above if downwards else below
            own = {item: k for k, item in enumerate(moved)}
            centre = {item: sum(place[other] for other in neighbours[item]) / len(neighbours[item]) if neighbours[item]
                      else own[item] * len(fixed) / len(moved) for item in moved}
            moved.sort(key=lambda item: (centre[item], own[item]))
        crossings = _crossings(found.rows, below)
        if crossings < least:
            best, least = [list(row) for row in found.rows], crossings
    found.rows = best


def _crossings(rows: list[list[int]], below: dict[int, list[int]]) -> int:
    """How many pairs of pieces of edges cross."""
    count = 0
    for upper, lower in zip(rows, rows[1:]):
        place = {item: k for k, item in enumerate(lower)}
        ends: list[int] = []
        for item in upper:
            targets = sorted(place[other] for other in below[item])
            count += sum(len(ends) - bisect_right(ends, target) for target in targets)
            for target in targets:
                insort(ends, target)
    return count
