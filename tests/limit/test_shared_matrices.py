"""Two attention layers that share WQ and WK: the law of the second scores given the first (sequential conditioning).

Source: for x2_i = h_i + sum_j A_ij WV h_j with independent unit tokens, p2 | p1 ~ N(p1, K2 (x) K2 - I), K2 = I + A A^T, by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

import netsor

PROGRAM = """
width n
param s = 3
index i, j in 1..s
input h[i] ~ N(0, 1)
matrix WQ, WK, WV ~ N(0, 1/n)
p1[i,j] = dot(WQ @ h[i], WK @ h[j]) / sqrt(n)
A[i,j] = softmax(p1[i,j] for j)
x2[i] = h[i] + sum(A[i,j] * (WV @ h[j]) for j)
p2[i,j] = dot(WQ @ x2[i], WK @ x2[j]) / sqrt(n)
output p1, p2
"""


def standardised(p1: np.ndarray, p2: np.ndarray, regression: float = 1.0) -> np.ndarray:
    """(p2 - regression * p1) whitened by the covariance of the law: iid N(0, 1) if the law holds.  Shape (draws, s*s)."""
    count, size, _ = p1.shape
    weights = np.exp(p1 - p1.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    kernel = np.eye(size) + weights @ np.swapaxes(weights, 1, 2)
    covariance = np.einsum("nik,njl->nijkl", kernel, kernel).reshape(count, size**2, size**2) - np.eye(size**2)
    remainder = (p2 - regression * p1).reshape(count, size**2, 1)
    return np.linalg.solve(np.linalg.cholesky(covariance), remainder)[..., 0]


def z_scores(white: np.ndarray) -> tuple[float, float]:
    """z-scores of the sum of squares (chi squared with s^2 degrees of freedom) and the largest one of the means."""
    count, size = white.shape
    squares = (np.sum(white**2, axis=1).mean() - size) / np.sqrt(2 * size / count)
    return float(squares), float(np.max(np.abs(white.mean(axis=0))) * np.sqrt(count))


def test_second_scores_given_the_first_follow_the_conditional_law():
    """20,000 draws: false-alarm rate about 1e-4 (4 sigma, ten statistics); catches a variance error of 1.4 %."""
    draws = netsor.parse(PROGRAM).limit(samples=256, seed=1).sample(20_000, random_state=1)
    squares, means = z_scores(standardised(draws["p1"], draws["p2"]))
    assert abs(squares) < 4 and means < 4.5


def test_a_missing_regression_term_would_be_seen():
    """The same statistic with the mean of p2 given p1 dropped, as a sampler without conditioning would have it."""
    draws = netsor.parse(PROGRAM).limit(samples=256, seed=1).sample(20_000, random_state=1)
    squares, _ = z_scores(standardised(draws["p1"], draws["p2"], regression=0.0))
    assert squares > 20


def test_regression_of_the_second_scores_on_the_first_is_one():
    """E[p1 p2] = E[p1^2] = 1 for every entry; 4.5 sigma over nine entries, error caught about 0.05."""
    draws = netsor.parse(PROGRAM).limit(samples=256, seed=2).sample(20_000, random_state=2)
    product = draws["p1"] * (draws["p2"] - draws["p1"])
    z = product.mean(axis=0) / (product.std(axis=0) / np.sqrt(len(product)))
    assert np.max(np.abs(z)) < 4.5


@pytest.mark.slow
def test_brute_force_at_width_256_agrees():
    """Every matrix drawn in full, 6,000 runs at n = 256 and n = 128; the O(1/n) bias of the sum of squares is cancelled by pairs (n, 2n).

    5 sigma: false-alarm rate 6e-7; the smallest error seen is about 8 % of the sum of squares, a missing regression term changes it by
    far more (tested above)."""
    program = netsor.parse(PROGRAM)
    estimates = {}
    for width in (128, 256):
        runs = program.sample(width, 6_000, seed=width, method="dense", coordinates=None)
        squares = np.sum(standardised(runs["p1"], runs["p2"]) ** 2, axis=1)
        estimates[width] = squares.mean(), squares.std() / np.sqrt(len(squares))
    value = 2 * estimates[256][0] - estimates[128][0]
    error = np.hypot(2 * estimates[256][1], estimates[128][1])
    assert abs(value - 9) < 5 * error
    assert error < 0.2
