"""What derivations say in words: laws, hypotheses, what is given, and the steps to the law of an output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy

from netsor.api import load, parse
from netsor.derive.closed_forms.attention import SquaredWeights
from netsor.derive.phrases import Equation, Formula, Phrase, condition, listed

PROGRAMS = Path(__file__).parents[2] / "programs"


def derivation(name: str, **options):
    return load(PROGRAMS / f"{name}.netsor").derive(**options)


def laws(found) -> list[str]:
    return [line.law.text() for line in found.lines if line.law is not None]


# --- phrases ----------------------------------------------------------------------------------------------------------


def test_a_phrase_is_text_latex_and_markdown():
    x, y = sympy.symbols("x y")
    phrase = Phrase.of("as n → ∞, ", *listed([x, y]), " & ", Equation(x, y**2), Formula("C^-1", "C^{-1}"))
    assert phrase.text() == "as n → ∞, x, y & x = y^2C^-1"
    assert phrase.latex() == r"as $n\to\infty$, $x$, $y$ \& $x = y^{2}$$C^{-1}$"
    assert phrase.markdown() == r"as n → ∞, $x$, $y$ & $x = y^{2}$$C^{-1}$"
    assert phrase.xreplace({y: x}).text() == "as n → ∞, x, x & x = x^2C^-1"
    assert condition("l = 1..4").tex == r"l = 1,\ldots,4"


# --- laws -------------------------------------------------------------------------------------------------------------


def test_the_statement_of_the_theorem_is_sentences():
    found = derivation("attention")
    assert laws(found) == [
        "The scores p[a,i,j] are jointly Gaussian with mean 0, independent of all vectors, with covariance",
        "Given p, the vectors y[i] are jointly Gaussian with mean 0 and covariance", "Marginally y[i] is a Gaussian scale mixture, with"]
    assert r"Given $p$, the vectors $y_{i}$ are jointly Gaussian with mean $0$ and covariance" in found.latex()
    assert "Marginally $y_{i}$ is a Gaussian scale mixture, with" in found.markdown()


def test_a_single_output_has_a_variance():
    assert laws(derivation("shared_matrix")) == ["out is Gaussian with mean 0 and variance"]


def test_scalars_have_the_mean_that_they_are_given():
    found = parse("width n\ninput g : 1 ~ N(3, 4)\ninput x ~ N(0, 1)\ny = g * x\noutput y").derive()
    assert laws(found)[0] == "g is Gaussian with mean 3, independent of all vectors, with variance"


def test_an_average_over_infinitely_many_heads_is_given_nothing():
    found = derivation("attention_infinite_heads")
    assert "Cov(y[i], y[i'])" in found.keys() and not any("|" in key for key in found.keys())
    assert found["Cov(y[i], y[i'])"].has(SquaredWeights)  # the average worked out


def test_constants_stand_before_averages():
    source = (PROGRAMS / "attention_infinite_heads.netsor").read_text(encoding="utf-8").replace("~ N(0, 1)", "~ N(0, k)")
    found = parse(source.replace("width n", "width n\nparam k = 2")).derive()
    first = next(line.right for line in found.lines if line.section == "outputs")
    assert first.func is sympy.Mul and sympy.Symbol("k", real=True) in first.args


def test_passes_that_run_backwards_are_one_line():
    assert any(line.condition == "l = 1..4" and str(line.left).startswith("kept") for line in derivation("stochastic_depth").lines)


def test_scores_that_the_program_does_not_name_are_called_after_what_is_computed_from_them():
    found = derivation("attention_rotary")
    assert {each for line in found.lines for each in line.given} == {"p'", "p''"}
    scores = np.zeros((2, 3, 3))
    assert "Cov(y[i], y[i'] | p', p'')" in found.evaluate(scores={"p'": scores, "p''": scores})


# --- correlated scores ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", ["1", "s[i]^2"])
def test_scores_given_earlier_ones_have_the_conditional_law(variance):
    """Against C21 C11^-1 p1 and C22 - C21 C11^-1 C12 in NumPy, for scores of two layers that share their matrices."""
    source = f"""
width n
index i, j in 1..2
data s[2] = [1.5, 0.5]
input h[i] ~ N(0, {variance})
matrix Q, R, V ~ N(0, 1/n)
x[0,i] = h[i]
for l in 1..2:
  p[l,i,j] = dot(Q @ x[l-1,i], R @ x[l-1,j]) / sqrt(n)
  x[l,i] = x[l-1,i] + sum(p[l,i,j] * (V @ x[l-1,j]) for j)
