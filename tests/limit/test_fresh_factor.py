"""The fresh factor of a score may be one element of a family of matrices, told from the others by its subscripts."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.language.diagnostics import NetsorError

START = """
width n
index a, b in 1..2
input x ~ N(0, 1)
matrix W[a] ~ N(0, 1/n)
v[a] = W[a] @ x
"""


@pytest.mark.parametrize("sides, variance", [
    ("v[1], v[2]", 1), ("v[1], relu(v[2])", 1 / 2), ("2*v[1] + x, v[2]", 5), ("v[1]*relu(v[2]), v[2]^2", 7.5),
])
def test_elements_of_one_family_are_different_sources(sides, variance):
    """E u^2 E relu(u)^2 and the like; E relu(u)^2 u^4 = 15/2."""
    f = netsor.parse(START + f"f = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)["f"]
    assert f.var.value == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("sides", ["v[1], v[1]", "v[1]^2, v[2]^2", "relu(v[1]), relu(v[2])", "v[a], v[b]"])
def test_what_has_none_is_refused(sides):
    left = "f[a,b]" if "a" in sides and "relu" not in sides else "f"
    with pytest.raises(NetsorError, match="N40[12]"):
        netsor.parse(START + f"{left} = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)


ATTENTION = """
width n
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix WQ, WK, WP ~ N(0, 1/n)
input b, c ~ N(0, 1/2)
"""


@pytest.mark.parametrize("query, key, left, right", [
    ("WQ @ x[i] + b", "WK @ x[j] + c", 1 / 2, 1 / 2),  # biases
    ("WQ @ x[i] + b", "WK @ x[j]", 1 / 2, 0),
    ("WQ @ x[i] + WP @ c", "WK @ x[j] + b", 1 / 2, 1 / 2),  # content and position
])
def test_sources_that_enter_one_side_as_a_sum_are_fresh_together(query, key, left, right):
    """Cov(p_ij, p_kl) is the product of the covariances of queries and keys."""
    p = netsor.parse(ATTENTION + f"p[i,j] = dot({query}, {key}) / sqrt(n)\noutput p\n").limit(samples=2**10)["p"]
    expected = np.einsum("ik,jl->ijkl", np.eye(2) + left, np.eye(2) + right)
    np.testing.assert_allclose(p.cov.value, expected, atol=1e-9)


@pytest.mark.parametrize("sides, variance", [
    ("tanh(WQ @ x[1] + b), x[2]^2", lambda f: 3 * f(lambda u: np.tanh(u) ** 2, 3 / 2)),  # odd in the sum, not in its parts
    ("WQ @ x[1] + b, b^2", lambda f: 3 / 4 + 15 / 8),  # all sources of both sides: E (g + b)^2 b^4
])
def test_oddness_in_several_sources_together_is_enough(sides, variance):
    def gaussian(function, of):
        nodes, weights = np.polynomial.hermite_e.hermegauss(100)
        return weights @ function(np.sqrt(of) * nodes) / np.sqrt(2 * np.pi)

    f = netsor.parse(ATTENTION + f"f = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)["f"]
    assert f.var.value == pytest.approx(variance(gaussian), rel=1e-8)


@pytest.mark.parametrize("sides", ["abs(WQ @ x[1] + b), c^2 - 1/2", "(WQ @ x[1] + b)^2 - 3/2, c^2 - 1/2", "WQ @ x[1] + b, b + c"])
def test_what_is_odd_in_no_set_is_refused(sides):
    with pytest.raises(NetsorError, match="N40[12]"):
        netsor.parse(ATTENTION + f"f = dot({sides}) / sqrt(n)\noutput f\n").limit(samples=2**10)
