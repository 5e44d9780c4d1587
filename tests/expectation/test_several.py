"""Randomised QMC: honest errors, determinism, degenerate covariances, and no silent NaN."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2

from netsor.expectation import ExpectationUndefined, expect_several
from netsor.expectation import several
from netsor.expectation.directions import directions
from netsor.expectation.several import reduced_root


def product(x, cells):
    return np.maximum(x[..., 0], 0) * np.maximum(x[..., 1], 0)


COVARIANCE = np.array([[1.0, 0.5], [0.5, 1.0]])
EXACT = 0.25 * 0.5 + (np.sqrt(0.75) + 0.5 * np.arcsin(0.5)) / (2 * np.pi)


def test_the_spread_of_replicates_is_an_honest_error():
    """200 seeds: z = error / standard error of 8 replicates is t with 7 degrees of freedom.

    |z| > 2.365 has probability 5 %; the count is binomial(200, .05). More than 24 has probability 1e-4, so false alarms
    are rarer than 1e-4; an error bar 40 % too small would make 15 % of them exceed and be caught with probability 0.9.
    """
    z = []
    for seed in range(200):
        runs = expect_several(product, np.zeros((1, 1, 2)), COVARIANCE[None, None], points=128, seed=seed)[:, 0]
        z.append((runs.mean() - EXACT) / (runs.std(ddof=1) / np.sqrt(8)))
    assert np.sum(np.abs(z) > 2.365) <= 24


INDEPENDENT, CENTRED = np.eye(4), np.eye(4) - 0.25
NORMALISED = quad(lambda q: q / (q + 4e-3) * chi2.pdf(q, 3), 0, np.inf)[0]


@pytest.mark.parametrize("function, covariance, exact", [
    (lambda x, _: np.maximum(x[..., 0], x[..., 1]) * np.maximum(x[..., 2], x[..., 3]), INDEPENDENT, 1 / np.pi),
    (lambda x, _: x[..., 0] ** 2 / (np.mean(x * x, axis=-1) + 1e-3), CENTRED, NORMALISED),
    (lambda x, _: np.cos(x[..., 0] * x[..., 2]) + np.cos(x.sum(axis=-1)), INDEPENDENT, 0.5**0.5 + np.exp(-2)),
], ids=["kinks", "batch normalisation", "smooth"])
def test_honest_errors_in_four_variables(function, covariance, exact):
    """As above, with 16 randomisations: |z| > 2.131 has probability 5 % (t with 15 degrees of freedom)."""
    z = []
    for seed in range(200):
        runs = expect_several(function, np.zeros((1, 1, 4)), covariance[None, None], points=256, replicates=16, seed=seed)[:, 0]
        z.append((runs.mean() - exact) / (runs.std(ddof=1) / 4))
    assert np.sum(np.abs(z) > 2.131) <= 24


def test_quasi_random_points_beat_random_ones():
    """Root mean square error over 20 seeds at 2^13 points; pseudo-random points would give 0.9 / sqrt(8 * 2^13) = 2e-3."""
    runs = [expect_several(product, np.zeros((1, 1, 2)), COVARIANCE[None, None], seed=seed).mean() for seed in range(20)]
    assert np.sqrt(np.mean((np.array(runs) - EXACT) ** 2)) < 1e-4


def ridge(x, cells):
    """A function of one direction of 24 that none of the axes is, and a little of the others."""
    return np.tanh(x[..., 6:].sum(axis=-1)) ** 2 + 0.01 * np.prod(np.cos(x[..., :6]), axis=-1)


def test_points_are_good_where_the_function_varies():
    """The spread over 16 randomisations falls by five or more: the ratio of spreads of 15 degrees of freedom each is below 2.4 with
    probability 0.999 if directions make no difference."""
    covariance = (0.05 * np.eye(24))[None, None]
    spread = {}
    for name, rotations in (("axes", np.eye(24)[None]), ("found", None)):
        runs = expect_several(ridge, np.zeros((1, 1, 24)), covariance, points=4096, replicates=16, rotations=rotations)
        spread[name] = runs.std(ddof=1)
    assert spread["found"] < spread["axes"] / 5


def test_directions_that_are_no_numbers_do_no_harm():
    """A function that is undefined beside the origin, where differences look: points as they are."""
    found = directions(lambda x, _: np.where(x[..., 0] > 0, np.nan, 1.0), np.zeros((2, 3)), np.broadcast_to(np.eye(3), (2, 3, 3)), 2**20)
    assert np.array_equal(np.abs(found), np.broadcast_to(np.eye(3), (2, 3, 3)))


@pytest.mark.parametrize("points", [2**12, 2**17])
def test_blocks_of_points_add_up(points, monkeypatch):
    one = expect_several(product, np.zeros((1, 1, 2)), COVARIANCE[None, None], points=points, replicates=2)
    monkeypatch.setattr(several, "BLOCK", points // 4)
    assert np.allclose(one, expect_several(product, np.zeros((1, 1, 2)), COVARIANCE[None, None], points=points, replicates=2), rtol=1e-13)


def test_results_depend_on_the_seed_only(monkeypatch):
    mean, covariance = np.zeros((1, 50, 2)), np.broadcast_to(COVARIANCE, (1, 50, 2, 2))
    one = expect_several(product, mean, covariance, points=256)
    monkeypatch.setattr(several, "CHUNK", 2048)
    assert np.array_equal(one, expect_several(product, mean, covariance, points=256))
    assert not np.array_equal(one, expect_several(product, mean, covariance, points=256, seed=1))


def test_replicates_may_have_their_own_laws():
    scale = np.arange(1.0, 9.0)
    covariance = COVARIANCE * scale[:, None, None, None]
    runs = expect_several(product, np.zeros((1, 1, 2)), covariance)
    np.testing.assert_allclose(runs[:, 0] / scale, EXACT, rtol=5e-3)
    with pytest.raises(ValueError, match="replicates"):
        expect_several(product, np.zeros((3, 1, 2)), COVARIANCE[None, None])


@pytest.mark.parametrize(
    "covariance, expected",
    [
        ([[1, 1, 0], [1, 1, 0], [0, 0, 0]], 0.5),
        ([[1, -1, 0], [-1, 1, 0], [0, 0, 0]], 0.0),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], 0.0),
        ([[1e-30, 1e-15, 0], [1e-15, 1, 0], [0, 0, 1e20]], 0.5e-15),
    ],
)
def test_degenerate_covariances(covariance, expected):
    runs = expect_several(product, np.zeros((1, 1, 3)), np.array(covariance, dtype=float)[None, None])
    np.testing.assert_allclose(runs, expected, rtol=2e-3, atol=1e-30)


def test_a_value_that_is_not_a_number_is_an_error():
    with pytest.raises(ExpectationUndefined, match="nan at .* expectation is not a number"):
        expect_several(lambda x, _: np.log(x[..., 0]), np.zeros((1, 1, 1)), np.ones((1, 1, 1, 1)))
    with pytest.raises(ValueError, match="shape"):
        expect_several(lambda x, _: x, np.zeros((1, 1, 1)), np.ones((1, 1, 1, 1)))


def test_no_point_is_infinite():
    """A scrambled Sobol point is exactly 0 now and then; 64 seeds had one."""
    largest = max(np.abs(normals).max() for seed in range(64) for _, normals in several._normals(1024, 3, 2, seed))
    assert np.isfinite(largest) and largest < 7


def test_beyond_the_dimension_of_sobol_points_are_pseudo_random():
    size = 21_202
    _, normals = next(several._normals(2, size, 1, 0))
    assert normals.shape == (2, size) and abs(normals.mean()) < 5 / np.sqrt(2 * size)


def test_cells_of_one_law_make_a_gram_matrix():
    """E f_i f_j with f_i = |x_i - x_{i+1}| over one law, each cell with directions of its own if it were not told."""
    size = 5
    rows, columns = (index.ravel() for index in np.indices((size, size)))

    def products(x, cells):
        f = np.abs(x - np.roll(x, 1, axis=-1))
        own = np.arange(len(x))[:, None]
        points = np.arange(x.shape[1])
        return f[own, points, rows[cells, None]] * f[own, points, columns[cells, None]]

    law = np.broadcast_to(np.eye(size) - 1 / size, (size * size, size, size))[None]
    runs = expect_several(
        products, np.zeros((1, 1, size)), law, points=2**12, replicates=2, laws=np.zeros(size * size, dtype=int))
    for run in runs.reshape(2, size, size):
        np.testing.assert_allclose(run, run.T, rtol=1e-13)
        assert np.linalg.eigvalsh(run).min() >= -1e-13


def test_as_few_variables_as_the_rank():
    centred = np.eye(4) - 0.25
    mixed = np.stack([centred, np.diag([1.0, 0.0, 4.0, 0.0])])
    root = reduced_root(mixed)
    assert root.shape == (2, 4, 3) and reduced_root(np.zeros((4, 4))).shape == (4, 0)
    np.testing.assert_allclose(root @ root.swapaxes(1, 2), mixed, atol=1e-14)
    np.testing.assert_allclose(reduced_root(np.array([[2.0, 1.0], [1.0, 2.0]])), np.linalg.cholesky([[2.0, 1.0], [1.0, 2.0]]), atol=1e-14)
    runs = expect_several(lambda x, _: x[..., 0] ** 2, np.full((1, 1, 2), 3.0), np.zeros((1, 1, 2, 2)), points=2**12, replicates=2)
    np.testing.assert_array_equal(runs, 9.0)
