"""How finite width approaches the limit: differences against n on two logarithmic scales, their errors, and the fitted bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.style import BLUE, GREY, TITLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.compare.result import Fit, StatisticResult

MEASURED = "difference at width n, one standard error"
BIAS = {1: "fitted bias b/n", 2: "fitted bias b/n + c/n²"}  # by the number of terms
DETECTABLE = "smallest difference that would be detected"
BELOW = "difference below the picture"
DEEP = 0.05  # of the smallest detectable difference: what lies below is marked at the bottom
SEEN = 3.0  # standard errors from which on, at the smallest width, a fitted bias is drawn
ROUNDING, SMALLEST = 1e-9, 1e-90  # of the limit, and as such: if differences as small are detected, there is nothing but rounding
KNOWN = 1.0  # standard errors below which its line ends


def draw_statistic(axes: Axes, result: StatisticResult) -> None:
    """One statistic of one element over the widths: |finite - limit| with standard errors, the fitted bias, and the smallest
    difference that would have been detected."""
    widths = [at.width for at in result.widths]
    differences = np.array([abs(at.difference) for at in result.widths])
    errors = np.array([float(at.stderr) for at in result.widths])
    distance = result.limit is None  # a distance between distribution functions has a null law, no standard error
    detectable = np.array([at.smallest_detectable for at in result.widths])
    if not distance and max(detectable) <= max(ROUNDING * abs(result.limit), SMALLEST):
        width_axis(axes, widths)
        axes.set_yticks([])
        axes.set_xlim(0.8 * widths[0], 1.25 * widths[-1])
        remark(axes, "no difference beyond rounding")
    else:
        draw_differences(axes, widths, differences, None if distance else errors, detectable)
        axes.plot(widths, detectable, ":", color=GREY, linewidth=1.3, label=DETECTABLE)
        bias = drawn_bias(result.fit)
        if bias is not None:
            axes.plot(result.fit.widths, bias, ".--", color=VERMILION, markersize=3, linewidth=1.2, label=BIAS[result.fit.terms])
    axes.set_title(f"{result.statistic}, {result.element}\n{rate(result)}", fontsize=TITLE)
    axes.set_xlabel("width n")
    axes.set_ylabel("distance to the limit's cdf" if distance else "|finite n − limit|")


def drawn_bias(fit: Fit | None) -> np.ndarray | None:
    """|b/n (+ c/n^2)| at the widths of a fit, NaN where it is lost in its error; None if it is so from the start, or
    the fit is not one that the verdict trusts."""
    from netsor.compare.bias import MISFIT

    if fit is None or not fit.bias or fit.p_value < MISFIT:
        return None
    bias, errors = np.abs(fit.bias), np.array(fit.bias_stderr)
    return np.where(bias > KNOWN * errors, bias, np.nan) if bias[0] > SEEN * errors[0] else None


def rate(result: StatisticResult) -> str:
    """The rate of decay where one was seen: it takes differences far beyond noise at two widths."""
    if result.rate:
        return f"$\\sim n^{{{-result.rate[0]:.2f}\\pm{result.rate[1]:.2f}}}$"
    return "rate: not resolved"


def draw_differences(axes: Axes, widths: Sequence[int], values: np.ndarray, errors: np.ndarray | None, detectable: np.ndarray) -> None:
    """Positive numbers against n; error bars that would reach zero end at the bottom of the picture, numbers below it are marked there."""
    bars = None if errors is None else np.stack([np.minimum(errors, 0.999 * values), errors])
    axes.errorbar(
        widths, np.where(values > 0, values, np.nan), bars, fmt="o", color=BLUE, markersize=4.5, elinewidth=1, capsize=2.5, label=MEASURED)
    width_axis(axes, widths)
    axes.set_yscale("log")
    known = np.concatenate([values, values + (errors if errors is not None else 0.0), detectable])
    known = known[(known > 0) & np.isfinite(known)]
    if not len(known):
        axes.set_ylim(0.1, 1)  # a logarithmic scale needs some numbers
    else:
        limits = detectable[(detectable > 0) & np.isfinite(detectable)]
        floor = DEEP * min(limits) if len(limits) else 0.0
        axes.set_ylim(0.6 * max(floor, min(known)), 1.6 * max(known))
    difference_axis(axes)
    below = np.isfinite(values) & (values < axes.get_ylim()[0])
    if below.any():
        places = np.full(below.sum(), 0.03)
        axes.plot(np.array(widths)[below], places, "v", color=BLUE, markersize=5, transform=axes.get_xaxis_transform(), label=BELOW)
    if not np.isfinite(values).any():
        remark(axes, "not finite at these widths")


def remark(axes: Axes, text: str) -> None:
    """Words in the place of numbers."""
    axes.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=axes.transAxes)


def difference_axis(axes: Axes) -> None:
    """Numbers at 1, 2 and 5 where a picture of less than two decades would have one number or a crowd of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    if high < 100 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())


def width_axis(axes: Axes, widths: Sequence[int]) -> None:
    """A logarithmic scale with the widths themselves for ticks."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.set_xticks(list(widths), [f"{width:,}" for width in widths], rotation=45 if len(widths) > 6 else 0)
    axes.xaxis.set_minor_locator(NullLocator())
