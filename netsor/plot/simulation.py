"""The figure of draws at one width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.density import POINTS, draw_gaussian, finish, view
from netsor.plot.elements import element_name, first_random, index_names, subscripts
from netsor.plot.histogram import draw_histogram
from netsor.plot.kernel import MOST_CELLS, draw_kernel
from netsor.plot.style import BLUE, PANEL, TITLE, headline, new_figure, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netsor.compare.simulation import Simulation

MOST_OUTPUTS = 8


def simulation_figure(simulation: Simulation, *, outputs: list[str] | None = None) -> Figure:
    """For every output a histogram of its first element that is random, the Gaussian of the same mean and variance, and the
    covariance between elements.  The limit is not among them: it is not computed here.

    :param outputs: names of those to draw; all by default, the first MOST_OUTPUTS of them.
    :raises KeyError: for a name that is no output."""
    indices = {output.name: output.axes for output in simulation.program.outputs}
    names = list(outputs if outputs is not None else simulation)[:MOST_OUTPUTS]
    figure, rows = new_figure(len(names), 3)
    for (linear, logarithmic, matrix), name in zip(rows, names):
        own, axes = simulation[name], indices[name]
        vector = own.draws.ndim == 2 + len(axes)
        place = first_random(own.var.value)
        draws = own.draws[(slice(None), *place)].ravel()
        text = element_name(name, axes, place)
        mean, deviation = float(own.mean.value[place]), float(np.sqrt(own.var.value[place]))
        draw_draws(linear, logarithmic, draws, mean, deviation, f"one coordinate of {text}" if vector else text)
        count = own.var.value.size
        if own.cov is not None and 1 < count <= MOST_CELLS:
            draw_kernel(matrix, own.cov.value.reshape(count, count), subscripts(axes), f"covariance of {name}", index_names(axes))
        else:
            matrix.set_axis_off()
    rest = f" (the first {len(names)} of {len(simulation)} outputs)" if len(names) < len(simulation) else ""
    shared_legend(figure, (panel for row in rows for panel in row), 3 * PANEL[0])
    headline(figure, f"{simulation.program.name} at n = {simulation.width:,}, {simulation.runs:,} runs{rest}", 3 * PANEL[0])
    return figure


def draw_draws(linear, logarithmic, draws: np.ndarray, mean: float, deviation: float, name: str) -> None:
    """A histogram and its Gaussian; a line for draws that are all alike."""
    if not deviation > 0:
        if np.isfinite(mean):
            linear.axvline(mean, color=BLUE)
        linear.set_title(f"constant: {mean:.6g}" if np.isfinite(mean) else "values that are not finite", fontsize=TITLE)
        linear.set_xlabel(name)
        logarithmic.set_axis_off()
        return
    text = f"{len(draws):,} draws"
    known = draws[np.isfinite(draws)]
    x = np.linspace(*view((known.min(), known.max()), mean, deviation, {}), POINTS)
    top = 0.0
    for axes in (linear, logarithmic):
        top = max(top, draw_histogram(axes, draws, x[0], x[-1], text, BLUE), draw_gaussian(axes, x, mean, deviation))
    finish(linear, logarithmic, name, x, top)
