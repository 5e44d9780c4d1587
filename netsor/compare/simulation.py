"""What ``run`` reports, estimated at one finite width: means, variances, covariances and kurtoses with standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netsor.compare.defaults import RUNS
from netsor.compare.drawing import draw, refuse_if_senseless
from netsor.compare.measured import excess_kurtosis_of, mean_of
from netsor.compare.not_finite import count, note
from netsor.expectation import Estimate
from netsor.finite.backends import drawing_on
from netsor.finite.failures import as_diagnostics
from netsor.ir.expressions import Index
from netsor.ir.program import Output, Program
from netsor.language.selection import selected

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_COVARIANCE = 512
BLOCK = 2**23


@dataclass(frozen=True)
class SimulatedOutput:
    """One output at width n over its axes (``indices``): ``mean``, ``var``, ``excess_kurtosis`` of its shape, ``cov`` of
    shape + shape (None beyond MAX_COVARIANCE elements).  ``draws`` is (runs, *axes) or (runs, *axes, coordinates)."""

    name: str
    kind: str
    indices: tuple[Index, ...]
    mean: Estimate
    var: Estimate
    excess_kurtosis: Estimate
    cov: Estimate | None
    draws: np.ndarray
    law: str = "estimated"
    given: tuple[str, ...] = ()

    @property
    def axes(self) -> dict[str, int]:
        return {axis.name: axis.range.size for axis in self.indices}

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.range.size for axis in self.indices)

    @property
    def has_cov(self) -> bool:
        """Whether covariances of different elements were estimated."""
        return self.cov is not None


class Simulation(Mapping):
    """``simulation["y"]`` is a :class:`SimulatedOutput`; ``runs`` are those drawn, fewer than ``wanted`` if interrupted."""

    def __init__(self, program: Program, width: int, runs: int, coordinates: int, seed: int,
                 outputs: dict[str, SimulatedOutput], wanted: int):
        self.program, self.width, self.runs, self.wanted = program, width, runs, wanted
        self.coordinates, self.seed, self._outputs = coordinates, seed, outputs

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before all runs were done."""
        return self.runs < self.wanted

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of draws that are not finite."""
        return tuple(filter(None, (note(name, count(own.draws), self.runs, self.width) for name, own in self.items())))

    def __getitem__(self, name: str) -> SimulatedOutput:
        if name not in self._outputs:
            raise KeyError(f"{name!r} is no output; there are {', '.join(self._outputs)}")
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        stopped = f" of {self.wanted:,}, interrupted" if self.interrupted else ""
        return f"<simulation of {self.program.name} at width {self.width}, {self.runs:,} runs{stopped}: {', '.join(self)}>"

    def plot(self, file: str | Path | None = None, *, outputs: list[str] | None = None) -> Figure:
        """Histograms of the outputs on linear and logarithmic scale beside the Gaussian of the same mean and variance, and their
        covariances, as a matplotlib figure.  The limit is not drawn: :meth:`netsor.compare.result.Comparison.plot` has both.

        :param file: where to write it too, a name that ends in .png, .svg or .pdf.
        :param outputs: names of those to draw (the first eight by default).
        :raises ValueError: for another ending; KeyError: for a name that is no output."""
        from netsor.plot import plotted

        return plotted(self, file, outputs=outputs)

    def as_dict(self) -> dict[str, Any]:
        """Numbers, strings, lists and dictionaries only; what is not finite is None."""
        interrupted = {"interrupted": {"runs": self.runs, "wanted": self.wanted}} if self.interrupted else {}
        return {
            "program": self.program.name, "width": self.width, "runs": self.runs, "coordinates": self.coordinates,
            "seed": self.seed, "variables": {name: _as_dict(own) for name, own in self.items()},
            "notes": list(self.notes), **interrupted,
        }


def simulate(
    program, width: int, runs: int = RUNS, seed: int = 0, coordinates: int = 1,
    progress: Callable[[int, int], None] | None = None, *, outputs: list[str] | None = None,
    backend: str | None = None, scheduler: str | None = None, workers: int | None = None,
) -> Simulation:
    """Draws of a program at width n, and estimates from them.

    Coordinates of one run are averaged over, run by run: errors are those of independent runs.  Variances are about the
    estimated mean, with the factor runs/(runs - 1).  Runs are drawn where ``backend``, ``scheduler`` and ``workers`` say, as
    for :func:`netsor.finite.sampling.sample`.  If interrupted, estimates are of the runs that are done.

    :raises NetsorError: for programs without a finite reading, and requests that are out of reach.
    :raises BackendError: a ValueError, if the backend or its cluster is not there.
    :raises KeyboardInterrupt: if interrupted before two runs are done."""
    ir: Program = getattr(program, "ir", program)
    if not all(isinstance(each, Integral) for each in (width, runs, coordinates)) or width < 1 or runs < 2 or coordinates < 1:
        raise ValueError("width, runs and coordinates are integers: the runs at least 2, the others at least 1")
    selected(ir, outputs or ())  # refuses other names
    wanted = [output for output in ir.outputs if outputs is None or output.name in outputs]
    size = lambda output: math.prod(axis.range.size for axis in output.axes)  # noqa: E731
    kept = 0 if ir.infinite else sum(size(output) * (coordinates if output.is_vector else 1) for output in wanted)
    elements = {output.name: np.arange(size(output)) for output in wanted}
    with as_diagnostics(), drawing_on(backend, scheduler, workers):
        refuse_if_senseless(ir, (width,), runs, coordinates, kept, wanted)
        drawn = draw(ir, width, runs, seed, coordinates, elements, progress)
        done = min((len(draws) for draws in drawn.values()), default=runs)
        if done < 2:
            raise KeyboardInterrupt
        method = f"{done:,} runs at width {width:,}"
        estimates = {output.name: _estimates(output, drawn[output.name], method) for output in wanted}
    return Simulation(ir, width, done, coordinates, seed, estimates, wanted=runs)


def _estimates(output: Output, draws: np.ndarray, method: str) -> SimulatedOutput:
    runs, elements, coordinates = draws.shape
    shape = tuple(axis.range.size for axis in output.axes)
    centre = draws.mean(axis=(0, 2))
    unbiased = runs / (runs - 1) if coordinates == 1 else 1.0
    parts: dict[str, list] = {"mean": [], "var": [], "excess_kurtosis": []}
    step = max(1, BLOCK // (runs * coordinates))
    for start in range(0, elements, step):
        block = draws[:, start : start + step]
        c = block - centre[start : start + step, None]
        parts["mean"].append(mean_of(block.mean(axis=-1)))
        parts["var"].append(mean_of(np.mean(c * c, axis=-1)))
        parts["excess_kurtosis"].append(excess_kurtosis_of(c))
    found = {}
    for name, each in parts.items():
        value, error = (np.concatenate([getattr(m, part) for m in each]).reshape(shape) for part in ("value", "stderr"))
        factor = unbiased if name == "var" else 1.0
        found[name] = Estimate(value * factor, error * factor, method)
    cov = _covariance(draws - centre[:, None], unbiased, shape, method) if elements <= MAX_COVARIANCE else None
    final = draws.reshape(runs, *shape, coordinates) if output.is_vector else draws.reshape(runs, *shape)
    kind = output.parts[0].reference.family.kind
    return SimulatedOutput(output.name, kind, output.axes, **found, cov=cov, draws=final)


def _covariance(c: np.ndarray, unbiased: float, shape: tuple[int, ...], method: str) -> Estimate:
    """E c_i c_j, products averaged over coordinates run by run; in blocks of runs."""
    runs, elements, coordinates = c.shape
    total, square = np.zeros((elements, elements)), np.zeros((elements, elements))
    step = max(1, BLOCK // max(elements**2, 1))
    for start in range(0, runs, step):
        block = c[start : start + step]
        products = block @ np.swapaxes(block, 1, 2) / coordinates
        total += products.sum(axis=0)
        square += np.sum(products**2, axis=0)
    mean = total / runs
    error = np.sqrt(np.maximum(square / runs - mean**2, 0.0) / (runs - 1))
    return Estimate((mean * unbiased).reshape(shape + shape), (error * unbiased).reshape(shape + shape), method)


def _as_dict(own: SimulatedOutput) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": own.kind, "axes": own.axes}
    for name in ("mean", "var", "cov", "excess_kurtosis"):
        estimate = getattr(own, name)
        if estimate is not None:
            found[name] = {"value": _finite(estimate.value), "error": _finite(estimate.error), "method": estimate.method}
    return found


def _finite(array: np.ndarray) -> Any:
    return np.where(np.isfinite(array), array.astype(object), None).tolist()
