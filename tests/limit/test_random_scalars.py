"""Random scalars among the inputs: results are mixtures over them, at every width."""

from __future__ import annotations

import math

import numpy as np
import pytest

import netsor
from netsor.finite.dense import sample_dense


def limit(text: str, **settings):
    return netsor.parse("width n\n" + text).limit(**settings)


def within(estimate, expected, sigmas: float = 5.0) -> bool:
    """Whether the estimate is the number up to its error, 16 randomisations (Student's t with 15 degrees of freedom: 2e-4 at 5)."""
    return bool(np.all(np.abs(estimate.value - expected) <= sigmas * estimate.error + 1e-12))


def test_a_declared_scalar_is_exactly_gaussian():
    found = limit("index i, j in 1..2\nconst K[i,j] = 2 if i == j else 0.6\ninput g[i] : 1 ~ N(i, K)\noutput g")["g"]
    np.testing.assert_array_equal(found.mean.value, [1, 2])
    np.testing.assert_allclose(found.cov.value, [[2, 0.6], [0.6, 2]], rtol=1e-15)
    assert found[0].cdf(np.array([1.0])).value[0] == pytest.approx(0.5, abs=1e-12)
    assert found.law == "gaussian" and found.kind == "S"


def test_a_gaussian_times_a_declared_scalar_is_a_product_normal():
    """y = g W x: variance 1 + m^2, fourth moment 3 E g^4, so that the excess kurtosis is 3 E g^4/(E g^2)^2 - 3."""
    found = limit("input g : 1 ~ N(0.5, 1)\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = g * (W @ x)\noutput y", samples=2**14)["y"]
    second, fourth = 1.25, 3 + 6 * 0.25 + 0.0625
    assert within(found.var, second) and found.var.error < 2e-3
    assert within(found.excess_kurtosis, 3 * fourth / second**2 - 3)


@pytest.mark.parametrize("law, moments", [
    ("Bernoulli(0.3)", (0.3, 0.3, 0.3)),
    ("Rademacher()", (0.0, 1.0, 1.0)),
    ("Uniform(-1, 2)", (0.5, 1.0, 2.2)),
])
def test_declared_scalars_of_other_laws(law, moments):
    """g and y = g W x: E g, E y^2 = E g^2, E y^4 = 3 E g^4."""
    found = limit(f"input g : 1 ~ {law}\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = g * (W @ x)\noutput y, g", samples=2**14)
    first, second, fourth = moments
    assert within(found["g"].mean, first) and within(found["g"].var, second - first**2)
    assert within(found["y"].var, second)
    assert within(found["y"].excess_kurtosis, 3 * fourth / second**2 - 3)


def test_scores_given_declared_scalars():
    """p = g dot(q, k)/sqrt(n) given g is N(0, g^2): E p^2 = E g^2, E p^4 = 3 E g^4; it is proved, not an extension."""
    program = netsor.parse("""
width n
input g : 1 ~ Uniform(0, 2)
input x ~ N(0, 1)
matrix Q, K ~ N(0, 1/n)
p = dot(Q @ (g*x), K @ x) / sqrt(n)
output p
""")
    found = program.limit(samples=2**15)
    assert within(found["p"].var, 4 / 3)
    assert within(found["p"].excess_kurtosis, 3 * (16 / 5) / (4 / 3) ** 2 - 3)
    assert found.theorem.proved


def test_expectations_of_declared_scalars():
    """cov of two elements, of a scalar and a function of it, of scalars of different declarations, and means, as `expect` asks for them."""
    found = limit("""
index i, j in 1..2
const K[i,j] = 1 if i == j else 0.25
input g[i] : 1 ~ N(3, K)
input c : 1 ~ N(0, 1)
input x ~ N(0, 1)
y = g[1]*x
s = g[1]^2
expect cov(g[1], g[2]) = 0.25 within 1e-12
expect mean(g[1]) = 3 within 1e-12
expect cov(g[1], c) = 0 within 1e-12
expect cov(g[1], s) = 6 within 0.05
expect cov(y, y) = 10 within 0.05
""")
    for expectation, estimate in found.expectations:
        expected, tolerance = float(expectation.value.value), float(expectation.tolerance.value)
        assert abs(estimate.value - expected) <= tolerance, expectation.span.text


def test_joint_draws_share_the_scalar():
    found = limit("input g : 1 ~ Bernoulli(0.5)\ninput x ~ N(0, 1)\ny = g*x\noutput g, y")
    drawn = found.sample(2000, 4)
    assert np.array_equal(drawn["g"] == 0, drawn["y"] == 0)
    assert abs(drawn["g"].mean() - 0.5) < 5 * math.sqrt(0.25 / 2000)


def test_one_draw_a_run_at_finite_width():
    """Every coordinate of y = g sign(x) has the size of the same g, in the exact sampler and in the dense one; g has its law (5 sigma)."""
    program = netsor.parse("width n\ninput g : 1 ~ N(2, 9)\ninput x ~ N(0, 1)\ny = g*sign(x)\noutput g, y")
    for drawn in (program.sample(5, 2000, seed=1, coordinates=None), sample_dense(program.ir, 5, 2000, seed=2)):
        np.testing.assert_allclose(np.abs(drawn["y"]), np.abs(drawn["g"])[:, None] * np.ones(5))
        assert abs(drawn["g"].mean() - 2) < 5 * 3 / math.sqrt(2000)
        assert abs(drawn["g"].var() - 9) < 5 * 9 * math.sqrt(2 / 2000)


def test_an_infinite_axis_of_scalars_averages():
    """sum(g[a] W[a] x)/sqrt(H) over infinitely many independent g of second moment 5 is Gaussian of variance 5."""
    found = limit("""
param H = inf
index a in 1..H
input g[a] : 1 ~ N(2, 1)
input x ~ N(0, 1)
matrix W[a] ~ N(0, 1/n)
y = sum(g[a] * (W[a] @ x) for a) / sqrt(H)
output y
""")["y"]
    assert within(found.var, 5.0)


def test_correlated_scalars_at_finite_width():
    """Covariance of 20,000 draws, 5 sigma of each entry."""
    program = netsor.parse("width n\nindex i, j in 1..3\nconst K[i,j] = exp(-abs(i-j))\ninput g[i] : 1 ~ N(0, K)\noutput g")
    drawn = program.sample(2, 20_000, seed=7)["g"]
    place = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    np.testing.assert_allclose(np.cov(drawn.T), np.exp(-place), atol=5 * math.sqrt(2 / 20_000))
