"""Densities, linear and logarithmic side by side: tails, where a mixture differs from a Gaussian, show on the second only.

The limit's density is the law's own (conditional Gaussians averaged), never a smoothed histogram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.style import GAUSSIAN, LIMIT, legend, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.limit.laws import Law

POINTS = 161
REACH = 5.0  # standard deviations that are shown
DECADES = 6.0
MOST_BINS = 120


def draw_law(linear: Axes, logarithmic: Axes, law: Law, name: str, *, finite: Mapping[str, np.ndarray] | None = None,
             gaussian: bool = True) -> None:
    """The density of ``law`` on two axes, with the Gaussian of the same mean and variance and histograms of draws.

    :param name: of what is drawn, for the labels of the axes.
    :param finite: draws by what the legend is to call them.
    :param gaussian: whether the matched Gaussian is drawn; it never is beside a Gaussian.

:raises ValueError: for a constant.

    Laws without a density (atoms, laws known through samples) show the distribution function and both tails instead."""
    from netsor.limit.laws import LawError

    mean, deviation = float(law.mean().value), float(law.std().value)
    if not deviation > 0:
        raise ValueError(f"{name} is a constant")
    x = mean + deviation * np.linspace(-REACH, REACH, POINTS)
    try:
        density = law.pdf(x).value
    except LawError:
        draw_distribution(linear, logarithmic, law, x, name, finite)
        return
    top = float(density.max())
    for axes in (linear, logarithmic):
        for k, (text, draws) in enumerate((finite or {}).items()):
            top = max(top, draw_histogram(axes, draws, mean, deviation, text, series_colour(k)))
        axes.plot(x, density, color=LIMIT, linewidth=1.6, label="limit")
        if gaussian and law.kind != "gaussian":
            axes.plot(x, gaussian_density(x, mean, deviation), color=GAUSSIAN, linestyle=(0, (4, 2)), linewidth=1.3,
                      label="Gaussian of the same variance")
    finish(linear, logarithmic, name, x, top)


def finish(linear: Axes, logarithmic: Axes, name: str, x: np.ndarray, top: float) -> None:
    """Scales, labels and the legend of a pair of density panels; ``top`` is the largest density in them."""
    linear.set_ylim(0, 1.08 * top)
    logarithmic.set_yscale("log")
    logarithmic.set_ylim(top * 10.0**-DECADES, 3 * top)
    for axes, scale in ((linear, "linear scale"), (logarithmic, "log scale")):
        axes.set_xlim(x[0], x[-1])
        axes.set_xlabel(name)
        axes.set_title(scale)
    linear.set_ylabel("density (integral 1)")
    legend(logarithmic, loc="lower center")  # where a bell leaves room


def draw_histogram(axes: Axes, draws: np.ndarray, mean: float, deviation: float, label: str, colour: str) -> float:
    """The outline of a histogram, normalised by all draws, those outside of the picture included; returns its height."""
    count = int(np.clip(np.sqrt(len(draws)) / 2, 20, MOST_BINS))
    edges = mean + deviation * np.linspace(-REACH, REACH, count + 1)
    heights = np.histogram(draws, edges)[0] / (len(draws) * np.diff(edges))
    heights = np.where(heights > 0, heights, np.nan)  # an empty bin has no logarithm
    axes.stairs(heights, edges, baseline=None, color=colour, linewidth=1.1, label=label)
    return float(np.nanmax(heights, initial=0.0))


def gaussian_density(x: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    """The density of N(mean, deviation^2)."""
    z = (x - mean) / deviation
    return np.exp(-0.5 * z * z) / (deviation * np.sqrt(2 * np.pi))


def draw_distribution(left: Axes, right: Axes, law: Law, x: np.ndarray, name: str, finite=None) -> None:
    """P(X <= x), and the tails P(X <= x) and P(X > x) on a logarithmic scale."""
    x = np.unique(np.concatenate([x, [place for place, _ in law.atoms() if x[0] <= place <= x[-1]]]))
    below, above = law.cdf(x).value, law.sf(x).value
    left.step(x, below, where="post", color=LIMIT, linewidth=1.6, label="limit")
    for values, text, style in ((below, "P(X ≤ x)", "-"), (above, "P(X > x)", (0, (4, 2)))):
        right.plot(x, np.where(values > 0, values, np.nan), color=LIMIT, linestyle=style, linewidth=1.6, label=text)
    for k, (text, draws) in enumerate((finite or {}).items()):
        part = np.searchsorted(np.sort(draws), x, side="right") / len(draws)
        left.step(x, part, where="post", color=series_colour(k), linewidth=1.1, label=text)
    left.set_ylim(0, 1.02)
    right.set_yscale("log")
    right.set_ylim(10.0**-DECADES, 2)
    left.set_ylabel("P(X ≤ x)")
    right.set_ylabel("probability")
    left.set_title("distribution function")
    right.set_title("tails, log scale")
    for axes in (left, right):
        axes.set_xlim(x[0], x[-1])
        axes.set_xlabel(f"x, for X = {name}")
    if finite:
        legend(left, loc="upper left")
    legend(right, loc="lower center")
