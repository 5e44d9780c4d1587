"""From a program to the numbers of its limit: one function, read from top to bottom."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait
from collections.abc import Callable
from functools import partial

import numpy as np

from netsor.expectation.memory import keep_freed_memory
from netsor.expectation.threads import thread_pool
from netsor.ir.expressions import Expr
from netsor.ir.program import Program
from netsor.language.selection import selected
from netsor.limit.analysis import Analysis
from netsor.limit.denominators import prepare_checked
from netsor.limit.failures import as_diagnostics
from netsor.limit.integrals import POINTS
from netsor.limit.joint import JointDraw
from netsor.limit.levels import Level
from netsor.limit.numbers import Numbers, Undefined
from netsor.limit.outputs import Quantity, quantity
from netsor.limit.outputs.base import Variable
from netsor.limit.outputs.expected import expected_quantity, read
from netsor.limit.points import affordable_points
from netsor.limit.result import LimitResult
from netsor.limit.sampling import Sampler
from netsor.limit.work import Effort, affordable_samples, check_draws, check_effort

REPLICATES = 16
SIGNALS = 0.2  # seconds after which a thread that waits wakes up to handle a signal that another one has received
Progress = Callable[[int, int], None]


def run_limit(
    program: Program, *, samples: int | None = None, points: int | None = None, seed: int = 0, outputs: list[str] | None = None,
    progress: Progress | None = None, workers: int | None = None,
) -> LimitResult:
    """The infinite-width limit of a program.

    :param samples: samples of the scores, in 16 independent randomisations; rounded up to 16 times a power of two.
        None: as many as a second or so allows, between 2**12 and 2**18; fewer where expectations within them would take longer than
        some twenty seconds.
    :param points: quasi-random points for each expectation that needs them, in each of 16 randomisations; rounded up to a power of two.
        None: 2**13, or up to 2**15 if a second or so allows and ``samples`` is None too.  Expectations within samples take fewer; beyond
        2**13 so many times more of them.
    :param outputs: names of the outputs wanted (all by default).
    :param progress: called with (samples done, samples in all).
    :param workers: threads; None: one for each usable core, fewer where memory does not suffice for what they hold at once.
    :raises NetsorError: if the theorem does not cover the program (N4), or an expectation does not exist (N5); for a name that is no
        output (N220).
    :raises ValueError: for a number of samples, points or workers that is not positive."""
    for name, number in (("samples", samples), ("points", points), ("workers", workers)):
        if number is not None and number < 1:
            raise ValueError(f"{name} is a positive integer")
    selected(program, outputs or ())  # refuses other names
    keep_freed_memory()
    with as_diagnostics():
        analysis = Analysis(program)
        wanted = [o for o in analysis.program.outputs if outputs is None or o.name in outputs]
        reported = [quantity(output, analysis) for output in wanted]
        expectations = analysis.program.expectations if outputs is None else []
        asked = [expected_quantity(expectation, analysis, quantity) for expectation in expectations]
        if points is None:
            alone = lambda index: 1 if index.range.infinite else index.range.size  # noqa: E731
            points = POINTS if samples is not None else affordable_points(analysis, reported + asked, REPLICATES, alone)
        quasi_random = 1 << (points - 1).bit_length()
        sampler_of = partial(Sampler, analysis, replicates=REPLICATES, seed=seed, points=quasi_random)
        sampler = sampler_of(samples=samples)
        if samples is None and sampler.is_sampling and (fewer := affordable_samples(analysis, sampler, reported + asked)) < sampler.samples:
            sampler = sampler_of(samples=fewer)
        return _compute(program, analysis, sampler, reported, asked, progress, workers)


def _compute(program, analysis, sampler, reported, asked, progress, workers) -> LimitResult:
    quantities = reported + asked
    effort, workers = check_effort(analysis, sampler, quantities, workers)
    joint = JointDraw([family for q in reported if q.output.is_vector for family in q.families], analysis.recursion)
    levels = [q.level for q in quantities]
    replicates = sampler.replicates if max(levels, default=Level.STATIC) > Level.STATIC else 1
    contexts = [sampler.context(replicate) for replicate in range(replicates)]
    first = [e for own in quantities for e in own.expressions if analysis.levels.of(e) < Level.SAMPLE]
    prepare_checked(contexts[0], [family for own in quantities for family in own.families], first)
    done = {
        own: (1 if own.level == Level.STATIC else replicates, own.samples(sampler.per_replicate, sampler.infinite_size))
        for own in quantities
    }
    for own in quantities:
        own.allocate(*done[own])
    _without_samples(contexts, quantities, first, done, None if Level.SAMPLE in levels else progress, workers)
    sampled = [own for own in quantities if own.level == Level.SAMPLE]
    interrupted = False
    if sampled:
        finished, interrupted = _sample(sampler, contexts, sampled, progress, workers)
        done |= {own: (replicates, finished) for own in sampled}
    draw = _Draw(analysis, sampler, contexts, joint, reported, effort, workers)
    for own in reported:
        own.draw = lambda own=own: draw(2**14, sampler.seed)[own.output.name]
    finish = lambda own: _finite(own.finish(contexts[0], done[own]))  # noqa: E731
    used = replicates * done[sampled[0]][1] if sampled else 0
    return LimitResult(
        program, analysis, {q.output.name: finish(q) for q in reported},
        [(e, read(e, finish(q))) for e, q in zip(program.expectations, asked)],
        draw, seed=sampler.seed, samples=used, interrupted=interrupted,
    )


def _without_samples(
    contexts: list[Numbers], quantities: list[Quantity], expressions: list[Expr], done: dict, progress: Progress | None, workers: int
) -> None:
    """Fill the quantities that do not depend on samples, and prepare for those that do: what no randomisation enters with the first
    context, then the others side by side."""

    def fill(replicate: int) -> None:
        contexts[replicate].prepare(*expressions)
        for own in quantities:
            replicates, samples = done[own]
            if own.level < Level.SAMPLE and replicate < replicates:
                own.collect(replicate, slice(0, samples), contexts[replicate], {})

    fill(0)
    if len(contexts) == 1:
        return
    with _one_blas_thread(), thread_pool(workers) as pool:
        waiting = {pool.submit(fill, replicate) for replicate in range(1, len(contexts))}
        while waiting:
            ended, waiting = wait(waiting, timeout=SIGNALS, return_when=FIRST_COMPLETED)
            for future in ended:
                future.result()
            if progress is not None and ended:
                progress(len(contexts) - len(waiting), len(contexts))


def _one_blas_thread():
    """Threads on top of threads cost far more than they give."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


