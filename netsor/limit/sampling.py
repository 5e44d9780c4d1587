"""Sampling all scores of a program: groups in program order, chunk by chunk.

A chunk belongs to one replicate (one independent randomisation of everything quasi-random).  The same seed gives the same samples
whatever the size of the chunks and the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from netsor.ir.expressions import ZERO, Expr, Index
from netsor.ir.labelled import Labelled, align
from netsor.ir.program import Family
from netsor.limit.analysis import Analysis
from netsor.limit.draw import Conditional, GroupDraw, GroupPlan
from netsor.limit.integrals import POINTS, FirstReplicate
from netsor.limit.levels import Level
from netsor.limit.normals import BLOCK, Normals, PointSet
from netsor.limit.numbers import Ledger, Numbers
from netsor.rules import rule_of

CHUNK_BYTES = 96 * 2**20
BYTES_PER_EQUATION = 2**20  # the more equations, the more samples are needed to outweigh the interpreter's own work
MAX_CHUNK = 8192
INFINITE_INSIDE = 256  # elements that stand for an infinite axis whose law depends on sampled scores
NUMBERS, FEWEST, MOST = 2**26, 2**12, 2**18


class Sampler:
    """Draws the scores that a program's results depend on.

    :param samples: samples in all; rounded up so that each replicate has a power of two.  None: as many as fit NUMBERS normal
        numbers, between FEWEST and MOST.
    :param replicates: independent randomisations, from which errors are estimated.
    :param infinite_size: elements that stand for an infinite axis; by default the samples of a replicate, fewer inside samples."""

    def __init__(self, analysis: Analysis, *, samples: int | None, replicates: int, seed: int,
                 infinite_size: int | None = None, points: int = POINTS):
        self.analysis, self.seed = analysis, seed
        if samples is None:
            samples = _affordable(analysis)
        self.per_replicate = 1 << max(math.ceil(math.log2(max(samples, 1) / replicates)), 0)
        self.replicates, self.quasi_random = replicates, points
        self._static: dict = {}
        self._first = FirstReplicate()
        self.ledger = Ledger()
        self.levels = [analysis.level_of(group) for group in analysis.groups]
        alone = self.per_replicate if Level.SAMPLE not in self.levels else INFINITE_INSIDE
        self.infinite_size = infinite_size or alone
        self.plans = [GroupPlan(group, self._size) for group in analysis.groups]
        self._offsets: dict[tuple[int, int], int] = {}
        self._along = self._allocate([g for g, plan in enumerate(self.plans) if plan.is_infinite])
        self._across = self._allocate([g for g, plan in enumerate(self.plans) if not plan.is_infinite])
        self._normals: dict[int, Normals] = {}

    def _allocate(self, groups: list[int]) -> int:
        """Columns of a point set for every member of the groups; returns how many there are."""
        total = 0
        for g in groups:
            for k in range(len(self.plans[g].group.members)):
                self._offsets[g, k] = total
                total += self.plans[g].normals(k)
        return total

    @property
    def samples(self) -> int:
        return self.replicates * self.per_replicate

    @property
    def is_sampling(self) -> bool:
        """Whether anything is sampled (as against averaged over, or no score at all)."""
        return Level.SAMPLE in self.levels

    @property
    def is_replicated(self) -> bool:
        """Whether anything depends on a randomisation."""
        return bool(self.levels)

    # --- contexts ----------------------------------------------------------------------------------------------------

    def context(self, replicate: int) -> Numbers:
        """The numbers of one replicate, scores along infinite axes drawn."""
        numbers = Numbers(
            self.analysis.recursion, self.analysis.levels, seed=self.seed, replicate=replicate, static=self._static,
            ledger=self.ledger, infinite_size=self.infinite_size, points=self.quasi_random,
            first=self._first,
        )
        self._draw(Level.REPLICATE, None, numbers)
        return numbers

    def _elements(self, replicate: int) -> PointSet:
        """The normal numbers behind the elements that stand for infinite axes: the same for every sample, so that an average over the
        axis is one function of the sampled scores, without noise of its own."""
        return Normals(self._along, self.seed, replicate, stream=1).points(0, self.infinite_size)

    def points(self, replicate: int, start: int, stop: int) -> PointSet:
        """The normal numbers behind samples ``start`` to ``stop`` of a replicate."""
        if replicate not in self._normals:
            self._normals[replicate] = Normals(self._across, self.seed, replicate)
        return self._normals[replicate].points(start, stop)

    def independent_points(self, start: int, count: int) -> PointSet:
        """Pseudo-random points ``start`` to ``start + count``, for draws that must be independent of each other."""
        normals = Normals(self._across, self.seed, 0, quasi=False)
        return normals.points(start, start + count)

    def chunk(self, context: Numbers, points: PointSet, record: set[Family] = frozenset()) -> tuple[Numbers, dict]:
        """The context with the scores of a chunk of samples, and the conditional laws of the scores in ``record``."""
        numbers = context.with_samples()
        laws = self._draw(Level.SAMPLE, points, numbers, record)
        return numbers, laws

    def _draw(self, level: Level, points: PointSet | None, numbers: Numbers, record=frozenset()) -> dict[Family, Conditional]:
        own = [g for g, group_level in enumerate(self.levels) if group_level == level]
        elements = self._elements(numbers.replicate) if any(self.plans[g].is_infinite for g in own) else None
        draws = {g: GroupDraw(self.plans[g], elements if self.plans[g].is_infinite else points) for g in own}
        members = [(m.family.order, g, k) for g in draws for k, m in enumerate(self.plans[g].group.members)]
        laws = {}
        for _, g, k in sorted(members):
            family = self.plans[g].group.members[k].family
            value, law = draws[g].draw(k, self._offsets[g, k], numbers, family in record)
            mean = rule_of(family).mean(family.generic)
            numbers.scores[family] = _shifted(value, mean, numbers)
            if law is not None:
                laws[family] = Conditional(_shifted(law.mean, mean, numbers), law.variance)
        return laws

    # --- chunks ------------------------------------------------------------------------------------------------------

    def chunk_size(self, extra_doubles: int = 0) -> int:
        """Samples per chunk, so that a chunk's arrays stay within CHUNK_BYTES (more where there are many equations)."""
        cells = lambda labels: math.prod(self._size(label) for label in labels)  # noqa: E731
        sampled = [plan for plan, level in zip(self.plans, self.levels) if level == Level.SAMPLE]
        held = extra_doubles + sum(plan.batch * plan.size[0] * plan.size[1] for plan in sampled)
        held += 2 * sum(cells(family.axes) for plan in sampled for family in plan.group.families)
        bindings = [
            binding for binding in self.analysis.recursion.equations.bindings
            if self.analysis.levels.of_binding(binding) == Level.SAMPLE
        ]
        held += 3 * sum(cells(binding.labels) for binding in bindings)
        size = (CHUNK_BYTES + len(bindings) * BYTES_PER_EQUATION) // (8 * max(held, 1))
        return min(1 << (max(size, BLOCK).bit_length() - 1), MAX_CHUNK)

    def chunks(self, size: int) -> Iterator[tuple[int, int, int]]:
        """(replicate, start, stop): all replicates advance together, so that an interrupted run can use what is done."""
        size = min(size, self.per_replicate)
        for start in range(0, self.per_replicate, size):
            for replicate in range(self.replicates):
                yield replicate, start, min(start + size, self.per_replicate)

    def _size(self, index: Index) -> int:
        return self.infinite_size if index.range.infinite else index.range.size


def _shifted(value: Labelled, mean: Expr, numbers: Numbers) -> Labelled:
    """The value plus the mean, which scores do not have."""
    if mean == ZERO:
        return value
    (centred, shift), labels = align([value, numbers.evaluate(mean)])
    return Labelled(centred + shift, labels)


def _affordable(analysis: Analysis) -> int:
    """Samples that take about NUMBERS scores in all."""
    inside = any(analysis.level_of(group) == Level.SAMPLE for group in analysis.groups)
    size = lambda axis: axis.range.size if not axis.range.infinite else INFINITE_INSIDE if inside else 1  # noqa: E731
    plans = [GroupPlan(group, size) for group in analysis.groups]
    per_sample = max(sum(plan.batch * plan.size[0] * plan.size[1] for plan in plans), 1)
    return min(max(1 << ((NUMBERS // per_sample).bit_length() - 1 if NUMBERS >= per_sample else 0), FEWEST), MOST)
