"""What derivations must say, against closed forms from the literature and numbers computed independently."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest
import sympy

from netsor.api import load, parse
from netsor.derive.closed_forms.attention import SquaredWeights
from netsor.derive.objects import ScoreExpectation

PROGRAMS = Path(__file__).parents[2] / "programs"


def derivation(name: str, **settings):
    return load(PROGRAMS / f"{name}.netsor", **settings).derive()


def test_attention_without_softmax_has_excess_kurtosis_six_over_sH():
    """Theory: y is variance-gamma."""
    s, H = (sympy.Symbol(name, integer=True, positive=True) for name in "sH")
    found = derivation("attention_linear")
    assert sympy.simplify(found["excess kurtosis(y[i])"] - 6 / (s * H)) == 0
    assert found["Cov(y[i], y[i'])"] == sympy.KroneckerDelta(*sympy.symbols("i i'", integer=True))


def test_one_matrix_applied_twice():
    """Independent quadrature gives 0.975079079; by hand 3/4 + sqrt(2)/(2 pi)."""
    assert sympy.simplify(derivation("shared_matrix")["Cov(out, out)"] - sympy.Rational(3, 4) - sympy.sqrt(2) / (2 * sympy.pi)) == 0


SPHERE = """
width n
param sigma_w
param sigma_b
param rho
index b, c in 1..2
const K[b,c] = 1 if b == c else rho
input x[b] ~ N(0, K)
matrix W ~ N(0, sigma_w^2/n)
input bias ~ N(0, sigma_b^2)
h[b] = W @ relu(x[b]) + bias
output h
"""


def test_nngp_kernel_of_one_hidden_relu_layer_on_the_sphere():
    """sigma_w^2 = 2, sigma_b = 0: (sqrt(1 - rho^2) + rho (pi - arccos rho))/pi, the arc-cosine kernel of order one (Cho & Saul 2009),
    here for inputs of unit variance; parameters without a value stay symbols."""
    assert parse(SPHERE, rho=0.3, sigma_w=1, sigma_b=0).derive().free == []
    symbolic = load_text(SPHERE)
    assert symbolic.free == ["sigma_w", "sigma_b", "rho"]
    for rho in (-0.9, 0.0, 0.4, 1.0):
        values = symbolic.evaluate({"rho": rho, "sigma_w": math.sqrt(2), "sigma_b": 0.0})["Cov(h[b], h[b'])"]
        expected = (math.sqrt(1 - rho**2) + rho * (math.pi - math.acos(rho))) / math.pi
        assert abs(values[0, 1] - expected) < 1e-14 and abs(values[0, 0] - 1) < 1e-14


def load_text(text: str):
    from netsor.derive import Derivation
    from netsor.language import load_program
    from netsor.language.source import Source

    return Derivation(load_program(Source(text), free=True))


def test_formulas_can_be_differentiated():
    """chi = d K'/d K12 at K12 = 1 is the mean-field susceptibility: sigma_w^2 E[relu'(u)^2] = sigma_w^2/2 at the critical point."""
    right = load_text(SPHERE)["Cov(h[b], h[b'])"]
    sigma = sympy.Symbol("sigma_w", real=True)
    derivative = sympy.diff(right, sigma)
    assert sympy.simplify(derivative * sigma / 2 - right.subs(sympy.Symbol("sigma_b", real=True), 0)) == 0


# (s, logit variance) -> E V, E V^2 of one head: shared reference values, independent quadrature
TABLE = {
    (2, 1): (0.6368381539684, 0.4217827562797), (4, 1): (0.391971443576, 0.166102890986), (4, 4): (0.574413957, 0.36809687),
    (8, 1): (0.23231344721, 0.06031868),
}
IID = """
width n
param s = 4
param H = 1
param v = 1
index i, j in 1..s
index a in 1..H
input x[i] ~ N(0, 1)
matrix WQ[a] ~ N(0, v/n)
matrix WK[a], WV[a] ~ N(0, 1/n)
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
y[i] = sum(softmax(p[a,i,j] for j) * (WV[a] @ x[j]) for a, j) / sqrt(H)
output y
"""


@pytest.mark.parametrize("case", TABLE)
def test_softmax_moments_against_the_table(case):
    """Variance and excess kurtosis 3 (E V^2/(E V)^2 - 1)/H of y from the formulas, to the digits of the table."""
    (s, v), (first, second) = case, TABLE[case]
    found = load_text(IID)
    for heads in (1, 3):
        values = found.evaluate({"s": s, "v": v, "H": heads})
        assert abs(values["Cov(y[i], y[i'])"][0, 0] - first) < 2e-9  # the row (4, 4) of the table is 1e-9 off in its last digit
        assert abs(values["Cov(y[i], y[i'])"][0, 1] - 1 / s) < 1e-14
        assert abs(values["excess kurtosis(y[i])"][0] - 3 * (second / first**2 - 1) / heads) < 1e-6


def test_infinitely_many_heads_are_gaussian():
    found = derivation("attention_infinite_heads")
    assert found["excess kurtosis(y[i])"] == 0
    assert found["Cov(y[i], y[i'])"].has(SquaredWeights)


def test_causal_weights_beyond_the_mask_count_nothing():
    """Token i attends to i tokens: the variance of y[i] is E sum_j A_j^2 over i scores, of y[1] exactly 1."""
    values = derivation("attention_causal").evaluate()["Cov(y[i], y[i'])"]
    assert abs(values[0, 0] - 1) < 1e-14 and abs(values[3, 3] - TABLE[4, 1][0]) < 1e-9 and abs(values[1, 1] - TABLE[2, 1][0]) < 1e-9
    assert abs(values[1, 3] - 2 / (2 * 4)) < 1e-14


def test_a_deep_network_is_derived_in_time_and_its_recursion_is_one_line():
    """Depth 50: under 3 s of processor time, the text as long as that of depth 6."""
    start = time.process_time()
    deep = derivation("mlp", L=50)
    assert time.process_time() - start < 6  # twice the target: other processes share the machine
    assert len(deep.text().splitlines()) == len(derivation("mlp", L=6).text().splitlines())
    assert "for l = 3..50" in deep.text()
    assert len(deep.statements) < 50 * 3


def test_what_a_loop_does_not_name_is_one_line_too():
    """Expectations of functions that the program does not name do not nest as deep as the loop is long; their values are those of the
    engine."""
    source = "width n\nparam L = 3\ninput x[0] ~ N(0, 1)\nfor l in 1..L:\n  matrix W[l] ~ N(0, 2/n)\n  x[l] = W[l] @ tanh(x[l-1])\noutput x[L]"
    deep = parse(source, L=150).derive()
    assert "for l = 2..149" in deep.text() and max(map(len, deep.text().splitlines())) < 130
    found = float(parse(source).derive().evaluate()["Cov(x[3], x[3])"])
    assert abs(found - float(parse(source).limit()["x"].cov.value)) < 1e-9


def test_defaults_and_data_of_the_program_are_used():
    """reference values of the ReLU network with two hidden layers (independent quadrature)."""
    values = derivation("mlp").evaluate()["Cov(h[3,b], h[3,b'])"]
    np.testing.assert_allclose(values[0], [9.633333333333, 4.775120218624, 0.794638067923, 18.967689489019], atol=1e-11)


def test_two_uniform_variables_are_integrated_one_inside_the_other():
    """E cos(a + b)^2 for a, b uniform on [0, 1]: 1/2 + (cos 2 - cos 4/2 - 1/2)/4 by hand, in the product of two outputs."""
    text = "width n\ninput a ~ Uniform(0, 1)\ninput b ~ Uniform(0, 1)\ny = cos(a + b)\nc = avg(y * y)\noutput c\n"
    found = load_text(text).evaluate()["c"]
    assert abs(found - (0.5 + (math.cos(2) - math.cos(4) / 2 - 0.5) / 4)) < 1e-12


def test_several_sources_may_be_the_fresh_factor_together():
    assert any("together: its summands are odd in them" in each for each in derivation("attention_biases").hypotheses)


MEAN = """
width n
index i in 1..2
input x[i] ~ N(-1, 1)
input v ~ N(0, 1)
p[i] = dot(v, x[i]) / sqrt(n)
y[i] = p[i] * x[i]
output y
"""


def test_a_conditional_mean_that_depends_on_scores_is_not_forgotten():
    """y = p x with E x = -1: Var y = E p^2 E x^2 and not E p^2 Var x alone; the kurtosis of a centred mixture is not claimed."""
    found = load_text(MEAN)
    assert "excess kurtosis(y[i])" not in found.keys()
    assert len(found["Cov(y[i], y[i'])"].atoms(ScoreExpectation)) == 3
    i, other = sympy.symbols("i i'", integer=True)
    squares = {each.integrand.xreplace({other: i}).doit() for each in found["Cov(y[i], y[i'])"].atoms(ScoreExpectation)}
    score, given = (sympy.Indexed(sympy.IndexedBase(sympy.Symbol(name, real=True)), i) for name in ("p", "C_y"))
    assert squares == {given + score**2, -score}  # E[C + m m'] with m = -p, and E m
    assert "Cov(y[i], y[i'])" not in found.evaluate()


def test_conditions_of_conditions_have_truth_values():
    text = "width n\nindex i in 1..3\nconst c[i] = (1 if i > 2 else 2) if i > 1 else 3\ninput x[i] ~ N(0, c[i])\ny[i] = x[i]\noutput y\n"
    assert np.diag(load_text(text).evaluate()["Cov(y[i], y[i'])"]).tolist() == [3, 2, 1]
