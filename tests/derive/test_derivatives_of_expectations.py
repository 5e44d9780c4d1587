"""Derivatives of functions and of standing Gaussian expectations: against finite differences of the numeric engine, and, where that
needs quasi-random points, against quadrature of another kind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy

from netsor import nonlinearities
from netsor.derive.objects import GaussianExpectation, Softmax, function
from netsor.derive.printing.latex import latex
from netsor.derive.printing.text import text
from netsor.derive.slopes import exact

U, V, W = sympy.symbols("u v w", real=True)
A, B, C, M = sympy.symbols("a b c m", real=True)
PLACE = {A: 1.3, B: 0.8, C: 0.4, M: 0.2}
VALUES = {"lo": -1, "hi": sympy.Rational(1, 2), "k": 3, "alpha": sympy.Rational(7, 5), "slope": sympy.Rational(1, 5)}


def expectation(integrand, variables=(U, V)) -> GaussianExpectation:
    covariance = sympy.ImmutableMatrix([[A, C], [C, B]])[: len(variables), : len(variables)]
    return GaussianExpectation(
        integrand, sympy.Tuple(*variables), sympy.Tuple(M, 0)[: len(variables)], sympy.ImmutableMatrix(covariance),
        sympy.Tuple(*[sympy.Tuple()] * len(variables)))


def of(name: str, argument=U):
    parameters = [VALUES[parameter] for parameter, _ in nonlinearities.get(name).parameters]
    return function(name)(argument, *parameters)


def difference(formula, by, place=PLACE, step: float = 1e-3) -> float:
    """The derivative by five points; its error is about step^4, 1e-12, and 1e-13/step of rounding."""
    values = [float(formula.subs({**place, by: place[by] + k * step}).evalf()) for k in (-2, -1, 1, 2)]
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


# --- functions ---


SLOPES = [name for name in nonlinearities.names() if name not in ("step", "sign")]


@pytest.mark.parametrize("name", SLOPES)
def test_the_derivative_of_a_function_is_its_slope(name):
    """At places on both sides of every kink."""
    expr = of(name)
    parameters = [float(argument) for argument in expr.args[1:]] if nonlinearities.get(name).parameters else []
    slope = sympy.diff(expr, U)
    assert not slope.has(sympy.Derivative)
    for place in (0.37, 1.9, 4.1, *(() if nonlinearities.get(name).domain[0] == 0 else (-0.61, -3.7))):
        expected = float(nonlinearities.get(name).derivative(place, *parameters))
        assert float(slope.subs(U, place).evalf()) == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_derivatives_read_as_one_would_write_them():
    assert text(sympy.diff(of("relu"), U)) == "step(u)"
    assert sympy.diff(of("sigmoid"), U) == function("sigmoid")(U) * function("sigmoid")(-U)
    assert sympy.diff(of("sigmoid_erf"), U) == function("gaussian")(U) / sympy.sqrt(sympy.pi)
    assert sympy.diff(of("step"), U) == sympy.DiracDelta(U)
    assert sympy.diff(of("gelu", 2 * V), V).has(function("sigmoid_erf"))
    assert exact(sympy.Float(0.3)) == sympy.Rational(3, 10) and exact(sympy.Float(0.123456789012)) == sympy.Float(0.123456789012)


@pytest.fixture
def plugin():
    from netsor.nonlinearities import Nonlinearity, registry

    class Softsign(Nonlinearity):
        name, growth, strip, citation = "softsign_of_test", "bounded", 1.0, "Turian, Bergstra & Bengio 2009"

        def function(self, x, scale=2.0):
            return x / (scale + np.abs(x))

        def derivative(self, x, scale):
            return scale / (scale + np.abs(x)) ** 2

        def kinks(self, scale):
            return (0.0,)

    registry.register(Softsign())
    yield function("softsign_of_test")
    registry._catalogue.pop("softsign_of_test")


def test_a_function_without_a_formula_for_its_slope_has_a_named_one(plugin):
    slope = sympy.diff(plugin(U), U)
    assert text(slope) == "softsign_of_test'(u)" and "softsign\\_of\\_test'" in latex(slope)
    assert float(slope.subs(U, -0.5).evalf()) == pytest.approx(2 / 2.5**2, rel=1e-15)
    assert sympy.lambdify(U, slope)(np.array([-0.5, 1.0])) == pytest.approx([2 / 2.5**2, 2 / 9], rel=1e-15)
    assert sympy.diff(plugin(U), U, 2).has(sympy.Derivative)
    formula = expectation(plugin(U) * sympy.tanh(V))
    for by in PLACE:
        assert float(sympy.diff(formula, by).subs(PLACE).evalf()) == pytest.approx(difference(formula, by), abs=1e-10)


# --- expectations ---

PRODUCTS = {
    "smooth": sympy.tanh(U) * of("gelu", V), "kink": of("relu") * of("silu", V), "kinks": of("clip") * of("elu", V),
    "jump": of("step") * of("hardtanh", V), "jumps": of("sign", U) * of("step", V - 1), "absolute": sympy.Abs(U) * of("mish", V),
    "shifted": of("relu", U - 1) * sympy.sin(V), "parameter": of("relu", U - M) * sympy.tanh(A * V), "powers": U**3 * of("relu", V) ** 2,
    "largest": sympy.Max(U, 1) * sympy.tanh(V), "root": sympy.sqrt(1 + U**2) * of("softplus", V),
}


@pytest.mark.parametrize("by", PLACE)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, by):
    formula = expectation(PRODUCTS[name])
    found = sympy.diff(formula, by)
    assert not found.has(sympy.Derivative, sympy.DiracDelta)
    assert float(found.subs(PLACE).evalf()) == pytest.approx(difference(formula, by), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["tanh", "relu", "abs", "step", "clip", "elu", "relu2", "exp"])
def test_one_variable_and_second_derivatives(name):
    formula = expectation(of(name) ** 2 * sympy.cos(U), (U,))
    for one, other in ((A, A), (A, M), (M, M)):
        found = sympy.diff(formula, one, other)
        assert float(found.subs(PLACE).evalf()) == pytest.approx(difference(sympy.diff(formula, one), other), rel=1e-8, abs=1e-8)


JOINT = {
    "kink": of("relu", U + V), "jump": of("step", U - V / 2), "cases": sympy.Piecewise((U, U > V), (V**2, True)) * V,
    "largest": sympy.Max(U, V, 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JOINT)
def test_functions_of_both_variables(name):
    """Functions that are no products: the formulas of the derivative, each expectation by the midpoint rule in polar coordinates of
    the whitened plane, against differences of the same for the function itself: for functions with jumps to about 1e-4."""
    formula = expectation(JOINT[name])

    def by_grid(expr, place) -> float:
        parts = {part: _polar(part.subs(place)) for part in expr.atoms(GaussianExpectation)}
        return float(expr.xreplace(parts).subs(place).evalf())

    for by in PLACE:
        found = by_grid(sympy.diff(formula, by), PLACE)
        step = 0.05
        values = [by_grid(formula, {**PLACE, by: PLACE[by] + k * step}) for k in (-2, -1, 1, 2)]
        expected = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        assert found == pytest.approx(expected, abs=5e-4)


def _polar(expr: GaussianExpectation) -> sympy.Float:
    radii, angles = np.meshgrid((np.arange(800) + 0.5) * 0.01, (np.arange(1600) + 0.5) * 2 * np.pi / 1600)
    root = np.linalg.cholesky(np.array(expr.covariance.tolist(), dtype=float))
    z = np.stack([radii * np.cos(angles), radii * np.sin(angles)])[: len(root)]
    points = np.einsum("ij,j...->i...", root, z) + np.array([float(mean) for mean in expr.means])[:, None, None]
    values = sympy.lambdify(expr.variables, expr.integrand)(*points)
    return sympy.Float(np.mean(values * radii * np.exp(-0.5 * radii**2)) * 8)


def test_singular_laws_need_no_inverse():
    """At correlation 1, where covariances have no inverse: E relu(u) elu(v) with v = u."""
    formula = expectation(of("relu") * of("elu", V))
    found = sympy.diff(formula, A) + sympy.diff(formula, B) + sympy.diff(formula, C)
    at = {A: 1.3, B: 1.3, C: 1.3, M: 0}
    law = sympy.Tuple(0), sympy.ImmutableMatrix([[A]]), sympy.Tuple(sympy.Tuple())
    one = GaussianExpectation(of("relu") * of("elu"), sympy.Tuple(U), *law)
    assert float(found.subs(at).evalf()) == pytest.approx(difference(one, A, {A: 1.3}), abs=1e-9)


def test_what_has_no_derivative_stands():
    moved = expectation(of("step", U - M) * V)
    assert isinstance(sympy.diff(moved, M), sympy.Derivative)
    assert not sympy.diff(moved, A).has(sympy.Derivative)
    assert sympy.diff(moved, U) == 0 and sympy.diff(moved, sympy.Symbol("q")) == 0


def test_bound_variables_are_no_places_for_numbers():
    formula = expectation(sympy.tanh(U) * V)
    assert formula.subs(U, 3) == formula and formula.subs({V: 2, U: 1}) == formula


def test_elements_of_kernels():
    """dE/dK12 of E tanh(u) tanh(v) is E tanh'(u) tanh'(v); at different indices nothing else."""
    K = sympy.IndexedBase("K")
    i, j = sympy.symbols("i j", integer=True)
    formula = GaussianExpectation(
        sympy.tanh(U) * sympy.tanh(V), sympy.Tuple(U, V), sympy.Tuple(0, 0),
        sympy.ImmutableMatrix([[K[i, i], K[i, j]], [K[i, j], K[j, j]]]), sympy.Tuple(sympy.Tuple(), sympy.Tuple()))
    found = sympy.diff(formula, K[i, j]).subs({i: 1, j: 2})
    slopes = formula.func((1 - sympy.tanh(U) ** 2) * (1 - sympy.tanh(V) ** 2), *formula.args[1:])
    assert found == slopes.subs({i: 1, j: 2})


def test_softmax():
    p, s, i, j, t = sympy.IndexedBase("p"), 3, *sympy.symbols("i j", integer=True), sympy.Symbol("t", real=True)
    weight = Softmax(t * p[j] + sympy.cos(t * j), sympy.Le(j, 2), i, sympy.Tuple(j, 1, s))
    for place, at in itertools.product((1, 2, 3), (0.7, -2.0)):
        found = sympy.lambdify([p, i, t], sympy.diff(weight, t))(np.array([0, 0.3, -1.2, 0.9]), place, at)
        by_hand = sympy.lambdify([p, i, t], weight)
        steps = [by_hand(np.array([0, 0.3, -1.2, 0.9]), place, at + k * 1e-3) for k in (-2, -1, 1, 2)]
        assert found == pytest.approx((steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / 12e-3, abs=1e-11)
