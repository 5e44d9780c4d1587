"""What is measured at one point of an experiment: the paper's statistic, and those that can see the effect.

The first coordinate of y_1 is recorded, as in the paper.  Draws of it are made from its law given everything before the last
products, N(0, V) with V drawn exactly at width n: the same law, and V itself is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsor.api import Program
from netsor.compare.conditional import kl_of_mixtures
from netsor.compare.divergence import kl_matched_gaussian
from netsor.compare.drawing import stream
from netsor.expectation import Estimate
from netsor.finite.sampling import sample, sample_conditional
from netsor.limit.laws import GaussianMixture
from netsor.reproduce.kernel_densities import divergences
from netsor.reproduce.settings import Point

FINITE, LIMIT, MATCHED, FLOOR = range(4)  # streams of random numbers
REPLICATES = 16

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Reference:
    """The limit of a program: its law, and what the paper's statistic gives for laws that are known.

    ``floor`` is that of the limit itself, ``matched`` that of the Gaussian of the same variance, one number a seed; ``exact`` is the
    true divergence of that Gaussian."""

    law: GaussianMixture
    draws: np.ndarray
    floor: np.ndarray
    matched: np.ndarray
    exact: Estimate


@dataclass(frozen=True)
class Measured:
    """One point.  ``kde`` is the paper's statistic, one number a seed; ``conditional`` the divergence without smoothing.

    ``law`` mixes the conditional Gaussians at width n (None where they were not drawn); ``draws`` are those of all seeds;
    ``variance`` and ``kurtosis`` are of the law where there is one, else of all draws."""

    point: Point
    reference: Reference
    draws: np.ndarray
    law: GaussianMixture | None
    kde: np.ndarray
    conditional: Estimate | None
    variance: Estimate
    kurtosis: Estimate


def reference(program: Program, runs: int, seeds: int, seed: int, samples: int | None) -> Reference:
    """The limit and the noise of the paper's statistic around it, for samples of ``runs`` draws."""
    law = program.limit(samples=samples, seed=seed, outputs=["y"])["y"][0]
    deviation = float(law.std().value)
    draws = np.stack([law.rvs(runs, stream(seed, LIMIT, k)) for k in range(seeds)])
    others = (law.rvs(runs, stream(seed, FLOOR, k)) for k in range(seeds))
    gaussians = (deviation * np.random.default_rng(stream(seed, MATCHED, k)).standard_normal(runs) for k in range(seeds))
    floor, matched = np.transpose([divergences([o, g], own) for o, g, own in zip(others, gaussians, draws)])
    return Reference(law, draws, floor, matched, kl_matched_gaussian(law))


def measure(program: Program, point: Point, own: Reference, seed: int, progress: Progress | None = None) -> Measured:
    """Draw as many seeds and runs as the reference has, and compare."""
    seeds, runs = own.draws.shape
    drawn, variances = [], []
    for k in range(seeds):
        values, variance = draw(program, point, runs, stream(seed, FINITE, k, point.width), _increments(progress))
        drawn.append(values)
        variances.append(variance)
    kde = np.array([divergences([values], limit)[0] for values, limit in zip(drawn, own.draws)])
    draws = np.concatenate(drawn)
    if not point.conditional:
        return Measured(point, own, draws, None, kde, None, *of_draws(draws))
    law = GaussianMixture(0.0, in_replicates(np.concatenate(variances)), method=f"{seeds} x {runs} runs")
    return Measured(point, own, draws, law, kde, kl_of_mixtures(law, own.law), law.var(), law.kurtosis())


def _increments(step: Progress | None) -> Callable[[int, int], None] | None:
    """A sampler's report (runs done, runs in all) as steps."""
    before = 0

    def report(done: int, _: int) -> None:
        nonlocal before
        before, new = done, done - before
        step(new)

    return None if step is None else report


def draw(
    program: Program, point: Point, runs: int, seed: int, progress: Callable[[int, int], None] | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """The first coordinate of y_1, and its variance given everything before the last products if that is wanted."""
    if not point.conditional:
        return _all(sample(program.ir, point.width, runs, seed, progress=progress)["y"], runs)[:, 0, 0], None
    law = sample_conditional(program.ir, point.width, runs, seed, progress=progress)["y"]
    variance = _all(law.covariance, runs)[:, 0, 0]
    normal = np.random.default_rng(stream(seed, 0)).standard_normal(runs)
    return law.mean[:, 0] + np.sqrt(variance) * normal, variance


def _all(drawn: np.ndarray, runs: int) -> np.ndarray:
    """Samplers return what they have when interrupted; half a seed is of no use here."""
    if len(drawn) < runs:
        raise KeyboardInterrupt
    return drawn


def in_replicates(values: np.ndarray) -> np.ndarray:
    """REPLICATES rows of independent values, from which errors are estimated; the few that are left over are dropped."""
    return values[: len(values) // REPLICATES * REPLICATES].reshape(REPLICATES, -1)


def of_draws(draws: np.ndarray) -> tuple[Estimate, Estimate]:
    """Variance and excess kurtosis of draws of mean zero, with standard errors (delta method)."""
    count = len(draws)
    square = draws**2
    second, fourth = float(square.mean()), float(np.mean(square**2))
    influence = square**2 / second**2 - 2 * fourth / second**3 * square
    method = f"{count:,} draws"
    return (Estimate(second, float(square.std() / np.sqrt(count)), method),
            Estimate(fourth / second**2 - 3, float(influence.std() / np.sqrt(count)), method))
