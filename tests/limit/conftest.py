"""The limit against the same program at finite width, every matrix drawn in full.

For each output the mean and second moments over runs (and coordinates) at n and 2n are combined so that the O(1/n) bias cancels, and
compared with the limit.  Two-sided 5 sigma with at most 100 numbers each: false-alarm rate below 1e-4 a program.  Variances of vectors
are known to a few per cent, those of scores (one value a run) so that an error of 50 % is certain to be seen; the test says if not.
"""

from __future__ import annotations

import numpy as np
import pytest

import netsor


def moments(runs: dict, vectors: set[str]) -> dict[str, np.ndarray]:
    """Per run: first and second moments of every output (averaged over coordinates)."""
    found = {}
    for name, values in runs.items():
        if name in vectors:
            flat = values.reshape(len(values), -1, values.shape[-1])
            second, first = np.einsum("rin,rjn->rij", flat, flat) / flat.shape[-1], flat.mean(axis=-1)
        else:
            first = values.reshape(len(values), -1)
            second = first[:, :, None] * first[:, None, :]
        rows, columns = np.triu_indices(first.shape[1])
        found[name] = np.concatenate([first, second[:, rows, columns]], axis=1)
    return found


def disagreement(program, width: int, runs: int) -> str:
    """What is significantly different from the limit (empty: nothing)."""
    limit = program.limit(samples=2**13, seed=0)
    vectors = {output.name for output in program.ir.outputs if output.is_vector}
    small, large = (
        moments(program.sample(n, runs, seed=n, method="dense", coordinates=None), vectors) for n in (width, 2 * width))
    for output, variable in limit.items():
        count = int(np.prod(variable.shape, dtype=int))
        mean = variable.mean.value.reshape(count)
        second = variable.cov.value.reshape(count, count) + np.outer(mean, mean)
        rows, columns = np.triu_indices(count)
        wanted = np.concatenate([mean, second[rows, columns]])
        own = np.concatenate([variable.mean.error.reshape(count), variable.cov.error.reshape(count, count)[rows, columns]])
        found = 2 * large[output].mean(axis=0) - small[output].mean(axis=0)
        error = np.sqrt(
            4 * large[output].var(axis=0) / len(large[output]) + small[output].var(axis=0) / len(small[output]) + own**2)
        deviation = np.abs(found - wanted)
        # a second O(1/n^2) term remains: allow for (3/n)^2 of the scale
        allowance = (6 / width) ** 2 * np.sqrt(np.max(second.diagonal()))
        diagonal = error[count:][rows == columns] / np.maximum(second.diagonal(), 1e-12)
        assert 5 * diagonal.max() < 0.5, "the comparison would see nothing"
        if not (deviation <= 5 * error + allowance).all():
            return f"{output}: {found} at finite width, {wanted} in the limit, {deviation / error} sigma"
    return ""


@pytest.fixture(name="agrees_with_dense")
def agrees_with_dense_fixture():
    """The comparison, for tests: ``agrees_with_dense(text, width, runs)``."""
    def check(text: str, width: int, runs: int) -> None:
        found = disagreement(netsor.parse(text), width, runs)
        assert not found, found

    return check
