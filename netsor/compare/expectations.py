"""The ``expect`` lines of a program at finite width: estimated at several widths, extrapolated, judged.

The value v and the tolerance t of a line belong to the limit.  The estimates at the widths are fitted by 1, 1/n, ..., as in
a comparison; with f the intercept and e its standard error, a line fails if |f - v| > t + q e.  q is such that a program
whose lines are all true within their tolerances has any of them fail with probability at most ``level``, whatever the
number of lines and of values of their indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np

from netsor.compare.defaults import LEAST_RUNS, LEVEL, RUNS
from netsor.compare.drawing import draw, refuse_if_senseless, whole
from netsor.compare.judge import BY_PAIR, EXTRAPOLATED, Series, judge
from netsor.compare.measured import Measured, excess_kurtosis_of, mean_of
from netsor.compare.result import AGREES, DISAGREES, UNDEFINED, UNRESOLVED, StatisticResult
from netsor.ir.evaluate import Evaluator
from netsor.ir.program import Expectation, Output, Part, Program
from netsor.limit.functions import function


WITHIN = 5.0
"""Standard errors by which a value that is not extrapolated has to be inside of the tolerance."""


@dataclass(frozen=True)
class ExpectationResult:
    """An ``expect`` line at finite width: the verdict of its worst place, and the result of every place in the order of
    the line's indices (the last one fastest).  ``tolerance`` is that of the worst place."""

    expectation: Expectation
    verdict: str
    worst: int
    places: tuple[StatisticResult, ...]
    tolerance: float

    @property
    def decisive(self) -> StatisticResult:
        return self.places[self.worst]

    @property
    def smallest_detectable(self) -> float:
        """The deviation from the expected value that would have failed with 90 % power, at the place where it is largest."""
        return max(place.decision.smallest_detectable for place in self.places)


def judge_expectations(
    program: Program, widths: Sequence[int], runs: int = RUNS, seed: int = 0, level: float = LEVEL,
    progress: Callable[[int, int], None] | None = None,
) -> list[ExpectationResult]:
    """The ``expect`` lines against draws at finite widths.

    *agrees*: the extrapolation is within the tolerance, up to noise.  *disagrees*: it is not.  *unresolved*: the values at
    these widths are not of the fitted form, or not finite, so that there is no extrapolation.

    :param widths: at least two, or no bias can be removed.
    :param runs: independent draws at each width.
    :param level: probability that any line is said to disagree though all are true.
    :raises NetsorError: if a parameter is infinite, or the request is out of reach.
    :raises KeyboardInterrupt: if interrupted before all widths are done."""
    if not all(isinstance(each, Integral) for each in (*widths, runs)):
        raise ValueError("widths and numbers of runs are integers")
    widths = tuple(sorted(set(map(int, widths))))
    if len(widths) < 2 or widths[0] < 1 or runs < LEAST_RUNS:
        raise ValueError(f"two positive widths and {LEAST_RUNS} runs are the least with which a bias can be removed")
    drawn_program, names = _with_references_as_outputs(program)
    sizes = {output.name: _size(output.axes) for output in drawn_program.outputs}
    refuse_if_senseless(drawn_program, widths, runs, 1, sum(sizes.values()), drawn_program.outputs)
    elements = {name: np.arange(size) for name, size in sizes.items()}
    measured: list[list[tuple[Measured, np.ndarray]]] = []
    for number, width in enumerate(widths):
        report = None
        if progress is not None:
            report = lambda own, _, before=number * runs: progress(before + own, runs * len(widths))  # noqa: E731
        draws = whole(draw(drawn_program, width, runs, seed, 1, elements, report), runs)
        measured.append([
            _measure(line.function, [draws[name][..., 0] for name in own]) for line, own in zip(program.expectations, names)])
    lines = [_series(line, widths, [each[k] for each in measured]) for k, line in enumerate(program.expectations)]
    results = iter(judge([series for line in lines for series in line], [], level))
    return [_worst(line, [next(results) for _ in own], own) for line, own in zip(program.expectations, lines)]


def _size(indices) -> int:
    return int(np.prod([index.range.size for index in indices], dtype=float))


def _with_references_as_outputs(program: Program) -> tuple[Program, list[list[str]]]:
    """The program whose outputs are what the lines speak of, and the names of these outputs, line by line."""
    outputs, names = [], []
    for number, line in enumerate(program.expectations):
        own = {argument: f"{number}.{k}" for k, argument in enumerate(line.arguments)}
        outputs += [Output(name, line.indices, (Part(argument, {}),), line.span) for argument, name in own.items()]
        names.append([own[argument] for argument in line.arguments])
    return replace(program, outputs=outputs), names


def _measure(what: str, values: list[np.ndarray]) -> tuple[Measured, np.ndarray]:
    """The estimate from draws (runs, places) of a line's references, and the size of one unit of it (for rounding)."""
    runs = len(values[0])
    scales = [np.sqrt(np.mean(value * value, axis=0)) for value in values]
    if what == "mean":
        return mean_of(values[0]), scales[0]
    centred = [value - value.mean(axis=0) for value in values]
    if what == "kurtosis":
        return excess_kurtosis_of(centred[0][..., None]), np.ones_like(scales[0])
    found, factor = mean_of(centred[0] * centred[-1]), runs / (runs - 1)
    return Measured(found.value * factor, found.stderr * factor, found.third * factor**3, runs), scales[0] * scales[-1]


def _series(line: Expectation, widths: tuple[int, ...], measured: list[tuple[Measured, np.ndarray]]) -> list[Series]:
    evaluator = Evaluator(function)
    expected, tolerance = (evaluator.array(e, line.indices).reshape(-1) for e in (line.value, line.tolerance))
    shape = tuple(index.range.size for index in line.indices)
    found = []
    for k in range(len(expected)):
        place = np.unravel_index(k, shape) if shape else ()
        element = ", ".join(f"{index.name}={index.range.lo + int(at)}" for index, at in zip(line.indices, place))
        values, errors, thirds = (
            np.array([getattr(each, part)[k] for each, _ in measured]) for part in ("value", "stderr", "third"))
        found.append(Series(
            repr(line.arguments), line.function, element, widths, values, errors, thirds,
            tuple(each.runs for each, _ in measured), float(expected[k]), 0.0, float(measured[-1][1][k]),
            tolerance=float(tolerance[k])))
    return found


def _worst(line: Expectation, results: list[StatisticResult], series: list[Series]) -> ExpectationResult:
    verdicts = [_verdict(result, own.tolerance) for result, own in zip(results, series)]
    rank = [
        ((AGREES, UNRESOLVED, DISAGREES).index(verdict), abs(result.decision.z or 0.0))
        for verdict, result in zip(verdicts, results)]
    worst = max(range(len(results)), key=rank.__getitem__)
    return ExpectationResult(line, verdicts[worst], worst, tuple(results), series[worst].tolerance)


def _verdict(result: StatisticResult, tolerance: float) -> str:
    """Where the fit is not trusted no bias is removed: nothing is said about the limit, for or against, unless every width is within the
    tolerance as it is."""
    known = result.decision.by != UNDEFINED and np.isfinite(result.decision.difference)
    if known and result.decision.by not in (EXTRAPOLATED, BY_PAIR):
        known = all(abs(at.difference) + WITHIN * at.stderr <= tolerance for at in result.widths)
    return result.verdict if known else UNRESOLVED
