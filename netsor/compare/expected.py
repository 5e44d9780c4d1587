"""The limit's values of what a probe measures, and the probe itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netsor.compare.distribution import DistributionTable, NotContinuous, tabulate
from netsor.compare.elements import MAX_DISTRIBUTIONS, choose_elements, choose_pairs, label
from netsor.compare.probe import DISTRIBUTION, FREQUENCIES, Places, Probe, cf_name
from netsor.expectation import Estimate

if TYPE_CHECKING:
    from netsor.limit.laws import Law
    from netsor.limit.outputs.base import Variable

CONSTANT = 1e-14
"""Variances below this share of the output's squared scale are rounding."""

SEEN_DRAWS = 100
"""Expected draws at (and off) an atom from which on its mass is compared by a normal approximation."""

INTERPOLATION = 0.04
"""Of the sampling error 1/sqrt(runs): what interpolating a distribution function may add."""


@dataclass(frozen=True)
class Distribution:
    """A distribution function at the edges of a probe's table; see :class:`DistributionTable`."""

    values: np.ndarray
    error: float
    samples: float = np.inf


@dataclass(frozen=True)
class Expected:
    """What a probe should find: estimates over the places of each statistic, distribution functions by table."""

    numbers: dict[str, Estimate]
    distributions: dict[int, Distribution]


def make_probe(variable: Variable, runs: int, coordinates: int) -> Probe:
    """The statistics of an output, for so many runs and recorded coordinates of vectors (1 for scalars)."""
    size = int(np.prod(variable.shape, dtype=int))
    elements = choose_elements(size)
    labels = [label(variable, int(k)) for k in elements]
    notes = [] if len(elements) == size else [f"{variable.name}: {len(elements)} of {size:,} elements, at equal distances"]
    mean, variance = (estimate.value.reshape(-1)[elements] for estimate in (variable.mean, variable.var))
    scale = np.sqrt(mean**2 + np.max(variance, initial=0.0))
    random = np.flatnonzero(variance > CONSTANT * scale**2)
    deviation = np.zeros(len(elements))
    deviation[random] = np.sqrt(variance[random])
    pairs = _pairs(variable, len(elements), len(random), notes)
    laws = laws_of(variable, elements, random)
    chosen = random[choose_elements(len(random), MAX_DISTRIBUTIONS)] if len(random) else random
    if len(chosen) < len(random):
        notes.append(f"{variable.name}: distribution functions of {len(chosen)} of {len(random)} elements")
    tables = _tables(laws, chosen, labels, runs, notes)
    atoms = _atoms(laws, chosen, runs)
    with_squares = coordinates > 1 and len(random) > 0 and all(map(_has_cross_cumulant, laws.values()))
    own = [labels[k] for k in random]
    average = [f"{variable.name}, average"] if len(random) > 1 else []
    statistics = {
        "mean": Places(labels, scale), "variance": Places(labels + average, np.append(scale**2, np.ones(len(average))))}
    if len(random):
        cf = [cf_name(part, multiple) for multiple in FREQUENCIES for part in ("real", "imaginary")]
        ones = np.ones(len(random) + len(average))
        statistics |= {name: Places(own + average, ones) for name in ("excess kurtosis", *cf)}
    if len(pairs):
        i, j = pairs.T
        statistics["covariance"] = Places([f"{labels[a]}, {labels[b]}" for a, b in pairs], scale[i] * scale[j])
    if atoms:
        statistics["mass"] = Places([f"{labels[k]} = {a:.6g}" for k, a in atoms], np.ones(len(atoms)))
    if with_squares:
        statistics["squares"] = Places(own, scale[random] ** 4)
    if tables:
        statistics[DISTRIBUTION] = Places([labels[k] for k in tables], np.ones(len(tables)))
    return Probe(variable.name, elements, mean, deviation, random, pairs, atoms, tables, with_squares, statistics, notes)


def laws_of(variable: Variable, elements: np.ndarray, random: np.ndarray) -> dict[int, Law]:
    """The laws of the elements that are random in the limit, by position in ``elements``."""
    return {int(k): variable[np.unravel_index(elements[k], variable.shape) if variable.shape else ()] for k in random}


