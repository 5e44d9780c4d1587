"""What a number of samples would take, before any of it is computed."""

from __future__ import annotations

import math

from netsor.ir.program import Program
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.limit.analysis import Analysis
from netsor.limit.sampling import NUMBERS, Sampler

HARMLESS = 2**20  # samples that need no check
MEMORY = 4 * 2**30  # bytes that the samples of the outputs may take
REPLICATES = 16
KEPT = 3  # numbers kept of each element and sample, at most: its value, conditional mean and variance


def refuse_if_too_large(program: Program, samples: int, outputs: list[str]) -> None:
    """NetsorError if the samples of the outputs do not fit into memory; the message says what they would take."""
    if samples <= HARMLESS:
        return
    analysis = Analysis(program)
    sampler = Sampler(analysis, samples=samples, replicates=REPLICATES, seed=0)
    infinite = any(axis.range.infinite for score in analysis.needed_scores() for axis in score.axes)
    if not sampler.is_sampling and not infinite:
        return
    elements = sum(
        math.prod(axis.range.size for axis in output.axes if not axis.range.infinite)
        for output in program.outputs if output.name in outputs
    )
    normals = sum(plan.doubles_per_sample // 2 for plan in sampler.plans) / (sampler.per_replicate if infinite else 1)
    size = 8 * KEPT * elements * sampler.samples
    if size > MEMORY:
        seconds = sampler.samples * max(normals, 1.0) / NUMBERS
        fits = 1 << (MEMORY // (8 * KEPT * elements)).bit_length() - 1
        raise NetsorError(Diagnostic(
            "N521", f"{samples:,} samples would take {_bytes(size)} of memory and about {_time(seconds)}",
            hint=f"ask for at most {fits:,}: errors fall like 1/sqrt(samples)"))


def _bytes(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            break
        size /= 1024
    return f"{size:,.0f} {unit}"


def _time(seconds: float) -> str:
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(seconds, 1):.0f} seconds"
