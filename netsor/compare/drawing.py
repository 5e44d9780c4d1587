"""Draws of a program at one width, in batches of bounded memory, the chosen elements kept."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from netsor.finite.sampling import sample
from netsor.ir.program import Program
from netsor.language.diagnostics import Diagnostic, NetsorError

BATCH_BYTES = 2**27
MEMORY = 4 * 2**30
NUMBERS_PER_SECOND = 3e7
LONGEST = 7 * 86400.0
"""Seconds of drawing beyond which a request is taken for a mistake."""

Progress = Callable[[int, int], None]


def refuse_if_senseless(program: Program, widths: tuple[int, ...], runs: int, coordinates: int, kept: int) -> None:
    """NetsorError, before anything is drawn, for what has no reading at finite width or is out of reach.

    :param kept: numbers kept of each run."""
    if program.infinite:
        names = ", ".join(sorted(program.infinite))
        raise NetsorError(Diagnostic(
            "N504", f"at finite width {names} must be finite", hint=f"set a number: --set {sorted(program.infinite)[0]}=64"))
    if coordinates > min(widths):
        raise NetsorError(Diagnostic(
            "N504", f"vectors of width {min(widths)} do not have {coordinates} coordinates", hint="ask for fewer coordinates"))
    elements = lambda family: math.prod(axis.range.size for axis in family.axes)  # noqa: E731
    vectors = sum(elements(family) for family in program.families if family.is_vector)
    held, largest = 8 * kept * runs, 8 * vectors * max(widths)
    if max(held, largest) > MEMORY:
        what = f"{runs:,} runs with {kept:,} numbers of each" if held > largest else f"one run at width {max(widths):,}"
        raise NetsorError(Diagnostic(
            "N521", f"{what} would take {max(held, largest) / 2**30:,.0f} GiB of memory",
            hint="ask for fewer runs, coordinates or outputs" if held > largest else "ask for a smaller width"))
    seconds = runs * sum(widths) * max(vectors, 1) / NUMBERS_PER_SECOND
    if seconds > LONGEST:
        raise NetsorError(Diagnostic(
            "N521", f"{runs:,} runs at widths {', '.join(f'{w:,}' for w in widths)} would take about {seconds / 86400:,.0f} days",
            hint="errors fall like 1/sqrt(runs); the bias falls like 1/width"))


def stream(seed: int, *place: int) -> int:
    """A seed for one batch at one width: independent of all others."""
    return int(np.random.SeedSequence([seed, *place]).generate_state(2, np.uint64)[0])


def draw(
    program: Program, width: int, runs: int, seed: int, coordinates: int, elements: dict[str, np.ndarray],
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """Draws of the outputs named in ``elements``: (runs, chosen elements, coordinates), one coordinate for scalars.

    :raises KeyboardInterrupt: if interrupted; nothing is kept of an unfinished width."""
    sizes = {output.name: math.prod(axis.range.size for axis in output.axes) for output in program.outputs}
    vectors = {output.name: output.is_vector for output in program.outputs}
    per_run = 8 * sum(size * (coordinates if vectors[name] else 1) for name, size in sizes.items())
    batch = int(max(1, min(runs, BATCH_BYTES // max(per_run, 1))))
    kept = {
        name: np.empty((runs, len(chosen), coordinates if vectors[name] else 1)) for name, chosen in elements.items()}
    for number, start in enumerate(range(0, runs, batch)):
        count = min(batch, runs - start)
        report = None if progress is None else (lambda done, _, start=start: progress(start + done, runs))
        drawn = sample(program, width, count, stream(seed, width, number), coordinates, progress=report)
        for name, chosen in elements.items():
            if len(drawn[name]) < count:
                raise KeyboardInterrupt
            flat = drawn[name].reshape(count, sizes[name], -1)
            kept[name][start : start + count] = flat[:, chosen]
    return kept
