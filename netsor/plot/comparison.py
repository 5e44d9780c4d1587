"""The figure of a comparison: the statistics of every output that say most, against the width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsor.plot.convergence import draw_statistic
from netsor.plot.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netsor.compare.result import Comparison, StatisticResult

STATISTICS = ("variance", "excess kurtosis", "cf real 2/sd", "distribution")
OTHERS = ("mean", "covariance", "mass", "squares")  # for outputs that have none of the above


def comparison_figure(comparison: Comparison) -> Figure:
    """One row an output.  Of elements the average is shown where there is one, else the element that differs most from the limit
    at the smallest width, in standard errors; every one of them is in the table."""
    rows = [shown(comparison, name) for name in dict.fromkeys(result.output for result in comparison.results)]
    rows = [row for row in rows if row]
    figure, axes = new_figure(max(len(rows), 1), max(map(len, rows), default=1), (3.6, 3.1))
    for row, panels in zip(rows, axes):
        for panel in panels[len(row):]:
            panel.set_axis_off()
        for panel, result in zip(panels, row):
            draw_statistic(panel, result)
    handles = {text: handle for row in axes for panel in row for handle, text in zip(*panel.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    settings = "".join(f", {name} = {value}" for name, value in comparison.parameters.items())
    figure.suptitle(f"{comparison.program}{settings}: {comparison.runs:,} runs at each width, {comparison.verdict}", fontsize=11)
    return figure


def shown(comparison: Comparison, output: str) -> list[StatisticResult]:
    """The results of one output that are drawn."""
    own = [result for result in comparison.results if result.output == output]
    chosen = [result for result in (most_telling(own, name) for name in STATISTICS) if result is not None]
    return chosen or [result for result in (most_telling(own, name) for name in OTHERS) if result is not None][: len(STATISTICS)]


def most_telling(results: list[StatisticResult], statistic: str) -> StatisticResult | None:
    """The average over elements, or the element furthest from the limit at the smallest width."""
    own = [result for result in results if result.statistic == statistic and result.widths]
    averages = [result for result in own if result.element.endswith(", average")]
    if averages:
        return averages[0]
    return max(own, key=lambda r: abs(r.widths[0].difference) / max(float(r.widths[0].stderr), 1e-300), default=None)
