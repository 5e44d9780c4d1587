"""The Gaussian mixture against laws whose density, tails and moments are known."""

import time
import tracemalloc

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from netsor.limit.laws import GaussianMixture, LawError

QUANTILES = np.array([1e-300, 1e-12, 1e-3, 0.2, 0.5, 0.8, 0.999, 1 - 1e-12])


def twice(row):
    """Two equal replicates: a finite mixture without sampling error."""
    return np.array([row, row], dtype=float)


@pytest.fixture
def two_components():
    return GaussianMixture(twice([-1.0, 2.0]), twice([0.25, 4.0]))


def two_component_cdf(x):
    return 0.5 * (mpmath.ncdf(x, -1, 0.5) + mpmath.ncdf(x, 2, 2))


def test_one_component_is_the_exact_gaussian():
    law, reference = GaussianMixture(0.3, 2.0, method="anything"), stats.norm(0.3, np.sqrt(2.0))
    x = np.linspace(-9.0, 9.0, 37).reshape(1, 37)
    for name in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        estimate = getattr(law, name)(x)
        np.testing.assert_allclose(estimate.value, getattr(reference, name)(x), rtol=2e-14, atol=1e-15)
        assert estimate.shape == x.shape and not estimate.error.any() and estimate.method == "exact"
    np.testing.assert_allclose(law.ppf(QUANTILES).value, reference.ppf(QUANTILES), rtol=1e-14, atol=1e-15)
    for k in range(1, 9):
        assert float(law.moment(k)) == pytest.approx(reference.moment(k), rel=1e-13)
    assert float(law.moment(0)) == 1.0
    kurtosis = law.kurtosis()
    assert law.kind == "gaussian" and (kurtosis.value, kurtosis.error, kurtosis.method) == (0.0, 0.0, "exact")
    assert law.cross_cumulant().value == 0.0
    np.testing.assert_allclose(law.cf([0.0, 1.0, -2.0]).value, np.exp([0, 0.3j - 1, -0.6j - 4]), rtol=1e-14)


def test_two_components_agree_with_mpmath(two_components):
    x = np.array([-30.0, -3.0, -1.0, 0.5, 2.0, 9.0, 40.0])
    cdf = np.array([float(two_component_cdf(t)) for t in x])
    sf = np.array([float(0.5 * (mpmath.ncdf(-(t + 1) / 0.5) + mpmath.ncdf(-(t - 2) / 2))) for t in x])
    pdf = np.array([float(0.5 * (mpmath.npdf(t, -1, 0.5) + mpmath.npdf(t, 2, 2))) for t in x])
    np.testing.assert_allclose(two_components.cdf(x).value, cdf, rtol=1e-13)
    np.testing.assert_allclose(two_components.sf(x).value, sf, rtol=1e-12)
    np.testing.assert_allclose(two_components.pdf(x).value, pdf, rtol=1e-13)
    # moments: E X^k = (E Y1^k + E Y2^k) / 2 and central ones by quadrature of the density
    nodes, weights = np.polynomial.legendre.leggauss(400)
    t, weights = 0.5 + 30 * nodes, 30 * weights
    central = [weights @ ((t - 0.5) ** k * two_components.pdf(t).value) for k in (2, 4)]
    assert float(two_components.mean()) == 0.5
    assert float(two_components.var()) == pytest.approx(central[0], rel=1e-11)
    assert float(two_components.std()) == pytest.approx(np.sqrt(central[0]), rel=1e-11)
    assert float(two_components.kurtosis()) == pytest.approx(central[1] / central[0] ** 2 - 3, rel=1e-10)
    for k in (1, 2, 3, 6):
        expected = 0.5 * (stats.norm(-1, 0.5).moment(k) + stats.norm(2, 2).moment(k))
        assert float(two_components.moment(k)) == pytest.approx(expected, rel=1e-13)
    for estimate in (two_components.var(), two_components.kurtosis(), two_components.cdf(x)):
        assert not np.any(estimate.error)  # the replicates agree


