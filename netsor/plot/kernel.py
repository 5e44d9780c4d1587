"""Kernels and covariances as heat maps with the names of their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.style import TITLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 6  # rows up to which the numbers are written into the cells
MOST_NAMES = 16
MOST_CELLS = 256  # rows beyond which a cell would be smaller than a dot


def draw_kernel(axes: Axes, values: np.ndarray, names: Sequence[str], title: str, axis_label: str) -> None:
    """A square matrix.  One scale for all: white is zero, the deepest colours are plus and minus the largest entry, so that a matrix
    looks the same with noise around its zeros and without; the bar shows the part that occurs."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    low, high = (min(float(finite.min()), 0.0), max(float(finite.max()), 0.0)) if finite.size else (0.0, 1.0)
    largest = max(-low, high) or 1.0
    image = axes.imshow(values, interpolation="nearest", cmap="PuOr", vmin=-largest, vmax=largest)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.046, pad=0.03)
    if low < high:
        bar.ax.set_ylim(low, high)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    axes.grid(False)
    axes.set_title(title, fontsize=TITLE)
    _name_rows(axes, names)
    axes.set_xlabel(axis_label)
    axes.set_ylabel(axis_label)
    if len(values) <= MOST_NUMBERS:
        digits, size = (3, 8) if len(values) <= 4 else (2, 7)
        for (row, column), value in np.ndenumerate(values):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            shown = f"{value:.{digits}g}" if abs(value) >= 1e-3 * largest else "0"
            axes.text(column, row, shown, ha="center", va="center", color="white" if dark else "black", fontsize=size)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """As many names as fit, at equal distances."""
    step = -(-len(names) // MOST_NAMES)
    places = range(0, len(names), step)
    shown = [names[place] for place in places]
    long = max(map(len, shown), default=0) * len(shown) > 24
    axes.set_xticks(places, shown, rotation=90 if long else 0)
    axes.set_yticks(places, shown)
    axes.tick_params(length=0, labelsize=8 if len(shown) > 8 else 9)
