"""Maxima of two vectors and conditions on several are ReLUs and steps of Gaussian variables: no quasi-random points."""

import numpy as np
import pytest
from scipy import integrate, stats

from netsor import parse

PROGRAM = """width n
index i, j in 1..3
const K[i,j] = 1 if i == j else 0.3
input z[i] ~ N(0, K)
y = {}
m = avg(y)
output m
"""
GAP = 1.4  # the variance of z[1] - z[2]


def pairs(function) -> float:
    """E of a function of z[1], z[2], by nested quadrature."""
    law = stats.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]])
    inner = lambda a: integrate.quad(lambda b: function(a, b) * law.pdf([a, b]), -9, 9, points=[a, 0.0], epsabs=1e-12, limit=400)[0]  # noqa: E731
    return integrate.quad(inner, -9, 9, points=[0.0], epsabs=1e-10, limit=400)[0]


CASES = {
    "max(z[1], z[2])": np.sqrt(GAP / (2 * np.pi)),
    "min(z[1], z[2])": -np.sqrt(GAP / (2 * np.pi)),
    "max(z[1], z[2])^2": 1.0,  # max^2 + min^2 = z1^2 + z2^2, and -max is distributed as min
    "min(z[1], z[2])*max(z[1], z[2])": 0.3,
    "where(z[1] > 0 and z[2] > 0, z[1]*z[2], 0)": pairs(lambda a, b: max(a, 0) * max(b, 0)),
    "where(z[1] > 0 and z[2] <= 0, 1, 0)": 0.25 - np.arcsin(0.3) / (2 * np.pi),
    "where(z[1] >= z[2], z[1], 2*z[2])": pairs(lambda a, b: a if a >= b else 2 * b),
}


@pytest.mark.parametrize("expression", CASES)
def test_expectations_of_pairs(expression):
    m = parse(PROGRAM.format(expression)).limit()["m"]
    assert float(m.mean.value) == pytest.approx(CASES[expression], abs=1e-9)
    assert "QMC" not in m.mean.method and float(m.mean.error) < 1e-9


def test_reference_values_of_three_independent_variables():
    """reference-values.md: E max(z1,z2), E max(z1,z2)^2, E max(z1,z2) max(z1,z3) of iid N(0,1)."""
    text = """width n
index i in 1..3
input z[i] ~ N(0, 1)
a = avg(max(z[1],z[2]))
b = avg(max(z[1],z[2])^2)
c = avg(max(z[1],z[2])*max(z[1],z[3]))
output a, b, c
"""
    limit = parse(text).limit()
    found = [float(limit[name].mean.value) for name in "abc"]
    np.testing.assert_allclose(found, [0.564189583548, 1.0, 0.608997781044], atol=1e-11)


def test_ties_count_as_the_condition_says():
    """Two vectors that are equal almost surely."""
    text = """width n
index i, j in 1..2
const K[i,j] = 1
input z[i] ~ N(0, K)
a = avg(where(z[1] >= z[2], 1 + 0*z[1], 0*z[2]))
b = avg(where(z[1] > z[2], 1 + 0*z[1], 0*z[2]))
c = avg(max(z[1], z[2])^2)
output a, b, c
"""
    limit = parse(text).limit()
    assert [float(limit[name].mean.value) for name in "abc"] == pytest.approx([1.0, 0.0, 1.0], abs=1e-9)


def test_the_law_of_a_maximum_in_formulas():
    formulas = parse("width n\nindex i in 1..2\ninput z[i] ~ N(0, 1)\nm = max(z[1], z[2])\noutput m\n").derive()
    assert str(formulas["E[m]"]) == "1/sqrt(pi)"
    assert float(formulas["Cov(m, m)"]) == pytest.approx(1 - 1 / np.pi, abs=1e-14)
