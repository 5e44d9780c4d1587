"""The figure of a comparison: laws beside finite width, the kernel, and the statistics that say most against the width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.constant import draw_finite_constant, draw_matrix
from netsor.plot.convergence import draw_statistic
from netsor.plot.density import draw_law
from netsor.plot.elements import element_name
from netsor.plot.limit import draw_covariance, is_vector
from netsor.plot.style import headline, new_panels, shared_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netsor.compare.result import Comparison, StatisticResult

COLUMNS = 4
PANEL = (3.7, 3.0)  # inches
MOST_OUTPUTS = 8
OF_LAWS = ("variance", "excess kurtosis", "cf real 2/sd", "distribution", "mass", "covariance", "mean", "squares")
OF_NUMBERS = ("mean", "variance")


def comparison_figure(comparison: Comparison, *, outputs: list[str] | None = None) -> Figure:
    """For every output the law of one element in the limit with histograms at finite width, the limit's covariance, and five
    statistics or six against the width; for a number its draws about the limit, and their mean and variance against the width.

    :param outputs: names of those to draw; all by default, the first MOST_OUTPUTS of them.
    :raises KeyError: for a name that is no output.

    Of elements the average is shown where there is one, else the element that differs most from the limit at the smallest width, in
    standard errors; every one of them is in the table."""
    from matplotlib.figure import Figure

    names = list(outputs if outputs is not None else comparison.drawn)[:MOST_OUTPUTS]
    random = [np.any(comparison.limit[name].var.value > 0) for name in names]
    inches = COLUMNS * PANEL[0]
    rows = [2 if each else 1 for each in random]
    figure = Figure(figsize=(inches, sum(PANEL[1] * count + 0.6 for count in rows) + 0.4), layout="constrained")
    parts = figure.subfigures(len(names), 1, squeeze=False, height_ratios=rows)[:, 0] if names else []
    for part, name, is_random in zip(parts, names, random):
        panels = [panel for row in new_panels(part, 2 if is_random else 1, COLUMNS) for panel in row]
        used = (draw_random if is_random else draw_number)(panels, comparison, name)
        for panel in panels[used:]:
            panel.set_axis_off()
        headline(part, f"{name}: {comparison.limit[name].law}", inches, 10.5)
        shared_legend(part, panels, inches)
    settings = "".join(f", {name} = {value}" for name, value in comparison.parameters.items())
    rest = f", the first {len(names)} of {len(comparison.drawn)} outputs" if len(names) < len(comparison.drawn) else ""
    headline(figure, f"{comparison.program}{settings}: {comparison.runs:,} runs at each width, {comparison.verdict}{rest}", inches, 12)
    return figure


def draw_random(panels: list[Axes], comparison: Comparison, name: str) -> int:
    """Law, covariance, and statistics of an output that is random in the limit; returns how many panels are used."""
    variable, drawn = comparison.limit[name], comparison.drawn[name]
    text = element_name(name, variable.indices, drawn.place)
    label = f"one coordinate of {text}" if is_vector(variable) else text
    draw_law(panels[0], panels[1], variable[drawn.place], label, finite=by_width(drawn))
    used = 2
    if variable.var.value.size > 1:
        draw_covariance(panels[used], variable)
        used += 1
    return used + draw_statistics(panels[used:], comparison, name, OF_LAWS)


def draw_number(panels: list[Axes], comparison: Comparison, name: str) -> int:
    """Draws about the limit, its values where it is a matrix, and statistics of a number; returns how many panels are used."""
    variable, drawn = comparison.limit[name], comparison.drawn[name]
    text = element_name(name, variable.indices, drawn.place)
    draw_finite_constant(panels[0], float(variable.mean.value[drawn.place]), by_width(drawn), text)
    used = 1 + draw_matrix(panels[1], variable)
    return used + draw_statistics(panels[used:], comparison, name, OF_NUMBERS)


def by_width(drawn) -> dict[str, np.ndarray]:
    """Draws by the names that a legend has for them."""
    return {f"n = {width:,}": draws for width, draws in drawn.draws.items()}


def draw_statistics(panels: list[Axes], comparison: Comparison, output: str, statistics: tuple[str, ...]) -> int:
    """As many statistics of an output as there are panels for; returns how many there were."""
    own = [result for result in comparison.results if result.output == output]
    found = [result for result in (most_telling(own, name) for name in statistics) if result is not None][: len(panels)]
    for panel, result in zip(panels, found):
        draw_statistic(panel, result)
    return len(found)


def most_telling(results: list[StatisticResult], statistic: str) -> StatisticResult | None:
    """The average over elements, or the element furthest from the limit at the smallest width."""
    own = [result for result in results if result.statistic == statistic and result.widths]
    averages = [result for result in own if result.element.endswith(", average")]
    if averages:
        return averages[0]
    return max(own, key=lambda r: abs(r.widths[0].difference) / max(float(r.widths[0].stderr), 1e-300), default=None)
