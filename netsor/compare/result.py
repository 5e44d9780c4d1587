"""What a comparison says: rows of numbers, verdicts, and their JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from netsor.limit.result import LimitResult

AGREES, BIAS, DISAGREES, UNRESOLVED = "agrees", "bias", "disagrees", "unresolved"
MEANING = {
    AGREES: "agrees with the limit within noise",
    BIAS: "differs from the limit by the O(1/n) bias that the fit predicts",
    DISAGREES: "disagrees with the limit",
    UNRESOLVED: "differs from the limit, and these widths cannot tell bias from disagreement",
}
UNDEFINED = "nothing: a value is not finite"
"""What decides where nothing can."""


def _meaning(verdict: str, undefined: bool) -> str:
    """``undefined``: whether all that is unresolved is so because a value is not finite."""
    return "is not judged where values are not finite" if verdict == UNRESOLVED and undefined else MEANING[verdict]


@dataclass(frozen=True)
class AtWidth:
    """A statistic at one width.  For distribution functions ``finite`` is the distance and ``z`` is None."""

    width: int
    finite: float
    difference: float
    stderr: float
    z: float | None
    p_value: float
    predicted: float | None
    residual_p_value: float | None
    smallest_detectable: float
    verdict: str = AGREES


@dataclass(frozen=True)
class Fit:
    """The fit a + b/n (+ c/n^2) of a statistic over ``widths``; ``left_out`` widths were too small for its form.

    ``bias`` is b/n (+ c/n^2) at ``widths``, the prediction without a, and ``bias_stderr`` its standard errors; both are empty for
    distribution functions."""

    widths: tuple[int, ...]
    left_out: tuple[int, ...]
    terms: int
    chi_squared: float | None
    degrees: int
    p_value: float
    slope: float | None = None
    slope_stderr: float | None = None
    bias: tuple[float, ...] = ()
    bias_stderr: tuple[float, ...] = ()


@dataclass(frozen=True)
class Decision:
    """The difference from the limit that decides, ``by`` extrapolation to infinite width or at the largest width."""

    by: str
    finite: float
    difference: float
    stderr: float
    z: float | None
    p_value: float
    smallest_detectable: float
    rejected: bool = False


@dataclass(frozen=True)
class StatisticResult:
    """One statistic of one element (or pair): the limit's value, every width, the fit, and the verdict."""

    output: str
    statistic: str
    element: str
    limit: float | None
    limit_error: float
    widths: tuple[AtWidth, ...]
    decision: Decision
    verdict: str
    fit: Fit | None = None
    rate: tuple[float, float] | None = None
    pairs: tuple[tuple[int, float, float, float], ...] = ()


@dataclass(frozen=True)
class Drawn:
    """Draws that are kept for figures: one coordinate of the element at ``place`` (counted from 0) of an output, by width; of the first
    runs, at most so many as :mod:`netsor.compare.comparison` keeps."""

    output: str
    place: tuple[int, ...]
    draws: dict[int, np.ndarray]


@dataclass(frozen=True)
class Row:
    """One line of the table; ``width`` None is the extrapolation to infinite width (or the width that decides)."""

    output: str
    statistic: str
    element: str
    width: int | None
    finite: float
    limit: float | None
    difference: float
    stderr: float
    z: float | None
    p_value: float
    smallest_detectable: float
    verdict: str


@dataclass(frozen=True)
class WidthVerdict:
    """One width: its verdict is the worst of its statistics, of which ``counts`` says how many have which."""

    width: int
    verdict: str
    counts: dict[str, int]
    meaning: str


