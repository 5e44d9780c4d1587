"""Objects of formulas as numbers within SymPy: evalf and lambdify, against the numbers of the derivation."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy
from scipy.special import ndtr

import netsor
from netsor import nonlinearities
from netsor.derive.closed_forms.attention import ScoreTransform, SquaredWeights
from netsor.derive.evaluate import Evaluation
from netsor.derive.objects import Extremum, GaussianExpectation, Indicator, InfiniteAverage, ScoreExpectation, Softmax, function
from netsor.derive.printing.text import left_side

PROGRAMS = Path(__file__).parents[2] / "programs"
U, V = sympy.symbols("u v", real=True)
A, B, C = sympy.symbols("a b c", real=True)
I, J, S = sympy.symbols("i j s", integer=True)
P = sympy.IndexedBase("p")
STANDING = GaussianExpectation(
    sympy.tanh(U) * function("gelu")(V), sympy.Tuple(U, V), sympy.Tuple(0, 0), sympy.ImmutableMatrix([[A, C], [C, B]]),
    sympy.Tuple(sympy.Tuple(), sympy.Tuple()))
MODULES = (None, "numpy", "scipy", ["scipy", "numpy"], "math", "mpmath")


def by_grid(a: float, b: float, c: float) -> float:
    """E tanh(u) gelu(v), the variables whitened, by the trapezoidal rule on the plane, which is exact to rounding for such functions."""
    z = np.arange(-9, 9.01, 0.05)
    weights = np.exp(-0.5 * z * z) * 0.05 / np.sqrt(2 * np.pi)
    v = c / np.sqrt(a) * z[:, None] + np.sqrt(b - c * c / a) * z
    return float(weights @ (np.tanh(np.sqrt(a) * z)[:, None] * v * ndtr(v)) @ weights)


def test_a_standing_expectation_has_a_number_once_its_symbols_have():
    place = {A: 1.3, B: 0.8, C: 0.4}
    expected = by_grid(1.3, 0.8, 0.4)
    assert float(STANDING.subs(place).evalf()) == pytest.approx(expected, rel=1e-12)
    assert float((3 * sympy.sqrt(STANDING) + A).subs(place).n()) == pytest.approx(3 * expected**0.5 + 1.3, rel=1e-12)
    summed = sympy.Sum(STANDING * I, (I, 1, 3)).subs(place)
    assert float(summed.evalf()) == pytest.approx(6 * expected, rel=1e-12)
    assert float(sympy.Sum(STANDING.subs(C, I / 10), (I, 1, 2)).subs(place).evalf()) == pytest.approx(
        by_grid(1.3, 0.8, 0.1) + by_grid(1.3, 0.8, 0.2), rel=1e-11)


def test_it_stays_while_symbols_are_left_and_where_there_is_no_quadrature():
    assert STANDING.subs(A, 1.3).evalf().has(GaussianExpectation)
    joint = STANDING.func(function("relu")(U + V), *STANDING.args[1:]).subs({A: 1.3, B: 0.8, C: 0.4})
    assert joint.evalf() == joint
    with pytest.raises(ValueError, match="quasi-random"):
        sympy.lambdify([], joint)()


@pytest.mark.parametrize("modules", MODULES)
def test_functions_of_the_catalogue(modules):
    for name in nonlinearities.names():
        parameters = {"clip": (-1, 2), "hermite": (3,)}.get(name, ())
        formula = 2 * function(name)(A, *parameters)
        if name in ("erf", "abs") and modules == "numpy" or isinstance(formula.args[-1], sympy.erf):
            continue
        found = sympy.lambdify(A, formula, modules=modules) if modules else sympy.lambdify(A, formula)
        assert float(found(0.7)) == pytest.approx(2 * float(nonlinearities.get(name)(0.7, *parameters)), rel=1e-13)


GRID = np.linspace(0.9, 2.0, 4)
SCORES = np.array([0.3, -1.2, 0.9, 0.1])
WEIGHTS = np.exp(SCORES) / np.exp(SCORES).sum()
OBJECTS = {
    "expectation": ([A, B, C], STANDING * A + 1, (GRID, 0.8, 0.4), [a * by_grid(a, 0.8, 0.4) + 1 for a in GRID]),
    "indicator": ([A], Indicator(A > 1.5) + A, (1.7,), 2.7),
    "softmax": ([P, I, S], Softmax(P[J], sympy.true, I, sympy.Tuple(J, 0, S)), (SCORES, np.arange(4), 3), WEIGHTS),
    "guarded": ([P, I], Softmax(P[J], sympy.Lt(J, 2), I, sympy.Tuple(J, 0, 3)), (SCORES, 1), WEIGHTS[1] / WEIGHTS[:2].sum()),
    "in a sum": ([P, S], sympy.Sum(Softmax(P[J], sympy.true, I, sympy.Tuple(J, 0, S)) * I, (I, 0, S)), (SCORES, 3), WEIGHTS @ np.arange(4)),
    "extremum": ([P], Extremum(sympy.Symbol("max"), P[J], sympy.true, sympy.Tuple(J, 0, 3)), (SCORES,), 0.9),
    "element": ([A, P[1]], STANDING.subs({B: P[1], C: 0.4}), (1.3, 0.8), by_grid(1.3, 0.8, 0.4)),
    "transform": ([A, B], ScoreTransform(2, A, B), (1.5, GRID), [float(mpmath.quad(
        lambda z, t=t: mpmath.exp(2 * mpmath.sqrt(1.5) * z - t * mpmath.exp(mpmath.sqrt(1.5) * z)) * mpmath.npdf(z),
        range(-10, 13))) for t in GRID]),
    "weights": ([S, A], SquaredWeights(1, S, A), (4, GRID), [float(SquaredWeights(1, 4, a).evalf()) for a in GRID]),
}


@pytest.mark.parametrize("modules", MODULES, ids=str)
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_in_functions(name, modules):
    """Numbers and arrays, elementwise, under each of SymPy's printers."""
    arguments, formula, values, expected = OBJECTS[name]
    found = sympy.lambdify(arguments, formula, modules=modules) if modules else sympy.lambdify(arguments, formula)
    np.testing.assert_allclose(np.asarray(found(*values), dtype=float), expected, rtol=1e-11)


