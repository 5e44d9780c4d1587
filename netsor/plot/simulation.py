"""The figure of draws at one width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.density import REACH, draw_histogram, finish, gaussian_density
from netsor.plot.elements import element_name, index_names, subscripts
from netsor.plot.kernel import MOST_CELLS, draw_kernel
from netsor.plot.style import BLUE, GAUSSIAN, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netsor.compare.simulation import Simulation

MOST_OUTPUTS = 8


def simulation_figure(simulation: Simulation) -> Figure:
    """For every output (the first MOST_OUTPUTS) a histogram of its first element, the Gaussian of the same mean and variance, and
    the covariance between elements."""
    indices = {output.name: output.axes for output in simulation.program.outputs}
    names = list(simulation)[:MOST_OUTPUTS]
    figure, rows = new_figure(len(names), 3)
    for (linear, logarithmic, matrix), name in zip(rows, names):
        own, axes = simulation[name], indices[name]
        vector = own.draws.ndim == 2 + len(axes)
        place = (0,) * len(axes)
        draws = own.draws[(slice(None), *place)].ravel()
        text = element_name(name, axes, place)
        mean, deviation = float(own.mean.value[place]), float(np.sqrt(own.var.value[place]))
        draw_draws(linear, logarithmic, draws, mean, deviation, f"one coordinate of {text}" if vector else text)
        count = own.var.value.size
        if own.cov is not None and 1 < count <= MOST_CELLS:
            draw_kernel(matrix, own.cov.value.reshape(count, count), subscripts(axes), f"covariance of {name}", index_names(axes))
        else:
            matrix.set_axis_off()
    figure.suptitle(f"{simulation.program.name} at n = {simulation.width:,}, {simulation.runs:,} runs", fontsize=11)
    return figure


def draw_draws(linear, logarithmic, draws: np.ndarray, mean: float, deviation: float, name: str) -> None:
    """A histogram and its Gaussian; a line for draws that are all alike."""
    if not deviation > 0:
        linear.axvline(mean, color=BLUE)
        linear.set_title(f"constant: {mean:.6g}")
        linear.set_xlabel(name)
        logarithmic.set_axis_off()
        return
    x = mean + deviation * np.linspace(-REACH, REACH, 161)
    density = gaussian_density(x, mean, deviation)
    top = float(density.max())
    for axes in (linear, logarithmic):
        top = max(top, draw_histogram(axes, draws, mean, deviation, f"{len(draws):,} draws", BLUE))
        axes.plot(x, density, color=GAUSSIAN, linestyle=(0, (4, 2)), linewidth=1.3, label="Gaussian of the same variance")
    finish(linear, logarithmic, name, x, top)
