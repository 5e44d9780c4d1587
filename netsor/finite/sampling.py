"""Many runs of a program at width n: blocks of runs, each with its own stream of random numbers, over several processes."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np

from netsor.finite.backends import BackendError, current_cluster, drawing_on, one_line
from netsor.finite.blocks import block_size, numbers_recorded
from netsor.finite.conditional import ConditionalLaw, ConditionalSampler, conditionally_gaussian
from netsor.finite.effort import effort_of_draws, refuse_if_too_large
from netsor.finite.exact import ExactSampler
from netsor.finite.failures import as_diagnostics, check_arguments
from netsor.finite.plan import Plan, make_plan
from netsor.finite.signals import without_interrupts
from netsor.ir.amounts import written
from netsor.ir.program import Program
from netsor.plugins import load_plugins, loaded_plugins

WORTH_WORKERS = 2.0
"""Seconds of work left from which on starting processes pays."""

Progress = Callable[[int, int], None]
Arrays = dict[str, np.ndarray]


def sample(
    program: Program, width: int, runs: int, seed: int = 0, coordinates: int | None = 1, workers: int | None = None,
    progress: Progress | None = None, backend: str | None = None, scheduler: str | None = None,
) -> Arrays:
    """Draws of every output at width n, exact in law, no matrix ever formed.

    :param coordinates: how many coordinates of vectors are recorded (jointly exact), or as many as a smaller width has; None: all.
    :param workers: processes (None: one for each usable core, as far as memory allows); which runs are drawn does not depend on it,
        nor on ``runs``: more runs with the same seed begin with the same ones.
    :param progress: called with (runs done, runs in all).
    :param backend: where runs are drawn: ``loky`` (processes, by default), ``threading``, or by all workers of a cluster, ``dask``
        or ``ray``; the same runs everywhere.  See :func:`netsor.finite.backends.drawing_on`.
    :param scheduler: the address of the cluster.
    :returns: arrays (runs, *axes) for scalars, (runs, *axes, coordinates) for vectors; fewer runs if interrupted.
    :raises ValueError: for a width, number of runs or of coordinates that makes no sense, an infinite parameter
        (:class:`netsor.finite.failures.NoReading`), or a backend or cluster that is not there
        (:class:`netsor.finite.backends.BackendError`).
    :raises NetsorError: for what takes more memory than there is."""
    check_arguments(program, width, runs, coordinates)
    with as_diagnostics(), drawing_on(backend, scheduler, workers):
        plan = make_plan(program)
        effort = effort_of_draws(plan, width, runs, coordinates, 8 * runs * numbers_recorded(program, width, coordinates))
        refuse_if_too_large(effort, f"{written(runs)} runs at width {written(width)}")
        size = block_size(plan, width, coordinates)
        return _collect(partial(draw_block, plan, width, coordinates, size, seed), size, runs, effort.workers, progress)


def sample_conditional(
    program: Program, width: int, runs: int, seed: int = 0, workers: int | None = None, progress: Progress | None = None,
    backend: str | None = None, scheduler: str | None = None,
) -> dict[str, ConditionalLaw]:
    """The Gaussian laws of one coordinate of the outputs given all that is drawn before it, run by run; parameters as for :func:`sample`.

    :returns: for every vector output that is linear in the last products, arrays of means (runs, *axes) and covariances
        (runs, *axes, *axes).  Averaging the Gaussians over runs gives the density at width n.
    :raises ValueError: as :func:`sample`, and if there is no such output."""
    check_arguments(program, width, runs, 1)
    with as_diagnostics(), drawing_on(backend, scheduler, workers):
        plan = make_plan(program)
        outputs = conditionally_gaussian(plan)
        if not outputs:
            raise ValueError("no output is linear in products that nothing else depends on, so none is Gaussian given the rest")
        cells = [math.prod(axis.range.size for axis in output.axes) for output in outputs]
        effort = effort_of_draws(plan, width, runs, 1, 8 * runs * sum(count + count**2 for count in cells))
        refuse_if_too_large(effort, f"{written(runs)} runs at width {written(width)}")
        size = block_size(plan, width, 1)
        found = _collect(partial(condition_block, plan, width, size, seed), size, runs, effort.workers, progress)
    return {o.name: ConditionalLaw(found["mean " + o.name], found["covariance " + o.name]) for o in outputs}


def _collect(draw: Callable[..., Arrays], size: int, runs: int, workers: int, progress: Progress | None) -> Arrays:
    """The first ``runs`` of as many blocks of ``size`` as they need, or those before an interruption."""
    result: Arrays = {}
    done = 0
    try:
        for block, drawn in enumerate(_blocks(draw, -(-runs // size), workers)):
            end = min((block + 1) * size, runs)
            for name, values in drawn.items():
                if name not in result:
                    result[name] = np.empty((runs, *values.shape[1:]))
                result[name][block * size:end] = values[: end - block * size]
            done = end
            if progress is not None:
                progress(done, runs)
    except KeyboardInterrupt:
        if not done:
            raise
    return {name: values[:done] for name, values in result.items()}


def draw_block(
    plan: Plan, width: int, recorded: int | None, size: int, seed: int, block: int, plugins: Sequence[Path] = ()
) -> Arrays:
    """One block of runs; ``plugins`` are loaded first, where the process has not done so."""
    with _prepared(plugins):
        return ExactSampler(plan, width, recorded, size, _stream(seed, block)).outputs(recorded)


def condition_block(plan: Plan, width: int, size: int, seed: int, block: int, plugins: Sequence[Path] = ()) -> Arrays:
    """The conditional laws of one block of runs."""
    with _prepared(plugins):
        sampler = ConditionalSampler(plan, width, size, _stream(seed, block))
        laws = {output.name: sampler.law(output) for output in conditionally_gaussian(plan)}
    means = {"mean " + name: law.mean for name, law in laws.items()}
    return means | {"covariance " + name: law.covariance for name, law in laws.items()}


def _stream(seed: int, block: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


@contextmanager
def _prepared(plugins: Sequence[Path]) -> Iterator[None]:
    """One BLAS thread: small products do not gain from more, and workers would fight for the cores."""
    load_plugins(plugins)
    with _one_blas_thread(), np.errstate(all="ignore"):
        yield


def _one_blas_thread():
    return _threads().limit(limits=1, user_api="blas")


@cache
def _threads():
    """The thread pools of this process (looking for them takes longer than a small block)."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _blocks(draw: Callable[..., Arrays], count: int, workers: int) -> Iterator[Arrays]:
    """The blocks in order: all by the cluster if there is one; else processes are started when the first blocks show that they pay."""
    cluster = current_cluster()
    started = time.perf_counter()
    done = 0
    while done < count and cluster is None:
        yield draw(block=done)
        done += 1
        left = (count - done) * (time.perf_counter() - started) / done
        if workers > 1 and left > WORTH_WORKERS:
            break
    try:
        for drawn in _parallel(draw, range(done, count), workers if cluster is None else -1):
            yield drawn
            done += 1
    except Exception as error:  # what cannot be sent to another process is done here; what is wrong fails here too
        if cluster is not None:
            draw(block=done)
            raise BackendError(f"the {cluster} cluster failed after {done:,} of {count:,} blocks of runs: {one_line(error)}") from error
    for block in range(done, count):
        yield draw(block=block)


def _parallel(draw: Callable[..., Arrays], blocks: range, workers: int) -> Iterator[Arrays]:
    """By joblib's backend of this context; ``workers`` -1: as many as it has.

    Where workers are threads of this process, a block that is done must not give BLAS its threads back while others are drawn."""
    if not blocks:
        return
    from multiprocessing import resource_tracker

    from joblib import Parallel, delayed

    resource_tracker.ensure_running()  # workers need it, and CPython unblocks SIGINT when it starts it
    run = Parallel(n_jobs=workers, return_as="generator", batch_size=1)
    with _one_blas_thread():
        with without_interrupts():  # workers are started here
            drawn = run(delayed(draw)(block=block, plugins=loaded_plugins()) for block in blocks)
        try:
            for each in drawn:  # noqa: UP028 (yield from would close it while warnings are on)
                yield each
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # joblib's, of blocks that nobody waits for any more
                drawn.close()
