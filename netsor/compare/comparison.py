"""The limit against finite width: measure at several widths, extrapolate, judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from netsor.compare import controls as wrong_laws
from netsor.compare import not_finite
from netsor.compare.defaults import LEAST_RUNS, LEVEL, RUNS, WIDTHS
from netsor.compare.drawing import draw, refuse_if_senseless, stream, whole
from netsor.compare.elements import MAX_ELEMENTS
from netsor.compare.expected import Expected, expected_of, laws_of, make_probe
from netsor.compare.judge import DistributionSeries, Series, judge
from netsor.compare.probe import DISTRIBUTION, Measurement, Probe
from netsor.compare.result import Comparison, Drawn, StatisticResult
from netsor.finite.backends import drawing_on
from netsor.finite.failures import as_diagnostics
from netsor.ir.program import Program
from netsor.language.selection import selected

if TYPE_CHECKING:
    from netsor.compare.kernel_density import KernelDensityDivergence
    from netsor.limit.result import LimitResult

Measurements = list[dict[str, Measurement]]
KEPT = 50_000
"""Draws of one element of each output that are kept at each width for figures: 0.4 MB."""


def compare(
    program, widths: Sequence[int] = WIDTHS, runs: int = RUNS, seed: int = 0, samples: int | None = None,
    controls: bool = False, coordinates: int = 1, progress: Callable[[int, int], None] | None = None, *,
    outputs: list[str] | None = None, level: float = LEVEL, kernel_densities: bool = False,
    points: int | None = None, backend: str | None = None, scheduler: str | None = None, workers: int | None = None,
) -> Comparison:
    """Whether a program at finite width tends to its computed limit.

    :param program: a :class:`netsor.api.Program` or its intermediate representation.
    :param widths: at least one; the bias in 1/n is fitted over them, so two or more are needed to extrapolate.
    :param runs: independent draws at each width.
    :param samples: samples of the scores behind the limit (None: its default); ``points`` likewise, as for ``Program.limit``.
    :param controls: also judge laws that are wrong on purpose.
    :param coordinates: coordinates of vectors that are recorded in each run; they are averaged over, run by run.
    :param progress: called with (runs done, runs in all).
    :param level: probability that anything at all is called off though the limit is right.
    :param kernel_densities: also the divergence between kernel density estimates, for figures.
    :param backend: where runs are drawn, as for :func:`netsor.finite.sampling.sample`; ``scheduler`` is the address of a cluster;
        ``workers`` are those of this machine, of the limit too.
    :raises NetsorError: if the program has no limit or no finite reading, or the request is out of reach.
    :raises BackendError: a ValueError, if the backend or its cluster is not there; before anything is computed.
    :raises KeyboardInterrupt: if interrupted before one width was done; later, the widths that are done are reported."""
    from netsor.limit.run import run_limit

    ir: Program = getattr(program, "ir", program)
    _check(widths, runs, coordinates, level)
    widths = tuple(sorted(set(map(int, widths))))
    selected(ir, outputs or ())  # refuses other names
    wanted = [output for output in ir.outputs if outputs is None or output.name in outputs]
    elements = sum(min(MAX_ELEMENTS, math.prod(axis.range.size for axis in output.axes)) for output in wanted
                   if not any(axis.range.infinite for axis in output.axes))
    with as_diagnostics(), drawing_on(backend, scheduler, workers):
        refuse_if_senseless(ir, widths, runs, coordinates, elements * coordinates, wanted)
        limit = run_limit(
            ir, samples=samples, points=points, seed=seed, outputs=[output.name for output in wanted], workers=workers)
        if limit.interrupted:
            raise KeyboardInterrupt
        probes = {o.name: make_probe(limit[o.name], runs, coordinates if o.is_vector else 1) for o in wanted}
        laws = {name: _laws(limit, probe) for name, probe in probes.items()}
        expected = {name: expected_of(limit[name], probe, laws[name]) for name, probe in probes.items()}
        kept = runs if kernel_densities else min(runs, KEPT)
        done, shown, dropped = _measure(ir, widths, runs, seed, coordinates, probes, kept, progress)
        widths, interrupted = widths[: len(done)], len(done) < len(widths)
        results = judge(*_series(probes, expected, widths, done), level)
        checked = []
        try:
            for control in _controls(ir, limit, points, probes, laws, expected, widths, done, runs, level) if controls else ():
                checked.append(control)
        except KeyboardInterrupt:  # what is judged already is not lost
            interrupted = True
        densities = _kernel_densities(limit, probes, widths, shown, seed) if kernel_densities else []
    notes = [note for probe in probes.values() for note in probe.notes] + [
        not_finite.note(name, own.not_finite, runs, width) for width, each in zip(widths, done) for name, own in each.items()]
    return Comparison(
        program=ir.name, widths=widths, runs=runs, coordinates=coordinates, seed=seed, samples=limit.samples, level=level,
        results=tuple(results), limit=limit, drawn=_drawn(limit, probes, widths, shown),
        controls=tuple(checked), kernel_densities=tuple(densities), notes=tuple(filter(None, notes)),
        interrupted=interrupted, dropped=dropped,
        parameters=dict(ir.parameters))


def _check(widths: Sequence[int], runs: int, coordinates: int, level: float) -> None:
    if not len(widths) or not all(isinstance(width, Integral) and width >= 1 for width in widths):
        raise ValueError("widths are positive integers")
    if not isinstance(runs, Integral) or not isinstance(coordinates, Integral):
        raise ValueError("numbers of runs and coordinates are integers")
    if runs < LEAST_RUNS:
        raise ValueError(f"at least {LEAST_RUNS} runs are needed for an error that means something")
    if coordinates < 1 or not 0 < level < 1:
        raise ValueError("coordinates are at least 1, and the level is between 0 and 1")


def _measure(ir, widths, runs, seed, coordinates, probes, keep, progress) -> tuple[Measurements, list[dict], int]:
    """What the probes find at each width, the first ``keep`` draws of one coordinate of each output's first random element (its first
    element if none is random in the limit), and after an interruption how many runs of the unfinished width are not used."""
    done, shown = [], []
    elements = {name: probe.elements for name, probe in probes.items()}
    for number, width in enumerate(widths):
        report = None
        if progress is not None:
            report = lambda own, _, before=number * runs: progress(before + own, runs * len(widths))  # noqa: E731
        drawn = {}
        try:
            drawn = draw(ir, width, runs, seed, coordinates, elements, report)
            whole(drawn, runs)
            done.append({name: probe.measure(drawn[name]) for name, probe in probes.items()})
        except KeyboardInterrupt:
            if not done:
                raise
            return done, shown, min(map(len, drawn.values()), default=0)
        shown.append({name: drawn[name][:keep, _shown_element(probe), 0].copy() for name, probe in probes.items()})
    return done, shown, 0


def _shown_element(probe: Probe) -> int:
    """The position in the probe's elements of the one that figures show."""
    return int(probe.random[0]) if len(probe.random) else 0


