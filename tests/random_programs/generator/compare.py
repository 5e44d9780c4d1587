"""What becomes of a random program: refused with a reason, or a limit that its finite-width readings approach."""

from __future__ import annotations

import re
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from generator.programs import text

import netsor
from netsor.limit.integrals import POINTS

STAGES = ((32, 500), (64, 2_000), (128, 4_000))  # width and runs of one comparison; the next one is made if a comparison fails
SIGMAS = 5.0
CURVATURE = 6.0
"""The bias left by a pair of widths (n, 2n) may be this over n^2, in units of the scale of what is measured, squared."""
ROUNDING = 1e-12
FORMULAS = 1e-9  # relative; and the stated error of numbers
SECONDS = 20
REFUSALS = {"N401", "N402", "N405", "N407", "N409"}
NOISY = re.compile(r"\[N514\].* (?:eigenvalue|variance is|by) (-?[\d.e-]+)$", re.MULTILINE)
NOISE, NOISE_GIVEN_SCORES = 1e-3, 0.1
"""A covariance that is none may be refused if it is off by the noise of the quasi-random integrals behind it: few points for each sample."""
MORE = 16


@dataclass(frozen=True)
class Outcome:
    """``kind`` is "agrees", "refused", or what is wrong."""

    kind: str
    detail: str = ""

    @property
    def fine(self) -> bool:
        return self.kind in ("agrees", "refused", "takes too long")


def outcome(statements: list[str], stages=STAGES) -> Outcome:
    """Everything that is tested of a program."""
    try:
        with time_limit(SECONDS):
            return _outcome(with_outputs(statements), stages)
    except TimeoutError:
        return Outcome("takes too long", f"more than {SECONDS} s of processor time")
    except Exception:  # whatever netsor raises that is not a message is what is looked for
        return Outcome("raises", "".join(traceback.format_exc().splitlines(keepends=True)[-6:]))


def with_outputs(statements: list[str]) -> str:
    """Every family that is defined is an output."""
    defined = re.findall(r"^(\w+)\[[ij,]+\] = ", text(statements), flags=re.MULTILINE)
    return text(statements) + ("output " + ", ".join(defined) + "\n" if defined else "output x0\n")


def _outcome(source: str, stages) -> Outcome:
    program = None
    try:
        program = netsor.parse(source)
        limit = program.limit(samples=2**8, workers=1)
        wanted = {name: _limit_moments(variable) for name, variable in limit.items()}
    except netsor.NetsorError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        allowed = REFUSALS | ({"N514"} if _is_noise(program, source, str(error)) else set())
        return Outcome("refused" if codes <= allowed else "refused for a reason that it should not have", str(error))
    for name, (value, error) in wanted.items():
        if not (np.isfinite(value).all() and np.isfinite(error).all()):
            return Outcome("not finite", f"{name}: {value}")
    found = formulas_disagree(program, limit)
    if found:
        return Outcome("limit and derivation disagree", found)
    for seed, (width, runs) in enumerate(stages):
        found = disagreement(program, wanted, width, runs, seed)
        if not found:
            return Outcome("agrees")
    return Outcome("limit and finite width disagree", found)


def formulas_disagree(program: netsor.Program, limit) -> str:
    """Covariances of the outputs from the formulas against the numbers, as far as they have a closed form over the scores; "" if they agree."""
    values = program.derive().evaluate()
    for output in program.ir.outputs:
        axes = [index.name for index in output.axes]
        one, other = ("[" + ",".join(name + prime for name in axes) + "]" if axes else "" for prime in ("", "'"))
        key = f"Cov({output.name}{one}, {output.name}{other})"
        variable = limit[output.name]
        if key not in values or variable.cov is None or values[key].shape != variable.cov.value.shape:
            continue
        expected, error = variable.cov.value, variable.cov.error
        off = np.abs(values[key] - expected) - FORMULAS * np.maximum(1.0, np.abs(expected)) - SIGMAS * error
        if not (off <= 0).all():
            return f"{key}: formula {values[key].ravel()[np.argmax(off)]:.12g}, number {expected.ravel()[np.argmax(off)]:.12g}"
    return ""


