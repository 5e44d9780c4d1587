"""Derivations without names, and total derivatives: against differences of ``evaluate``."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import sympy

import netsor
from netsor.derive.printing.text import left_side, text

PROGRAMS = Path(__file__).parents[2] / "programs"
NETWORK = """
width n
param sw = 1.3
param sb = 0.4
param rho = 0.5
index i, j in 1..2
index l in 1..3
const K[i,j] = (0.9 + 0.2*i) if i == j else rho
input x[i] ~ N(0, K)
matrix W[l] ~ N(0, sw^2/n)
input b ~ N(0, sb^2)
h[1,i] = W[1] @ {0}(x[i]) + b
h[2,i] = W[2] @ {0}(h[1,i]) + b
output h[2,i]
"""
OUTPUT = "Cov(h[2,i], h[2,i'])"
PLACE = {"sw": 1.21, "sb": 0.47, "rho": 0.31}


def difference(formulas, left: str, by: str, place: dict, step: float = 1e-3, **given) -> np.ndarray:
    values = [formulas.evaluate({**place, by: place[by] + k * step}, **given)[left] for k in (-2, -1, 1, 2)]
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


@pytest.mark.parametrize("by", PLACE)
@pytest.mark.parametrize("name", ["relu", "abs", "relu2", "leaky_relu", "step", "sign", "erf", "gelu", "tanh", "elu", "hardtanh"])
def test_a_network_of_two_layers(name, by):
    """Also on the diagonal, where correlations are 1 and arcsines have infinite slopes."""
    formulas = netsor.parse(NETWORK.format(name)).derive()
    derivative = formulas.derivative(OUTPUT, by)
    found = derivative.evaluate(PLACE)[derivative.keys()[-1]]
    np.testing.assert_allclose(found, difference(formulas, OUTPUT, by, PLACE), rtol=1e-9, atol=1e-9)


def test_the_derivative_of_a_derivative():
    formulas = netsor.parse(NETWORK.format("gelu")).derive()
    first = formulas.derivative(OUTPUT, "sw")
    left = left_side(first.statements[-1])
    second = first.derivative(left, "rho")
    found = second.evaluate(PLACE)[left_side(second.statements[-1])]
    np.testing.assert_allclose(found, difference(first, left, "rho", PLACE), atol=1e-8)
    assert "ddK_h" in second.text() and "ddK^{h}" in second.latex()


@pytest.mark.slow
def test_fifty_layers_have_one_more_recursion():
    """Linear in depth: twice the equations, merged to one line more; the derivative of the variance by sw2 at the fixed point."""
    start = time.process_time()
    formulas = netsor.load(PROGRAMS / "mean_field.netsor", L=50).derive()
    derivative = formulas.derivative("Cov(h[50,b], h[50,b'])", "sb2")
    assert time.process_time() - start < 20
    assert len(derivative.lines) == len(formulas.lines) + 3
    assert "dK_h[l - 1,b,b']" in derivative.text() and "for l = 3..50    [chain rule]" in derivative.text()
    found = derivative.evaluate({"sb2": 0.2})[derivative.keys()[-1]]
    np.testing.assert_allclose(found, difference(formulas, "Cov(h[50,b], h[50,b'])", "sb2", {"sb2": 0.2}), atol=1e-8)


def test_scores_are_held_fixed():
    text_ = """
