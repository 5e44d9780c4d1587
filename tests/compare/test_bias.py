"""Extrapolation to infinite width: exact recovery, calibration, and what happens when 1/n + 1/n^2 is not enough."""

import numpy as np
import pytest

from netsor.compare.bias import MISFIT, cancelled, decay_rate, fit_bias, intercept_weights, number_of_terms

WIDTHS = (16, 64, 256, 1024)


def test_values_of_the_fitted_form_are_recovered():
    n = np.array(WIDTHS, dtype=float)
    fit = fit_bias(WIDTHS, 0.7 + 3 / n - 5 / n**2, np.full(4, 0.01))
    assert fit.coefficients == pytest.approx([0.7, 3.0, -5.0], rel=1e-9)
    assert fit.chi_squared == pytest.approx(0.0, abs=1e-15) and fit.fits and fit.degrees == 1
    assert fit.predicted == pytest.approx(0.7 + 3 / n - 5 / n**2)


@pytest.mark.parametrize("widths, terms", [((16,), 0), ((16, 32), 1), ((16, 32, 64), 1), (WIDTHS, 2), (WIDTHS + (2048,), 2)])
def test_the_number_of_terms_depends_on_the_number_of_widths_only(widths, terms):
    assert number_of_terms(len(widths)) == terms
    fit = fit_bias(widths, np.ones(len(widths)), np.ones(len(widths)))
    assert (fit is None) if terms == 0 else fit.terms == terms


def test_intercept_and_chi_squared_are_calibrated():
    """4,000 experiments with unequal errors: standardised intercepts have variance 1, chi-squared mean 1 and the stated tail.

    The variance is known to sqrt(2/4,000): 5 sigma are 0.112; the same for the mean of chi-squared with one degree.  800 of the
    probabilities of chi-squared are expected below 0.2: 5 sigma are 127."""
    rng = np.random.default_rng(7)
    n, errors = np.array(WIDTHS, dtype=float), np.array([0.3, 0.2, 0.1, 0.1])
    truth = 2.0 - 6 / n + 9 / n**2
    fits = [fit_bias(WIDTHS, truth + errors * rng.standard_normal(4), errors) for _ in range(4000)]
    whole = [fit for fit in fits if not fit.left_out]
    assert len(whole) > 3980
    z = np.array([(fit.intercept - 2.0) / fit.intercept_error for fit in fits])
    assert np.var(z) == pytest.approx(1.0, abs=0.112)
    assert np.mean([fit.chi_squared for fit in whole]) == pytest.approx(1.0, abs=0.112)
    assert abs(sum(fit.p_value < 0.2 for fit in fits) - 800) < 127


def test_residuals_have_the_stated_errors():
    """4,000 experiments: variances of standardised residuals 1 +- 5 * 0.022, those left out (one in a thousand) aside."""
    rng = np.random.default_rng(8)
    errors = np.array([0.1, 0.1, 0.2])
    z = []
    for values in errors * rng.standard_normal((4000, 3)):
        fit = fit_bias((8, 16, 32), values, errors)
        z.append((values - fit.predicted) / fit.residual_errors)
    assert np.var(z, axis=0) == pytest.approx(np.ones(3), abs=0.11)


def test_widths_too_small_for_the_form_are_left_out():
    n = np.array([2, 16, 64, 256, 1024], dtype=float)
    values = 1 + 2 / n + 50 * np.exp(-n / 2)
    fit = fit_bias(n.astype(int), values, np.full(5, 1e-3))
    assert fit.left_out == (2,) and fit.intercept == pytest.approx(1.0, abs=4e-3) and fit.fits


def test_a_form_that_never_fits_says_so():
    fit = fit_bias((16, 32, 64), np.array([0.0, 1.0, 0.0]), np.full(3, 1e-3))
    assert not fit.fits and fit.p_value < MISFIT and fit.widths == (16, 32, 64)


def test_pairs_cancel_the_first_term():
    n = np.array([16.0, 32.0, 100.0])
    (width, value, error), = cancelled((16, 32, 100), 5 + 7 / n, np.array([0.3, 0.4, 0.1]))
    assert width == 16 and value == pytest.approx(5.0) and error == pytest.approx(np.hypot(0.8, 0.3))


def test_weights_of_the_intercept_reproduce_it():
    values, errors = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.0, 0.5, 1.0, 2.0])
    weights, _ = intercept_weights(WIDTHS, errors)
    assert weights @ values == pytest.approx(fit_bias(WIDTHS, values, errors * 100).intercept)


def test_the_rate_of_decay_and_its_error():
    """2,000 experiments with b/n: the standardised rate has mean 0 and variance 1 (5 sigma: 0.11 and 0.16, plus the
    second-order bias of a nonlinear fit, below 0.1 here)."""
    rng = np.random.default_rng(9)
    n, errors = np.array(WIDTHS, dtype=float), np.full(4, 0.002)
    z = []
    for _ in range(2000):
        alpha, error = decay_rate(WIDTHS, 2 / n + errors * rng.standard_normal(4), errors)
        z.append((alpha - 1.0) / error)
    assert np.mean(z) == pytest.approx(0.0, abs=0.2) and np.var(z) == pytest.approx(1.0, abs=0.2)
    alpha, _ = decay_rate(WIDTHS, -3 / np.sqrt(n), errors)
    assert alpha == pytest.approx(0.5, abs=1e-6)


def test_no_rate_is_given_where_no_bias_is_seen():
    assert decay_rate(WIDTHS, np.array([1.0, 0.5, 0.1, 0.1]), np.ones(4)) is None
    assert decay_rate(WIDTHS, np.array([10.0, -10.0, 0.1, 0.1]), np.ones(4)) is None
