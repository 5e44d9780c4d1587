"""Two samples of the same program: are they of one law?

Compared are the recorded numbers (scalars, and two coordinates of vectors), and all products of two of the first of them, by the
two-sample Kolmogorov–Smirnov distance and by z-scores of means and mean squares.  The false-alarm rate of one comparison is 1e-4
(Bonferroni over its numbers).  With 10,000 runs on each side a distance of 0.06 between distribution functions, or a variance wrong by
15 %, is found with probability above 0.99.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import ndtri

import netsor

FALSE_ALARM = 1e-4
SINGLES, PAIRED = 16, 7


def statistics(runs: dict[str, np.ndarray]) -> np.ndarray:
    """(numbers, runs): entries spread over every output, and products of two."""
    chosen = []
    for values in runs.values():
        flat = values.reshape(len(values), -1).T
        chosen.append(flat[np.unique(np.linspace(0, len(flat) - 1, SINGLES // len(runs)).astype(int))])
    singles = np.concatenate(chosen)
    first = singles[np.unique(np.linspace(0, len(singles) - 1, PAIRED).astype(int))]
    return np.concatenate([singles, [a * b for a, b in itertools.combinations(first, 2)]])


def ks_distance(left: np.ndarray, right: np.ndarray) -> float:
    both = np.concatenate([left, right])
    both.sort()
    share = lambda sample: np.searchsorted(np.sort(sample), both, side="right") / len(sample)  # noqa: E731
    return float(np.abs(share(left) - share(right)).max())


def differences(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> list[str]:
    """What is significantly different (empty: nothing)."""
    assert {name: v.shape[1:] for name, v in left.items()} == {name: v.shape[1:] for name, v in right.items()}
    first, second = statistics(left), statistics(right)
    level = FALSE_ALARM / (3 * len(first))
    sizes = first.shape[1], second.shape[1]
    critical = np.sqrt(-np.log(level / 2) / 2 * sum(sizes) / (sizes[0] * sizes[1]))
    sigmas = -ndtri(level / 2)
    found = []
    for number, (a, b) in enumerate(zip(first, second)):
        distance = ks_distance(a, b)
        if distance > critical:
            found.append(f"number {number}: Kolmogorov–Smirnov distance {distance:.4f} > {critical:.4f}")
        for power in (1, 2):
            u, v = a**power, b**power
            error = np.sqrt(u.var() / len(u) + v.var() / len(v))
            if abs(u.mean() - v.mean()) > sigmas * error:
                found.append(f"number {number}: means of powers {power} are {u.mean():.4f} and {v.mean():.4f}, error {error:.4f}")
    return found


@pytest.fixture(name="differences")
def differences_fixture():
    """The comparison, for tests."""
    return differences


@pytest.fixture
def exact_and_dense():
    """``exact_and_dense(width, text, runs)``: runs of a program by the exact and by the dense sampler, two coordinates of vectors recorded."""

    def draw(width: int, text: str, runs: int, seed: int = 1) -> tuple[dict, dict]:
        program = netsor.parse(text)
        exact = program.sample(width, runs, seed, coordinates=2, workers=1)
        return exact, program.sample(width, runs, seed + 1, coordinates=2, method="dense")

    return draw
