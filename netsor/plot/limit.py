"""The figure of a limit: one row an output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.constant import draw_constant
from netsor.plot.density import draw_law
from netsor.plot.elements import element_name, first_random, index_names, subscripts
from netsor.plot.kernel import MOST_CELLS, draw_kernel
from netsor.plot.style import GREY, PANEL, headline, new_figure, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netsor.limit.outputs.base import Variable
    from netsor.limit.result import LimitResult

MOST_OUTPUTS = 8


def limit_figure(limit: LimitResult, *, outputs: list[str] | None = None,
                 finite: Mapping[int, Mapping[str, np.ndarray]] | None = None) -> Figure:
    """For every output the law of its first element that is random, and the covariance between elements.

    :param outputs: names of those to draw; all by default, the first MOST_OUTPUTS of them.
    :param finite: draws at finite width, ``{n: program.sample(n, runs)}``, for histograms beside the densities.
    :raises KeyError: for a name that is no output."""
    names = list(outputs if outputs is not None else limit)[:MOST_OUTPUTS]
    variables = [limit[name] for name in names]
    figure, rows = new_figure(len(names), 3)
    for (linear, logarithmic, matrix), variable in zip(rows, variables):
        if not np.any(variable.var.value > 0):
            logarithmic.set_axis_off()
            draw_constant(linear, matrix, variable)
            continue
        place = first_random(variable.var.value)
        drawn = {f"n = {width}": drawn_element(draws[variable.name], place, len(variable.shape))
                 for width, draws in (finite or {}).items()}
        text = element_name(variable.name, variable.indices, place)
        label = f"one coordinate of {text}" if is_vector(variable) else text
        draw_law(linear, logarithmic, variable[place], label, finite=drawn)
        draw_covariance(matrix, variable)
    shared_legend(figure, (panel for row in rows for panel in row), 3 * PANEL[0])
    headline(figure, title(limit, len(names)), 3 * PANEL[0])
    return figure


def title(limit: LimitResult, shown: int) -> str:
    """``attention, n → ∞, s = 4, H = 2``"""
    program = limit.program
    settings = "".join(f", {name} = {value}" for name, value in program.parameters.items())
    rest = f" (the first {shown} of {len(limit)} outputs)" if shown < len(limit) else ""
    return f"{program.name}, {program.width} → ∞{settings}{rest}"


def is_vector(variable: Variable) -> bool:
    """Whether the law is that of one coordinate of a vector."""
    return variable.kind in "GH"


def drawn_element(draws: np.ndarray, place: tuple[int, ...], axes: int) -> np.ndarray:
    """Draws of one element: coordinates of a vector count as draws of their own."""
    if draws.ndim not in (1 + axes, 2 + axes):
        raise ValueError(f"draws have the shape (runs, *axes) or (runs, *axes, coordinates), not {draws.shape}")
    return draws[(slice(None), *place)].ravel()


def draw_covariance(axes, variable: Variable) -> None:
    """The heat map of the covariance, or the reason why there is none."""
    count = variable.var.value.size
    if 1 < count <= MOST_CELLS and variable.has_cov:
        values = variable.cov.value.reshape(count, count)
        draw_kernel(axes, values, subscripts(variable.indices), f"covariance of {variable.name}", index_names(variable.indices))
        return
    axes.set_axis_off()
    value = "" if count > 1 else f"variance {float(variable.var.value.ravel()[0]):.5g}"
    axes.text(0.5, 0.5, value or f"covariance of {count:,} elements: not drawn", ha="center", va="center", color=GREY, fontsize=10)
