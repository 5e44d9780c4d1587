"""The figures: densities on linear and logarithmic scale, and divergences with everything that they must be read against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.convergence import width_axis
from netsor.plot.density import POINTS, REACH, draw_law, finish, gaussian_density
from netsor.plot.histogram import draw_histogram
from netsor.plot.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, legend, new_figure
from netsor.reproduce.attention_paper import FigureData, Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COORDINATE = "first coordinate of y[1]"
FLOOR = "KDE: limit against limit\n(all seeds)"
MATCHED = "KDE: Gaussian of the\nsame variance"
EXACT = "no smoothing: Gaussian of\nthe same variance"
SMOOTHED = "KDE: finite n, each seed\nand mean (the paper's)"
UNSMOOTHED = "no smoothing: finite n,\nconditional densities averaged"
PANEL = (4.4, 3.4)
HEADS = (BLUE, BLACK, PURPLE)
"""Colours of numbers of heads: dark, for fine lines, and unlike VERMILION and ORANGE beside them."""


def paper_figure(data: FigureData) -> Figure:
    """One figure of the paper: its panel (a) on two scales, and (b)."""
    if data.scores is not None:
        return head_figure(data)
    if data.experiment.axis != "width n":
        return narrow_head_figure(data)
    figure, [[linear, logarithmic, divergences]] = new_figure(1, 3, PANEL)
    law = data.measured[0].reference.law
    draw_law(linear, logarithmic, law, COORDINATE, finite={own.point.label: own.draws for own in data.measured})
    linear.set_title("(a) density, linear scale")
    logarithmic.set_title("(a) density, log scale")
    legend(logarithmic, loc="lower center")  # where a bell leaves room
    draw_divergences(divergences, data)
    figure.suptitle(caption(data), fontsize=11)
    return figure


def caption(data: FigureData) -> str:
    """What was drawn, and how often."""
    own = data.experiment
    return f"{own.title}: {own.seeds} × {own.runs:,} runs of each"


# --- divergences ------------------------------------------------------------------------------------------------------


def draw_divergences(axes: Axes, data: FigureData) -> None:
    """The paper's statistic for every seed between its noise floor and what a matched Gaussian scores; the divergence without
    smoothing, which goes on falling."""
    first = data.measured[0].reference
    axes.axhspan(first.floor.min(), first.floor.max(), color=GREY, alpha=0.25, linewidth=0, label=FLOOR)
    axes.axhline(float(first.matched.mean()), color=VERMILION, linestyle="--", linewidth=1.2, label=MATCHED)
    axes.axhline(float(first.exact.value), color=VERMILION, linestyle=":", linewidth=1.4, label=EXACT)
    x = places(data)
    draw_seeds(axes, x, data)
    draw_exact(axes, x, data)
    axes.set_yscale("log")
    if data.experiment.axis == "width n":
        width_axis(axes, x)
    axes.set_xlabel(data.experiment.axis)
    axes.set_ylabel("KL(finite n, limit), nats")
    axes.set_title(f"(b) divergence{decay(data)}")
    legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))


def places(data: FigureData) -> list[int]:
    """Where the points stand on the axis."""
    return [own.point.width if data.experiment.axis == "width n" else own.point.parameters["H"] for own in data.measured]


def draw_seeds(axes: Axes, x: list[int], data: FigureData) -> None:
    """The paper's statistic: one dot a seed, and their mean."""
    values = np.stack([own.kde for own in data.measured])
    for place, each in zip(x, values):
        axes.plot([place] * len(each), each, ".", color=ORANGE, markersize=4, alpha=0.5)
    axes.plot(x, values.mean(axis=1), "s-", color=ORANGE, markersize=4.5, linewidth=1.1, label=SMOOTHED)


def draw_exact(axes: Axes, x: list[int], data: FigureData) -> None:
    """The divergence of averaged conditional densities, where it is larger than its error."""
    known = [(place, float(own.conditional.value), float(own.conditional.error)) for place, own in zip(x, data.measured)
             if own.conditional is not None and float(own.conditional.value) > 0]
    if known:
        at, value, error = map(np.array, zip(*known))
        bars = np.stack([np.minimum(error, 0.9 * value), error])  # a logarithm has no zero
        axes.errorbar(at, value, bars, fmt="o-", color=BLUE, markersize=4.5, linewidth=1.1, capsize=2.5, label=UNSMOOTHED)


def decay(data: FigureData) -> str:
    """The local rate of the last two widths."""
    values = [own.conditional for own in data.measured[-2:]]
    if data.experiment.axis != "width n" or any(v is None or float(v.value) < 5 * float(v.error) for v in values):
        return ""
    widths = [own.point.width for own in data.measured[-2:]]
    rate = np.log(float(values[0].value) / float(values[1].value)) / np.log(widths[1] / widths[0])
    return rf", $\sim n^{{-{rate:.2f}}}$ at the end"


