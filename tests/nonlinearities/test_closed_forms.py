"""Closed forms against 40-digit arithmetic, where float64 quadrature could not tell."""

import mpmath
import numpy as np
import pytest

from netsor import nonlinearities
from netsor.nonlinearities import pair_closed_form

# (var_u, cov, var_v), exact in binary or taken as the binary number they round to
LAWS = [
    (1.0, 0.5, 1.0), (0.7, -0.31, 2.9), (1.0, 1 - 1e-6, 1.0), (1.0, 1 - 1e-12, 1.0), (1.0, -(1 - 1e-6), 1.0),
    (1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (0.25, 0.5, 1.0), (1e-8, 3e-3, 1e6), (4.0, 0.0, 9.0),
]


def closed(name, law, *params):
    function = nonlinearities.get(name)
    params = function.arguments(*params)
    return float(pair_closed_form(function, params, function, params)(*np.array(law)))


def exact(law):
    """sqrt(var_u var_v), rho and theta = arccos(rho) to 40 digits."""
    var_u, cov, var_v = map(mpmath.mpf, law)
    scale = mpmath.sqrt(var_u * var_v)
    rho = cov / scale
    return scale, rho, mpmath.acos(min(max(rho, -1), 1))


FORMULAS = {
    "relu": lambda s, r, t: s * (mpmath.sin(t) + (mpmath.pi - t) * mpmath.cos(t)) / (2 * mpmath.pi),
    "step": lambda s, r, t: (mpmath.pi - t) / (2 * mpmath.pi),
    "sign": lambda s, r, t: 1 - 2 * t / mpmath.pi,
    "abs": lambda s, r, t: 2 * s * (mpmath.sin(t) + (mpmath.pi / 2 - t) * mpmath.cos(t)) / mpmath.pi,
    "relu2": lambda s, r, t: s**2
    * (3 * mpmath.sin(t) * mpmath.cos(t) + (mpmath.pi - t) * (1 + 2 * mpmath.cos(t) ** 2)) / (2 * mpmath.pi),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", FORMULAS)
def test_arc_cosine_kernels(name, law):
    """Cho & Saul 2009. Correlations 1 - 1e-12 carry the angle to 1e-16 / sqrt(2e-12) = 1e-10 only for rounded scales."""
    with mpmath.workdps(40):
        scale, rho, theta = exact(law)
        expected = FORMULAS[name](scale, rho, theta)
        size = scale ** {"relu": 1, "abs": 1, "relu2": 2}.get(name, 0)
        assert abs(closed(name, law) - expected) <= 3e-15 * size


@pytest.mark.parametrize("law", [*LAWS, (1e8, 1e8 - 1e-2, 1e8), (1e30, 1e30, 1e30)])
def test_error_function_kernel(law):
    """Williams 1997, equation 11."""
    with mpmath.workdps(60):
        var_u, cov, var_v = map(mpmath.mpf, law)
        expected = 2 / mpmath.pi * mpmath.asin(2 * cov / mpmath.sqrt((1 + 2 * var_u) * (1 + 2 * var_v)))
        assert abs(closed("erf", law) - expected) <= 2e-15


@pytest.mark.parametrize("law", [*LAWS, (1e12, 1e12, 1e12), (1e100, 1e100, 1e100)])
def test_gelu_kernel(law):
    """Rounding only: the formula by Stein's lemma, in another arrangement and in 250 digits. That it is the integral is
    tested against quadrature by the check of the declaration."""
    with mpmath.workdps(250):
        var_u, cov, var_v = map(mpmath.mpf, law)
        upper_u, upper_v = 1 + var_u, 1 + var_v
        determinant = upper_u * upper_v - cov**2
        angle = mpmath.asin(cov / mpmath.sqrt(upper_u * upper_v))
        shrink = 1 - var_u / upper_u - var_v / upper_v
        expected = cov / 4 + (cov * angle + (var_u * var_v + cov**2 * shrink) / mpmath.sqrt(determinant)) / (2 * mpmath.pi)
        assert abs(closed("gelu", law) - expected) <= 5e-15 * mpmath.sqrt(var_u * var_v)


@pytest.mark.parametrize("variance", [1e-38, 1.0, 0.3, 1e38, 1e300])
def test_relu_at_full_correlation_is_half_the_variance_and_does_not_overflow(variance):
    assert closed("relu", (variance, variance, variance)) == pytest.approx(variance / 2, rel=4e-16)
    assert closed("relu", (variance, -variance, variance)) == pytest.approx(0, abs=1e-16 * variance)
    assert closed("step", (variance, variance, variance)) == 0.5
    assert closed("abs", (variance, -variance, variance)) == pytest.approx(variance, rel=4e-16)


@pytest.mark.parametrize("variance", [0.3, 0.7, 1.1, 3.3, 12.7])
def test_repeated_and_scaled_inputs_have_angle_exactly_zero(variance):
    """x and 3x: the rounded covariance matrix is singular to a unit in the last place."""
    assert closed("sign", (variance, 3 * variance, 9 * variance)) == 1
    assert closed("sign", (variance, -3 * variance, 9 * variance)) == -1


def test_a_clip_out_of_reach_is_exactly_the_identity():
    rng = np.random.default_rng(0)
    cov = rng.uniform(-1, 1, 100)
    clip = nonlinearities.get("clip")
    formula = pair_closed_form(clip, (-100.0, 100.0), clip, (-100.0, 100.0))
    assert np.array_equal(formula(np.ones(100), cov, np.ones(100)), cov)
    assert np.array_equal(formula(np.ones(1), np.ones(1), np.ones(1)), np.ones(1))


@pytest.mark.parametrize("rho", [0.0, 0.3, -0.8, 0.999, 1 - 1e-9, -(1 - 1e-6)])
@pytest.mark.parametrize("h, k", [(0.4, 0.4), (-0.3, 1.2), (0.0, 0.7), (-0.5, 0.0), (0.0, 0.0), (-1.0, -2.0), (3.0, 3.001)])
def test_orthant_probability(h, k, rho):
    """P(X > h, Y > k) = P(X > h) P(Y > k) + the integral of the bivariate density over the correlation (Plackett 1954)."""
    from netsor.nonlinearities.forms.bivariate import upper_probability

    found = float(upper_probability(h, k, rho, np.sqrt((1 - rho) * (1 + rho))))
    with mpmath.workdps(30):
        h, k = mpmath.mpf(h), mpmath.mpf(k)

        def density(angle):
            s = mpmath.sin(angle)
            return mpmath.exp(-(h * h - 2 * h * k * s + k * k) / (2 * mpmath.cos(angle) ** 2)) / (2 * mpmath.pi)

        end = mpmath.asin(mpmath.mpf(rho))
        marks = [end * (1 - mpmath.mpf(4) ** -j) for j in range(16)] + [end]
        expected = mpmath.ncdf(-h) * mpmath.ncdf(-k) + mpmath.quad(density, marks)
        assert abs(found - expected) < 1e-13
