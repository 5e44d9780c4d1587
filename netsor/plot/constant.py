"""Outputs that are numbers in the limit: their values, as a matrix where the program writes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.convergence import remark
from netsor.plot.density import view
from netsor.plot.elements import subscripts
from netsor.plot.histogram import draw_histogram
from netsor.plot.kernel import MOST_NAMES, draw_kernel
from netsor.plot.style import LIMIT, TITLE, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.limit.outputs.base import Variable

ROUNDING = 1e-12  # of the limit: deviations that are no fluctuation


def draw_constant(values: Axes, matrix: Axes, variable: Variable) -> None:
    """Values over elements, and a heat map of those that have two indices of one length."""
    numbers = variable.mean.value.ravel()
    values.plot(np.arange(len(numbers)), numbers, "o", color=LIMIT, markersize=4)
    names = subscripts(variable.indices)
    step = -(-len(names) // MOST_NAMES)
    values.set_xticks(range(0, len(names), step), names[::step], rotation=90 if sum(map(len, names[::step])) > 24 else 0)
    values.set_xlim(-0.5, len(numbers) - 0.5)
    values.set_title("the same in every run", fontsize=TITLE)
    values.set_xlabel(", ".join(axis.name for axis in variable.indices if "." not in axis.name) or variable.name)
    values.set_ylabel(f"value of {variable.name}")
    if not draw_matrix(matrix, variable):
        matrix.set_axis_off()


def draw_matrix(axes: Axes, variable: Variable) -> bool:
    """A heat map of values with two indices of one length; returns whether it is one."""
    square = len(variable.shape) == 2 and variable.shape[0] == variable.shape[1] > 1
    if square:
        rows, columns = variable.indices
        draw_kernel(axes, variable.mean.value, subscripts([rows]), f"values of {variable.name}", rows.name)
        axes.set_xlabel(columns.name)
    return square


def draw_finite_constant(axes: Axes, value: float, finite: Mapping[str, np.ndarray], name: str) -> None:
    """Histograms of draws at finite width about the number that they tend to; the picture shows REACH standard deviations of the
    widest at most."""
    known = [inside for draws in finite.values() if len(inside := draws[np.isfinite(draws)])]
    deviation = max((float(np.sqrt(np.mean((draws - value) ** 2))) for draws in known), default=0.0)
    axes.set_title(f"the limit is {value:.5g}", fontsize=TITLE)
    axes.set_xlabel(name)
    if deviation <= ROUNDING * abs(value):
        remark(axes, "no difference beyond rounding" if known else "not finite at these widths")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axvline(value, color=LIMIT, linewidth=1.6, label="limit", zorder=3)
    low, high = view((min(map(np.min, known)), max(map(np.max, known))), value, deviation, {})
    low, high = min(low, value), max(high, value)
    top = max(draw_histogram(axes, draws, low, high, text, series_colour(k)) for k, (text, draws) in enumerate(finite.items()))
    lowest = min(float(each.get_data().values.min()) for each in axes.patches)
    axes.set_xlim(low, high)
    axes.set_yscale("log")
    axes.set_ylim(0.5 * lowest, 3 * top)
    axes.set_ylabel("density (integral 1), log scale")
