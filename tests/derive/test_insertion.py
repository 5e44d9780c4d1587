"""Names that say nothing do not appear: trivial values are inserted, formulas that stand twice have one name, the rest is simplified."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
import sympy

from netsor.api import load, parse
from netsor.derive.closed_forms import Activation, is_shorter_in_rho, pair_moment
from netsor.derive.printing.text import text
from netsor.derive.tidy import tidy

PROGRAMS = Path(__file__).parents[2] / "programs"


def derivation(name: str, **settings):
    return load(PROGRAMS / f"{name}.netsor", **settings).derive()


def test_moments_of_random_matrices_are_numbers():
    """Catalan numbers 1, 2, 5, 14 for the semicircle; Narayana polynomials at ratio 1/2 for Marchenko-Pastur."""
    found = derivation("semicircle")
    assert [found[f"c[{k}]"] for k in range(1, 9)] == [0, 1, 0, 2, 0, 5, 0, 14]
    found = derivation("marchenko_pastur")
    ratio = sympy.Rational(1, 2)
    narayana = [sum(sympy.binomial(k, j) * sympy.binomial(k, j + 1) * ratio**j for j in range(k)) / k for k in range(1, 6)]
    assert [found[f"c[{k}]"] for k in range(1, 6)] == narayana


def test_a_normalised_vector_has_the_identity_as_kernel():
    """RMSNorm of independent tokens, and of queries and keys: only deltas are left of the law of the scores."""
    a, i, j = (sympy.symbols(f"{name} {name}'", integer=True) for name in "aij")
    identity = sympy.Mul(*[sympy.KroneckerDelta(*pair) for pair in (a, i, j)])
    left = "Cov(p[a,i,j], p[a',i',j'])"
    assert derivation("transformer_pre_norm")[left] == identity
    assert derivation("attention_grouped_query")[left] == identity
    assert derivation("attention_qk_norm")[left] == identity * sympy.Symbol("g", real=True) ** 2


def test_a_mean_that_vanishes_is_said_in_words():
    lines = derivation("fnet").text()
    assert "m_z" not in lines and "E[y[i]] =" not in lines and "the vectors y[i] are jointly Gaussian with mean 0" in lines.replace("The", "the")


def test_values_cascade_through_functions_of_scalars():
    found = derivation("autoencoder")
    assert found["Cov(xh, xh)"] == 2 and found["err"] == 1
    assert text(derivation("jacobian")["c1"]) == "sw2^4/16"


def test_equal_formulas_have_one_name():
    """Queries, keys and values with the same law; the gates of an LSTM."""
    lines = derivation("attention_biases").text()
    assert "k_k[i,i']*k_k[j,j']" in lines and "k_q" not in lines and "k_v" not in lines
    assert derivation("lstm").text().count("E[erf(sigmoid_erf(u)*erf(v))^2;") <= 2


@pytest.mark.parametrize("name", ["gru", "lstm", "rnn", "jacobian", "message_passing", "transformer", "attention_rotary", "circular_convolution"])
def test_no_invented_name_is_without_use_or_before_its_equation(name):
    from netsor.derive.mentions import key, mentioned

    statements = derivation(name).statements
    defined: set = set()
    names = {key(part.symbol)[0] for each in statements for part in (each, *each.where) if part.invented}
    used = set()
    for each in statements:
        for part in (*each.where, each):
            mentions = {key(one)[0] for one in mentioned(part.right)} & names
            assert mentions <= defined, (text(each.left), mentions - defined)
            used |= mentions
            defined.add(key(part.symbol)[0])
    assert used == names


def test_recursions_of_deep_networks_stay_one_line_and_fast():
    shallow, start = derivation("mlp", L=10), time.process_time()
    deep = derivation("mlp", L=50)
    assert time.process_time() - start < 5
    assert len(deep.lines) == len(shallow.lines)


def test_covariances_rather_than_correlations_where_that_is_shorter():
    """Williams 1997 for erf, sinh K12 for sin, and a formula for gelu that is symmetric in the two variables."""
    a, b, c = sympy.symbols("K11 K22 K12")
    functions = {name: Activation(name, ()) for name in ("erf", "sin", "gelu", "relu", "step", "square")}
    shorter = {name for name, function in functions.items() if is_shorter_in_rho(function, function)}
    assert shorter == {"relu", "step"}
    gelu = pair_moment(functions["gelu"], functions["gelu"], a, b, c)
    assert gelu.xreplace({a: b, b: a}) == gelu
    assert "rho" not in derivation("rnn").text() and "rho" in derivation("resnet").text()


REAL = sympy.symbols("a K lambda", real=True)


def test_tidy_formulas():
    a, K, _ = REAL
    i, j = sympy.symbols("i j", integer=True)
    delta = sympy.KroneckerDelta(i, j)
    assert tidy(sympy.sqrt(2) * a**2 / (2 * sympy.sqrt(sympy.pi) * sympy.Abs(a))) == sympy.sqrt(2) * sympy.Abs(a) / (2 * sympy.sqrt(sympy.pi))
    assert tidy(30 * K**2 * a**4 + 15 * K**2 * a**2 * (K + 4 * a**2)) == 15 * K**2 * a**2 * (K + 6 * a**2)
    assert tidy(sympy.sin(i * a) * sympy.sin(j * a) * K + sympy.cos(i * a) * sympy.cos(j * a) * K) == K * sympy.cos((i - j) * a)
    assert tidy(delta * sympy.KroneckerDelta(sympy.ceiling(i / 2), sympy.ceiling(j / 2))) == delta
    assert tidy(9 * a**8 + 6 * a**4 + 1) == (3 * a**4 + 1) ** 2


def test_tidy_keeps_values():
    """At all combinations of a few values, exactly."""
    a, K, lam = REAL
    i, j = sympy.symbols("i j", integer=True)
    delta = sympy.KroneckerDelta(i, j)
    formulas = [
        -lam * (-lam * ((a - K) * delta + K) + K) - lam * K + (a - K) * delta + K, 3 * a**2 / K**2 - 3, a**2 / sympy.Abs(a) + K,
        sympy.sqrt(4 * a**2 + 4 * K**2) + delta * sympy.KroneckerDelta(i**2, j**2) * a,
        sympy.sin(i * a) * sympy.sin(j * a) * K + sympy.cos(i * a) * sympy.cos(j * a) * K,
    ]
    for formula, values in itertools.product(formulas, itertools.product((-2, 3), (1, 5), (0, 2), (1, 2), (1, 2))):
        places = dict(zip((a, K, lam, i, j), values))
        assert sympy.simplify(tidy(formula).subs(places) - formula.subs(places)) == 0


def test_indices_of_sums_are_kept_apart_from_those_of_what_is_inserted():
    """E[s s'] = sum_k (sum_j delta_jk)/4 over two sums whose letters were both j: 1/2, not 1."""
    text = """width n
index i, j in 1..2
const C[i,j] = 1 if i == j else 0
input x[i] ~ N(0, C)
matrix W ~ N(0, 2/n)
s[i] = mean(x[j] for j)
g[i] = W @ x[3-i] - W @ x[i] - s[1]
h[i] = leaky_relu(x[3-i] + g[3-i] - 0.3, 0.2)
output s, g, h
"""
    formulas = parse(text).derive()
    assert formulas["Cov(s[i], s[i'])"] == sympy.Rational(1, 2)
