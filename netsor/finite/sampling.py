"""Many runs of a program at width n: blocks of runs, each with its own stream of random numbers, over several processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from netsor.finite.evaluate import sizes_of_widths
from netsor.finite.exact import ExactSampler
from netsor.finite.plan import Held, Plan, make_plan
from netsor.ir.program import Family, Program
from netsor.plugins import load_plugins, loaded_plugins

BLOCK_BYTES = 2**24
MAX_BLOCK = 256
WORTH_WORKERS = 2.0
"""Seconds of work left from which on starting processes pays."""

Progress = Callable[[int, int], None]
Arrays = dict[str, np.ndarray]


def sample(
    program: Program, width: int, runs: int, seed: int = 0, coordinates: int | None = 1, workers: int = 2,
    progress: Progress | None = None, backend: str | None = None,
) -> Arrays:
    """Draws of every output at width n, exact in law, no matrix ever formed.

    :param coordinates: how many coordinates of vectors are recorded (jointly exact), or as many as a smaller width has; None: all.
    :param workers: processes; which runs are drawn does not depend on it, nor on ``runs``: more runs with the same seed begin with
        the same ones.
    :param progress: called with (runs done, runs in all).
    :param backend: a backend of joblib (``loky`` processes by default; ``threading``; a cluster's).
    :returns: arrays (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors; fewer runs if interrupted.
    :raises ValueError: for a width, number of runs or of coordinates that makes no sense, or an infinite parameter."""
    if width < 1 or runs < 1 or workers < 1:
        raise ValueError("width, runs and workers are positive integers")
    widest = max(sizes_of_widths(program, width).values())
    if coordinates is not None and not 1 <= coordinates <= widest:
        raise ValueError(f"between 1 and {widest} coordinates can be recorded at width {width}, not {coordinates}")
    plan = make_plan(program)
    size = block_size(plan, width, coordinates)
    draw = partial(draw_block, plan, width, coordinates, size, seed)
    result: Arrays = {}
    done = 0
    try:
        for block, drawn in enumerate(_blocks(draw, -(-runs // size), workers, backend)):
            done = min((block + 1) * size, runs)
            for name, values in drawn.items():
                if name not in result:
                    result[name] = np.empty((runs, *values.shape[1:]))
                result[name][block * size:done] = values[: done - block * size]
            if progress is not None:
                progress(done, runs)
    except KeyboardInterrupt:
        if not done:
            raise
    return {name: values[:done] for name, values in result.items()}


def block_size(plan: Plan, width: int, recorded: int | None) -> int:
    """Runs in a block: a function of the program and the width alone, so that results depend on nothing else."""
    return int(min(max(BLOCK_BYTES // (8 * max(numbers_per_run(plan, width, recorded), 1)), 1), MAX_BLOCK))


def numbers_per_run(plan: Plan, width: int, recorded: int | None) -> int:
    """The most numbers that are held at a time for one run."""
    sizes = sizes_of_widths(plan.program, width)

    def numbers(family: Family) -> int:
        cells = math.prod(axis.range.size for axis in family.axes)
        if not family.is_vector:
            return cells
        size = sizes[family.width]
        return cells * (size if plan.held[family] == Held.ALL else min(size, recorded or size))

    held = most = 0
    for family in plan.families:
        held += numbers(family)
        if family in plan.products and plan.products[family].memory:
            held += numbers(family) + numbers(family.definition.argument.family)  # remembered
        most = max(most, held)
        held -= sum(map(numbers, plan.dropped.get(family, ())))
    return most


def draw_block(
    plan: Plan, width: int, recorded: int | None, size: int, seed: int, block: int, plugins: Sequence[Path] = ()
) -> Arrays:
    """One block of runs; ``plugins`` are loaded first, where the process has not done so."""
    from threadpoolctl import threadpool_limits

    load_plugins(plugins)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    # small products do not gain from threads, and workers would fight for the cores
    with threadpool_limits(1, user_api="blas"), np.errstate(all="ignore"):
        return ExactSampler(plan, width, recorded, size, rng).outputs(recorded)


def _blocks(draw: Callable[..., Arrays], count: int, workers: int, backend: str | None) -> Iterator[Arrays]:
    """The blocks in order; processes are started when the first blocks show that they pay."""
    started = time.perf_counter()
    done = 0
    while done < count:
        yield draw(block=done)
        done += 1
        left = (count - done) * (time.perf_counter() - started) / done
        if workers > 1 and left > WORTH_WORKERS:
            break
    try:
        for drawn in _parallel(draw, range(done, count), workers, backend):
            yield drawn
            done += 1
    except Exception:  # what cannot be sent to another process is done here; what is wrong fails here too
        pass
    for block in range(done, count):
        yield draw(block=block)


def _parallel(draw: Callable[..., Arrays], blocks: range, workers: int, backend: str | None) -> Iterator[Arrays]:
    if not blocks:
        return
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=workers, backend=backend, return_as="generator", batch_size=1)
    yield from run(delayed(draw)(block=block, plugins=loaded_plugins()) for block in blocks)
