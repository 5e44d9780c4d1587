"""Roots of covariance matrices, singular ones included."""

import numpy as np
import pytest

from netsor.expectation import psd_root, solve_root


def matrices():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6, 6))
    definite = X @ X.T
    repeated = X[[0, 1, 2, 2, 4, 4]] @ X[[0, 1, 2, 2, 4, 4]].T
    low_rank = X[:, :2] @ X[:, :2].T
    scales = np.array([1e-12, 1e-3, 1.0, 1e4, 1e9, 0.0])
    return np.stack([definite, repeated, low_rank, definite * np.outer(scales, scales), np.zeros((6, 6)), np.eye(6)])


def test_root_times_its_transpose_is_the_matrix_to_relative_precision():
    K = matrices()
    L = psd_root(K)
    scale = np.sqrt(np.diagonal(K, axis1=1, axis2=2))
    bound = 1e-13 * scale[:, :, None] * scale[:, None, :]
    assert np.all(np.abs(L @ L.swapaxes(1, 2) - K) <= bound)


def test_zero_rows_are_exactly_zero():
    assert np.all(psd_root(matrices()[3])[5] == 0) and np.all(psd_root(np.zeros((2, 3, 3))) == 0)


def test_repeated_rows_stay_together():
    L = psd_root(matrices()[1])
    np.testing.assert_allclose(L[2], L[3], atol=1e-7)


def test_definite_matrices_get_the_cholesky_factor():
    K = matrices()[0]
    np.testing.assert_allclose(psd_root(K), np.linalg.cholesky(K), atol=1e-13)


def test_a_matrix_does_not_depend_on_its_batch():
    K = matrices()
    for one, batched in zip(K, psd_root(K)):
        assert np.array_equal(psd_root(one), batched)


def test_solve_root_recovers_the_projection():
    """B = Cov(p, q) with q = C p: L^+ B must satisfy L (L^+ B) = B also when K is singular."""
    rng = np.random.default_rng(4)
    for K in matrices():
        B = K @ rng.standard_normal((6, 3)) / np.sqrt(np.maximum(np.diagonal(K).max(), 1))
        scale = np.sqrt(np.diagonal(K))[:, None] + 1e-300
        assert np.all(np.abs(psd_root(K) @ solve_root(psd_root(K), B) - B) <= 1e-6 * scale * np.abs(B / scale).max())


@pytest.mark.parametrize("K, sentence", [([[1, 2], [2, 1]], "not positive"), ([[-1.0]], "negative"), ([[np.nan]], "finite")])
def test_what_is_not_a_covariance_is_refused(K, sentence):
    with pytest.raises(ValueError, match=sentence):
        psd_root(np.array(K, dtype=float))
