"""What a number of samples would take, before any of it is computed."""

from __future__ import annotations

from netsor.ir import amounts
from netsor.ir.program import Program
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.limit.analysis import Analysis
from netsor.limit.levels import Level
from netsor.limit.outputs import Quantity, quantity
from netsor.limit.run import REPLICATES
from netsor.limit.sampling import NUMBERS, Sampler
from netsor.limit.work import KEPT

HARMLESS = 2**20  # samples that need no check
MEMORY = 4 * 2**30  # bytes that the samples of the outputs may take


def refuse_if_too_large(program: Program, samples: int, outputs: list[str]) -> None:
    """NetsorError if the samples of the outputs do not fit into memory; the message says what they would take."""
    if samples <= HARMLESS:
        return
    analysis = Analysis(program)
    sampler = Sampler(analysis, samples=samples, replicates=REPLICATES, seed=0)
    kept = sum(_kept(quantity(output, analysis)) for output in analysis.program.outputs if output.name in outputs)
    # along an infinite axis the points of one replicate are held, with what is computed from them, at once
    held = sum(
        plan.batch * sum(plan.size) for plan, level in zip(sampler.plans, sampler.levels) if level == Level.REPLICATE
    )
    size = 8 * (kept * sampler.samples + held)
    if size <= MEMORY:
        return
    normals = sum(
        plan.batch * plan.size[0] * plan.size[1] // (1 if level == Level.SAMPLE else sampler.per_replicate)
        for plan, level in zip(sampler.plans, sampler.levels)
    )
    seconds = sampler.samples * max(normals, 1) / NUMBERS
    fits = 1 << (samples * MEMORY // size).bit_length() - 1
    raise NetsorError(
        Diagnostic(
            "N521",
            f"{samples:,} samples would take {amounts.memory(size)} of memory and about {amounts.duration(seconds)}",
            hint=f"ask for at most {fits:,}: errors fall like 1/sqrt(samples)",
        )
    )


def _kept(own: Quantity) -> int:
    """Numbers that are kept of each sample."""
    return KEPT.get(own.kind, 0) * own.cells if own.level == Level.SAMPLE else 0
