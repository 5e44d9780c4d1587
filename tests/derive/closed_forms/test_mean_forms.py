"""E phi(u), centred, shifted and without variance."""

import numpy as np
import pytest
import sympy
from gaussian_reference.functions import CASES
from gaussian_reference.quadrature import one_variable

from netsor.derive.closed_forms import Activation, mean, second_moment, value

V, M = sympy.symbols("v m")
UNKNOWN = {"softplus", "silu", "gelu_tanh"}
CENTRED_ONLY = {"sigmoid", "tanh"}


@pytest.mark.parametrize("label", CASES)
def test_means_are_their_integrals(label):
    name, parameters, function, _ = CASES[label]
    activation = Activation(name, parameters)
    shifted = mean(activation, M, V)
    centred = mean(activation, 0, V)
    assert (centred is None) == (label in UNKNOWN)
    assert (shifted is None) == (label in UNKNOWN | CENTRED_ONLY)
    cases = [(0.0, 0.3), (0.7, 1.1), (-1.5, 0.2), (0.4, 1e-6), (-2.0, 49.0), (0.0, 1e-4)]
    for place, variance in cases:
        formula = mean(activation, M if place else 0, V)
        if formula is None:
            continue
        found = value(formula, {M: place, V: variance})
        u, weights = one_variable(place, variance)
        values = function(u) * weights
        assert abs(found - values.sum()) <= 1e-10 * np.abs(values).sum(), (place, variance)
        numbers_first = centred if label in CENTRED_ONLY else mean(activation, place, variance)
        assert abs(value(numbers_first) - found) <= 1e-12 * np.abs(values).sum()
    constant = value(mean(activation, 0.375, 0))
    assert constant == pytest.approx(float(function(np.float64(0.375))), rel=1e-14)
    assert value(mean(activation, 0, 0)) == pytest.approx(float(function(np.float64(0))), abs=1e-15)


def test_a_clip_with_symbolic_bounds():
    """lo < hi is what clip means; symbols need not say so."""
    lo, hi = sympy.symbols("lo hi")
    formula = second_moment(Activation("clip", (lo, hi)), Activation("clip", (lo, hi)), V)
    u, weights = one_variable(0.0, 0.8)
    expected = np.sum(weights * np.clip(u, -0.5, 2.0) ** 2)
    assert float(formula.subs({lo: -0.5, hi: 2, V: 0.8})) == pytest.approx(expected, rel=1e-12)


def test_an_empty_clip_has_no_form():
    assert mean(Activation("clip", (2, 1)), 0, V) is None


def test_numbers_where_evalf_would_look_for_thousands_of_digits():
    """E min(u, 2) at deviation 0.01 is -1e-8690."""
    assert value(mean(Activation("clip", (-sympy.oo, 2)), 0, 1e-4)) == 0
    assert value(mean(Activation("relu"), -5, V), {V: 1e-6}) == 0


def test_what_is_unknown_is_none_and_what_is_incomplete_is_refused():
    assert mean(Activation("mish"), 0, V) is None
    assert mean(Activation("no_such_function"), 0, V) is None
    with pytest.raises(TypeError, match="hermite needs 1 parameters"):
        mean(Activation("hermite"), 0, V)
