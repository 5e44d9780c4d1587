"""Draws of a program at one width, in batches of bounded memory, the chosen elements kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from netsor.finite.failures import require_finite, sizes_of_widths, written
from netsor.finite.sampling import sample
from netsor.ir.program import Output, Program
from netsor.language.diagnostics import Diagnostic, NetsorError

BATCH_BYTES = 2**27
MEMORY = 4 * 2**30
NUMBERS_PER_SECOND = 30_000_000
LONGEST = 7 * 86400
"""Seconds of drawing beyond which a request is taken for a mistake."""

Progress = Callable[[int, int], None]


def refuse_if_senseless(
    program: Program, widths: tuple[int, ...], runs: int, coordinates: int, kept: int, outputs: Sequence[Output]
) -> None:
    """NetsorError, before anything is drawn, for what has no reading at finite width or is out of reach.

    :param kept: numbers kept of each run.
    :param outputs: those that are wanted, with so many coordinates of vectors."""
    require_finite(program)
    sizes = [sizes_of_widths(program, width) for width in widths]
    _refuse_coordinates(sizes[widths.index(min(widths))], coordinates, outputs)
    elements = lambda family: math.prod(axis.range.size for axis in family.axes)  # noqa: E731
    numbers = [sum(elements(f) * each.get(f.width, 1) for f in program.families) for each in sizes]
    held, largest = 8 * kept * runs, 8 * max(numbers)
    if max(held, largest) > MEMORY:
        many, one = f"{written(runs)} runs with {written(kept)} numbers of each", f"one run at width {written(max(widths))}"
        raise NetsorError(Diagnostic(
            "N521", f"{many if held > largest else one} would take {written(max(held, largest) >> 30)} GiB of memory",
            hint="ask for fewer runs, coordinates or outputs" if held > largest else "ask for a smaller width"))
    seconds = runs * sum(numbers) // NUMBERS_PER_SECOND
    if seconds > LONGEST:
        raise NetsorError(Diagnostic(
            "N522", f"{written(runs)} runs at widths {', '.join(map(written, widths))} would take about {_duration(seconds)}",
            hint="errors fall like 1/sqrt(runs); the bias falls like 1/width"))


def _duration(seconds: int) -> str:
    return f"{written(seconds // 86400)} days" if seconds >= 2 * 86400 else f"{seconds:,} s"


def _refuse_coordinates(sizes: dict[str, int], coordinates: int, outputs: Sequence[Output]) -> None:
    for output in outputs:
        width = output.parts[0].reference.family.width
        if output.is_vector and sizes[width] < coordinates:
            raise NetsorError(Diagnostic(
                "N523", f"vectors of width {width} = {sizes[width]}, such as {output.name}, do not have {written(coordinates)} coordinates",
                output.span, hint=f"ask for at most {sizes[width]}, or for a larger width"))


def stream(seed: int, *place: int) -> int:
    """A seed for one batch at one width: independent of all others."""
    return int(np.random.SeedSequence([seed, *place]).generate_state(2, np.uint64)[0])


def draw(
    program: Program, width: int, runs: int, seed: int, coordinates: int, elements: dict[str, np.ndarray],
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """Draws of the outputs named in ``elements``: (runs, chosen elements, coordinates), one coordinate for scalars.

    Fewer runs if interrupted: the first of those that were asked for.

    :raises KeyboardInterrupt: if interrupted before any run was done."""
    sizes = {output.name: math.prod(axis.range.size for axis in output.axes) for output in program.outputs}
    vectors = {output.name: output.is_vector for output in program.outputs}
    per_run = 8 * sum(size * (coordinates if vectors[name] else 1) for name, size in sizes.items())
    batch = int(max(1, min(runs, BATCH_BYTES // max(per_run, 1))))
    kept = {
        name: np.empty((runs, len(chosen), coordinates if vectors[name] else 1)) for name, chosen in elements.items()}
    done = 0
    try:
        for number, start in enumerate(range(0, runs, batch)):
            count = min(batch, runs - start)
            report = None if progress is None else (lambda done, _, start=start: progress(start + done, runs))
            drawn = sample(program, width, count, stream(seed, width, number), coordinates, progress=report)
            got = min((len(drawn[name]) for name in elements), default=count)
            for name, chosen in elements.items():
                kept[name][start : start + got] = drawn[name].reshape(got, sizes[name], -1)[:, chosen]
            done = start + got
            if got < count:
                break
    except KeyboardInterrupt:
        if not done:
            raise
    return {name: values[:done] for name, values in kept.items()}


def whole(drawn: dict[str, np.ndarray], runs: int) -> dict[str, np.ndarray]:
    """The draws, where unfinished ones are of no use.

    :raises KeyboardInterrupt: if drawing was interrupted before all runs were done."""
    if any(len(values) < runs for values in drawn.values()):
        raise KeyboardInterrupt
    return drawn
