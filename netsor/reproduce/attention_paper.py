"""The numerical experiments of Sakai, Karakida & Imaizumi 2025 (arXiv:2506.00846), figure by figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netsor.api import load
from netsor.compare.drawing import stream
from netsor.limit.laws import Law
from netsor.reproduce.effort import refuse_if_out_of_reach
from netsor.reproduce.measure import Measured, measure, reference
from netsor.reproduce.settings import EXPERIMENTS, SCORES, Experiment

QUICK_RUNS, QUICK_SEEDS, QUICK_SAMPLES = 2_000, 2, 2**12
QUICK_HEADS = 16  # instead of 256
FIGURES = tuple(experiment.figure for experiment in EXPERIMENTS)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Scores:
    """Figure 2(a): draws of p_11 under both scalings at width n, and the limit's law of the first (the second's is the constant 0)."""

    width: int
    law: Law
    root_scaled: np.ndarray
    full_scaled: np.ndarray


@dataclass(frozen=True)
class FigureData:
    """Everything behind one figure; ``infinite_heads`` is the law for H = inf, ``scores`` those of figure 2(a)."""

    experiment: Experiment
    measured: tuple[Measured, ...]
    infinite_heads: Law | None = None
    scores: Scores | None = None


def attention_paper(folder: Path, *, figures: Sequence[str] = FIGURES, seed: int = 0, runs: int | None = None,
                    quick: bool = False, progress: Progress | None = None) -> Iterator[FigureData]:
    """The data of each figure, in the paper's order.

    :param folder: where the programs are (programs/paper).
    :param figures: which of FIGURES.
    :param runs: for each seed, instead of the paper's number.
    :param quick: QUICK_RUNS runs for QUICK_SEEDS seeds and at most QUICK_HEADS heads, to see that everything works.
    :param progress: called with (runs done, runs in all).
    :raises NetsorError: before anything is drawn, if it would take more memory than there is or too long."""
    chosen = chosen_experiments(figures, runs, quick)
    total, done = runs_in_all(chosen), 0

    def step(runs: int) -> None:
        nonlocal done
        done += runs
        if progress is not None:
            progress(done, total)

    refuse_if_out_of_reach(chosen, folder)
    if progress is not None:
        progress(0, total)
    samples = QUICK_SAMPLES if quick else None
    for experiment in chosen:
        yield run(experiment, folder, seed, samples, step)


def chosen_experiments(figures: Sequence[str], runs: int | None, quick: bool) -> list[Experiment]:
    """The experiments behind the figures, with the numbers of runs and seeds that are wanted."""
    chosen = [quickened(e) if quick else e for e in EXPERIMENTS if e.figure in figures]
    return [replace(e, runs=runs) for e in chosen] if runs else chosen


def runs_in_all(chosen: Sequence[Experiment]) -> int:
    """How many runs all points and seeds have together."""
    return sum(len(experiment.points) * experiment.runs * experiment.seeds for experiment in chosen)


def quickened(experiment: Experiment) -> Experiment:
    """Fewer runs, seeds and heads."""
    points = tuple(
        replace(p, label=p.label.replace("256", str(QUICK_HEADS)), parameters=p.parameters | {"H": QUICK_HEADS})
        if p.parameters["H"] > QUICK_HEADS else p for p in experiment.points)
    return replace(experiment, runs=QUICK_RUNS, seeds=QUICK_SEEDS, points=points)


def run(experiment: Experiment, folder: Path, seed: int, samples: int | None, step: Callable[[int], None]) -> FigureData:
    """All points of one experiment; points with the same parameters share the limit and its draws, as in the paper."""
    references, measured = {}, []
    for number, point in enumerate(experiment.points):
        program = load(folder / experiment.program, **point.parameters)
        key = tuple(point.parameters.items())
        if key not in references:
            fewer = 2**14 if point.parameters["H"] > 16 and samples is None else samples  # 256 heads leave little to average
            references[key] = reference(program, experiment.runs, experiment.seeds, stream(seed, number), fewer)
        measured.append(measure(program, point, references[key], stream(seed, number), step))
    if experiment.figure != "2":
        return FigureData(experiment, tuple(measured))
    infinite = load(folder / experiment.program, s=4, H="inf").limit(samples=samples, seed=seed)["y"][0]
    return FigureData(experiment, tuple(measured), infinite, scores(folder, experiment.runs, seed))


def scores(folder: Path, runs: int, seed: int) -> Scores:
    """Figure 2(a)."""
    name, width, most = SCORES
    program = load(folder / name)
    drawn = program.sample(width, min(runs, most), stream(seed, 99))
    return Scores(width, program.limit(seed=seed)["p"][0, 0], drawn["p"][:, 0, 0], drawn["r"][:, 0, 0])