def _drawn(limit: LimitResult, probes: dict[str, Probe], widths: tuple[int, ...], shown: list[dict]) -> dict[str, Drawn]:
    """What is kept for figures: KEPT draws of one element of each output at each width."""
    found = {}
    for name, probe in probes.items():
        shape = limit[name].shape
        place = np.unravel_index(probe.elements[_shown_element(probe)], shape) if shape else ()
        found[name] = Drawn(name, tuple(map(int, place)), {width: own[name][:KEPT] for width, own in zip(widths, shown)})
    return found


def _laws(limit: LimitResult, probe: Probe) -> dict:
    """The laws of a probe's random elements, those of its tables where it has some."""
    found = laws_of(limit[probe.name], probe.elements, probe.random)
    return found | {k: table.law for k, table in probe.tables.items()}


def _series(probes: dict[str, Probe], expected: dict[str, Expected], widths: tuple[int, ...], done: Measurements
            ) -> tuple[list[Series], list[DistributionSeries]]:
    """One series for every place of every statistic that both the measurements and ``expected`` have."""
    numbers, distributions = [], []
    for name, probe in probes.items():
        own = [measured[name] for measured in done]
        for statistic, estimate in expected[name].numbers.items():
            places = probe.statistics[statistic]
            found = [each.numbers[statistic] for each in own]
            for k, element in enumerate(places.labels):
                numbers.append(Series(
                    name, statistic, element, widths, *(
                        np.array([getattr(each, part)[k] for each in found]) for part in ("value", "stderr", "third")),
                    tuple(each.runs for each in found), float(estimate.value[k]), float(estimate.error[k]),
                    float(places.scale[k])))
        for k, element in zip(probe.tables, probe.statistics[DISTRIBUTION].labels if probe.tables else ()):
            if k in expected[name].distributions:
                law = expected[name].distributions[k]
                below, counts = zip(*(each.below[k] for each in own))
                if min(counts) > 0:
                    distributions.append(
                        DistributionSeries(name, element, widths, below, counts, law.values, law.error, law.samples))
    return numbers, distributions


