"""What all laws share: draws, shapes, reports; and the two laws that are no Gaussians."""

import numpy as np
import pytest

from netsor.expectation import Estimate, UnaryFunction
from netsor.limit.laws import ComplexEstimate, Constant, Empirical, FunctionOfGaussian, GaussianMixture, LawError

SAMPLES = np.random.default_rng(0).gamma(2.0, size=(8, 64))
LAWS = {
    "gaussian": GaussianMixture(1.0, 2.0),
    "gaussian mixture": GaussianMixture(SAMPLES - 2, SAMPLES, method="Sobol"),
    "function of gaussian": FunctionOfGaussian(UnaryFunction.of("relu"), 0.0, SAMPLES),
    "samples": Empirical(SAMPLES),
    "constant": Constant(Estimate(1.5, 1e-9, "quadrature")),
}


@pytest.fixture(params=LAWS)
def name_and_law(request):
    return request.param, LAWS[request.param]


def test_draws_repeat_with_the_seed(name_and_law):
    _, law = name_and_law
    np.testing.assert_array_equal(law.rvs(20, random_state=3), law.rvs(20, random_state=3))
    np.testing.assert_array_equal(law.rvs(20, random_state=3), law.rvs(20, random_state=np.random.default_rng(3)))
    generator = np.random.default_rng(3)
    first, second = law.rvs(20, random_state=generator), law.rvs(20, random_state=generator)
    if law.kind != "constant":
        assert np.any(first != second) and np.any(law.rvs(20) != law.rvs(20))
    assert isinstance(law.rvs(), float)
    for size, shape in [(5, (5,)), ((2, 3), (2, 3)), ((), ()), (0, (0,))]:
        draws = law.rvs(size, random_state=1)
        assert draws.shape == shape and draws.dtype == np.float64


def test_numbers_keep_the_shape_of_their_argument(name_and_law):
    _, law = name_and_law
    for x in (0.3, [0.1, 0.9], np.full((2, 1, 3), 0.4), np.zeros((0,)), np.zeros((3, 0))):
        for number in (law.cdf, law.sf, law.logsf, law.logcdf, law.ppf, law.isf, law.cf):
            estimate = number(x)
            assert isinstance(estimate, Estimate) and estimate.shape == np.shape(x) == estimate.error.shape
    assert np.isnan(law.cdf(np.nan).value) and law.cf(1.0).value.dtype == np.complex128
    assert abs(law.cf(0.0).value - 1) < 1e-12


def test_draws_have_the_mean_and_the_distribution_function(name_and_law):
    """100,000 draws: 5 standard errors, false alarm 6e-7 each; shifts by 2 % of a standard deviation are caught."""
    name, law = name_and_law
    draws = law.rvs(100_000, random_state=5)
    assert abs(draws.mean() - float(law.mean())) <= 5 * float(law.std()) / np.sqrt(len(draws)) + 1e-12
    assert abs(np.mean(draws <= 0.9) - float(law.cdf(0.9))) <= 5 * 0.5 / np.sqrt(len(draws))


def test_reports(name_and_law):
    name, law = name_and_law
    summary = law.describe()
    assert list(summary)[:4] == ["kind", "mean", "variance", "excess kurtosis"] and summary["method"] == law.method
    assert law.kind == ("function of gaussian" if name == "samples" else name)
    assert ("atoms" in summary) == (name in ("function of gaussian", "constant"))
    assert repr(law).startswith(f"<{law.kind}: mean ") and law.method in repr(law)


def test_laws_do_not_change_with_the_arrays_they_were_made_from():
    variance = np.ones((2, 3))
    law = GaussianMixture(0.0, variance)
    variance[:] = 5.0
    assert float(law.var()) == 1.0


def test_complex_estimates():
    estimate = ComplexEstimate([1 + 2j, 3.0], [0.1, 0.2], "exact")
    assert complex(estimate[0]) == 1 + 2j and estimate[1].error == 0.2
    assert repr(estimate[0]) == "1.0(1) + 2.0(1)i [exact]"
    with pytest.raises(TypeError, match="complex"):
        float(estimate[0])


# samples


def test_samples_are_pooled():
    law = Empirical([[3.0, 1.0], [2.0, 2.0]])
    np.testing.assert_array_equal(law.cdf([0.9, 1, 2, 3]).value, [0, 0.25, 0.75, 1])
    np.testing.assert_array_equal(law.sf([0.9, 1, 2, 3]).value, [1, 0.75, 0.25, 0])
    np.testing.assert_array_equal(law.ppf([0.2, 0.25, 0.3, 0.75, 0.8]).value, [1, 1, 2, 2, 3])
    np.testing.assert_array_equal(law.isf([0.8, 0.2]).value, law.ppf([0.2, 0.8]).value)
    assert float(law.var()) == 0.5 and float(law.kurtosis()) == pytest.approx(0.5 / 0.25 - 3)
    assert float(law.moment(3)) == (27 + 1 + 8 + 8) / 4


def test_samples_do_not_pretend_to_know_what_lies_beyond_them():
    law = Empirical(SAMPLES)
    assert float(law.sf(1e3)) == 0.0 and float(law.sf(1e3).error) == 1 / SAMPLES.size
    assert float(law.ppf(1e-12)) == SAMPLES.min() and np.isinf(law.ppf(1e-12).error)
    assert law.support() == (-np.inf, np.inf)
    with pytest.raises(LawError, match="smoothing"):
        law.pdf(1.0)


def test_equal_samples_have_no_kurtosis():
    with pytest.raises(LawError, match="equal"):
        Empirical(np.ones((2, 4))).kurtosis()


# constants


def test_constant():
    law = LAWS["constant"]
    assert float(law.mean()) == 1.5 and float(law.mean().error) == 1e-9 and float(law.var()) == 0.0
    np.testing.assert_array_equal(law.cdf([1.4, 1.6]).value, [0, 1])
    np.testing.assert_array_equal(law.sf([1.4, 1.6]).value, [1, 0])
    np.testing.assert_array_equal(law.cdf([1.4, 1.5, 1.6]).error, [0, 1, 0])
    np.testing.assert_array_equal(law.ppf([0, 0.3, 1, 2]).value, [1.5, 1.5, 1.5, np.nan])
    assert float(law.moment(3)) == 3.375 and float(law.moment(3).error) == pytest.approx(3 * 2.25e-9)
    for refused in (lambda: law.pdf(0.0), law.kurtosis):
        with pytest.raises(LawError, match="constant"):
            refused()
    with pytest.raises(ValueError, match="finite"):
        Constant(np.nan)
