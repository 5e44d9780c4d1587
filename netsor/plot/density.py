"""Densities, linear and logarithmic side by side: tails, where a mixture differs from a Gaussian, show on the second only.

The limit's density is the law's own (conditional Gaussians averaged), never a smoothed histogram.  A law that is known through samples
shows their histogram; one with atoms its distribution function (:mod:`netsor.plot.distribution`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.histogram import draw_histogram
from netsor.plot.style import GAUSSIAN, LIMIT, TITLE, series_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.limit.laws import Law

POINTS = 201
REACH = 5.0  # standard deviations that are shown
MARGIN = 0.04  # of the picture beyond the end of a law
FAR = 1e-3  # the share of draws on either side that may lie outside of the picture, where the limit has no mass
DECADES = 6.0
MATCHED = "Gaussian of the same mean and variance"


def draw_law(linear: Axes, logarithmic: Axes, law: Law, name: str, *, finite: Mapping[str, np.ndarray] | None = None,
             gaussian: bool = True) -> None:
    """The density of ``law`` on two axes, with the Gaussian of the same mean and variance and histograms of draws.  Legends are left
    to the caller.

    :param name: of what is drawn, for the labels of the axes.
    :param finite: draws by what the legend is to call them.
    :param gaussian: whether the matched Gaussian is drawn; it never is beside a Gaussian.

    :raises ValueError: for a constant."""
    from netsor.limit.laws import Empirical, LawError
    from netsor.plot.distribution import draw_distribution, repeated

    mean, deviation = float(law.mean().value), float(law.std().value)
    if not deviation > 0:
        raise ValueError(f"{name} is a constant")
    samples = law.values.ravel() if isinstance(law, Empirical) else None
    finite = finite or {}
    gaussian = gaussian and law.kind != "gaussian"
    x = np.linspace(*view(law.support() if samples is None else (samples.min(), samples.max()), mean, deviation, finite), POINTS)
    try:
        density = None if samples is not None or law.atoms() else law.pdf(x).value
    except LawError:
        density = None
    if density is None and (samples is None or repeated(samples)):
        draw_distribution(linear, logarithmic, law, x, name, finite, gaussian)
        return
    top = 0.0
    for axes in (linear, logarithmic):
        for k, (text, draws) in enumerate(finite.items()):
            top = max(top, draw_histogram(axes, draws, x[0], x[-1], text, series_colour(k)))
        if samples is not None:
            top = max(top, draw_histogram(axes, samples, x[0], x[-1], f"limit ({len(samples):,} samples)", LIMIT, zorder=3, linewidth=1.5))
        else:
            axes.plot(x, density, color=LIMIT, linewidth=1.6, label="limit", zorder=3)
            top = max(top, float(np.max(density[np.isfinite(density)], initial=0.0)))
        if gaussian:
            top = max(top, draw_gaussian(axes, x, mean, deviation))
    finish(linear, logarithmic, name, x, top)


def view(support: tuple[float, float], mean: float, deviation: float, finite: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """REACH standard deviations to both sides, no further than where the law and the draws end."""
    low, high = support
    for draws in finite.values():
        known = draws[np.isfinite(draws)]
        if len(known):
            low, high = min(low, float(np.quantile(known, FAR))), max(high, float(np.quantile(known, 1 - FAR)))
    low, high = max(low, mean - REACH * deviation), min(high, mean + REACH * deviation)
    spare = MARGIN * (high - low)
    return max(low - spare, mean - REACH * deviation), min(high + spare, mean + REACH * deviation)


def finish(linear: Axes, logarithmic: Axes, name: str, x: np.ndarray, top: float) -> None:
    """Scales and labels of a pair of density panels in which all is drawn; ``top`` is the largest density in them."""
    linear.set_ylim(0, 1.08 * top)
    logarithmic.set_yscale("log")
    logarithmic.set_ylim(max(top * 10.0**-DECADES, 0.5 * lowest(logarithmic)), 3 * top)
    for axes, scale in ((linear, "linear scale"), (logarithmic, "log scale")):
        axes.set_xlim(x[0], x[-1])
        axes.set_xlabel(name)
        axes.set_title(scale, fontsize=TITLE)
        axes.set_ylabel("density (integral 1)")


def lowest(axes: Axes) -> float:
    """The smallest positive number that lines and histograms show; 0 if there is none."""
    numbers = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()] + [each.get_data().values for each in axes.patches]
    shown = np.concatenate([*numbers, np.empty(0)])
    return float(np.min(shown[shown > 0], initial=np.inf)) if (shown > 0).any() else 0.0


def draw_gaussian(axes: Axes, x: np.ndarray, mean: float, deviation: float) -> float:
    """The density of the matched Gaussian; returns its largest value."""
    density = gaussian_density(x, mean, deviation)
    axes.plot(x, density, color=GAUSSIAN, linestyle=(0, (4, 2)), linewidth=1.3, label=MATCHED, zorder=3.1)
    return float(density.max())


def gaussian_density(x: np.ndarray, mean: float, deviation: float) -> np.ndarray:
    """The density of N(mean, deviation^2)."""
    z = (x - mean) / deviation
    return np.exp(-0.5 * z * z) / (deviation * np.sqrt(2 * np.pi))
