"""How many quasi-random points the expectations of a program take."""

from __future__ import annotations

import math
from collections.abc import Callable

from netsor.ir.expressions import Expect, Index
from netsor.ir.rewrite import free_indices, walk
from netsor.limit.analysis import Analysis
from netsor.limit.dimensions import is_several
from netsor.limit.integrals import POINTS
from netsor.limit.levels import Level
from netsor.limit.outputs import Quantity

NORMALS, MOST = 2**24, 2**15  # normal numbers in all, about a second's worth; points


def affordable_points(analysis: Analysis, quantities: list[Quantity], replicates: int, size: Callable[[Index], int]) -> int:
    """Points for each expectation that is not within samples of scores, POINTS or more: as many as NORMALS normal numbers allow."""
    levels = analysis.levels
    expressions = [expression for own in quantities for expression in own.expressions]
    expressions += [binding.expression for binding in levels.behind(expressions)]
    found = {
        part for expression in expressions if levels.of(expression) == Level.REPLICATE
        for part in walk(expression) if isinstance(part, Expect) and is_several(part)
    }
    count = lambda indices: math.prod(map(size, indices))  # noqa: E731
    each = sum(count(free_indices(part)) * sum(map(count, part.inner)) for part in found) * replicates
    return POINTS if not each else min(max(1 << (int(NORMALS / each).bit_length() - 1 if each <= NORMALS else 0), POINTS), MOST)