def test_far_tails_in_logarithms_agree_with_mpmath(two_components):
    for x in (32.0, 80.0, 1e3, -16.0, -1e4):
        with mpmath.workdps(60):
            z = [(mpmath.mpf(x) + 1) * 2, (mpmath.mpf(x) - 2) / 2]
            density = (mpmath.npdf(z[0]) * 2 + mpmath.npdf(z[1]) / 2) / 2
            upper = sum(mpmath.erfc(one / mpmath.sqrt(2)) for one in z) / 4
            lower = sum(mpmath.erfc(-one / mpmath.sqrt(2)) for one in z) / 4
            expected = [float(mpmath.log(number)) for number in (density, upper, lower)]
        found = [float(f(x)) for f in (two_components.logpdf, two_components.logsf, two_components.logcdf)]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)


def test_quantiles_invert_the_distribution_function(two_components):
    x = np.concatenate([np.linspace(-5.0, 12.0, 60), [-9.0, 25.0]])
    back = np.where(two_components.cdf(x).value < 0.5, two_components.ppf(two_components.cdf(x).value).value,
                    two_components.isf(two_components.sf(x).value).value)
    np.testing.assert_allclose(back, x, rtol=1e-12, atol=1e-12)
    for q in QUANTILES:
        place = float(two_components.ppf(q))
        if q < 0.9:
            assert float(two_component_cdf(place)) == pytest.approx(q, rel=1e-11)
        else:
            assert float(two_components.sf(place)) == pytest.approx(1 - q, rel=1e-11)


def test_quantiles_across_an_empty_gap_and_very_different_scales():
    law = GaussianMixture(twice([-1e3, 0.0, 1e3]), twice([1e-12, 1.0, 1e-4]))
    q = np.array([1e-9, 0.1, 1 / 3 - 1e-9, 1 / 3 + 1e-9, 0.5, 0.9])
    place = law.ppf(q).value
    # 1e-6 is the smallest deviation: x itself is known to 1e-13, so to 1e-7 of it, which is the accuracy of cdf(x)
    np.testing.assert_allclose(law.cdf(place).value, q, atol=1e-7)
    assert place[4] == pytest.approx(0.0, abs=1e-12)


def test_quantiles_at_and_outside_the_ends(two_components):
    np.testing.assert_array_equal(two_components.ppf([0.0, 1.0, -0.1, 1.1, np.nan]).value, [-np.inf, np.inf] + 3 * [np.nan])
    np.testing.assert_array_equal(two_components.isf([0.0, 1.0]).value, [np.inf, -np.inf])
    low, high = two_components.interval(0.9)
    assert float(two_components.cdf(low.value)) == pytest.approx(0.05, rel=1e-12)
    assert float(two_components.sf(high.value)) == pytest.approx(0.05, rel=1e-12)


def test_infinite_arguments(two_components):
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(two_components.pdf(ends).value, [0, 0])
    np.testing.assert_array_equal(two_components.cdf(ends).value, [0, 1])
    np.testing.assert_array_equal(two_components.logsf(ends).value, [0, -np.inf])
    assert not two_components.logpdf(ends).error.any()


# V gamma distributed: the variance-gamma law; V inverse gamma: Student's t.  R replicates of stratified uniform numbers.


def stratified(replicates, samples, seed=0):
    generator = np.random.default_rng(seed)
    return (np.arange(samples) + generator.random((replicates, samples))) / samples


def test_variance_gamma():
    """32 replicates: 4 errors are exceeded with probability 3.7e-4 by each of 11 numbers, and the errors are below 1e-4."""
    shape = 2.5
    law = GaussianMixture(0.0, special.gammaincinv(shape, stratified(32, 2048)))

    def density(x):  # K_{shape - 1/2}, Madan & Seneta 1990
        x, order = mpmath.mpf(abs(x)), mpmath.mpf(shape) - 0.5
        factor = 2 / (mpmath.sqrt(2 * mpmath.pi) * mpmath.gamma(shape))
        return factor * (x / mpmath.sqrt(2)) ** order * mpmath.besselk(order, mpmath.sqrt(2) * x)

    x = np.array([0.25, 1.0, 3.0])
    pdf = [float(density(t)) for t in x]
    cdf = [float(0.5 + mpmath.quad(density, mpmath.linspace(0, t, 4))) for t in x]
    checks = [(law.pdf(x), pdf), (law.cdf(x), cdf), (law.var(), shape), (law.kurtosis(), 3 / shape),
              (law.cross_cumulant(), shape), (law.ppf(cdf), x)]
    for estimate, expected in checks:
        assert np.all(np.abs(estimate.value - expected) < 4 * estimate.error)
    assert law.pdf(x).error.max() < 1e-4 and law.ppf(cdf).error.max() < 1e-3
    t = np.array([0.5, 2.0])
    cf = law.cf(t)
    assert np.all(np.abs(cf.value - (1 + t * t / 2) ** -shape) < 4 * cf.error)


