"""Many runs of a program at width n: blocks of runs, each with its own stream of random numbers, over several processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from netsor.finite.exact import ExactSampler
from netsor.finite.plan import Held, Plan, make_plan
from netsor.ir.program import Program

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

    :param coordinates: how many coordinates of vectors are recorded (jointly exact); None: all n.
    :param workers: processes; which runs are drawn does not depend on it, nor on ``runs``: more runs with the same seed begin with
        the same ones.
    :param progress: called with (runs done, runs in all).
    :param backend: a backend of joblib (``loky`` processes by default; ``threading``; a cluster's).
    :returns: arrays (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors; fewer runs if interrupted.
    :raises ValueError: for a width, number of runs or of coordinates that makes no sense, or an infinite parameter."""
    if width < 1 or runs < 1 or workers < 1:
        raise ValueError("width, runs and workers are positive integers")
    recorded = width if coordinates is None else coordinates
    if not 1 <= recorded <= width:
        raise ValueError(f"between 1 and {width} coordinates can be recorded at width {width}, not {coordinates}")
    plan = make_plan(program)
    size = block_size(plan, width, recorded)
    blocks = range(-(-runs // size))
    result: Arrays = {}
    done = 0
    try:
        for block, drawn in enumerate(_blocks(plan, width, recorded, size, seed, blocks, workers, backend)):
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


def block_size(plan: Plan, width: int, recorded: int) -> int:
    """Runs in a block: a function of the program and the width alone, so that results depend on nothing else."""
    lengths = {Held.ALL: width, Held.ROWS: recorded, Held.FRAME: recorded}
    count = lambda family: math.prod(axis.range.size for axis in family.axes)  # noqa: E731
    numbers = sum(count(f) * (lengths[plan.held[f]] if f.is_vector else 1) for f in plan.families)
    return int(min(max(BLOCK_BYTES // (8 * max(numbers, 1)), 1), MAX_BLOCK))


def draw_block(plan: Plan, width: int, recorded: int, size: int, seed: int, block: int) -> Arrays:
    """One block of runs."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    with threadpool_limits(1, user_api="blas"):
        return ExactSampler(plan, width, recorded, size, rng).outputs(recorded)


def _blocks(
    plan: Plan, width: int, recorded: int, size: int, seed: int, blocks: range, workers: int, backend: str | None
) -> Iterator[Arrays]:
    """The blocks in order; processes are started when the first block shows that they pay."""
    started = time.perf_counter()
    for block in blocks:
        yield draw_block(plan, width, recorded, size, seed, block)
        left = (len(blocks) - block - 1) * (time.perf_counter() - started) / (block + 1)
        if workers > 1 and left > WORTH_WORKERS:
            yield from _parallel(plan, width, recorded, size, seed, blocks[block + 1:], workers, backend)
            return


def _parallel(plan, width, recorded, size, seed, blocks, workers, backend) -> Iterator[Arrays]:
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=workers, backend=backend, return_as="generator", batch_size=1)
    yield from run(delayed(draw_block)(plan, width, recorded, size, seed, block) for block in blocks)
