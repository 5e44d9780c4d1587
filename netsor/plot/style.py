"""What all figures share: a colour-blind-safe palette, letters that can be read, axes without clutter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
"""Okabe & Ito's palette (Color Universal Design, 2008)."""

LIMIT, GAUSSIAN = BLACK, VERMILION
GREY = "#777777"
SERIES = (SKY, ORANGE, GREEN, PURPLE, BLUE, GREY)
"""Colours of what is compared with the limit, in order; yellow is too faint on white."""

PANEL = (3.9, 3.0)  # inches
TITLE = 10  # points, of a panel's title
LETTER = 0.56  # mean width of a letter in units of its size, on the safe side


def new_figure(rows: int, columns: int, panel: tuple[float, float] = PANEL) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure and its axes by row and column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(panel[0] * columns, panel[1] * rows), layout="constrained")
    return figure, new_panels(figure, rows, columns)


def new_panels(figure: FigureBase, rows: int, columns: int) -> list[list[Axes]]:
    """Empty axes by row and column in a figure or a part of one."""
    axes = figure.subplots(rows, columns, squeeze=False)
    for each in axes.flat:
        tidy(each)
    return [list(row) for row in axes]


def headline(figure: FigureBase, text: str, inches: float, size: float = 11) -> None:
    """The title of a figure (or of a part of one) that is so many inches wide, in as many lines as it needs."""
    letters = int(inches * 72 / (LETTER * size))
    figure.suptitle("\n".join(textwrap.wrap(text, max(letters, 20))), fontsize=size)


def shared_legend(figure: FigureBase, panels: Iterable[Axes], inches: float, size: float = 9) -> None:
    """One legend below a figure (or a part of one) for all of its panels, each text once, in as many columns as fit."""
    found = {text: handle for panel in panels for handle, text in zip(*panel.get_legend_handles_labels())}
    if not found:
        return
    column = (max(map(len, found)) * LETTER * size + 4 * size) / 72
    columns = max(1, min(len(found), int(inches / column)))
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=size)


def tidy(axes: Axes) -> None:
    """No frame above and to the right; a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)
    axes.xaxis.label.set_size(10)
    axes.yaxis.label.set_size(10)


def legend(axes: Axes, **place) -> None:
    """A legend without a box."""
    axes.legend(frameon=False, fontsize=8.5, handlelength=1.8, labelspacing=0.35, **place)


def series_colour(number: int) -> str:
    """The colour of series 0, 1, 2, …"""
    return SERIES[number % len(SERIES)]