def test_student_t():
    nu = 12.0
    law = GaussianMixture(0.0, nu / 2 / special.gammainccinv(nu / 2, stratified(32, 2048)))
    x = np.array([0.0, 1.0, 3.0])
    for estimate, expected in [(law.pdf(x), stats.t.pdf(x, nu)), (law.cdf(x[1:]), stats.t.cdf(x[1:], nu)),
                               (law.var(), nu / (nu - 2))]:
        assert np.all(np.abs(estimate.value - expected) < 4 * estimate.error)
        assert estimate.error.max() < 1e-3


def test_random_mean_correlated_with_the_variance():
    """Given V, N(aV, V): the cumulants of X follow from those of V, k_j = shape (j-1)!."""
    shape, a = 2.5, 0.7
    variance = special.gammaincinv(shape, stratified(32, 4096, seed=1))
    law = GaussianMixture(a * variance, variance)
    second, fourth = a * a * shape + shape, a**4 * 6 * shape + 6 * a * a * 2 * shape + 3 * shape
    assert abs(float(law.mean()) - a * shape) < 4 * float(law.mean().error)
    assert abs(float(law.var()) - second) < 4 * float(law.var().error)
    kurtosis = law.kurtosis()
    assert abs(float(kurtosis) - fourth / second**2) < 4 * float(kurtosis.error) < 0.1
    # k(x, x, y, y), by the same argument: a^4 k4 + 2 a^2 k3 + k2
    cross = law.cross_cumulant()
    assert abs(float(cross) - (a**4 * 6 * shape + 2 * a * a * 2 * shape + shape)) < 4 * float(cross.error) < 1.0


def test_small_kurtosis_is_not_lost_to_cancellation():
    variance = 1.0 + 1e-6 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert float(GaussianMixture(0.0, variance).kurtosis()) == pytest.approx(3e-12, rel=1e-9)
    assert float(GaussianMixture(1e6, variance).kurtosis()) == pytest.approx(3e-12, rel=1e-9)


# atoms


def test_components_of_variance_zero_are_atoms():
    law = GaussianMixture(twice([0.0, 1.0, 1.0, 0.0]), twice([0.0, 0.0, 4.0, 1.0]))
    for density in (law.pdf, law.logpdf):
        with pytest.raises(LawError, match="atom of mass 0.25 at [01]"):
            density(5.0)
    assert [(place, float(mass)) for place, mass in law.atoms()] == [(0.0, 0.25), (1.0, 0.25)]

    def expected(x):
        return 0.25 * (1.0 * (x >= 0) + (x >= 1.0) + stats.norm.cdf(x, 1, 2) + stats.norm.cdf(x))

    x = np.array([-2.0, -1e-9, 0.0, 0.5, 1.0, 3.0])
    np.testing.assert_allclose(law.cdf(x).value, expected(x), rtol=1e-14)
    np.testing.assert_allclose(law.sf(x).value, 1 - expected(x), rtol=1e-14)
    np.testing.assert_allclose(law.logsf(x).value, np.log1p(-expected(x)), rtol=1e-13)
    q = np.linspace(0.005, 0.995, 199)
    place = law.ppf(q).value
    np.testing.assert_allclose(law.isf(1 - q).value, place, atol=1e-12)
    assert np.all(np.diff(place) >= 0) and np.sum(place == 0.0) == pytest.approx(50, abs=1)
    smooth = (place != 0) & (place != 1)
    np.testing.assert_allclose(expected(place[smooth]), q[smooth], rtol=1e-12)
    assert float(law.var()) == pytest.approx(1.25 + 0.25)
    draws = law.rvs(40_000, random_state=1)
    assert abs(np.mean(draws == 0.0) - 0.25) < 5 * np.sqrt(0.1875 / 40_000)  # false alarm 6e-7


