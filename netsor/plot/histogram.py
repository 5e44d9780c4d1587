"""Outlines of histograms that can be read on a logarithmic scale too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST_BINS, MOST_BINS = 20, 120
LEAST = 5  # draws in a bin: fewer, and its height is noise


def draw_histogram(axes: Axes, draws: np.ndarray, low: float, high: float, label: str, colour: str, **style) -> float:
    """The outline of a histogram between ``low`` and ``high``, normalised by all draws, those outside of the picture included;
    returns its height.  Nothing, and 0, where no draw is in the picture."""
    edges, counts = joined_bins(draws, low, high)
    if not len(counts):
        return 0.0
    heights = counts / (len(draws) * np.diff(edges))
    axes.stairs(heights, edges, baseline=None, color=colour, label=label, **{"linewidth": 1.1, **style})
    return float(heights.max())


def joined_bins(draws: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Edges and counts of equal bins from the first that has a draw to the last, neighbours joined until each has LEAST draws:
    a single draw far out is part of a wide, low bin and no spike.  Values that are not finite are in no bin."""
    count = int(np.clip(np.sqrt(len(draws)) / 2, FEWEST_BINS, MOST_BINS))
    edges = np.linspace(low, high, count + 1)
    counts = np.histogram(draws[np.isfinite(draws)], edges)[0]
    occupied = np.flatnonzero(counts)
    if not len(occupied):
        return edges[:0], counts[:0]
    cuts, inside = [int(occupied[0])], 0
    for k in range(occupied[0], occupied[-1] + 1):
        inside += counts[k]
        if inside >= LEAST:
            cuts.append(k + 1)
            inside = 0
    if len(cuts) > 1:
        cuts[-1] = int(occupied[-1]) + 1  # what is left over belongs to the last bin
    else:
        cuts.append(int(occupied[-1]) + 1)
    return edges[cuts], np.add.reduceat(counts[: cuts[-1]], cuts[:-1])
