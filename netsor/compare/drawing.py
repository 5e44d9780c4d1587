"""Draws of a program at one width, in batches of bounded memory, the chosen elements kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from netsor.finite.effort import Effort, effort_of_draws, refuse_if_too_large, refuse_if_too_long
from netsor.finite.failures import as_diagnostics, require_finite, sizes_of_widths
from netsor.finite.plan import make_plan
from netsor.finite.sampling import sample
from netsor.ir.amounts import written
from netsor.ir.program import Output, Program
from netsor.language.diagnostics import Diagnostic, NetsorError

BATCH_BYTES = 2**27
COPIES = 3
"""How often draws that are kept are held at the highest, while estimates are made of them, rather too much."""

BATCH_COPIES = 2
"""The same for a batch while it is drawn: once in pieces, once put together."""

Progress = Callable[[int, int], None]


def refuse_if_senseless(
    program: Program, widths: tuple[int, ...], runs: int, coordinates: int, kept: int, outputs: Sequence[Output]
) -> None:
    """NetsorError, before anything is drawn, for what has no reading at finite width or is out of reach.

    :param kept: numbers kept of each run, at one width at a time.
    :param outputs: those that are wanted, with so many coordinates of vectors."""
    require_finite(program)
    _refuse_coordinates(sizes_of_widths(program, min(widths)), coordinates, outputs)
    sizes_of_widths(program, max(widths))
    with as_diagnostics():
        plan = make_plan(program)
    each = [effort_of_draws(plan, width, runs, coordinates) for width in widths]
    batch = _batch_size(program, runs, coordinates) * _bytes_per_run(program, coordinates)
    effort = sum(each, Effort(results=max(8 * kept * runs * COPIES, 8 * kept * runs + BATCH_COPIES * batch)))
    what = f"{written(runs)} runs at width{'s' * (len(widths) > 1)} {', '.join(map(written, widths))}"
    refuse_if_too_large(effort, what)
    refuse_if_too_long(effort, what, "errors fall like 1/sqrt(runs); the bias falls like 1/width")


def _refuse_coordinates(sizes: dict[str, int], coordinates: int, outputs: Sequence[Output]) -> None:
    for output in outputs:
        width = output.parts[0].reference.family.width
        if output.is_vector and sizes[width] < coordinates:
            raise NetsorError(Diagnostic(
                "N523", f"vectors of width {width} = {sizes[width]}, such as {output.name}, do not have {written(coordinates)} coordinates",
                output.span, hint=f"ask for at most {sizes[width]}, or for a larger width"))


def _bytes_per_run(program: Program, coordinates: int) -> int:
    """What one run of all outputs takes."""
    return 8 * sum(
        math.prod(axis.range.size for axis in output.axes) * (coordinates if output.is_vector else 1) for output in program.outputs)


def _batch_size(program: Program, runs: int, coordinates: int) -> int:
    """Runs that are drawn before the chosen elements are kept and the others dropped."""
    return int(max(1, min(runs, BATCH_BYTES // max(_bytes_per_run(program, coordinates), 1))))


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
    batch = _batch_size(program, runs, coordinates)
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
