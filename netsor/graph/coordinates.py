"""A layered layout, second half: where in its row each item stands.

Neighbours in different rows pull at each other, as close as the order and the distances in the rows allow.  Row by row the
weighted squares of their distances are made least, ordered unknowns by pooling (Ayer et al. 1955).  The pull of long edges
is that of absolute distances (by reweighting), which makes them straight but for few bends.
"""

from __future__ import annotations

from netsor.graph.layers import Layers

SWEEPS = 160
BEND = 3.0  # below this distance a long edge counts as straight
WEIGHTS = (1.0, 2.0, 8.0)  # of links between two nodes, a node and a joint, two joints (Gansner et al. 1993)


def centres(found: Layers, widths: list[float], nodes: int, gap: float) -> list[float]:
    """The horizontal centre of every item, the leftmost edge at 0.

    :param widths: of the items, of which the first ``nodes`` are nodes and the others joints; neighbours in a row are at least ``gap`` apart."""
    x = [0.0] * len(widths)
    for row in found.rows:
        position = 0.0
        for item in row:
            x[item] = position + widths[item] / 2
            position += widths[item] + gap
        for item in row:
            x[item] -= position / 2
    near: list[list[int]] = [[] for _ in widths]
    for upper, lower in found.links():
        near[upper].append(lower)
        near[lower].append(upper)
    for sweep in range(SWEEPS):
        for row in found.rows if sweep % 2 == 0 else found.rows[::-1]:
            _place(row, near, x, widths, gap, nodes, reweighted=sweep > SWEEPS // 4)
    left = min((x[item] - widths[item] / 2 for item in range(len(widths))), default=0.0)
    return [each - left for each in x]


def _place(row: list[int], near: list[list[int]], x: list[float], widths: list[float], gap: float, nodes: int,
           reweighted: bool) -> None:
    """Move the items of a row to the best places that the others leave them."""
    offsets, offset = [], 0.0
    for k, item in enumerate(row):
        if k:
            offset += (widths[row[k - 1]] + widths[item]) / 2 + gap
        offsets.append(offset)
    wanted, weights = [], []
    for item, offset in zip(row, offsets):
        total, pull = 0.0, 0.0
        for other in near[item]:
            joints = (item >= nodes) + (other >= nodes)
            weight = WEIGHTS[joints]
            if reweighted and joints:
                weight *= 2 * BEND / (abs(x[item] - x[other]) + BEND)
            total, pull = total + weight, pull + weight * x[other]
        wanted.append((pull / total if total else x[item]) - offset)
        weights.append(total or 0.1)
    for item, offset, place in zip(row, offsets, pooled(wanted, weights)):
        x[item] = place + offset


def pooled(wanted: list[float], weights: list[float]) -> list[float]:
    """The ascending numbers with the least weighted squared distance from ``wanted``."""
    blocks: list[list[float]] = []  # mean, weight, count
    for value, weight in zip(wanted, weights):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, weight, count = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * weight) / (last[1] + weight)
            last[1] += weight
            last[2] += count
    return [mean for mean, _, count in blocks for _ in range(int(count))]