@pytest.mark.parametrize("formula", [ScoreExpectation(A), InfiniteAverage(A * I, I) + A])
def test_expectations_over_scores_have_no_function(formula):
    with pytest.raises(NotImplementedError, match="no number of its own: program.limit"):
        sympy.lambdify(A, formula)


@pytest.mark.parametrize("order", [1, 2])
def test_squared_weights_by_their_variance(order):
    """The heat equation for the integrand against five points; the integral over t is good to 1e-9."""
    formula, step = SquaredWeights(order, 3, A), 1e-3
    steps = [float(formula.subs(A, 0.8 + k * step).evalf()) for k in (-2, -1, 1, 2)]
    number = Evaluation([], {"a": 0.8}, {}, {})(sympy.diff(formula, A))
    assert number == pytest.approx((steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * step), abs=1e-9)


@pytest.mark.parametrize("name, left", [
    ("attention", "Cov(y[i], y[i'] | p)"), ("attention_causal", "Cov(y[i], y[i'] | p)"), ("attention", "Cov(y[i], y[i'])"),
    ("mlp", "Cov(h[3,b], h[3,b'])"), ("mean_field", "chi[b]"), ("layer_norm", "Cov(z[i], z[i'])"),
])
def test_functions_of_whole_formulas(name, left):
    """A formula as a function of its parameters, kernels and scores, against ``evaluate``.  Arrays have a row and column 0 more,
    for subscripts that begin with 1."""
    program = netsor.load(PROGRAMS / f"{name}.netsor", **({"L": 3} if name == "mean_field" else {}))
    formulas = program.derive()
    rng = np.random.default_rng(3)
    scores = {f.label: rng.standard_normal([axis.range.size for axis in f.axes]) for f in program.ir.families if f.is_sampled}
    expected = formulas.evaluate(scores=scores)[left]
    formula = formulas.unfolded(left)
    letters = [axis[0] for axis in next(each for each in formulas.statements if left_side(each) == left).axes]
    data = {array.name: array.values for array in program.ir.arrays if array.definition is None}
    arrays = {label.split("[")[0]: np.pad(value, [(1, 0)] * value.ndim) for label, value in (scores | data).items()}
    values = formulas.defaults() | arrays
    arguments = sorted({symbol for symbol in formula.free_symbols if symbol.is_Symbol} - set(letters), key=str)
    formula = formula.xreplace({letter: sympy.Symbol(f"at{k}", integer=True) for k, letter in enumerate(letters)})
    call = sympy.lambdify([*arguments, *[sympy.Symbol(f"at{k}", integer=True) for k in range(len(letters))]], formula)
    for place in np.ndindex(expected.shape):
        found = call(*[values[str(argument)] for argument in arguments], *[index + 1 for index in place])
        assert float(found) == pytest.approx(expected[place], rel=1e-10, abs=1e-12)