width n
param c = 1.5
param g = 0.7
index i, j in 1..3
input x[i] ~ N(0, 1)
matrix Q, V ~ N(0, c^2/n)
p[i,j] = dot(Q @ x[i], x[j]) / sqrt(n)
y[i] = sum(softmax(g*p[i,j] for j) * (V @ x[j]) for j)
output y
"""
    formulas = netsor.parse(text_).derive()
    scores = {"p": np.random.default_rng(1).standard_normal((3, 3))}
    place = {"c": 1.5, "g": 0.7}
    for left, by in (("Cov(y[i], y[i'] | p)", "c"), ("Cov(y[i], y[i'] | p)", "g"), ("Cov(p[i,j], p[i',j'])", "c")):
        derivative = formulas.derivative(left, by)
        found = derivative.evaluate(place, scores=scores)[left_side(derivative.statements[-1])]
        np.testing.assert_allclose(found, difference(formulas, left, by, place, scores=scores), atol=1e-9)


def test_what_has_no_derivative_says_so():
    from netsor.derive.chain_rule import NoDerivative
    from netsor.language.diagnostics import NetsorError

    formulas = netsor.load(PROGRAMS / "attention_relu.netsor").derive()
    with pytest.raises(NetsorError, match="N205"):
        formulas.derivative("Cov(y[i], y[i'])", "nothing")
    with pytest.raises(KeyError):
        formulas.derivative("Cov(z)", "H")
    with pytest.raises(NoDerivative, match="scores"):
        formulas.derivative("Cov(y[i], y[i'])", "H")


def test_unfolding_puts_everything_back():
    formulas = netsor.parse(NETWORK.format("relu")).derive()
    formula = formulas.unfolded(OUTPUT)
    i, j = sorted((symbol for symbol in formula.free_symbols if symbol.is_integer), key=str)
    assert {str(symbol) for symbol in formula.free_symbols} - {str(i), str(j)} == set(PLACE)
    place = {symbol: PLACE[str(symbol)] for symbol in formula.free_symbols if str(symbol) in PLACE}
    expected = formulas.evaluate(PLACE)[OUTPUT]
    assert float(formula.subs({i: 1, j: 2}).subs(place).evalf()) == pytest.approx(expected[0, 1], rel=1e-13)
    for symbol in place:
        found = sympy.diff(formula.subs({i: 1, j: 2}), symbol).subs(place).evalf()
        assert float(found) == pytest.approx(difference(formulas, OUTPUT, str(symbol), PLACE)[0, 1], abs=1e-9)


def test_correlations_alone_are_put_back():
    """d/dK12 of a kernel of rectifiers is E step(u) step(v) = (pi - arccos rho) / (2 pi)."""
    formulas = netsor.parse(NETWORK.format("relu").replace("h[2,i] = W[2] @ relu(h[1,i]) + b\noutput h[2,i]", "output h[1,i]")).derive()
    formula = formulas.unfolded("Cov(h[1,i], h[1,i'])", only=["K_h", "rho_K"])
    assert not any(text(part).startswith("rho_K") for part in formula.atoms(sympy.Indexed))
    names = {"K[1,1]": 1.1, "K[2,1]": 0.31, "K[2,2]": 1.3}
    letters = sorted((symbol for symbol in formula.free_symbols if symbol.is_integer), key=str)
    formula = formula.subs(dict(zip(letters, (1, 2))))
    elements = {text(part): part for part in formula.atoms(sympy.Indexed)}
    assert set(elements) == set(names)
    values = {elements[name]: value for name, value in names.items()}
    slope = sympy.diff(formula, elements["K[2,1]"]).subs({**values, sympy.Symbol("sw", real=True): 1.3})
    correlation = 0.31 / np.sqrt(1.1 * 1.3)
    assert float(slope.evalf()) == pytest.approx(1.3**2 * (np.pi - np.arccos(correlation)) / (2 * np.pi), rel=1e-12)


def test_bound_indices_are_not_captured():
    text_ = """
width n
param c = 2
index i, j in 1..3
const a[i] = sum(i * j^2 * c for j)
const b[i] = sum(a[j] * i for j)
input x[i] ~ N(0, b[i])
matrix W ~ N(0, 1/n)
y[i] = W @ x[i]
output y
"""
    formulas = netsor.parse(text_).derive()
    formula = formulas.unfolded("Cov(y[i], y[i'])")
    place = {symbol: 2 for symbol in formula.free_symbols}
    assert float(formula.subs(place).doit().evalf()) == formulas.evaluate()["Cov(y[i], y[i'])"][1, 1] == 2 * 14 * 2 * 6


def test_the_edge_of_chaos():
    """chi_1 = sw2 E[tanh'(sqrt(q) Z)^2] is the derivative of the kernel by the covariance at correlation 1 (Poole et al. 2016); on the
    critical line it is 1 at the fixed point, as the program states with its source."""
    formulas = netsor.load(PROGRAMS / "mean_field.netsor", L=3).derive()
    kernel = formulas["Cov(h[3,b], h[3,b'])"]
    kernel = next(each.right for each in formulas.statements if each.name == kernel)
    cross = next(each for each in kernel.atoms(sympy.Indexed) if len({str(index) for index in each.indices[1:]}) == 2)
    q, c = sympy.symbols("q c", positive=True)
    kernel = kernel.xreplace({each: c if each == cross else q for each in kernel.atoms(sympy.Indexed)})
    chi = sympy.diff(kernel, c).subs(c, q)
    numbers = {q: 0.570047881641, sympy.Symbol("sw2", real=True): 1.760954639607}
    assert float(chi.subs(numbers).evalf()) == pytest.approx(1, abs=1e-11)
