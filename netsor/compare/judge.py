"""The verdict on one statistic from its values at several widths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from netsor.compare import kolmogorov
from netsor.compare.bias import MISFIT, SEEN, cancelled, decay_rate, fit_bias
from netsor.compare.probability import holm, smallest_detectable, two_sided, welch_degrees, without_skewness
from netsor.compare.result import AGREES, BIAS, DISAGREES, UNDEFINED, UNRESOLVED, AtWidth, Decision, Fit, StatisticResult

LIMIT_DEGREES = 15
"""The limit's errors come from 16 independent randomisations."""

ROUNDING = 1e-12
"""Of the unit of a statistic; smaller differences are not judged."""

SMALLEST = 1e-100
"""An error of 0 is taken for this, so that ratios are defined: the square does not underflow."""

HIGHER_POWERS = 0.25
"""Of what is left at the largest width of a variance that tends to zero: how far the powers of 1/n that are not fitted may move what is
extrapolated, as a standard error.  Such a variance, of a scalar that tends to a number, is all bias: c/n + d/n^2 + … with a large d/c."""

EXTRAPOLATED = "extrapolation"
VARIANCE = "variance"
BY_PAIR = "the two largest widths"


@dataclass(frozen=True)
class Series:
    """A number measured at several widths: its values, their errors, third cumulants, and numbers of runs; and the
    limit's.  Only what a difference exceeds ``tolerance`` by counts against the limit."""

    output: str
    statistic: str
    element: str
    widths: tuple[int, ...]
    values: np.ndarray
    errors: np.ndarray
    thirds: np.ndarray
    runs: tuple[int, ...]
    limit: float
    limit_error: float
    unit: float
    tolerance: float = 0.0


@dataclass(frozen=True)
class DistributionSeries:
    """Empirical distribution functions at several widths at the edges where the limit's is ``reference``; ``slack``
    bounds what distances may be off because of the reference's own error."""

    output: str
    element: str
    widths: tuple[int, ...]
    below: tuple[np.ndarray, ...]
    counts: tuple[int, ...]
    reference: np.ndarray
    slack: float
    samples: float


def judge(series: list[Series], distributions: list[DistributionSeries], level: float) -> list[StatisticResult]:
    """All statistics together: the probability that any is called off though the limit is right is at most ``level``
    for what decides, and at most ``level`` again for the verdicts at all single widths."""
    tests = max(len(series) + len(distributions), 1)
    results = [_number(each, level / tests) for each in series]
    results += [_distribution(each, level / tests) for each in distributions]
    rejected = holm(np.array([result.decision.p_value for result in results]), level)
    return [_with_verdicts(result, bool(no), level / tests) for result, no in zip(results, rejected)]


# --- numbers ---------------------------------------------------------------------------------------------------------


def _number(series: Series, level: float) -> StatisticResult:
    floor = max(ROUNDING * max(series.unit, abs(series.limit)), SMALLEST)
    errors = np.hypot(series.errors, floor)
    differences = series.values - series.limit
    known = all(np.isfinite(each).all() for each in (series.values, errors, series.thirds))
    fit = fit_bias(series.widths, series.values, errors) if known else None
    predicted, residual = {}, {}
    if fit is not None:
        predicted = dict(zip(fit.widths, fit.predicted))
        residual = dict(zip(fit.widths, fit.residual_errors)) if fit.degrees > 0 else {}
    at = []
    for k, width in enumerate(series.widths):
        z, p = _significance(series, differences[k], errors[k], series.thirds[k], series.runs[k])
        off = None
        if width in residual:
            error = max(residual[width], floor)
            off = float(two_sided((series.values[k] - predicted[width]) / error, max(series.runs[k] - 1, 1)))
        total = float(np.hypot(errors[k], series.limit_error))
        at.append(AtWidth(
            width, float(series.values[k]), float(differences[k]), total, z, p, _maybe(predicted.get(width)), off,
            _detectable(series, total, level)))
    pairs = []
    for n, value, error in cancelled(series.widths, series.values, errors):
        pairs.append((n, value - series.limit, error, (value - series.limit) / float(np.hypot(error, series.limit_error))))
    return StatisticResult(
        series.output, series.statistic, series.element, series.limit, series.limit_error, tuple(at),
        _decision(series, fit, errors, level) if known else _undefined(np.nan), AGREES, _fit(fit),
        decay_rate(series.widths, differences, np.hypot(errors, series.limit_error)) if known else None, tuple(pairs))


def _undefined(z: float | None) -> Decision:
    return Decision(UNDEFINED, np.nan, np.nan, np.nan, z, 1.0, np.nan)


def _decision(series: Series, fit, errors: np.ndarray, level: float) -> Decision:
    by, vanishes = EXTRAPOLATED, series.statistic == VARIANCE and series.limit == 0 == series.limit_error
    if vanishes and fit is not None and not fit.fits:  # no form explains them all
        by, place = BY_PAIR, sorted(range(len(series.widths)), key=series.widths.__getitem__)[-2:]
        fit = fit_bias([series.widths[k] for k in place], series.values[place], errors[place])
    if fit is None or not fit.fits:
        by, k = _largest(series.widths)
        value, error, third, runs = series.values[k], errors[k], series.thirds[k], series.runs[k]
    else:
        place = [series.widths.index(width) for width in fit.widths]
        left = HIGHER_POWERS * (fit.predicted[-1] - fit.intercept) if vanishes else 0.0
        value, error = fit.intercept, float(np.hypot(fit.intercept_error, left))
        third, runs = float(fit.weights**3 @ series.thirds[place]), min(series.runs)
    difference = float(value) - series.limit
    z, p = _significance(series, difference, error, third, runs)
    total = float(np.hypot(error, series.limit_error))
    return Decision(by, float(value), difference, total, z, p, _detectable(series, total, level))


