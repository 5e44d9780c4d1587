"""E f(U) g(V): every strategy against an independent rule."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad

from netsor.expectation import CellFunction, ExpectationUndefined, UnaryFunction, expect_pair, expect_unary
from netsor.expectation import pair
from netsor.expectation.pair_cells import Cells
from netsor.expectation.pair_quadrature import plane_quadrature

RNG = np.random.default_rng(7)
NAMES = ["identity", "relu", "abs", "step", "sign", "erf", "gelu", "tanh", "sigmoid", "hardtanh", "sin", "exp", "square", "elu",
         "hardsigmoid", "sigmoid_erf", "cos", "relu2", "gaussian"]


def cells(count, centred=True):
    """Random laws, then correlations 0, +-1, within 1e-6 and 1e-12 of +-1, with unequal variances."""
    var_f, var_g = RNG.uniform(0.1, 2.0, (2, count))
    rho = RNG.uniform(-1, 1, count)
    special = [0.0, 1.0, -1.0, 1 - 1e-6, -(1 - 1e-6), 1 - 1e-12]
    rho[: len(special)] = special
    mean = np.zeros((2, count)) if centred else RNG.normal(size=(2, count))
    return Cells(mean[0], mean[1], var_f, var_g, rho * np.sqrt(var_f * var_g))


def nested_quad(f, g, mean_f, mean_g, var_f, var_g, cov):
    """Independent: scipy's adaptive rule over g's conditional mean by 40-node Gauss-Legendre panels split at g's kinks."""
    rho = np.clip(cov / np.sqrt(var_f * var_g), -1, 1)
    spread = np.sqrt(var_g * (1 - rho) * (1 + rho))
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def conditional(x):
        centre = mean_g + rho * np.sqrt(var_g) * x
        if spread < 1e-14:
            return float(g(np.array(centre)))
        edges = np.unique(np.clip([*np.linspace(-9, 9, 13), *((k - centre) / spread for k in g.kinks)], -9, 9))
        half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        y = middle + half * nodes
        return float(np.sum(g(centre + spread * y) * np.exp(-0.5 * y * y) * half * weights) / np.sqrt(2 * np.pi))

    def integrand(x):
        return float(f(np.array(mean_f + np.sqrt(var_f) * x))) * conditional(x) * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)

    marks = {-9.0, -4.0, -1.5, 0.0, 1.5, 4.0, 9.0, *((k - mean_f) / np.sqrt(var_f) for k in f.kinks)}
    if abs(rho) > 1e-3:
        marks |= {(k - mean_g) / (rho * np.sqrt(var_g)) for k in g.kinks}
        marks |= {m + s * w for m in list(marks) for w in (spread, 8 * spread) if 1e-9 < spread < 0.1 for s in (-1, 1)}
    marks = sorted(m for m in marks if abs(m) <= 9)
    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0] for a, b in zip(marks, marks[1:]))


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("first, second", [*zip(NAMES, NAMES), *itertools.islice(itertools.combinations(NAMES, 2), 0, None, 9)])
def test_expect_pair_and_plane_quadrature_agree(first, second, centred):
    """Two computations that share nothing but the functions; their stated errors cover the difference."""
    f, g = UnaryFunction.of(first), UnaryFunction.of(second)
    law = cells(8, centred)
    found = expect_pair(f, g, law.mean_f, law.mean_g, law.var_f, law.var_g, law.cov)
    direct = plane_quadrature(f, g, law)
    np.testing.assert_allclose(found.value, direct.value, rtol=1e-11, atol=1e-11)
    assert np.all(np.abs(found.value - direct.value) <= found.error + direct.error + 1e-15)
    # at correlation 1 - 1e-12 the rounding of the correlation moves the angle, and jumps with it, by some 1e-10
    assert np.all(found.error < 1e-8 * np.maximum(1, np.abs(found.value)))


@pytest.mark.parametrize(
    "first, second", [("relu", "step"), ("tanh", "tanh"), ("elu", "hardtanh"), ("gelu", "sign"), ("hardtanh", "hardtanh"), ("exp", "relu")]
)
@pytest.mark.parametrize("rho", [0.37, -0.92, 1 - 1e-6])
def test_expect_pair_against_nested_adaptive_quadrature(first, second, rho):
    f, g = UnaryFunction.of(first), UnaryFunction.of(second)
    law = (0.3, -0.2, 0.8, 1.7, rho * np.sqrt(0.8 * 1.7))
    assert abs(float(expect_pair(f, g, *law)) - nested_quad(f, g, *law)) < 2e-11