def _is_noise(program: netsor.Program | None, source: str, message: str) -> bool:
    """Whether what is off is small, or falls by half or goes with so many times the points for each sample."""
    off = _noise(message)
    if off is None or off <= (NOISE_GIVEN_SCORES if " / sqrt(n)" in source else NOISE):
        return off is not None
    try:
        program.limit(samples=2**6, workers=1, points=MORE * POINTS)
    except netsor.NetsorError as error:
        return (_noise(str(error)) or np.inf) <= off / 2
    return True


def _noise(message: str) -> float | None:
    """By how much a covariance is none, if that is why a program is refused."""
    found = NOISY.search(message)
    return None if found is None else abs(float(found[1]))


def disagreement(program: netsor.Program, wanted: dict, width: int, runs: int, seed: int) -> str:
    """Moments at width n and 2n, every matrix drawn in full, with the O(1/n) bias removed, against the limit; "" if they agree."""
    small, large = (
        _moments(program, program.sample(n, runs, seed=1000 * seed + n, method="dense", coordinates=None)) for n in (width, 2 * width)
    )
    for name, (value, own) in wanted.items():
        found = 2 * large[name].mean(axis=0) - small[name].mean(axis=0)
        error = np.sqrt((4 * large[name].var(axis=0) + small[name].var(axis=0)) / runs + own**2)
        scale = np.maximum(np.abs(value), np.sqrt(np.mean(large[name] ** 2, axis=0)))
        off = np.abs(found - value) - SIGMAS * error - CURVATURE / width**2 * scale - ROUNDING
        if not (off <= 0).all():
            worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
            return (
                f"{name}, {_place(worst, program, name)}: limit {value[worst]:.6g} ± {own[worst]:.2g}, from widths {width} and {2 * width} "
                f"{found[worst]:.6g} ± {error[worst]:.2g} ({small[name][:, worst].mean():.6g}, {large[name][:, worst].mean():.6g})"
            )
    return ""


def _limit_moments(variable) -> tuple[np.ndarray, np.ndarray]:
    """Means, then second moments of all pairs of elements, and their errors."""
    count = int(np.prod(variable.shape, dtype=int))
    rows, columns = np.triu_indices(count)
    mean, mean_error = variable.mean.value.reshape(count), variable.mean.error.reshape(count)
    second = variable.cov.value.reshape(count, count) + np.outer(mean, mean)
    error = variable.cov.error.reshape(count, count) + np.abs(np.outer(mean, mean_error)) + np.abs(np.outer(mean_error, mean))
    return np.concatenate([mean, second[rows, columns]]), np.concatenate([mean_error, error[rows, columns]])


def _moments(program: netsor.Program, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same of every run, averaged over coordinates."""
    found = {}
    for output in program.ir.outputs:
        values = draws[output.name]
        if output.is_vector:
            flat = values.reshape(len(values), -1, values.shape[-1])
            first, second = flat.mean(axis=-1), np.einsum("rin,rjn->rij", flat, flat) / flat.shape[-1]
        else:
            first = values.reshape(len(values), -1)
            second = first[:, :, None] * first[:, None, :]
        rows, columns = np.triu_indices(first.shape[1])
        found[output.name] = np.concatenate([first, second[:, rows, columns]], axis=1)
    return found


def _place(k: int, program: netsor.Program, name: str) -> str:
    output = next(each for each in program.ir.outputs if each.name == name)
    shape = [index.range.size for index in output.axes]
    count = int(np.prod(shape, dtype=int))
    elements = ["[" + ",".join(str(1 + int(at)) for at in np.unravel_index(e, shape)) + "]" for e in range(count)]
    if k < count:
        return f"mean of {elements[k]}"
    rows, columns = np.triu_indices(count)
    return f"second moment of {elements[rows[k - count]]} and {elements[columns[k - count]]}"


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
