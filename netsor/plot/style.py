"""What all figures share: a colour-blind-safe palette, letters that can be read, axes without clutter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe & Ito's palette (Color Universal Design, 2008)."""

LIMIT, GAUSSIAN = BLACK, VERMILION
SERIES = (SKY, ORANGE, GREEN, PURPLE, BLUE, YELLOW)
"""Colours of what is compared with the limit, in order."""

PANEL = (3.9, 3.0)  # inches
GREY = "#777777"


def new_figure(rows: int, columns: int, panel: tuple[float, float] = PANEL) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure and its axes by row and column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(panel[0] * columns, panel[1] * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for each in axes.flat:
        tidy(each)
    return figure, [list(row) for row in axes]


def tidy(axes: Axes) -> None:
    """No frame above and to the right; a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
    axes.xaxis.label.set_size(10)
    axes.yaxis.label.set_size(10)
    axes.title.set_size(10)


def legend(axes: Axes, **place) -> None:
    """A legend without a box."""
    axes.legend(frameon=False, fontsize=8.5, handlelength=1.8, labelspacing=0.35, **place)


def series_colour(number: int) -> str:
    """The colour of series 0, 1, 2, …"""
    return SERIES[number % len(SERIES)]
