"""What draws at width n would take, from their plan alone, and the refusal of what is out of reach.

Seconds are meant to tell a minute from a day; bytes are at the highest."""

from __future__ import annotations

import math
from dataclasses import dataclass

from netsor.expectation.machine import available_memory
from netsor.finite.backends import current_workers
from netsor.finite.blocks import block_size, numbers_by_family, numbers_per_run
from netsor.finite.plan import Plan
from netsor.ir.amounts import duration, memory
from netsor.ir.program import MatMul
from netsor.language.diagnostics import Diagnostic, NetsorError

NUMBER = 1.5e-8  # seconds to draw one number or to apply a function to it
MULTIPLY_ADD = 2e-10  # in a matrix product
OVERHEAD = 1e-4  # of a family in a block, however small
TEMPORARIES = 3
"""What a block of runs takes at the highest, in units of the numbers that it holds."""

BEYOND = 10**50
"""More blocks than this are taken for as many: floating-point numbers end somewhere."""

LONGEST = 7 * 86400.0
"""Seconds beyond which a request is taken for a mistake."""


@dataclass(frozen=True)
class Effort:
    """Seconds of all workers together, and of what is done by one; bytes that a worker takes for a block of runs, and those of the results."""

    shared: float = 0.0
    alone: float = 0.0
    block: int = 0
    results: int = 0

    def __add__(self, other: Effort) -> Effort:
        """One after the other, all results kept."""
        return Effort(
            self.shared + other.shared, self.alone + other.alone, max(self.block, other.block), self.results + other.results)

    @property
    def workers(self) -> int:
        """How many workers take part: those of this context, as far as memory suffices for their blocks."""
        return max(min(current_workers(), (available_memory() - self.results) // max(self.block, 1)), 1)

    @property
    def bytes(self) -> int:
        """At the highest."""
        return self.results + self.block * self.workers

    @property
    def seconds(self) -> float:
        """Until all is done."""
        return self.alone + self.shared / self.workers

    @property
    def text(self) -> str:
        """ "12 GiB of memory and about 3 days" """
        return f"{memory(self.bytes)} of memory and about {duration(self.seconds)}"


def effort_of_draws(plan: Plan, width: int, runs: int, coordinates: int | None, results: int = 0) -> Effort:
    """What so many runs take; ``results`` are the bytes of what is kept of them all."""
    block = block_size(plan, width, coordinates)
    blocks = float(min(-(-runs // block), BEYOND))
    seconds = blocks * (block * seconds_per_run(plan, width, coordinates) + OVERHEAD * len(plan.families))
    return Effort(seconds, block=8 * TEMPORARIES * block * numbers_per_run(plan, width, coordinates), results=results)


def seconds_per_run(plan: Plan, width: int, recorded: int | None) -> float:
    """Numbers drawn or computed; for each matrix the Gram matrix of its arguments and the product with its root."""
    total, count = 0.0, numbers_by_family(plan, width, recorded)
    for family in plan.families:
        total += count[family] * NUMBER
        if isinstance(family.definition, MatMul):
            argument = family.definition.argument.family
            batch = [axis for axis in plan.products[family].batch if axis in argument.axes]
            together = math.prod(axis.range.size for axis in argument.axes if axis not in batch)
            total += together * (count[argument] + count[family]) * MULTIPLY_ADD
    return total


def refuse_if_too_large(effort: Effort, what: str, hint: str = "ask for fewer runs, coordinates or outputs, or for a smaller width") -> None:
    """NetsorError (N521), naming memory and time, if ``effort`` takes more memory than there is."""
    available = available_memory()
    if effort.bytes > available:
        raise NetsorError(Diagnostic(
            "N521", f"{what} would take {effort.text}; {memory(available)} of memory are available", hint=hint))


def refuse_if_too_long(effort: Effort, what: str, hint: str) -> None:
    """NetsorError (N522), naming memory and time, if ``effort`` takes a time that is taken for a mistake."""
    if effort.seconds > LONGEST:
        raise NetsorError(Diagnostic("N522", f"{what} would take {effort.text}", hint=hint))
