"""What experiments would take, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from netsor.api import load
from netsor.finite.effort import BEYOND, Effort, effort_of_draws, refuse_if_too_large, refuse_if_too_long
from netsor.finite.plan import make_plan
from netsor.ir.amounts import written
from netsor.reproduce.kernel_densities import POINTS
from netsor.reproduce.settings import Experiment

KERNEL = 1.2e-8  # seconds for one draw at one point of a density estimate
KEPT = 6
"""Numbers that are held of each run at the highest: draws, their variances, what is computed from both, and as many of the limit."""

DENSITIES = 5
"""Density estimates of as many draws as there are runs: the draws, the limit, twice more for its floor, and the Gaussian."""


def effort_of(experiment: Experiment, folder: Path) -> Effort:
    """All points and seeds of one experiment; its results are kept until its figure is drawn."""
    total = Effort()
    for point in experiment.points:
        plan = make_plan(load(folder / experiment.program, **point.parameters).ir)
        runs = experiment.runs * experiment.seeds
        total += effort_of_draws(plan, point.width, runs, 1, 8 * KEPT * runs)
        total += Effort(alone=DENSITIES * POINTS * KERNEL * float(min(runs, BEYOND)))
    return total


def refuse_if_out_of_reach(chosen: Sequence[Experiment], folder: Path) -> None:
    """NetsorError, naming memory and time, for what does not fit into memory or would take too long."""
    efforts = [effort_of(experiment, folder) for experiment in chosen]
    together = sum(efforts, Effort())
    largest = max(efforts, key=lambda each: each.results, default=Effort())
    each = ", ".join(dict.fromkeys(f"{own.seeds} x {written(own.runs)}" for own in chosen))
    points = sum(len(own.points) for own in chosen)
    what, hint = f"{each} runs at {points} points", "ask for fewer --runs for each seed, for one --figure, or for the --quick version"
    effort = replace(together, results=largest.results)
    refuse_if_too_large(effort, what, hint)
    refuse_if_too_long(effort, what, hint)