@dataclass(frozen=True, repr=False)
class Comparison:
    """Finite width against the limit.

    ``verdict`` is "agrees", "disagrees" (a statistic's extrapolation to infinite width is off; the probability that a
    true limit is called so is at most ``level``) or "unresolved" (a difference that the widths cannot tell from bias).
    ``limit`` is what finite width was compared with, ``drawn`` has some draws of each output, by name.
    ``dropped`` runs of an unfinished width are not used."""

    program: str
    widths: tuple[int, ...]
    runs: int
    coordinates: int
    seed: int
    samples: int
    level: float
    results: tuple[StatisticResult, ...]
    limit: LimitResult = field(compare=False)
    drawn: dict[str, Drawn] = field(compare=False)
    controls: tuple = ()
    kernel_densities: tuple = ()
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    dropped: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        found = {result.verdict for result in self.results}
        return DISAGREES if DISAGREES in found else UNRESOLVED if UNRESOLVED in found else AGREES

    @property
    def meaning(self) -> str:
        """The verdict in words."""
        return _meaning(self.verdict, all(r.decision.by == UNDEFINED for r in self.results if r.verdict == UNRESOLVED))

    def __repr__(self) -> str:
        widths = ", ".join(map(str, self.widths))
        return f"<comparison of {self.program} at widths {widths}: {self.verdict}, {self.tests:,} statistics>"

    @property
    def per_width(self) -> dict[int, WidthVerdict]:
        """The verdict at every width."""
        verdicts = {}
        for k, width in enumerate(self.widths):
            each = [result.widths[k].verdict for result in self.results]
            counts = {name: each.count(name) for name in MEANING if each.count(name)}
            worst = next((name for name in (DISAGREES, UNRESOLVED, BIAS) if name in counts), AGREES)
            undefined = not any(math.isfinite(result.widths[k].difference) for result, word in zip(self.results, each) if word == UNRESOLVED)
            verdicts[width] = WidthVerdict(width, worst, counts, _meaning(worst, undefined))
        return verdicts

    @property
    def tests(self) -> int:
        """How many statistics decide together."""
        return len(self.results)

    @property
    def level_of_each(self) -> float:
        """The false-alarm rate of each statistic, at which ``smallest_detectable`` is stated (Holm's steps only raise it)."""
        return self.level / max(self.tests, 1)

    def table(self) -> list[Row]:
        """Every statistic at every width and, with ``width`` None, what decides."""
        return list(self._rows())

    def _rows(self) -> Iterator[Row]:
        for r in self.results:
            own = (r.output, r.statistic, r.element)
            for w in r.widths:
                yield Row(*own, w.width, w.finite, r.limit, w.difference, w.stderr, w.z, w.p_value,
                          w.smallest_detectable, w.verdict)
            d = r.decision
            yield Row(*own, None, d.finite, r.limit, d.difference, d.stderr, d.z, d.p_value, d.smallest_detectable,
                      r.verdict)

    def plot(self, file: str | Path | None = None, *, outputs: list[str] | None = None) -> Figure:
        """For every output the law of one element with histograms at finite width, the limit's covariance, and differences from the limit
        against the width with fitted bias and rate, as a matplotlib figure.

        :param file: where to write it too, a name that ends in .png, .svg or .pdf.
        :param outputs: names of those to draw (the first eight by default).
        :raises ValueError: for another ending; KeyError: for a name that is no output."""
        from netsor.plot import plotted

        return plotted(self, file, outputs=outputs)

    def as_dict(self) -> dict[str, Any]:
        """Numbers, strings, lists and dictionaries only; what is not finite is None."""
        return _plain({
            "program": self.program, "params": self.parameters, "verdict": self.verdict,
            "meaning": self.meaning, "widths": self.widths, "runs": self.runs,
            "coordinates": self.coordinates, "seed": self.seed, "samples": self.samples,
            "false_alarm_rate": self.level, "tests": self.tests,
            "per_width": [asdict(verdict) for verdict in self.per_width.values()],
            "statistics": [asdict(result) | {"false_alarm_rate": self.level_of_each} for result in self.results],
            "controls": [asdict(control) for control in self.controls],
            "kernel_densities": [asdict(each) for each in self.kernel_densities],
            "notes": self.notes, "interrupted": self.interrupted, "dropped": self.dropped,
        })


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, int):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 and not isinstance(value, float) else (
        number if math.isfinite(number) else None)