def _finite(variable: Variable) -> Variable:
    """The variable, if its mean and variance are numbers (a kurtosis may be infinite)."""
    for name, estimate in (("mean", variable.mean), ("variance", variable.var)):
        if not np.isfinite(estimate.value).all():
            raise Undefined(f"its {name} is not finite", tuple(variable.families))
    if np.isnan(variable.excess_kurtosis.value).any():
        raise Undefined("its fourth moment is beyond the range of floating-point numbers; rescale it", tuple(variable.families))
    return variable


def _sample(
    sampler: Sampler, contexts: list[Numbers], quantities: list[Quantity], progress: Progress | None, workers: int
) -> tuple[int, bool]:
    """Fill the quantities chunk by chunk; returns the samples done in every replicate and whether it was interrupted."""
    record = set().union(*(getattr(own, "recorded", set()) for own in quantities))
    size = sampler.chunk_size(sum(own.kept_cells for own in quantities))
    finished = [0] * sampler.replicates

    def chunk(replicate: int, start: int, stop: int) -> tuple[int, int]:
        points = sampler.points(replicate, start, stop)
        numbers, laws = sampler.chunk(contexts[replicate], points, record)
        for own in quantities:
            numbers.prepare(*own.expressions)
            own.collect(replicate, slice(start, stop), numbers, laws)
        return replicate, stop

    interrupted = False
    try:
        with _one_blas_thread(), thread_pool(workers) as pool:
            pending: dict[int, Future] = {}  # at most one chunk of each replicate at a time: sums are added in order
            for replicate, start, stop in sampler.chunks(size):
                while len(pending) > workers or replicate in pending:
                    _advance(pending, finished, progress, sampler)
                pending[replicate] = pool.submit(chunk, replicate, start, stop)
            while pending:
                _advance(pending, finished, progress, sampler)
    except KeyboardInterrupt:
        interrupted = True
    count = min(finished)
    if not count:
        raise KeyboardInterrupt
    return count, interrupted


