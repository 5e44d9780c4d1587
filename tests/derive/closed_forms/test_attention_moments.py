"""Moments of softmax weights: published numbers, direct simulation-free checks, both precisions."""

import mpmath
import numpy as np
import pytest
import sympy

from netsor.derive.closed_forms.attention import (
    ScoreTransform, SquaredWeights, excess_kurtosis, excess_kurtosis_without_softmax,
)  # fmt: skip


@pytest.mark.parametrize("tokens, variance, first, second, kurtosis", [
    (2, 1, 0.6368381539684, 0.4217827562797, 0.1199808308),
    (4, 1, 0.391971443576, 0.166102890986, 0.2433184252),
    (4, 4, 0.574413957, 0.36809687, 0.346828),
    (8, 1, 0.23231344721, 0.06031868, 0.35292913),
])
def test_reference_values(tokens, variance, first, second, kurtosis):
    """Quadrature over the s - 1 contrasts of the scores; the last digits of the wide ones are the reference's rounding."""
    digits = lambda value: 10.0 ** -len(str(value).split(".")[1])
    moments = [float(SquaredWeights(k, tokens, variance).evalf()) for k in (1, 2)]
    assert abs(moments[0] - first) < 4 * digits(first)
    assert abs(moments[1] - second) < 4 * digits(second)
    assert abs(3 * (moments[1] / moments[0] ** 2 - 1) - kurtosis) < 4 * digits(kurtosis)


@pytest.mark.parametrize("variance", [1e-3, 0.5, 4.0, 25.0])
def test_two_tokens_are_a_logistic_of_one_gaussian(variance):
    """A_1 = sigmoid(d), d ~ N(0, 2v): sum A^2 = A_1^2 + (1 - A_1)^2, by Gauss-Hermite-free quadrature in mpmath."""
    with mpmath.workdps(25):
        def moment(k):
            def integrand(z):
                a = 1 / (1 + mpmath.exp(-mpmath.sqrt(2 * variance) * z))
                return mpmath.npdf(z) * (a**2 + (1 - a) ** 2) ** k

            return mpmath.quad(integrand, [-15, -6, -2, -0.5, 0, 0.5, 2, 6, 15])

        for k in (1, 2):
            assert abs(SquaredWeights(k, 2, variance).evalf() - float(moment(k))) < 3e-14


def test_more_digits():
    """The float path and the mpmath path are different sums."""
    assert abs(SquaredWeights(1, 4, 1).evalf(22) - SquaredWeights(1, 4, 1).evalf()) < 1e-14
    with mpmath.workdps(30):
        integrand = lambda z: mpmath.npdf(z) / (1 + mpmath.exp(mpmath.sqrt(2) * z)) ** 2
        exact = sympy.Float(2 * mpmath.quad(integrand, mpmath.linspace(-16, 16, 33)), 30)
    assert abs(SquaredWeights(1, 2, 1).evalf(25) - exact) < 1e-24


def test_many_tokens_approach_the_law_of_large_numbers():
    """s E sum A^2 -> E e^{2p} / (E e^p)^2 = e^v, with corrections of order 1/s."""
    scaled = [s * float(SquaredWeights(1, s, 1).evalf()) for s in (1000, 2000)]
    assert 2 * scaled[1] - scaled[0] == pytest.approx(np.e, rel=2e-4)


def test_the_integral_is_written_out():
    """rewrite gives the integral over t, evaluated here by an independent rule."""
    s, v, t = sympy.symbols("s v t", positive=True)
    integral = SquaredWeights(1, s, v).rewrite(sympy.Integral)
    assert isinstance(integral, sympy.Integral) and integral.free_symbols == {s, v}
    variable = integral.variables[0]
    integrand = integral.function.subs({s: 2, v: 1})
    z, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / np.sqrt(2 * np.pi)
    names = {each: sympy.Function(f"M{each.args[0]}")(variable) for each in integrand.atoms(ScoreTransform)}
    transforms = {f"M{k}": lambda t, k=k: np.exp(k * z - np.multiply.outer(t, np.exp(z))) @ weights for k in (0, 2)}
    function = sympy.lambdify(variable, integrand.xreplace(names), [transforms, "numpy"])
    # t = e^x, trapezoidal rule
    t_nodes = np.exp(np.arange(-22, 6, 0.25))
    value = 0.25 * np.sum(function(t_nodes) * t_nodes)
    assert value == pytest.approx(0.6368381539684, abs=1e-9)
    assert ScoreTransform(0, v, t).rewrite(sympy.Integral).free_symbols == {v, t}


def test_kurtosis():
    s, H = sympy.symbols("s H")
    assert excess_kurtosis_without_softmax(s, H) == 6 / (s * H)
    assert excess_kurtosis(4, 0, H) == 0
    assert excess_kurtosis(1, 1, H) == 0
    assert float(excess_kurtosis(4, 1, 2)) == pytest.approx(0.2433184252 / 2, rel=1e-9)
    with pytest.raises(ValueError, match="first and the second"):
        SquaredWeights(3, 4, 1)
