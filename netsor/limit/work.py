"""What a limit would take, estimated from the sizes in its equations before anything is computed.

Seconds are those of one core; they are meant to tell a minute from a day.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from netsor.expectation.machine import usable_cores
from netsor.ir import labelled
from netsor.ir.amounts import duration
from netsor.ir.expressions import (
    Add, Array, Call, Expect, Expr, Index, Indicator, Let, Mul, Num, Pow, Reduce, ScalarRef, Softmax, Sym, Width,
)
from netsor.ir.rewrite import children, free_indices, walk
from netsor.limit.analysis import Analysis
from netsor.limit.dimensions import is_several, on_a_grid
from netsor.limit.integrals import POINTS, quasi_random_points
from netsor.limit.levels import Level
from netsor.limit.limits import TooMuchWork
from netsor.limit.outputs import Quantity
from netsor.limit.sampling import FEWEST, Sampler

SECONDS_LIMIT = 12 * 3600.0
DEFAULT_SECONDS = 20.0  # of samples of which no number was asked for
ELEMENT = 5e-9  # seconds for one number to go through one operation
MULTIPLY_ADD = 2e-10  # in a matrix product
PAIR = 1e-6  # the expectation of one pair, interpolated or by formula
NORMAL = 1.5e-8  # one normal number
TEMPORARIES = 3  # arrays of the largest size that are held at once
KEPT = {"G": 2, "H": 6, "S": 3}  # numbers that an output keeps of each sample


@dataclass
class Effort:
    """Seconds in all and for one sample of the scores, and bytes at the highest."""

    seconds: float
    per_sample: float
    bytes: float


def check_effort(analysis: Analysis, sampler: Sampler, quantities: list[Quantity], workers: int | None) -> tuple[Effort, int]:
    """What the outputs take, with so many workers or with as many as there are cores and memory for; TooMuchWork or MemoryError if that is
    more than any machine at hand can give."""
    found, workers = effort(analysis, sampler, quantities, workers or usable_cores()), workers or usable_cores()
    while found.bytes > 2 * labelled.MEMORY_LIMIT and workers > 1:
        workers //= 2
        found = effort(analysis, sampler, quantities, workers)
    if found.bytes > 2 * labelled.MEMORY_LIMIT:
        raise MemoryError(f"about {found.bytes / 2**30:,.0f} GiB would be needed")
    if found.seconds > SECONDS_LIMIT:
        hint = "ask for fewer elements, or for some of the outputs only"
        if sampler.quasi_random > POINTS:
            hint += f"; {POINTS:,} points are the least that are taken without --points"
        if 0 < found.per_sample * 64 < 600:
            affordable = 1 << max(int(600 / found.per_sample).bit_length() - 1, 6)
            hint = f"{affordable:,} samples would take about {duration(affordable * found.per_sample)}"
        raise TooMuchWork(f"this limit would take about {duration(found.seconds)}", hint)
    return found, workers


def affordable_samples(analysis: Analysis, sampler: Sampler, quantities: list[Quantity]) -> int:
    """The samples of the sampler, or so many halves of them that they take DEFAULT_SECONDS at most; no fewer than FEWEST."""
    samples, each = sampler.samples, effort(analysis, sampler, quantities, 1).per_sample
    while samples > FEWEST and samples * each > DEFAULT_SECONDS:
        samples //= 2
    return samples


def check_draws(count: int, found: Effort) -> None:
    """TooMuchWork if so many draws of the outputs would take too long."""
    seconds = count * found.per_sample
    if seconds > SECONDS_LIMIT:
        raise TooMuchWork(f"{count:,} draws would take about {duration(seconds)}", "ask for fewer")


def effort(analysis: Analysis, sampler: Sampler, quantities: list[Quantity], workers: int) -> Effort:
    """What the outputs take."""
    levels = analysis.levels
    chunk = min(sampler.chunk_size(sum(own.kept_cells for own in quantities)), sampler.per_replicate)
    times = {Level.STATIC: 1, Level.REPLICATE: sampler.replicates, Level.SAMPLE: sampler.samples}
    copies = {Level.STATIC: 1, Level.REPLICATE: sampler.replicates, Level.SAMPLE: chunk * (workers + 1)}
    costs = Costs(lambda index: sampler.infinite_size if index.range.infinite else index.range.size, sampler.quasi_random)
    seconds = dict.fromkeys(Level, 0.0)
    largest, held = dict.fromkeys(Level, 0.0), 0.0
    grams = [
        gram for plan in sampler.plans for member in plan.group.members for side in (member.left, member.right)
        for gram in side.grams
    ]
    expressions = [expression for own in quantities for expression in own.expressions] + grams
    for binding in list(levels.behind(expressions)):
        expressions.append(binding.expression)
        held += costs.count(binding.labels) * copies[levels.of_binding(binding)]
    for expression in dict.fromkeys(expressions):
        level = levels.of(expression)
        own_seconds, own_largest = costs.of(expression, level == Level.SAMPLE)
        seconds[level] += own_seconds
        largest[level] = max(largest[level], own_largest)
    for plan, level in zip(sampler.plans, sampler.levels):
        left, right = plan.size
        seconds[level] += plan.batch * (left * right * (NORMAL + (left + right) * MULTIPLY_ADD) + (left**3 + right**3) * MULTIPLY_ADD)
        largest[level] = max(largest[level], plan.batch * left * right)
        held += 2 * plan.batch * left * right * copies[level]
    for own in quantities:
        seconds[own.level] += 2 * own.kept_cells * ELEMENT
        held += sampler.replicates * own.kept_cells + KEPT.get(own.kind, 1) * own.cells * times[own.level]
    running = max(largest[level] * TEMPORARIES * (copies[level] if level == Level.SAMPLE else 1) for level in Level)
    total = sum(seconds[level] * times[level] for level in Level)
    return Effort(total, seconds[Level.SAMPLE], 8 * (held + running))


class Costs:
    """Seconds of expressions, and the largest arrays in them, without the axis of samples."""

    def __init__(self, size: Callable[[Index], int], points: int):
        self.size, self.points = size, points

    def count(self, indices: Iterable[Index]) -> float:
        return math.prod(map(self.size, indices))

    def of(self, root: Expr, sampled: bool) -> tuple[float, float]:
        seconds, largest = 0.0, 0.0
        stack = [root]
        while stack:
            expr = stack.pop()
            if isinstance(expr, (Index, Num, Sym, Width)):
                continue
            elements = self.count(free_indices(expr))
            if isinstance(expr, Reduce) and expr.op == "sum":
                terms = expr.body.terms if isinstance(expr.body, Add) else (expr.body,)
                guard = () if expr.guard is None else (Indicator(expr.guard),)
                for term in terms:
                    factors = (*(term.factors if isinstance(term, Mul) else (term,)), *guard)
                    own, elements = self._contraction(factors, free_indices(term) - set(expr.indices))
                    seconds, largest = seconds + own, max(largest, elements)
                    stack += factors
                continue
            if isinstance(expr, Mul):
                own, elements = self._contraction(expr.factors, free_indices(expr))
                stack += expr.factors
            elif isinstance(expr, Expect):
                own, inside = self._expectation(expr, elements, sampled)
                elements = max(elements, inside)
                stack += [*expr.mean, *(entry for row in expr.covariance for entry in row)]
            elif isinstance(expr, (Reduce, Softmax)):
                elements = self.count(free_indices(expr.body) | set(expr.indices if isinstance(expr, Reduce) else (expr.index,)))
                own = 8 * elements * ELEMENT
                stack += children(expr)
            elif isinstance(expr, (Let, ScalarRef, Array)):
                own = 0.0 if all(isinstance(term, (Index, Num)) for term in expr.subscripts) else elements * ELEMENT
            else:
                own = elements * ELEMENT * (4 if isinstance(expr, (Call, Pow)) else 1)
                stack += children(expr)
            seconds, largest = seconds + own, max(largest, elements)
        return seconds, largest

    def _contraction(self, factors: Iterable[Expr], keep: frozenset) -> tuple[float, float]:
        """As :func:`netsor.ir.labelled.contract` goes about it, taking the factors in order."""
        pending = [free_indices(factor) for factor in factors]
        joined, seconds, largest = pending[0], 0.0, self.count(pending[0])
        for position, other in enumerate(pending[1:], 2):
            union = joined | other
            later = keep.union(*pending[position:])
            summed = self.count(union - later)
            joined = union & later
            elements = self.count(joined)
            seconds += elements * (ELEMENT if summed == 1 else summed * MULTIPLY_ADD + ELEMENT)
            largest = max(largest, elements)
        return seconds + largest * ELEMENT, largest

    def _expectation(self, expr: Expect, cells: float, sampled: bool) -> tuple[float, float]:
        if not is_several(expr) and not on_a_grid(expr):
            return cells * PAIR, cells
        dimension = sum(self.count(block) for block in expr.inner)
        points = quasi_random_points(cells, dimension, sampled, self.points)
        outer = free_indices(expr)
        operations = sum(self.count(free_indices(part) - outer) for factor in expr.factors for part in walk(factor))
        own = cells * (points * (4 * operations * ELEMENT + dimension**2 * MULTIPLY_ADD) + dimension**3 * MULTIPLY_ADD)
        return own + points * dimension * NORMAL, cells * dimension**2
