"""How finite width approaches the limit: differences against n on two logarithmic scales, their errors, and the fitted bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.style import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.compare.result import StatisticResult

MEASURED = "difference at width n, one standard error"


def draw_statistic(axes: Axes, result: StatisticResult) -> None:
    """One statistic of one element over the widths: |finite - limit| with standard errors, the fit's prediction, and the
    smallest difference that would have been detected."""
    widths = [at.width for at in result.widths]
    differences = np.array([abs(at.difference) for at in result.widths])
    errors = np.array([float(at.stderr) for at in result.widths])
    distance = result.limit is None  # a distance between distribution functions has a null law, no standard error
    draw_differences(axes, widths, differences, None if distance else errors, label=MEASURED)
    detectable = [at.smallest_detectable for at in result.widths]
    axes.plot(widths, detectable, ":", color=GREY, linewidth=1.3, label="smallest difference that would be detected")
    if known := [each for each in detectable if math.isfinite(each)]:
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.3 * max(known)))
    predicted = [at.predicted for at in result.widths]
    if result.limit is not None and all(value is not None for value in predicted):
        bias = np.abs(np.array(predicted) - result.limit)
        axes.plot(widths, bias, "--", color=VERMILION, linewidth=1.2, label="bias that the fit predicts")
    axes.set_title(title(result), fontsize=9.5)
    axes.set_xlabel("width n")
    axes.set_ylabel("distance to the limit's cdf" if distance else "|finite n − limit|")


def title(result: StatisticResult) -> str:
    """What it is, and the rate of decay where one was seen."""
    rate = f", $\\sim n^{{{-result.rate[0]:.2f}\\pm{result.rate[1]:.2f}}}$" if result.rate else ""
    return f"{result.statistic}{rate}\n{result.element}"


def draw_differences(axes: Axes, widths: Sequence[int], values: np.ndarray, errors: np.ndarray | None, label: str | None = None) -> None:
    """Positive numbers against n; error bars that would reach zero end at the bottom of the picture."""
    positive = np.where(values > 0, values, np.nan)
    bars = None
    if errors is not None:
        bars = np.stack([np.minimum(errors, 0.999 * values), errors])
        floor = np.maximum(values - errors, 0)
    else:
        floor = values
    axes.errorbar(widths, positive, bars, fmt="o", color=BLUE, markersize=4.5, elinewidth=1, capsize=2.5, label=label)
    width_axis(axes, widths)
    axes.set_yscale("log")
    reached = np.concatenate([values, floor])
    reached = reached[(reached > 0) & np.isfinite(reached)]
    if len(reached):
        axes.set_ylim(bottom=0.5 * max(np.min(reached), 1e-2 * np.max(reached)))
        return
    axes.set_ylim(0.1, 1)  # a logarithmic scale needs some numbers
    what = "no difference" if np.isfinite(values).any() else "not finite"
    axes.text(0.5, 0.5, f"{what} at these widths", ha="center", va="center", color=GREY, transform=axes.transAxes)


def width_axis(axes: Axes, widths: Sequence[int]) -> None:
    """A logarithmic scale with the widths themselves for ticks."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.set_xticks(list(widths), [f"{width:,}" for width in widths], rotation=45 if len(widths) > 6 else 0)
    axes.xaxis.set_minor_locator(NullLocator())
