"""E phi(u) psi(v): every formula against quadrature that shares nothing with netsor."""

import itertools

import mpmath
import numpy as np
import pytest
import sympy
from gaussian_reference.functions import CASES
from gaussian_reference.quadrature import line_table, one_variable, pair_table

from netsor.derive.closed_forms import Activation, pair_moment, second_moment, value

A, B, C, RHO = sympy.symbols("K11 K22 K12 rho")
ACTIVATIONS = {label: Activation(case[0], case[1]) for label, case in CASES.items()}
LABELS = list(CASES)
# one of each kind for every day; the whole catalogue is slow
SOME = ["identity", "relu", "leaky_relu", "step", "relu2", "erf", "gelu", "sin", "cos", "exp", "gaussian", "cube", "elu",
        "hardtanh", "silu"]  # fmt: skip
PAIRS = list(itertools.combinations_with_replacement(SOME, 2))
ALL_PAIRS = list(itertools.combinations_with_replacement(CASES, 2))

QUICK = [(1.0, 0.5, 1.0), (0.7, -0.31, 2.9), (0.25, 0.0625, 0.5)]
SLOW = [
    (2.0, 1.9999, 2.0), (1.5, -1.2, 1.0), (1e-6, 7e-7, 2e-6), (1e-4, 0.005, 1.0), (100.0, -36.0, 36.0), (64.0, 3.99, 0.25),
    (0.31, 0.1, 0.47), (3.0, 0.0, 0.2),
]  # fmt: skip
SINGULAR = [(0.7, 0.7, 0.7), (0.7, -0.7, 0.7), (0.25, 0.5, 1.0), (4.0, -1.0, 0.25), (36.0, 6.0, 1.0), (1e-6, 1e-6, 1e-6)]


@pytest.fixture(scope="module")
def formulas():
    return compiled(PAIRS)


@pytest.fixture(scope="module")
def all_formulas():
    return compiled(ALL_PAIRS)


def compiled(pairs):
    """Pairs of labels that have a form in (K11, K22, K12), as functions of three mpmath numbers."""
    found = {}
    for left, right in pairs:
        formula = pair_moment(ACTIVATIONS[left], ACTIVATIONS[right], A, B, C)
        if formula is not None:
            assert formula.free_symbols <= {A, B, C}
            assert not formula.has(sympy.Integral, sympy.Piecewise)
            assert not formula.has(sympy.Float) or {left, right} & {"selu", "long_slope"}
            found[left, right] = sympy.lambdify((A, B, C), formula, "mpmath")
    return found


def number(function, *arguments) -> float:
    """A real value, in 40 digits."""
    with mpmath.workdps(40):
        result = function(*map(mpmath.mpf, arguments))
        assert mpmath.im(result) == 0
        return float(mpmath.re(result))


def agree(formulas, table, absolute, law):
    """Errors relative to E |phi psi|, or to rounding of what cancels there."""
    wrong = {}
    for (left, right), formula in formulas.items():
        i, j = LABELS.index(left), LABELS.index(right)
        gap = abs(number(formula, law[0], law[2], law[1]) - table[i, j])
        if not gap <= 1e-10 * absolute[i, j] + 1e-14 * np.sqrt(absolute[i, i] * absolute[j, j]):
            wrong[left, right] = gap
    assert not wrong


@pytest.mark.parametrize("law", QUICK)
def test_pairs_are_their_integrals(formulas, law):
    """(var_u, cov, var_v)."""
    agree(formulas, *pair_table(0.0, 0.0, *law), law)


@pytest.mark.slow
@pytest.mark.parametrize("law", QUICK + SLOW)
def test_all_pairs_are_their_integrals_at_all_laws(all_formulas, law):
    assert len(all_formulas) > 440
    agree(all_formulas, *pair_table(0.0, 0.0, *law), law)


@pytest.mark.parametrize("law", SINGULAR)
def test_full_correlation_is_a_limit_of_the_same_formula(formulas, law):
    """rho = 1 and -1 filled into the general formula: one variable remains."""
    agree(formulas, *line_table(*law), law)


@pytest.mark.slow
@pytest.mark.parametrize("law", SINGULAR)
def test_full_correlation_is_a_limit_of_all_formulas(all_formulas, law):
    agree(all_formulas, *line_table(*law), law)


def test_the_same_formula_in_rho(formulas):
    for (left, right), formula in itertools.islice(formulas.items(), 0, None, 2):
        in_rho = pair_moment(ACTIVATIONS[left], ACTIVATIONS[right], A, B, rho=RHO)
        assert in_rho.free_symbols <= {A, B, RHO}
        found = value(in_rho, {A: 0.25, B: 0.5625, RHO: -0.375})
        assert found == pytest.approx(number(formula, 0.25, 0.5625, -0.140625), rel=1e-13, abs=1e-15), (left, right)