# --- the number of heads ----------------------------------------------------------------------------------------------


def head_figure(data: FigureData) -> Figure:
    """Figure 2: scores under both scalings; few heads, many heads, and the Gaussian of infinitely many."""
    figure, [[score_axes, linear, logarithmic]] = new_figure(1, 3, PANEL)
    draw_scores(score_axes, data.scores)
    deviation = float(data.infinite_heads.std().value)
    x = REACH * deviation * np.linspace(-1, 1, POINTS)
    for axes in (linear, logarithmic):  # a broad line below, for many heads are all but infinitely many
        axes.plot(x, gaussian_density(x, 0.0, deviation), color=VERMILION, alpha=0.35, linewidth=6, label="limit, H = ∞ (Gaussian)")
    draw_heads(linear, logarithmic, data)
    legend(logarithmic, loc="lower center")
    figure.suptitle(caption(data), fontsize=11)
    return figure


def draw_scores(axes: Axes, scores: Scores) -> None:
    """p_11 with 1/sqrt(n), which has a Gaussian limit, and with 1/n, which has the limit 0."""
    x = np.linspace(-4, 4, POINTS)
    for draws, factor, colour in ((scores.root_scaled, r"1/\sqrt{n}", GREEN), (scores.full_scaled, "1/n", BLUE)):
        reach = REACH * float(np.std(draws))
        draw_histogram(axes, draws, -reach, reach, rf"n = {scores.width}, scaled by ${factor}$", colour)
    axes.plot(x, scores.law.pdf(x).value, color=BLACK, linewidth=1.3, label=r"limit for $1/\sqrt{n}$: N(0, 1)", zorder=3)
    axes.axvline(0, color=BLACK, linestyle=":", linewidth=1.3, label=r"limit for $1/n$: the number 0")
    axes.set_xlim(x[0], x[-1])
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 30)
    axes.set_xlabel("score p[1,1]")
    axes.set_ylabel("density (integral 1)")
    axes.set_title("(a) scores, log scale")
    legend(axes, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)


def draw_heads(linear: Axes, logarithmic: Axes, data: FigureData) -> None:
    """For each number of heads a histogram at finite width, faint, and the density of the limit, in one colour."""
    deviation = max(float(own.reference.law.std().value) for own in data.measured)
    x = REACH * deviation * np.linspace(-1, 1, POINTS)
    top = 0.0
    for k, own in enumerate(data.measured):
        density, colour = own.reference.law.pdf(x).value, HEADS[k % len(HEADS)]
        for axes in (linear, logarithmic):
            height = draw_histogram(axes, own.draws, x[0], x[-1], own.point.label, colour, linewidth=2.2, alpha=0.4)
            top = max(top, height, float(density.max()))
            style = {"color": colour, "linestyle": ("-", (0, (5, 2)), (0, (2, 1)))[k % 3], "linewidth": 1.4}
            axes.plot(x, density, label=f"limit, H = {own.point.parameters['H']}", zorder=3, **style)
    finish(linear, logarithmic, COORDINATE, x, top)
    part = "(b)" if data.scores is not None else "(a)"
    linear.set_title(f"{part} density, linear scale")
    logarithmic.set_title(f"{part} density, log scale")


def narrow_head_figure(data: FigureData) -> Figure:
    """Figure 3: heads of a fixed width, so that n grows with their number."""
    figure, [[linear, logarithmic, divergences]] = new_figure(1, 3, PANEL)
    draw_heads(linear, logarithmic, data)
    legend(logarithmic, loc="lower center")
    draw_head_divergences(divergences, data)
    figure.suptitle(caption(data), fontsize=11)
    return figure


def draw_head_divergences(axes: Axes, data: FigureData) -> None:
    """As :func:`draw_divergences`; every number of heads has a limit, a floor and a Gaussian of its own."""
    x = places(data)
    references = [own.reference for own in data.measured]
    low, high = ([function(each.floor) for each in references] for function in (np.min, np.max))
    axes.fill_between(x, low, high, color=GREY, alpha=0.25, linewidth=0, label=FLOOR)
    axes.plot(x, [each.matched.mean() for each in references], "--", color=VERMILION, linewidth=1.2, label=MATCHED)
    axes.plot(x, [float(each.exact.value) for each in references], ":", color=VERMILION, linewidth=1.4, label=EXACT)
    draw_seeds(axes, x, data)
    draw_exact(axes, x, data)
    width_axis(axes, x)
    axes.set_yscale("log")
    axes.set_xlabel("heads H, of width 64 each")
    axes.set_ylabel("KL(finite n, limit), nats")
    axes.set_title("(b) divergence")
    legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