output x[2,i]
"""
    found = parse(source).derive()
    first = np.array([[0.3, -1.1], [0.7, 0.2]])
    values = found.evaluate(scores={"p[1,i,j]": first, "p[2,i,j]": first})
    own, cross, past = (values[key].reshape(4, 4) for key in (
        "Cov(p[2,i,j], p[2,i',j'])", "Cov(p[2,i,j], p[1,i',j'])", "Cov(p[1,i,j], p[1,i',j'])"))
    mean = cross @ np.linalg.solve(past, first.reshape(4))
    np.testing.assert_allclose(values["E[p[2,i,j] | p[1]]"].reshape(4), mean, atol=1e-12)
    np.testing.assert_allclose(
        values["Cov(p[2,i,j], p[2,i',j'] | p[1])"].reshape(4, 4), own - cross @ np.linalg.solve(past, cross.T), atol=1e-12)


def test_correlated_earlier_scores_leave_the_conditional_law_in_matrices():
    words = laws(load(PROGRAMS / "universal_transformer.netsor", L=3).derive())
    assert any("mean C21 C11^-1 p1 and covariance C22 - C21 C11^-1 C12" in each for each in words)


# --- what is given, and hypotheses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, line", [
    ("attention_kernel", "x[i]: input with iid coordinates, Gaussian with mean 0 and Cov(x[i], x[i']) = K[i,i']"),
    ("attention_kernel", "K: array of S by S numbers (data)"),
    ("dropout", "m[l,b]: input with iid coordinates, Bernoulli(keep), l = 1..3"),
    ("attention_head_width", "WO[a]: matrices of size n by m with iid Gaussian entries of variance 1/(4*m)"),
    ("shared_matrix", "g: input with iid coordinates, Gaussian with mean 0 and variance 1")])
def test_what_is_given_is_said(name, line):
    found = derivation(name)
    assert line in [each.text() for each in found.inputs]
    assert line in found.text() and line in found.json()["inputs"]


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.netsor")), ids=lambda path: path.stem)
def test_every_array_of_data_in_a_formula_is_introduced(path):
    found = load(path).derive()
    introduced = {str(each.parts[0]) for each in found.inputs} | {str(line.symbol.base.label) for line in found.lines if line.section == "given"}
    arrays = {array.name for array in found.program.arrays}
    mentioned = {str(part.base.label) for line in found.lines for part in line.right.atoms(sympy.Indexed)}
    assert mentioned & arrays <= introduced


@pytest.mark.parametrize("name, vectors", [("attention", None), ("attention_relu", "x[i]"), ("attention_causal", "x[i]"), ("mlp", None),
                                           ("universal_transformer", None)])
def test_vectors_that_are_not_bounded_are_named(name, vectors):
    """The theorem on one level of scores is stated for bounded functions; where it is not what the limit stands on, nothing is said of them."""
    said = [each for each in derivation(name).hypotheses if "not bounded" in each]
    assert len(said) == (vectors is not None) and all(f"; {vectors} is not bounded" in each for each in said)


@pytest.mark.parametrize("function, bounded", [
    ("tanh(h[i])", True), ("h[i] * tanh(h[i])", False), ("tanh(h[i])^2 + 1", True), ("exp(h[i])", False), ("exp(sin(h[i]))", True),
    ("relu(erf(h[i]))", True), ("softplus(h[i])", False), ("where(h[i] > 0, h[i], 0)", False), ("where(h[i] > 0, 1, cos(h[i]))", True)])
def test_boundedness_is_read_off_the_definition(function, bounded):
    source = f"""
width n
index i in 1..2
input h[i] ~ N(0, 1)
matrix Q, R ~ N(0, 1/n)
x[i] = {function}
p[i] = dot(Q @ x[i], R @ x[i]) / sqrt(n)
output p
"""
    assert any("not bounded" in each for each in parse(source).derive().hypotheses) != bounded


# --- steps ------------------------------------------------------------------------------------------------------------


def test_steps_begin_with_the_inputs_and_derive_the_law_of_the_output():
    found = derivation("attention", steps=True)
    keys = found.keys()
    assert keys[0] == "E[h[i]]" and keys.index("E[q[a,i] k[a,j]]") < keys.index("Cov(p[a,i,j], p[a',i',j'])") < keys.index("E[y[i] | p]")
    assert "If WK changes sign, q[a,i] stays and k[a,j] changes sign, and so do the summands of p[a,i,j]; hence" in laws(found)
    first, second = found["E[V_y[i]]"], found["E[V_y[i]^2]"]
    assert sympy.simplify(3 * (second / first**2 - 1) - found["excess kurtosis(y[i])"]) == 0
    values, plain = found.evaluate(), derivation("attention").evaluate()
    assert np.allclose(values["E[V_y[i]]"], np.diag(plain["Cov(y[i], y[i'])"]), rtol=1e-12)


def test_squared_weights_have_their_arguments_in_latex():
    kurtosis = derivation("attention")["excess kurtosis(y[i])"]
    assert r"W_{2}\left(s, " in sympy.latex(kurtosis) and r"\sum" not in sympy.latex(kurtosis)