def _controls(ir, limit, points, probes, laws, expected, widths, done, runs, level):
    """The verdicts on laws that are wrong on purpose."""
    from netsor.compare.unshared import uncorrected, unshared

    def verdict(control: str, wrong: dict[str, Expected]):
        results: list[StatisticResult] = judge(*_series(probes, wrong, widths, done), level)
        return wrong_laws.control_verdict(control, expected, wrong, probes, results, runs, level)

    yield verdict(wrong_laws.MATCHED, {n: wrong_laws.matched_gaussian(p, expected[n]) for n, p in probes.items()})
    yield verdict(wrong_laws.SCALED, {
        n: expected_of(limit[n], p, laws[n], scale=wrong_laws.SCALE) for n, p in probes.items()})
    for control, program, absent in (
        (wrong_laws.UNSHARED, unshared(ir), "no matrix is used twice"),
        (wrong_laws.UNCORRECTED, uncorrected(ir), ""),
    ):
        other, reason = (None, absent) if program is None else _limit_or_reason(program, limit, points, list(probes))
        if other is not None:
            own = {n: laws_of(other[n], p.elements, p.random) for n, p in probes.items()}
            yield verdict(control, {n: expected_of(other[n], p, own[n]) for n, p in probes.items()})
        elif reason:
            yield wrong_laws.ControlVerdict(control, False, "cannot", True, f"omitted: {reason}")


def _limit_or_reason(program: Program, limit: LimitResult, points: int | None, names: list[str]):
    from netsor.language.diagnostics import NetsorError
    from netsor.limit.run import run_limit

    try:
        other = run_limit(program, samples=limit.samples or None, points=points, seed=limit.seed + 1, outputs=names)
    except NetsorError as error:
        return None, f"without sharing there is no limit, {error.diagnostics[0].message}"
    if other.interrupted:
        raise KeyboardInterrupt
    return other, ""


def _kernel_densities(limit, probes, widths, shown: list[dict], seed: int) -> list[KernelDensityDivergence]:
    """One element of each output at every width, with the noise floor of as many draws of the limit."""
    from netsor.compare.kernel_density import FLOOR_PAIRS, KernelDensityDivergence, kde_divergence, noise_floor

    found = []
    for name, probe in probes.items():
        if not len(probe.random):
            continue
        k = _shown_element(probe)
        law = _laws(limit, probe)[k]
        count = len(shown[0][name])
        samples = [law.rvs(count, stream(seed, 0, j)) for j in range(2 * FLOOR_PAIRS)]
        floor, deviation = noise_floor(samples)
        for width, drawn in zip(widths, shown):
            found.append(KernelDensityDivergence(
                name, probe.statistics["variance"].labels[k], width, kde_divergence(drawn[name], samples[0]), floor, deviation))
    return found
