"""The limit of a program, as users hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.program import Expectation, Program
from netsor.limit.analysis import Analysis, Theorem
from netsor.limit.outputs.base import Variable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LimitResult(Mapping):
    """``limit["y"]`` is a :class:`Variable`; iteration gives the names of the outputs.

    ``samples`` is the number of samples of the scores (0 if nothing was sampled); ``interrupted`` says that a run was stopped early and
    fewer samples than asked for stand behind the numbers.  ``expectations`` pairs the program's ``expect`` lines with their values."""

    def __init__(self, program: Program, analysis: Analysis, variables: dict[str, Variable],
                 expectations: list[tuple[Expectation, Estimate]], draw, *, seed: int, samples: int, interrupted: bool):
        self.program, self.analysis = program, analysis
        self._variables, self._draw = variables, draw
        self.expectations = expectations
        self.seed, self.samples, self.interrupted = seed, samples, interrupted

    def __getitem__(self, name: str) -> Variable:
        if name not in self._variables:
            raise KeyError(f"{name!r} is no output; there are {', '.join(self._variables)}")
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def theorem(self) -> Theorem:
        """What the result stands on."""
        return self.analysis.theorem

    def sample(self, size: int, random_state=None) -> dict[str, np.ndarray]:
        """Joint draws of every output: arrays of shape (size, *axes).  Coordinates of vectors: one coordinate each."""
        drawn = self._draw(int(size), random_state)
        return {name: drawn[name] for name in self._variables}

    def plot(self, file: str | Path | None = None, *, outputs: list[str] | None = None,
             finite: Mapping[int, Mapping[str, np.ndarray]] | None = None) -> Figure:
        """The laws of the outputs on linear and logarithmic scale, and their covariances, as a matplotlib figure.

        :param file: where to write it too, a name that ends in .png, .svg or .pdf.
        :param outputs: names of those to draw (the first eight by default).
        :param finite: draws for histograms, ``{n: program.sample(n, runs)}``.
        :raises ValueError: for another ending; KeyError: for a name that is no output."""
        from netsor.plot import plotted

        return plotted(self, file, outputs=outputs, finite=finite)

    def __repr__(self) -> str:
        return f"<limit of {self.program.name}: {', '.join(map(repr, self._variables.values()))}>"