def test_equal_variances_and_numbers_give_the_same_value(formulas):
    """K11 twice, and numbers instead of symbols, take other ways through the code."""
    for (left, right), formula in itertools.islice(formulas.items(), 0, None, 2):
        expected = number(formula, 0.5, 0.5, 0.125)
        equal = pair_moment(ACTIVATIONS[left], ACTIVATIONS[right], A, A, C)
        half = sympy.Rational(1, 2)
        exact = pair_moment(ACTIVATIONS[right], ACTIVATIONS[left], half, half, half / 4)
        for found in (value(equal, {A: 0.5, C: 0.125}), value(exact)):
            assert found == pytest.approx(expected, rel=1e-13, abs=1e-15), (left, right)


def test_second_moments_are_their_integrals():
    """u = v, where also clips and exponential units have forms."""
    check_second_moments(PAIRS, 0.7, 0.0)


def test_second_moments_with_a_mean():
    few = ["relu", "cos", "exp", "gaussian", "cube", "hardtanh", "elu"]
    check_second_moments([*zip(few, few), ("elu", "relu"), ("relu", "exp")], 1.3, 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("variance, mean", [(0.7, 0.0), (1e-6, 0.0), (36.0, 0.0), (1.3, 0.6)])
def test_all_second_moments_are_their_integrals(variance, mean):
    check_second_moments(ALL_PAIRS, variance, mean)


def check_second_moments(pairs, variance, mean):
    u, weights = one_variable(mean, variance)
    values = {label: case[2](u) for label, case in CASES.items()}
    wrong, known = {}, 0
    for left, right in pairs:
        formula = second_moment(ACTIVATIONS[left], ACTIVATIONS[right], A, mean=0 if mean == 0 else C)
        if formula is None:
            continue
        known += 1
        product = values[left] * values[right] * weights
        gap = abs(value(formula, {A: variance, C: mean}) - product.sum())
        if not gap <= 1e-10 * np.abs(product).sum():
            wrong[left, right] = gap
    assert not wrong
    assert known > 0.6 * len(pairs)


WITH_MEANS = [("sin", "cos"), ("exp", "exp"), ("relu", "exp"), ("gelu", "cube"), ("identity", "hardtanh"), ("cos", "gaussian"),
              ("elu", "exp"), ("gaussian", "relu"), ("exp", "sin"), ("cube", "sin"), ("gaussian", "gaussian")]  # fmt: skip


def test_pairs_with_means():
    found = check_means(WITH_MEANS)
    assert found == set(WITH_MEANS)


@pytest.mark.slow
def test_all_pairs_with_means():
    assert len(check_means(ALL_PAIRS)) > 200


def check_means(pairs) -> set:
    law, means = (0.7, -0.31, 2.9), (0.6, -1.1)
    table, absolute = pair_table(*means, *law)
    mean_u, mean_v = sympy.symbols("m1 m2")
    known, wrong = set(), {}
    for left, right in pairs:
        formula = pair_moment(ACTIVATIONS[left], ACTIVATIONS[right], A, B, C, mean_left=mean_u, mean_right=mean_v)
        if formula is None:
            continue
        known.add((left, right))
        i, j = LABELS.index(left), LABELS.index(right)
        gap = abs(value(formula, {A: law[0], B: law[2], C: law[1], mean_u: means[0], mean_v: means[1]}) - table[i, j])
        if not gap <= 1e-10 * absolute[i, j]:
            wrong[left, right] = gap
    assert not wrong
    return known


def test_netsor_computes_the_same_numbers():
    """A second opinion on names, parameters and defaults: the engine's own closed forms and quadrature."""
    from netsor.expectation import UnaryFunction, expect_pair

    names = ["relu", "leaky_relu", "prelu", "erf", "gelu", "exp", "cube", "celu", "selu"]
    compared = 0
    for left, right in itertools.combinations_with_replacement(names, 2):
        formula = pair_moment(Activation(left), Activation(right), 0.6, 1.7, -0.4)
        if formula is not None:
            expected = expect_pair(UnaryFunction.of(left), UnaryFunction.of(right), 0.0, 0.0, 0.6, 1.7, -0.4)
            assert value(formula) == pytest.approx(float(expected.value), rel=1e-10, abs=1e-12), (left, right)
            compared += 1
    assert compared > 30