def expected_of(variable: Variable, probe: Probe, laws: dict[int, Law], scale: float = 1.0) -> Expected:
    """The values of a probe's statistics under the law of ``variable`` (the limit itself, or another one), stretched by
    ``scale``: what is random about the probe's centre, numbers about 0."""
    flat = lambda estimate: Estimate(  # noqa: E731
        estimate.value.reshape(-1)[probe.elements], estimate.error.reshape(-1)[probe.elements], estimate.method)
    mean, variance = flat(variable.mean), flat(variable.var)
    shift = mean.value - probe.centre
    moved = scale * mean.value - probe.centre
    moved[probe.random] = scale * shift[probe.random]
    second = Estimate(scale**2 * variance.value + moved**2, scale**2 * variance.error, variance.method)
    numbers = {"mean": Estimate(moved, scale * mean.error, mean.method), "variance": second}
    if len(probe.random):
        own, units = second[probe.random], probe.deviation[probe.random] ** 2
        relative = _with_average(Estimate(own.value / units, own.error / units, own.method))[len(own):]
        numbers["variance"] = Estimate(
            np.append(second.value, relative.value), np.append(second.error, relative.error), second.method)
        if np.all(np.abs(shift[probe.random]) <= 1e-9 * probe.deviation[probe.random]):
            numbers["excess kurtosis"] = _with_average(flat(variable.excess_kurtosis)[probe.random])
        for multiple in FREQUENCIES:
            waves = _characteristic(laws, probe, scale * multiple)
            numbers |= {cf_name(part, multiple): wave for part, wave in zip(("real", "imaginary"), waves)}
    if len(probe.pairs):
        i, j = probe.pairs.T
        at = probe.elements[i] * variable.mean.value.size + probe.elements[j]
        value, error = (array.reshape(-1)[at] for array in (variable.cov.value, variable.cov.error))
        numbers["covariance"] = Estimate(scale**2 * value + moved[i] * moved[j], scale**2 * error, variable.cov.method)
    if probe.atoms and scale == 1.0:
        masses = [dict(laws[k].atoms()).get(place) for k, place in probe.atoms]
        value, error = ([0.0 if m is None else float(getattr(m, name)) for m in masses] for name in ("value", "error"))
        numbers["mass"] = Estimate(np.array(value), np.array(error), "masses of atoms")
    if probe.with_squares:
        numbers["squares"] = _squares(laws, variance, scale)
    distributions = {k: _distribution(laws[k], table, probe.centre[k], scale) for k, table in probe.tables.items()}
    return Expected(numbers, {k: found for k, found in distributions.items() if found is not None})


def _pairs(variable: Variable, elements: int, random: int, notes: list[str]) -> np.ndarray:
    none = np.empty((0, 2), dtype=int)
    if elements < 2 or not random:
        return none
    if not variable.has_cov:
        notes.append(f"{variable.name}: no covariances of different elements, the limit has none for so many of them")
        return none
    pairs, total = choose_pairs(elements), elements * (elements - 1) // 2
    if len(pairs) < total:
        notes.append(f"{variable.name}: covariances of {len(pairs)} of {total:,} pairs of elements, drawn once and for all")
    return pairs


def _characteristic(laws: dict, probe: Probe, multiple: float) -> tuple[Estimate, Estimate]:
    """E cos and E sin of t (X - centre).  The error of the modulus stands for both parts: never too small."""
    values, errors, method = [], [], ""
    for k, law in laws.items():
        t = multiple / probe.deviation[k]
        estimate = law.cf(np.array([t]))
        values.append(estimate.value[0] * np.exp(-1j * t * probe.centre[k]))
        errors.append(estimate.error[0])
        method = estimate.method
    parts = (Estimate(part(values), np.array(errors), method) for part in (np.real, np.imag))
    return tuple(map(_with_average, parts))


def _with_average(estimate: Estimate) -> Estimate:
    """One more entry, the average, if there are several; its error is the average error, as if all were off together."""
    if len(estimate) < 2:
        return estimate
    return Estimate(
        np.append(estimate.value, estimate.value.mean()), np.append(estimate.error, estimate.error.mean()), estimate.method)


def _tables(laws: dict, chosen: np.ndarray, labels: list[str], runs: int, notes: list[str]) -> dict[int, DistributionTable]:
    """Distribution functions; reasons where there are none."""
    tables = {}
    for k in map(int, chosen):
        try:
            tables[k] = tabulate(laws[k], tolerance=INTERPOLATION / np.sqrt(runs))
        except NotContinuous as reason:
            notes.append(f"{labels[k]}: no distribution function is compared, {reason}")
    return tables


def _distribution(law: Law, table: DistributionTable, centre: float, scale: float) -> Distribution | None:
    """P(X <= edge), from the table where the law is the table's own."""
    if table.law is law:
        if scale == 1.0:
            return Distribution(table.values, table.error, table.samples)
        if len(table.atoms):
            return None  # stretched, the atoms are elsewhere
        at = centre + (table.edges - centre) / scale
        return Distribution(np.interp(at, table.edges, table.values, left=0.0, right=1.0), table.error + table.gap, table.samples)
    try:
        other = tabulate(law, 1e-4)
    except NotContinuous:
        return None
    values = np.interp(table.edges, other.edges, other.values, left=0.0, right=1.0)
    return Distribution(values, other.error + other.gap, other.samples)


def _atoms(laws: dict, chosen: np.ndarray, runs: int) -> list[tuple[int, float]]:
    """(element, place) of the atoms whose masses so many runs show."""
    found = []
    for k in map(int, chosen):
        atoms = laws[k].atoms()
        for place, mass in atoms if len(atoms) <= 16 else []:
            if runs * min(float(mass.value), 1 - float(mass.value)) >= SEEN_DRAWS:
                found.append((k, place))
    return found


def _has_cross_cumulant(law: Law) -> bool:
    from netsor.limit.laws import GaussianMixture

    return isinstance(law, GaussianMixture) and law.components.centred


def _squares(laws: dict, variance: Estimate, scale: float) -> Estimate:
    """E c^2 c'^2 = Var^2 + k(c, c, c', c') for two coordinates of one vector."""
    values, errors = [], []
    for k, law in laws.items():
        cumulant, v = law.cross_cumulant(), variance[k]
        values.append(float(v.value) ** 2 + float(cumulant.value))
        errors.append(float(cumulant.error) + 2 * float(v.value) * float(v.error))
    return Estimate(scale**4 * np.array(values), scale**4 * np.array(errors), "from the conditional variances")
