"""A reported quantity: its expressions, the arrays collected for it, and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.expressions import Coord, Expr, Index, Num, ScalarRef
from netsor.ir.labelled import LEADING, SAMPLE, Labelled, arrange
from netsor.ir.program import Family, Output, Part, RandomScalar
from netsor.ir.rewrite import substitute
from netsor.limit.analysis import Analysis
from netsor.limit.laws import Law
from netsor.limit.levels import Level
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import copy

MAX_COVARIANCE = 4096  # elements of an output beyond which only variances are reported

Piece = tuple[dict[Index, int], Expr]  # constant positions along the output's axes, and the value there


class Quantity:
    """One output.  Arrays run over the finite axes; elements along an infinite axis are alike and count as samples.

    Subclasses fill ``expressions`` (what must be evaluated) and read them in ``collect`` and ``finish``."""

    kind = "?"

    def __init__(self, output: Output, analysis: Analysis):
        self.output, self.analysis = output, analysis
        self.axes = tuple(axis for axis in output.axes if not axis.range.infinite)
        self.rows = tuple(copy(axis, "x") for axis in self.axes)
        self.columns = tuple(copy(axis, "y") for axis in self.axes)
        self.shape = tuple(axis.range.size for axis in self.axes)
        self.cells = math.prod(self.shape)
        self.kept_cells = self.cells**2 if self.cells <= MAX_COVARIANCE else self.cells
        self.families = [part.reference.family for part in output.parts]
        with analysis.explained(self.families[0]):
            self.expressions: list[Expr] = self.build()
        self.level: Level = max((analysis.levels.of(e) for e in self.expressions), default=Level.STATIC)

    def samples(self, per_replicate: int, along: int) -> int:
        """Samples in each replicate: of the scores, or elements ``along`` an infinite axis, or the one value there is."""
        if self.level == Level.SAMPLE:
            return per_replicate
        elements = self.level == Level.REPLICATE and any(axis.range.infinite for axis in self.output.axes)
        return along if elements else 1

    # --- for subclasses ----------------------------------------------------------------------------------------------

    def build(self) -> list[Expr]:
        """Set up the pieces; returns every expression that will be evaluated."""
        raise NotImplementedError

    def allocate(self, replicates: int, samples: int) -> None:
        """Room for what ``collect`` stores."""
        raise NotImplementedError

    def collect(self, replicate: int, window: slice, numbers: Numbers, laws: dict) -> None:
        """Evaluate in one context (a chunk of samples, if the quantity depends on samples) and store."""
        raise NotImplementedError

    def finish(self, numbers: Numbers, done: tuple[int, int]) -> "Variable":
        """The result, from ``done`` = (replicates, samples in each)."""
        raise NotImplementedError

    # --- helpers -----------------------------------------------------------------------------------------------------

    def elements(self, side: str) -> list[tuple[dict[Index, int], Coord | ScalarRef]]:
        """The parts as references at the copies ``side`` of the axes (infinite axes: the same element on both sides)."""
        return [(part.constants, self._reference(part, side)) for part in self.output.parts]

    def _reference(self, part: Part, side: str) -> Coord | ScalarRef:
        names: dict[Index, Expr] = {}
        for axis in self.output.axes:
            constant = part.constants.get(axis)
            names[axis] = Num(constant) if constant is not None else copy(axis, "x" if axis.range.infinite else side)
        return substitute(part.reference, names)

    def assemble(self, numbers: Numbers, pieces: Sequence[tuple], *axes: tuple[Index, ...]) -> np.ndarray:
        """Values of pieces [(constants for each group of axes…, expression)] as an array (samples, *axes, …).

        Elements along infinite axes count as samples; where scores are sampled too, each sample takes one element."""
        flat = tuple(axis for group in axes for axis in group)
        arrays = []
        for *constants, expr in pieces:
            fixed = {}
            for group, own in zip(axes, constants):
                fixed |= {axis: own[base] for axis, base in zip(group, self.axes) if base in own}
            value = one_element(numbers.evaluate(expr), numbers.replicate)
            extra = tuple(label for label in value.labels if label not in flat)
            free = tuple(axis for axis in flat if axis not in fixed)
            dense = arrange(value, extra + free, {axis: axis.range.size for axis in free})
            dense = dense.reshape((-1,) + dense.shape[len(extra):]) if extra else dense[None]
            place = tuple(fixed[axis] - axis.range.lo if axis in fixed else slice(None) for axis in flat)
            arrays.append((place, dense))
        if len(arrays) == 1 and all(isinstance(position, slice) for position in arrays[0][0]):
            return arrays[0][1]
        samples = max(len(dense) for _, dense in arrays)
        result = np.zeros((samples, *[axis.range.size for axis in flat]))
        for place, dense in arrays:
            result[(slice(None), *place)] = dense
        return result

    def given(self) -> list[str]:
        """Names of the scores that the quantity is conditional on."""
        scores = frozenset().union(*(self.analysis.randomness.scores(family) for family in self.families))
        scores -= frozenset(self.families)
        own = {family.name for family in self.families}
        ordered = sorted(scores, key=lambda f: f.order)
        names = [
            score.name.split(".")[0] if isinstance(score.definition, RandomScalar) else score.name
            for score in ordered if not score.hidden or isinstance(score.definition, RandomScalar)
        ]
        shown = [name for name in dict.fromkeys(names) if name not in own]
        return shown or (["scores"] if scores and not names else [])

    def method(self, numbers: Numbers, replicates: int, samples: int) -> tuple[str, float]:
        """How the values came about, and the relative error of quadrature behind them."""
        sampled = f"{replicates} x {samples} samples of the scores" if samples > 1 else f"{replicates} randomisations"
        numbers.prepare(*[e for e in self.expressions if self.analysis.levels.of(e) == Level.STATIC])
        relative, methods = numbers.quadrature_error(*self.expressions)
        parts = sorted(method for method in methods if method not in ("exact",))
        if replicates > 1:
            parts.append(sampled)
        return ("; ".join(dict.fromkeys(parts)) or "exact"), relative


def one_element(value: Labelled, seed: int) -> Labelled:
    """Infinite axes turned into the sample axis: each position in turn, or one at random for each sample of the scores (in turn
    would fall into step with the quasi-random points)."""
    infinite = [label for label in value.labels if label not in LEADING and label.range.infinite]
    if not infinite:
        return value
    kept = tuple(label for label in value.labels if label != SAMPLE and label not in infinite)
    leading = [SAMPLE] if SAMPLE in value.labels else []
    data = np.transpose(value.data, [value.axis(label) for label in leading + infinite + list(kept)])
    size, samples = data.shape[len(leading)], np.arange(len(data))
    position = (np.random.default_rng(seed).integers(size, size=len(data)) if leading else samples,) * len(infinite)
    return Labelled(data[(samples, *position) if leading else position], (SAMPLE, *kept))


class Variable:
    """The limit of one output, over its finite axes.

    ``mean``, ``var``, ``excess_kurtosis`` are :class:`Estimate` of shape ``shape``; ``cov`` of shape ``shape + shape``.  Indexing (from 0)
    gives the law of one element: ``limit["y"][0].pdf(t)``."""

    def __init__(self, quantity: Quantity, law: str, mean: Estimate, var: Estimate, excess_kurtosis: Estimate,
                 cov: Estimate | None, element, description: str = ""):
        self.name, self.kind, self.law = quantity.output.name, quantity.kind, law
        self.axes = {axis.name: axis.range.size for axis in quantity.axes}
        self.indices = quantity.axes
        self.families: list[Family] = quantity.families
        self.given = quantity.given() if law in ("gaussian mixture", "function of gaussian") else []
        self.mean, self.var, self.excess_kurtosis = mean, var, excess_kurtosis
        self._cov, self._element, self.description = cov, element, description

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.axes.values())

    @property
    def has_cov(self) -> bool:
        """Whether the full covariance was computed (outputs beyond MAX_COVARIANCE elements report variances only)."""
        return self._cov is not None

    @property
    def cov(self) -> Estimate:
        """Covariance, shape ``shape + shape``.

        :raises ValueError: if the output has so many elements that only variances were computed."""
        if self._cov is None:
            count = math.prod(self.shape)
            raise ValueError(f"{self.name} has {count:,} elements: only variances are computed beyond {MAX_COVARIANCE:,}")
        return self._cov

    def __getitem__(self, index) -> Law:
        """The law of one element (positions from 0, negative ones from the end)."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape):
            raise IndexError(f"{self.name} has {len(self.shape)} axes ({', '.join(self.axes)}), not {len(index)}")
        place = tuple(int(i) + size if i < 0 else int(i) for i, size in zip(index, self.shape))
        if any(not 0 <= i < size for i, size in zip(place, self.shape)):
            raise IndexError(f"{self.name} has shape {self.shape}; {index} is outside")
        return self._element(place)

    def __repr__(self) -> str:
        axes = ", ".join(f"{name}={size}" for name, size in self.axes.items())
        return f"<{self.name}[{axes}]: {self.law}>" if axes else f"<{self.name}: {self.law}>"