@pytest.mark.parametrize("strategy", [pair.closed_form, pair.polynomial_times_any, pair.degenerate, pair.plane_quadrature])
def test_every_strategy_alone(strategy):
    """Each on pairs it takes, against the plane rule."""
    names = {"closed_form": ["relu", "hardtanh"], "polynomial_times_any": ["cube", "elu"]}.get(strategy.__name__, ["silu", "selu"])
    f, g = (UnaryFunction.of(name) for name in names)
    law = cells(7, centred=strategy is not pair.closed_form)
    estimate = strategy(f, g, law)
    np.testing.assert_allclose(estimate.value, plane_quadrature(f, g, law).value, atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("name", ["relu", "tanh", "step", "gelu", "cos", "cube", "elu", "hardtanh"])
def test_a_constant_variable_factors_out(name):
    f = UnaryFunction.of(name)
    found = expect_pair(f, f, 0.4, 0.1, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 0.0)
    expected = [float(f(np.array(0.4))) * float(expect_unary(f, 0.1, 1.0)), float(f(np.array(0.4)) * f(np.array(0.1))),
                float(expect_unary(f, 0.4, 1.0)) * float(f(np.array(0.1)))]
    np.testing.assert_allclose(found.value, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("variance", [1e-8, 1e-2, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("rho", [0.5, 0.99999, 1.0])
def test_tanh_at_extreme_variances(variance, rho):
    """Against a plane rule in polar coordinates with the layers of both functions resolved by geometric panels."""
    f = UnaryFunction.of("tanh")
    found = expect_pair(f, f, 0, 0, variance, variance, rho * variance)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    geometric = np.concatenate([[0.0], 2.0 ** np.arange(-45, 1)])

    def panels(edges):
        half, middle = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        return (middle + half * nodes).ravel(), (half * weights).ravel()

    theta = np.arccos(rho)
    # tanh tanh is even under rotation by pi: angles from -pi/2 (where U = 0) to pi/2, with V = 0 at theta - pi/2
    zeros = np.unique([-np.pi / 2, theta - np.pi / 2, np.pi / 2])
    edges = [[a + geometric * (b - a) / 2, b - geometric * (b - a) / 2] for a, b in zip(zeros, zeros[1:])]
    angle, angle_weight = panels(np.unique(edges))
    r, r_weight = panels(np.unique([0.0, *9.0 * 2.0 ** np.arange(-14.0, -1.0), *np.linspace(2.25, 9.0, 9)]))
    scale, total = np.sqrt(variance), 0.0
    for radius, weight in zip(r, r_weight):
        values = np.tanh(scale * radius * np.cos(angle)) * np.tanh(scale * radius * np.cos(angle - theta))
        total += weight * radius * np.exp(-0.5 * radius**2) * np.sum(values * angle_weight)
    expected = total / np.pi
    assert abs(float(found) - expected) <= float(found.error) + 1e-11 * max(abs(expected), 1e-8)


def test_an_odd_function_and_an_even_one_are_uncorrelated_exactly():
    estimate = expect_pair(UnaryFunction.of("tanh"), UnaryFunction.of("gaussian"), 0, 0, 1, 2, [0.5, -1])
    assert np.all(estimate.value == 0) and estimate.method == "exact"


@pytest.mark.parametrize("name", ["tanh", "elu", "silu"])
def test_many_cells_are_interpolated_to_the_stated_error(name):
    """Varying and constant variances, different functions: against the plane rule at 40 of the cells."""
    f, g = UnaryFunction.of(name), UnaryFunction.of("sigmoid")
    for law in (cells(3000), Cells(*(np.full(3000, x) for x in (0.0, 0.0, 0.7, 0.7)), np.linspace(-0.7, 0.7, 3000))):
        for second in (f,) if name == "elu" else (f, g):
            found = expect_pair(f, second, law.mean_f, law.mean_g, law.var_f, law.var_g, law.cov)
            assert "interpolation" in found.method
            some = np.r_[0:20, 2980:3000]
            direct = plane_quadrature(f, second, law[some])
            assert np.all(np.abs(found.value[some] - direct.value) <= found.error[some] + direct.error)
            np.testing.assert_allclose(found.value[some], direct.value, atol=1e-10, rtol=0)


def test_many_cells_with_different_means_are_interpolated():
    rng = np.random.default_rng(5)
    mean = rng.uniform(-0.5, 0.5, (2, 2000))
    f = UnaryFunction.of("tanh")
    found = expect_pair(f, f, *mean, 0.8, 1.1, rng.uniform(-0.9, 0.9, 2000))
    assert "interpolation" in found.method
    rng = np.random.default_rng(5)
    rng.uniform(-0.5, 0.5, (2, 2000))
    direct = plane_quadrature(
        f, f, Cells(mean[0, :20], mean[1, :20], np.full(20, 0.8), np.full(20, 1.1), rng.uniform(-0.9, 0.9, 2000)[:20])
    )
    np.testing.assert_allclose(found.value[:20], direct.value, atol=1e-10, rtol=0)


def test_impossible_covariances_are_refused():
    f = UnaryFunction.of("relu")
    with pytest.raises(ValueError, match="do not allow covariance"):
        expect_pair(f, f, 0, 0, 1, 1, 1.1)
    with pytest.raises(ValueError, match="do not allow covariance"):
        expect_pair(f, f, 0, 0, 1, 1, np.nan)
    assert float(expect_pair(f, f, 0, 0, 1, 1, 1 + 1e-15)) == pytest.approx(0.5, rel=2e-15)


def test_what_is_not_a_number_is_refused():
    with pytest.raises(ExpectationUndefined, match="domain"):
        expect_pair(UnaryFunction.of("log"), UnaryFunction.of("tanh"), 0, 0, 1, 1, 0.5)
    with pytest.raises(ExpectationUndefined, match="overflows"):
        expect_pair(UnaryFunction.of("exp"), UnaryFunction.of("exp"), 0, 0, 900, 900, 0.5)


def test_cell_functions_in_pairs():
    slope = np.array([0.5, 1.0, 3.0])
    f = CellFunction(lambda x, part: np.tanh(slope[part, None] * x), np.empty((3, 0)))
    found = expect_pair(f, UnaryFunction.of("relu"), 0.1, 0.0, [1.0, 2.0, 0.0], 1.0, [0.5, -0.3, 0.0])
    for cell, (var, cov) in enumerate([(1.0, 0.5), (2.0, -0.3), (0.0, 0.0)]):
        s = slope[cell]
        single = expect_pair(UnaryFunction.of("tanh"), UnaryFunction.of("relu"), 0.1 * s, 0.0, var * s * s, 1.0, cov * s)
        assert abs(found.value[cell] - float(single)) < 1e-12
