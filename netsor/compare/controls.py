"""Negative controls: wrong laws that the comparison must reject, as far as its power says that it can.

The same measurements are judged against altered values of the limit.  Each control comes with the deviation that it makes
and the smallest one that would have been detected, so that what is not rejected is explained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from netsor.compare.expected import Distribution, Expected
from netsor.compare.probability import POWER, power_against
from netsor.compare.probe import DISTRIBUTION, FREQUENCIES, Probe, cf_name
from netsor.compare.result import UNDEFINED, StatisticResult
from netsor.expectation import Estimate

SCALE = 1.03
MUST, MAY = 0.999, 0.5
"""Power from which on a wrong law must be rejected, and may be."""

MATCHED, SCALED, UNSHARED = "matched Gaussian", f"scale wrong by {100 * (SCALE - 1):.0f} %", "shared matrices as if independent"
UNCORRECTED = "dropped Ż: transposes as if independent"


@dataclass(frozen=True)
class ControlResult:
    """One statistic of an output (at its most telling element) against one wrong law.

    ``deviation`` is what the wrong law changes, ``power`` the probability that these runs see it, ``expected`` whether it
    "must", "may" or "cannot" be rejected.  ``runs_needed`` would detect it with 90 % power."""

    output: str
    statistic: str
    element: str
    deviation: float
    smallest_detectable: float
    power: float
    p_value: float
    rejected: bool
    expected: str
    runs_needed: int | None


@dataclass(frozen=True)
class ControlVerdict:
    """One wrong law: whether it was rejected, and ``passed``: rejected, or not visible to these runs."""

    control: str
    rejected: bool
    expected: str
    passed: bool
    reason: str
    details: tuple[ControlResult, ...] = ()


def matched_gaussian(probe: Probe, expected: Expected) -> Expected:
    """Gaussians with the limit's means and covariances, coordinates independent."""
    random = probe.random
    numbers = dict(expected.numbers)
    if len(random):
        ones = np.ones(len(probe.statistics["excess kurtosis"].labels))
        numbers["excess kurtosis"] = _exactly(0 * ones)
        for multiple in FREQUENCIES:
            numbers[cf_name("real", multiple)] = _exactly(np.exp(-0.5 * multiple**2) * ones)
            numbers[cf_name("imaginary", multiple)] = _exactly(0 * ones)
    if "squares" in numbers:
        numbers["squares"] = _exactly(expected.numbers["variance"].value[random] ** 2)
    if "mass" in numbers:
        numbers["mass"] = _exactly(np.zeros(len(probe.atoms)))
    return Expected(numbers, {
        k: Distribution(ndtr((table.edges - probe.centre[k]) / probe.deviation[k]), 0.0)
        for k, table in probe.tables.items() if not len(table.atoms)})


def _exactly(value: np.ndarray) -> Estimate:
    return Estimate(value, 0.0, "exact")


def control_verdict(control: str, limit: dict[str, Expected], wrong: dict[str, Expected], probes: dict[str, Probe],
                    results: list[StatisticResult], runs: int, level: float) -> ControlVerdict:
    """``results`` are the measurements judged against ``wrong``; deviations are those between ``wrong`` and ``limit``."""
    groups: dict[tuple[str, str], list[StatisticResult]] = {}
    for result in (result for result in results if result.decision.by != UNDEFINED):
        groups.setdefault((result.output, result.statistic), []).append(result)
    details = []
    for (output, statistic), own in groups.items():
        made = _deviations(statistic, limit[output], wrong[output], probes[output])
        powers = [_power(made[result.element], result, level / len(results)) for result in own]
        best = int(np.argmax(powers))
        result, deviation = own[best], made[own[best].element]
        detectable = result.decision.smallest_detectable
        details.append(ControlResult(
            output, statistic, result.element, deviation, detectable, powers[best],
            min(each.decision.p_value for each in own), any(each.decision.rejected for each in own), _word(powers[best]),
            int(np.ceil(runs * (detectable / deviation) ** 2)) if deviation > 1e-6 * detectable else None))
    return _verdict(control, details)


def _deviations(statistic: str, limit: Expected, wrong: Expected, probe: Probe) -> dict[str, float]:
    """What the wrong law changes, by the label of the place."""
    labels = probe.statistics[statistic].labels
    if statistic == DISTRIBUTION:
        own = dict(zip(probe.tables, labels))
        # less what the interpolation of either may be off
        return {
            own[k]: float(max(np.max(np.abs(d.values - limit.distributions[k].values)) - d.error - limit.distributions[k].error, 0))
            for k, d in wrong.distributions.items()}
    return dict(zip(labels, np.abs(wrong.numbers[statistic].value - limit.numbers[statistic].value).tolist()))


def _power(deviation: float, result: StatisticResult, level: float) -> float:
    decision = result.decision
    if result.statistic != DISTRIBUTION:
        return float(power_against(deviation, decision.stderr, level))
    # the bound behind kolmogorov.smallest_detectable, solved for the power
    half = 0.5 * decision.stderr
    return float(ndtr((deviation - decision.smallest_detectable) / half + ndtri(POWER)))


def _rounded_up(count: int) -> int:
    """Two significant digits: 73,756,385 is 74,000,000."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def _word(power: float) -> str:
    return "must" if power >= MUST else "may" if power >= MAY else "cannot"


def _verdict(control: str, details: list[ControlResult]) -> ControlVerdict:
    rejected = any(detail.rejected for detail in details)
    words = [detail.expected for detail in details]
    expected = next((word for word in ("must", "may") if word in words), "cannot")
    seen = sorted({f"{d.statistic} of {d.output}" for d in details if d.rejected})
    changed = [d for d in details if d.runs_needed is not None]
    if not details:
        reason = "omitted: no value is finite at these widths"
    elif rejected:
        reason = f"rejected by {', '.join(seen)}"
    elif not changed:
        reason = "it is the limit itself in all that is measured: there is nothing to reject"
    elif expected == "must":
        strongest = max(details, key=lambda d: d.power)
        reason = (f"not rejected although {strongest.statistic} of {strongest.output} sees a deviation of "
                  f"{strongest.deviation:.2g} with probability {strongest.power:.4f}")
    else:
        easiest = min(changed, key=lambda d: d.runs_needed)
        reason = (f"too close to the limit for these runs: {easiest.statistic} of {easiest.output} is off by "
                  f"{easiest.deviation:.2g}, {easiest.smallest_detectable:.2g} would be seen; about "
                  f"{_rounded_up(easiest.runs_needed):,} runs are needed")
    return ControlVerdict(control, rejected, expected, rejected or expected != "must", reason, tuple(details))
