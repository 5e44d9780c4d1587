"""The matrix E f(u_i) f(u_j): equal to pairs, exact on degenerate inputs, free of overflow, fast enough to notice."""

import numpy as np
import pytest

from netsor.expectation import ExpectationUndefined, UnaryFunction, expect_kernel, expect_pair
from netsor.expectation.pair_cells import Cells
from netsor.expectation.pair_quadrature import plane_quadrature


def gram(size, seed=0, spread=1.0):
    """A kernel with a varying diagonal, a zero row, a repeated row and a scaled copy of it with the sign reversed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((size, 30)) * np.exp(spread * rng.uniform(-0.7, 0.7, (size, 1)))
    X[3], X[5], X[7] = 0.0, X[4], -2 * X[4]
    return X @ X.T / 30


@pytest.mark.parametrize("name", ["relu", "step", "erf", "gelu", "tanh", "hardtanh", "sigmoid", "cube", "cos"])
@pytest.mark.parametrize("size", [12, 450])
def test_a_kernel_is_its_pairs(name, size):
    """Against two-dimensional quadrature of 60 entries, with zero, repeated and opposite inputs among them."""
    f, K = UnaryFunction.of(name), gram(size)
    found = expect_kernel(f, 0, K)
    assert found.shape == K.shape and np.array_equal(found.value, found.value.T)
    rows, columns = np.array([(i, j) for i in (0, 4, 5, 7, 9) for j in range(min(size, 12))]).T
    zero, variance = np.zeros(60), np.diagonal(K)
    expected = np.empty(60)
    spread = (variance[rows] > 0) & (variance[columns] > 0)
    law = Cells(zero, zero, variance[rows], variance[columns], K[rows, columns])
    expected[spread] = plane_quadrature(f, f, law[spread]).value
    expected[~spread] = expect_pair(f, f, 0, 0, variance[rows], variance[columns], K[rows, columns]).value[~spread]
    scale = max(1.0, np.abs(found.value).max())
    np.testing.assert_allclose(found.value[rows, columns], expected, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("name, size, shift", [("relu", 300, 1.0), ("hardtanh", 300, 1.0), ("tanh", 300, 0.1)])
def test_means_are_taken_into_account(name, size, shift):
    """Against the plane rule; tanh is interpolated in the means (constant variance)."""
    K, mean = gram(size) + np.diag(np.full(size, 0.1)), shift * np.random.default_rng(2).normal(size=size)
    if name == "tanh":
        K = K / np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
        np.fill_diagonal(K, 1.0)
    f = UnaryFunction.of(name)
    found = expect_kernel(f, mean, K)
    one, two = np.arange(20, 40), np.arange(50, 70)
    expected = plane_quadrature(f, f, Cells(mean[one], mean[two], K[one, one], K[two, two], K[one, two]))
    np.testing.assert_allclose(found.value[one, two], expected.value, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_batches_of_kernels(name):
    f = UnaryFunction.of(name)
    K = np.stack([gram(20, seed) for seed in range(6)]).reshape(2, 3, 20, 20)
    found = expect_kernel(f, 0, K)
    np.testing.assert_allclose(found.value[1, 2], expect_kernel(f, 0, K[1, 2]).value, rtol=0, atol=2e-10)


def test_wide_ranges_of_variance_are_split():
    K = gram(300, spread=2.5)
    variance = np.diagonal(K)
    f = UnaryFunction.of("sigmoid")
    found = expect_kernel(f, 0, K).value
    some = np.arange(10, 60)
    law = Cells(np.zeros(50), np.zeros(50), variance[some], variance[some + 200], K[some, some + 200])
    expected = plane_quadrature(f, f, law).value
    unit = np.sqrt(np.diagonal(found)[some] * np.diagonal(found)[some + 200])
    assert np.max(np.abs(found[some, some + 200] - expected) / unit) < 1e-9


@pytest.mark.parametrize("scale", [1e38, 1e-38])
def test_large_and_small_variances_keep_full_precision(scale):
    K = gram(300)
    for name, power in (("relu", 1), ("abs", 1), ("step", 0), ("relu2", 2)):
        f = UnaryFunction.of(name)
        one, scaled = expect_kernel(f, 0, K).value, expect_kernel(f, 0, K * scale).value
        np.testing.assert_allclose(scaled / scale**power, one, rtol=0, atol=1e-14 * np.abs(one).max())


def test_fifteen_relu_layers_with_growing_weights():
    """K(x, x) = q (15!)^2 / 2^15 for weights of standard deviation 1, 2, ..., 15 and q = 0.385."""
    f, variance = UnaryFunction.of("relu"), 0.385
    for sigma in range(1, 16):
        variance = float(expect_pair(f, f, 0, 0, sigma**2 * variance, sigma**2 * variance, sigma**2 * variance))
    assert variance == pytest.approx(2.0091391519128932e19, rel=1e-14)


def test_two_hidden_layers_of_relu_and_erf():
    """Independent quadrature, given to 12 decimals."""
    X = np.array([[1, 2, 3], [3, -1, 0.5], [0, 0, 0], [2, 4, 6]])
    expected = {
        ("relu", 2.0, 0.1): [9.633333333333, 4.775120218624, 0.794638067923, 18.967689489019, 7.133333333333, 0.709584436202,
                             9.299203252065, 0.3, 1.389827376203, 37.633333333333],
        ("erf", 1.5, 0.05): [0.798468752727, 0.187986221936, 0.117435295093, 0.805747413238, 0.785460857616, 0.121904810564,
                             None, 0.256912360843, None, None],
    }
    for (name, weight, bias), values in expected.items():
        K = weight * X @ X.T / 3 + bias
        for _ in range(2):
            K = weight * expect_kernel(UnaryFunction.of(name), 0, K).value + bias
        for found, value in zip(K[np.triu_indices(4)], values):
            assert value is None or abs(found - value) < 1e-11


def test_not_a_number_is_refused():
    with pytest.raises(ValueError):
        expect_kernel(UnaryFunction.of("relu"), 0, np.array([[1, np.nan], [np.nan, 1]]))
    with pytest.raises(ExpectationUndefined):
        expect_kernel(UnaryFunction.of("exp"), 0, np.full((300, 300), 900.0))


def test_same_result_every_time():
    K = gram(700)
    f = UnaryFunction.of("tanh")
    assert np.array_equal(expect_kernel(f, 0, K).value, expect_kernel(f, 0, K).value)