def _advance(pending: dict[int, Future], finished: list[int], progress: Progress | None, sampler: Sampler) -> None:
    """Wait for a chunk and note what it finished."""
    wait(pending.values(), timeout=SIGNALS, return_when=FIRST_COMPLETED)
    for replicate in [replicate for replicate, future in pending.items() if future.done()]:
        _, finished[replicate] = pending.pop(replicate).result()
    if progress is not None:
        progress(sum(finished), sampler.samples)


class _Draw:
    """``draw(size, seed)``: joint draws of all outputs, reproducible from the seed."""

    def __init__(self, analysis: Analysis, sampler: Sampler, contexts: list[Numbers], joint: JointDraw, quantities,
                 effort: Effort, workers: int):
        self.analysis, self.sampler, self.contexts, self.joint = analysis, sampler, contexts, joint
        self.quantities, self.effort, self.workers = quantities, effort, workers

    def __call__(self, size: int, seed) -> dict[str, np.ndarray]:
        with as_diagnostics():
            check_draws(size, self.effort)
            return self._draw(size, seed)

    def _draw(self, size: int, seed) -> dict[str, np.ndarray]:
        own_seed = int(np.random.default_rng(seed).integers(2**31))
        window = self.sampler.chunk_size(4 * sum(q.cells**2 for q in self.quantities)) if self.sampler.is_sampling else 1024
        self.contexts[0].prepare(*[e for e in self.joint.expressions if self.analysis.levels.of(e) < Level.SAMPLE])
        starts = range(0, size, window)
        with thread_pool(self.workers) as pool:
            parts = list(pool.map(lambda start: self._window(own_seed, start, min(window, size - start)), starts))
        names = [q.output.name for q in self.quantities]
        if not parts:
            return {q.output.name: np.empty((0, *q.shape)) for q in self.quantities}
        return {name: np.concatenate([part[name] for part in parts]) for name in names}

    def _window(self, seed: int, start: int, count: int) -> dict[str, np.ndarray]:
        """Draws ``start`` to ``start + count``; the seed and the place fix them."""
        numbers = self.contexts[0].with_samples()
        if self.sampler.is_sampling:
            fresh = Sampler(
                self.analysis, samples=count, replicates=1, seed=seed, infinite_size=self.sampler.infinite_size)
            numbers, _ = fresh.chunk(self.contexts[0], fresh.independent_points(start, count))
        numbers.prepare(*[element for q in self.quantities for _, element in q.elements("x")])
        drawn = self.joint.draw(numbers, count, np.random.default_rng([seed, start]))
        element = np.random.default_rng([seed, start, 1])
        return {q.output.name: self._values(q, drawn, count, element) for q in self.quantities}

    @staticmethod
    def _values(own: Quantity, drawn, count: int, element: np.random.Generator) -> np.ndarray:
        values = own.assemble(drawn, own.elements("x"), own.rows)
        if len(values) not in (1, count):  # elements along an infinite axis are alike: each draw takes one of them
            values = values.reshape((count, -1, *own.shape)) if len(values) % count == 0 else values[None]
            values = values[np.arange(count) % len(values), element.integers(values.shape[1], size=count)]
        return np.array(np.broadcast_to(values, (count, *own.shape)))
