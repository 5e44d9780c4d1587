"""Expectations over independent random scalars, and over conditions on one variable, against sums and integrals by hand."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import sympy

from netsor.api import load, parse
from netsor.derive.objects import GaussianExpectation, ScoreExpectation

PROGRAMS = Path(__file__).parents[2] / "programs"
DEEP = """
width n
param L = 3
param q = 0.3
input x[0] ~ N(0, 1)
for l in 1..L:
  input g[l] : 1 ~ {law}
  matrix W[l] ~ N(0, 2/n)
  x[l] = x[l-1] + {factor} * (W[l] @ relu(x[l-1]))
output x[L]
"""


@pytest.mark.parametrize("law, factor, second, fourth", [
    ("Bernoulli(q)", "2*g[l]", 4 * 0.3, 16 * 0.3),
    ("Uniform(0.5, 2)", "g[l]", (8 - 0.125) / 4.5, (32 - 0.5**5) / 7.5),
    ("Rademacher()", "(g[l] + 0.5)", 1.25, 1 + 6 * 0.25 + 0.0625),
    ("N(1, 0.25)", "g[l]", 1.25, 1 + 6 * 0.25 + 3 * 0.0625),
])
def test_products_over_layers_factorise(law, factor, second, fourth):
    """Each layer multiplies the variance by 1 + f^2: E (1 + f^2) = 1 + E f^2, E (1 + f^2)^2 = 1 + 2 E f^2 + E f^4."""
    derivation = parse(DEEP.format(law=law, factor=factor)).derive()
    assert not any(statement.right.has(ScoreExpectation) for statement in derivation.statements)
    values = derivation.evaluate()
    first, square = (1 + second) ** 3, (1 + 2 * second + fourth) ** 3
    assert float(values["Cov(x[3], x[3])"]) == pytest.approx(first, rel=1e-12)
    assert float(values["excess kurtosis(x[3])"]) == pytest.approx(3 * (square / first**2 - 1), rel=1e-12)


@pytest.mark.slow
def test_many_layers_take_no_expansion():
    assert float(parse(DEEP.format(law="Bernoulli(q)", factor="g[l]"), L=60).derive().evaluate()["Cov(x[60], x[60])"]) == pytest.approx(1.3**60)


def test_what_is_0_or_1_has_no_powers():
    text = parse(DEEP.format(law="Bernoulli(q)", factor="g[l]")).derive().text()
    assert "g[1]^2" not in text and "(q + 1)^3" in text


def test_scalars_of_several_laws_in_one_factor():
    """y = (g + r b + 1) W x over all combinations of values; g uniform, its moments by hand."""
    text = "width n\nparam q = 0.3\ninput x ~ N(0, 1)\ninput g : 1 ~ Uniform(0, 2)\ninput r : 1 ~ Rademacher()\ninput b : 1 ~ Bernoulli(q)\n" \
        "matrix W ~ N(0, 1/n)\ny = (g + r*b + 1)*(W @ x)\noutput y\n"
    values = parse(text).derive().evaluate()
    g, w = np.polynomial.legendre.leggauss(8)
    moments = [sum(0.5 * (0.3 if b else 0.7) * (w / 2) @ (g + 1 + r * b + 1) ** k for r, b in itertools.product((-1, 1), (0, 1))) for k in (2, 4)]
    assert float(values["Cov(y, y)"]) == pytest.approx(moments[0], rel=1e-12)
    assert float(values["excess kurtosis(y)"]) == pytest.approx(3 * (moments[1] / moments[0] ** 2 - 1), rel=1e-12)


def test_a_score_whose_law_depends_on_a_scalar_is_no_gaussian():
    """p given g is N(0, g^2): no formula is claimed that takes g as given."""
    text = "width n\nindex i, j in 1..3\ninput x[i] ~ N(0, 1)\ninput g : 1 ~ N(1, 0.25)\nmatrix WQ, WK, WV ~ N(0, 1/n)\n" \
        "p[i,j] = dot(g*(WQ @ x[i]), WK @ x[j]) / sqrt(n)\ny[i] = sum(p[i,j] * (WV @ x[j]) for j)\noutput y\n"
    assert parse(text).derive()["Cov(y[i], y[i'])"].has(ScoreExpectation)


def test_conditions_on_one_variable():
    """where, max and min are steps and clips: against the midpoint rule with the kinks between its nodes."""
    bodies = {
        "where(x > 1, 1, 2)*x": lambda x: np.where(x > 1, 1, 2) * x, "x^2*where(1 <= x, 1, 0)": lambda x: x**2 * (x >= 1),
        "where(x < 0, 1, -1)^3 + 1": lambda x: np.where(x < 0, 1.0, -1.0) + 1, "max(x, 1)^2": lambda x: np.maximum(x, 1) ** 2,
        "exp(x)*where(0.5 < x, x, 0)": lambda x: np.exp(x) * np.where(x > 0.5, x, 0), "min(1/2, x)*x": lambda x: np.minimum(x, 0.5) * x,
    }
    step = 1 / 4096
    x = np.arange(-10 + step / 2, 12, step)
    w = np.exp(-(x**2) / 2) * step / math.sqrt(2 * math.pi)
    for body, function in bodies.items():
        derivation = parse(f"width n\ninput x ~ N(0, 1)\nm = avg({body})\noutput m\n").derive()
        assert not derivation["m"].has(GaussianExpectation), body
        assert float(derivation.evaluate()["m"]) == pytest.approx(function(x) @ w, abs=1e-7), body


def test_stochastic_depth():
    """The claim of the program: (1 + keep/2)^L."""
    found = load(PROGRAMS / "stochastic_depth.netsor").derive()
    assert str(found["Cov(x[4], x[4])"]) == "(keep/2 + 1)**4"


def test_random_fourier_features_have_the_gaussian_kernel():
    """Rahimi & Recht 2007, claim 1: E z z' = exp(-|x - x'|^2/2), with |x - x'|^2 = K(x, x) + K(x', x') - 2 K(x, x')."""
    derivation = load(PROGRAMS / "random_features.netsor").derive()
    assert not any(statement.right.has(sympy.Integral) for statement in derivation.statements)
    assert derivation["E[cos(h + phase)[b] cos(h + phase)[b']]"].func is sympy.Mul
    x = np.array([[0, 0], [1, 0], [1, 2]])
    expected = np.exp(-((x[:, None] - x[None]) ** 2).sum(axis=-1) / 2)
    np.testing.assert_allclose(derivation.evaluate()["Cov(z[b], z[b'])"], expected, atol=1e-14)


def test_an_odd_part_of_the_variables_is_enough_for_zero():
    """E erf(f(u) v) with v centred and independent of u, which is not: by flipping v alone."""
    text = "width n\ninput u ~ N(1, 1)\ninput v ~ N(0, 1)\nm = avg(erf(exp(u) * v + relu(u) * sin(v)))\noutput m\n"
    assert parse(text).derive()["m"] == 0
    assert "E[h[2]]" not in load(PROGRAMS / "lstm.netsor").derive().keys()
