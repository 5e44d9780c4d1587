"""Blocks of runs: how many numbers a run holds, and how many runs are drawn at a time."""

from __future__ import annotations

import math

from netsor.finite.failures import sizes_of_widths
from netsor.finite.plan import Held, Plan
from netsor.ir.program import Family, Program

BLOCK_BYTES = 2**24
MAX_BLOCK = 256


def block_size(plan: Plan, width: int, recorded: int | None) -> int:
    """Runs in a block: a function of the program and the width alone, so that results depend on nothing else."""
    return int(min(max(BLOCK_BYTES // (8 * max(numbers_per_run(plan, width, recorded), 1)), 1), MAX_BLOCK))


def numbers_per_run(plan: Plan, width: int, recorded: int | None) -> int:
    """The most numbers that are held at a time for one run."""
    count = numbers_by_family(plan, width, recorded)
    held = most = 0
    for family in plan.families:
        held += count[family]
        if family in plan.products and plan.products[family].memory:
            held += count[family] + count[family.definition.argument.family]  # remembered
        most = max(most, held)
        held -= sum(count[dropped] for dropped in plan.dropped.get(family, ()))
    return most


def numbers_by_family(plan: Plan, width: int, recorded: int | None) -> dict[Family, int]:
    """How many numbers are held of each family in one run."""
    sizes = sizes_of_widths(plan.program, width)

    def numbers(family: Family) -> int:
        cells = math.prod(axis.range.size for axis in family.axes)
        if not family.is_vector:
            return cells
        size = sizes[family.width]
        if plan.held[family] == Held.ALL:
            return cells * size
        if plan.held[family] == Held.ROWS:
            return cells * min(size, recorded or size)
        space = plan.space_of[family]
        return cells * min(size, space.directions + (recorded or size) * space.recorded)

    return {family: numbers(family) for family in plan.families}


def numbers_recorded(program: Program, width: int, recorded: int | None) -> int:
    """How many numbers of its outputs are recorded of one run."""
    sizes = sizes_of_widths(program, width)
    total = 0
    for output in program.outputs:
        size = sizes[output.parts[0].reference.family.width] if output.is_vector else 1
        total += math.prod(axis.range.size for axis in output.axes) * min(size, recorded or size)
    return total