def _significance(series: Series, difference: float, error: float, third: float, runs: int) -> tuple[float, float]:
    """z, and the probability of a difference as large: Student's t with Welch's degrees of freedom, after Hall's
    correction for skewness.  What is not finite proves nothing."""
    total = float(np.hypot(error, series.limit_error))
    if not np.isfinite([difference, total, third]).all():
        return float("nan"), 1.0
    z = float(np.sign(difference)) * max(abs(difference) - series.tolerance, 0.0) / total
    degrees = welch_degrees((error, max(runs - 1, 1)), (series.limit_error, LIMIT_DEGREES))
    return z, float(two_sided(without_skewness(z, third / total**3 if third else 0.0), degrees))


def _detectable(series: Series, error: float, level: float) -> float:
    return series.tolerance + float(smallest_detectable(error, level))


def _fit(fit) -> Fit | None:
    if fit is None:
        return None
    return Fit(
        fit.widths, fit.left_out, fit.terms, fit.chi_squared, fit.degrees, fit.p_value,
        float(fit.coefficients[1]), float(np.sqrt(fit.covariance[1, 1])),
        tuple(map(float, fit.bias)), tuple(map(float, fit.bias_errors)))


def _maybe(value) -> float | None:
    return None if value is None else float(value)


def _largest(widths: tuple[int, ...]) -> tuple[str, int]:
    k = int(np.argmax(widths))
    return f"width {widths[k]}", k


# --- distribution functions ------------------------------------------------------------------------------------------


def _distribution(series: DistributionSeries, level: float) -> StatisticResult:
    known = all(np.isfinite(each).all() for each in series.below)
    found = None
    if known:
        found = kolmogorov.extrapolate(list(series.widths), list(series.below), list(series.counts), series.reference)
    at = []
    for k, width in enumerate(series.widths):
        distance = float(np.max(np.abs(series.below[k] - series.reference), initial=0.0))
        count = _together(series.counts[k], series.samples)
        p = kolmogorov.probability(distance - series.slack, count) if np.isfinite(distance) else 1.0
        at.append(AtWidth(
            width, distance, distance, 1 / np.sqrt(count), None, p, None,
            found.residuals.get(width) if found is not None else None,
            kolmogorov.smallest_detectable(count, level, series.slack)))
    fit = None
    if found is not None:
        fit = Fit(tuple(sorted(set(series.widths) - set(found.left_out))), found.left_out, found.terms, None,
                  len(found.residuals) and len(found.residuals) - found.terms - 1, found.misfit)
    if found is None or found.misfit < MISFIT:
        by, k = _largest(series.widths)
        distance, count = at[k].difference, _together(series.counts[k], series.samples)
    else:
        by, distance, count = EXTRAPOLATED, found.distance, _together(found.count, series.samples)
    decision = _undefined(None) if not known else Decision(
        by, distance, distance, 1 / np.sqrt(count), None, kolmogorov.probability(distance - series.slack, count),
        kolmogorov.smallest_detectable(count, level, series.slack))
    return StatisticResult(
        series.output, "distribution", series.element, None, series.slack, tuple(at), decision, AGREES, fit,
        _decay_of_distances(at) if known else None)


def _decay_of_distances(at: list[AtWidth]) -> tuple[float, float] | None:
    """The rate at which distances fall where they stand out of their noise; the others would be noise alone, which does not fall."""
    seen = [each for each in at if each.difference > SEEN * each.stderr]
    if len(seen) < 2:
        return None
    widths, distances, errors = zip(*((each.width, each.difference, each.stderr) for each in seen))
    return decay_rate(widths, np.array(distances), np.array(errors))


def _together(count: float, samples: float) -> float:
    """Draws compared with a law known through ``samples`` samples: Smirnov's two-sample count."""
    return float(count) if np.isinf(samples) else count * samples / (count + samples)


# --- verdicts --------------------------------------------------------------------------------------------------------


def _with_verdicts(result: StatisticResult, rejected: bool, level: float) -> StatisticResult:
    by = result.decision.by
    verdict = AGREES if not rejected else DISAGREES if by == EXTRAPOLATED else UNRESOLVED
    if by == UNDEFINED:
        verdict = UNRESOLVED
    own = replace(result, decision=replace(result.decision, rejected=rejected), verdict=verdict)
    return replace(own, widths=tuple(replace(at, verdict=_at_width(at, own, level / len(own.widths))) for at in own.widths))


def _at_width(at: AtWidth, result: StatisticResult, level: float) -> str:
    if not np.isfinite(at.difference):
        return UNRESOLVED
    if at.p_value >= level:
        return AGREES
    if result.verdict == DISAGREES:
        return DISAGREES
    if result.decision.by == BY_PAIR and result.verdict == AGREES:
        return BIAS
    if result.decision.by != EXTRAPOLATED or at.width not in result.fit.widths:
        return UNRESOLVED
    return BIAS if at.residual_p_value is None or at.residual_p_value >= level else DISAGREES