def test_nothing_but_one_atom():
    law = GaussianMixture(2.0, 0.0)
    assert law.support() == (2.0, 2.0) and float(law.var()) == 0.0 and float(law.std().error) == 0.0
    np.testing.assert_array_equal(law.ppf([0.1, 0.5, 0.9]).value, 2.0)
    np.testing.assert_array_equal(law.cdf([1.9, 2.0]).value, [0.0, 1.0])
    with pytest.raises(LawError, match="constant"):
        law.kurtosis()
    assert law.describe()["excess kurtosis"] is None


def test_quantile_at_an_atom_of_uncertain_mass_has_an_error():
    mean = np.array([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    law = GaussianMixture(mean, 0 * mean)
    assert float(law.ppf(0.5)) == 0.0 and float(law.ppf(0.5).error) == 1.0


# input, errors, cost


@pytest.mark.parametrize("mean, variance, reason", [
    (0.0, -1.0, "negative"), (0.0, np.inf, "finite"), (np.nan, 1.0, "finite"), (0.0, np.ones(5), "replicates"),
    (0.0, np.ones((1, 5)), "at least two"), (0.0, np.ones((0, 5)), "needs samples"),
])
def test_what_is_no_mixture_is_refused(mean, variance, reason):
    with pytest.raises(ValueError, match=reason):
        GaussianMixture(mean, variance)


def test_moments_that_overflow_are_refused():
    with pytest.raises(LawError, match="floating-point range"):
        GaussianMixture(0.0, 1e200).moment(4)
    with pytest.raises(ValueError, match="order"):
        GaussianMixture(0.0, 1.0).moment(1.5)


def test_the_error_of_the_variances_is_a_bound_for_its_effect():
    """Variances changed by factors in [1 - r, 1 + r]: all numbers move by less than the added error, and not by far less."""
    generator, r = np.random.default_rng(5), 1e-5
    variance = generator.gamma(2.0, size=(2, 50))
    mean = generator.normal(size=(2, 50))
    x, q = np.array([-3.0, -0.5, 0.0, 0.7, 4.0, 20.0]), np.array([0.01, 0.5, 0.6])
    numbers = [lambda l: l.pdf(x), lambda l: l.cdf(x), lambda l: l.sf(x), lambda l: l.logpdf(x), lambda l: l.logsf(x),
               lambda l: l.ppf(q), lambda l: l.var(), lambda l: l.kurtosis(), lambda l: l.moment(5), lambda l: l.std(),
               lambda l: l.cross_cumulant(), lambda l: l.cf(x)]
    plain, blurred = GaussianMixture(mean, variance), GaussianMixture(mean, variance, relative_error=r)
    moved = [GaussianMixture(mean, variance * (1 + r * generator.choice([-1, 1], size=variance.shape))) for _ in range(20)]
    moved += [GaussianMixture(mean, variance * (1 + r)), GaussianMixture(mean, variance * (1 - r))]
    for number in numbers:
        bound = number(blurred).error - number(plain).error
        change = np.max([np.abs(number(other).value - number(plain).value) for other in moved], axis=0)
        assert np.all(change <= bound * (1 + 1e-3) + 1e-14)
        assert np.any(change > 0.2 * bound)


def test_a_thousand_points_of_a_large_mixture_take_tenths_of_a_second_and_little_memory():
    """16,384 samples; the limits are loose for busy machines, but all samples times all points would take 130 MB."""
    variance = np.random.default_rng(0).gamma(2.0, size=(16, 1024))
    law, x = GaussianMixture(0.0, variance), np.linspace(-6, 6, 1000)
    tracemalloc.start()
    start = time.perf_counter()
    law.pdf(x)
    law.cdf(x)
    elapsed, (_, peak) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed < 5.0 and peak < 20e6
