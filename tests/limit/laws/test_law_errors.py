"""Stated errors are honest: standardised errors follow Student's t with R - 1 degrees of freedom."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from netsor.expectation import UnaryFunction
from netsor.limit.laws import Empirical, FunctionOfGaussian, GaussianMixture

SEEDS, REPLICATES, SAMPLES = 400, 8, 256
# The Kolmogorov-Smirnov distance of 400 values from their law exceeds this with probability 1e-3.  An error that is too
# small by a factor 0.6 (or too large by 1.7) moves the distance by 0.11 and is caught with probability 99 %.
FALSE_ALARM = 1e-3
CRITICAL = stats.kstwo.isf(FALSE_ALARM, SEEDS)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
V, WEIGHTS = 1.0 + 0.5 * NODES, WEIGHTS / 2  # V is uniform on [1/2, 3/2]


def distance(standardised):
    return stats.kstest(standardised, stats.t(REPLICATES - 1).cdf).statistic


def standardised_errors(law_of, numbers, truths, seeds=SEEDS):
    """law_of(V) for independent sets of samples: (numbers, seeds)."""
    found = np.empty((len(numbers), seeds))
    for seed in range(seeds):
        law = law_of(np.random.default_rng([7, seed]).uniform(0.5, 1.5, size=(REPLICATES, SAMPLES)))
        for k, (number, truth) in enumerate(zip(numbers, truths)):
            estimate = number(law)
            found[k, seed] = (float(estimate) - truth) / float(estimate.error)
    return found


@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_gaussian_mixture(slope):
    """Given V, N(slope V, V); truths by Gauss-Legendre quadrature over V.  Nine numbers, false alarm 1e-3 each."""
    mean = slope * V
    c = mean - WEIGHTS @ mean
    var = WEIGHTS @ (c * c + V)
    fourth = WEIGHTS @ (c**4 + 6 * c * c * V + 3 * V * V)
    square_pair = WEIGHTS @ (c * c + V) ** 2 - var**2 - 2 * (WEIGHTS @ (c * c)) ** 2
    x = 1.3
    z = (x - mean) / np.sqrt(V)
    cdf, pdf = WEIGHTS @ ndtr(z), WEIGHTS @ (np.exp(-z * z / 2) / np.sqrt(2 * np.pi * V))
    numbers = [lambda l: l.var(), lambda l: l.std(), lambda l: l.kurtosis(), lambda l: l.cross_cumulant(),
               lambda l: l.pdf(x), lambda l: l.logpdf(x), lambda l: l.cdf(x), lambda l: l.logsf(x), lambda l: l.ppf(cdf)]
    truths = [var, np.sqrt(var), fourth / var**2 - 3, square_pair, pdf, np.log(pdf), cdf, np.log1p(-cdf), x]
    found = standardised_errors(lambda v: GaussianMixture(slope * v, v), numbers, truths)
    for row in found:
        assert distance(row) < CRITICAL
    for factor in (0.6, 1.7):  # negative control
        assert distance(found[0] / factor) > CRITICAL


def test_function_of_gaussian():
    """relu(Z): E relu^2 = V/2, E relu = sqrt(V/2pi), E relu^4 = 3V^2/2, E relu^3 = V^(3/2) sqrt(2/pi).

    Six numbers, 200 seeds: false alarm 1e-3 each; errors wrong by a factor 0.5 or 2 are caught with probability 99 %."""
    relu = UnaryFunction.of("relu")
    m1, m2, m3, m4 = (WEIGHTS @ moment for moment in (np.sqrt(V / 2 / np.pi), V / 2, V**1.5 * np.sqrt(2 / np.pi), 1.5 * V**2))
    var = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    x = 0.8
    z = x / np.sqrt(V)
    cdf, pdf = WEIGHTS @ ndtr(z), WEIGHTS @ (np.exp(-z * z / 2) / np.sqrt(2 * np.pi * V))
    numbers = [lambda l: l.mean(), lambda l: l.var(), lambda l: l.kurtosis(), lambda l: l.cdf(x), lambda l: l.pdf(x),
               lambda l: l.ppf(cdf)]
    truths = [m1, var, fourth / var**2 - 3, cdf, pdf, x]
    for row in standardised_errors(lambda v: FunctionOfGaussian(relu, 0.0, v), numbers, truths, seeds=200):
        assert distance(row) < stats.kstwo.isf(FALSE_ALARM, 200)


def test_empirical():
    """Uniform samples (bounded, so that 256 of them are enough for a ratio of fourth moments to be normal).  Four numbers."""
    numbers = [lambda l: l.mean(), lambda l: l.var(), lambda l: l.kurtosis(), lambda l: l.cdf(0.7)]
    for row in standardised_errors(lambda v: Empirical(v), numbers, [1.0, 1 / 12, -1.2, 0.2]):
        assert distance(row) < CRITICAL


def test_quantiles_of_samples():
    """Woodruff's interval takes the larger of both sides: at 2,048 samples the error covers the truth in 68 % or a little
    more of 400 seeds.  The bounds 0.60 and 0.80 are exceeded by a correct 0.68 with probability 1e-3; an error off by a
    factor 0.7 (coverage 0.50) is caught."""
    standardised = standardised_errors(lambda v: Empirical(v), [lambda l: l.ppf(0.3)], [0.8])
    assert 0.60 < np.mean(np.abs(standardised) < 1) < 0.80


@pytest.mark.parametrize("number", ["var", "kurtosis", "cross_cumulant"])
def test_the_delta_method_agrees_with_the_jackknife(number):
    """Skewed means correlated with the variances, where every term of the influence functions matters.  To first order in
    1/R, R = 2,000, both are the same; the derivative with respect to the mean alone makes a difference of 9 % or more."""
    generator = np.random.default_rng(11)
    mean = generator.beta(0.5, 2.0, size=(2000, 2))
    variance = 0.2 * mean + generator.uniform(0.0, 0.1, size=mean.shape)
    estimate = getattr(GaussianMixture(mean, variance), number)()
    left_out = []
    for r in range(len(mean)):
        law = GaussianMixture(np.delete(mean, r, axis=0), np.delete(variance, r, axis=0))
        left_out.append(float(getattr(law, number)()))
    jackknife = np.std(left_out) * np.sqrt(len(mean) - 1)
    assert float(estimate.error) == pytest.approx(jackknife, rel=0.01)
