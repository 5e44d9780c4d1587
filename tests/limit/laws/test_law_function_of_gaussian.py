"""Functions of a Gaussian against laws known in closed form, independent root finding and quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

from netsor.expectation import UnaryFunction
from netsor.ir.expressions import Call, Leaf, add, lift, mul
from netsor.limit.integrals import static_function
from netsor.limit.laws import FunctionOfGaussian, LawError
from netsor.limit.laws.component_means import component_means

MEAN, VARIANCE = 0.4, 1.7
DEVIATION = np.sqrt(VARIANCE)
ARGUMENT = stats.norm(MEAN, DEVIATION)


def law(name, *parameters, mean=MEAN, variance=VARIANCE):
    return FunctionOfGaussian(UnaryFunction.of(name, *parameters), mean, variance)


KNOWN = {  # scipy's law of phi(Z)
    "exp": stats.lognorm(DEVIATION, scale=np.exp(MEAN)),
    "square": stats.ncx2(1, MEAN**2 / VARIANCE, scale=VARIANCE),
    "abs": stats.foldnorm(MEAN / DEVIATION, scale=DEVIATION),
    "identity": ARGUMENT,
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_laws(name):
    ours, theirs = law(name), KNOWN[name]
    q = np.array([1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6])
    x = theirs.ppf(q)
    np.testing.assert_allclose(ours.cdf(x).value, theirs.cdf(x), rtol=1e-9)
    np.testing.assert_allclose(ours.sf(x).value, theirs.sf(x), rtol=1e-9)
    np.testing.assert_allclose(ours.pdf(x).value, theirs.pdf(x), rtol=1e-9)
    np.testing.assert_allclose(ours.ppf(ours.cdf(x).value).value[:-1], x[:-1], rtol=1e-9)
    np.testing.assert_allclose(ours.isf(ours.sf(x).value).value, x, rtol=1e-9)
    mean, var, _, kurtosis = theirs.stats("mvsk")
    assert float(ours.mean()) == pytest.approx(mean, rel=1e-12)
    assert float(ours.var()) == pytest.approx(var, rel=1e-11)
    assert float(ours.kurtosis()) == pytest.approx(kurtosis, rel=1e-9, abs=1e-12)
    assert ours.support() == theirs.support() and ours.atoms() == []
    assert not ours.cdf(x).error.any()


def test_relu_has_an_atom_and_half_a_gaussian():
    ours = law("relu")
    below = ARGUMENT.cdf(0.0)
    [(place, mass)] = ours.atoms()
    assert place == 0.0 and float(mass) == pytest.approx(below, rel=1e-14)
    x = np.array([-1.0, -1e-12, 0.0, 0.3, 5.0])
    np.testing.assert_allclose(ours.cdf(x).value, [0, 0, below, *ARGUMENT.cdf(x[3:])], rtol=1e-13)
    np.testing.assert_allclose(ours.sf(x).value, [1, 1, 1 - below, *ARGUMENT.sf(x[3:])], rtol=1e-13)
    np.testing.assert_allclose(ours.pdf([-1.0, 0.3, 5.0]).value, [0, *ARGUMENT.pdf([0.3, 5.0])], rtol=1e-13)
    with pytest.raises(LawError, match=r"atom of mass 0\.379\d* at 0"):
        ours.pdf([0.3, 0.0])
    np.testing.assert_allclose(ours.ppf([0.1, below - 1e-9, 0.5, 0.99]).value, [0, 0, *ARGUMENT.ppf([0.5, 0.99])], rtol=1e-12)
    first, second, fourth = (integrate.quad(lambda z, k=k: z**k * ARGUMENT.pdf(z), 0, 30)[0] for k in (1, 2, 4))
    assert float(ours.mean()) == pytest.approx(first, rel=1e-10)
    assert float(ours.moment(4)) == pytest.approx(fourth, rel=1e-10)
    assert float(ours.var()) == pytest.approx(second - first**2, rel=1e-10)
    assert ours.support() == (0.0, np.inf)


def test_tanh():
    ours = law("tanh")
    x = np.array([-1.0, -0.99, 0.0, 0.7, 0.999999, 1.0])
    with np.errstate(divide="ignore"):
        z = np.arctanh(x)
    np.testing.assert_allclose(ours.cdf(x).value, ARGUMENT.cdf(z), rtol=1e-10)
    np.testing.assert_allclose(ours.pdf(x[1:-1]).value, ARGUMENT.pdf(z[1:-1]) / (1 - x[1:-1] ** 2), rtol=1e-9)
    np.testing.assert_allclose(ours.ppf([0.01, 0.5, 0.9]).value, np.tanh(ARGUMENT.ppf([0.01, 0.5, 0.9])), rtol=1e-13)
    assert ours.support() == (-1.0, 1.0) and ours.atoms() == []


@pytest.mark.parametrize("deviation", [1.0, 30.0])
def test_sine_meets_every_level_many_times(deviation):
    """{sin z <= x} is the union of the arcs [pi - arcsin x, 2 pi + arcsin x] + 2 pi k."""
    ours = law("sin", variance=deviation**2)
    x = np.array([-1.0, -0.9, 0.0, 0.4, 0.999, 1.0])
    k = 2 * np.pi * np.arange(-200, 201)[:, None]
    ends = [(turn - MEAN) / deviation for turn in (np.pi - np.arcsin(x) + k, 2 * np.pi + np.arcsin(x) + k)]
    np.testing.assert_allclose(ours.cdf(x).value, np.sum(ndtr(ends[1]) - ndtr(ends[0]), axis=0), atol=1e-13)
    inner = x[1:-1]
    density = sum(stats.norm.pdf(end[:, 1:-1]).sum(axis=0) for end in ends) / deviation / np.sqrt(1 - inner**2)
    np.testing.assert_allclose(ours.pdf(inner).value, density, rtol=1e-11)
    np.testing.assert_allclose(ours.ppf(ours.cdf(inner).value).value, inner, rtol=1e-11, atol=1e-13)
    wave = np.exp(-(deviation**2) / 2)
    assert float(ours.mean()) == pytest.approx(wave * np.sin(MEAN), abs=1e-12)


@pytest.mark.parametrize("name, places", [("step", (0, 1)), ("sign", (-1, 1))])
def test_functions_that_jump_have_atoms_only(name, places):
    ours = law(name)
    assert [place for place, _ in ours.atoms()] == list(places)
    np.testing.assert_allclose([float(mass) for _, mass in ours.atoms()], [ARGUMENT.cdf(0), ARGUMENT.sf(0)], rtol=1e-14)
    assert float(ours.pdf(0.5)) == 0.0 and ours.support() == places
    np.testing.assert_array_equal(ours.ppf([0.1, 0.9]).value, places)


def test_a_clipped_function_has_two_atoms():
    ours = law("clip", -0.5, 2.0)
    atoms = {place: float(mass) for place, mass in ours.atoms()}
    assert atoms == pytest.approx({-0.5: ARGUMENT.cdf(-0.5), 2.0: ARGUMENT.sf(2.0)}, rel=1e-13)
    np.testing.assert_allclose(ours.cdf([-0.5, 1.0, 2.0]).value, [ARGUMENT.cdf(-0.5), ARGUMENT.cdf(1.0), 1.0], rtol=1e-13)


def test_saturation_is_no_atom_but_a_dead_relu_is():
    assert law("tanh", variance=1e4).atoms() == []
    assert law("softplus", mean=-900.0, variance=1.0).atoms() == []
    [(place, mass)] = law("relu", mean=-100.0, variance=1.0).atoms()
    assert place == 0.0 and float(mass) == 1.0


CUBIC = UnaryFunction(key="cubic", function=lambda z: z**3 - 3 * z, parity=-1)
GAP = UnaryFunction(key="gap", function=lambda z: np.where(z > 0.5, z + 2, -z), kinks=(0.5,))
BENT = UnaryFunction(key="bent", function=lambda z: np.abs(z - 0.3) * np.tanh(z) + np.maximum(z, -1), kinks=(-1.0, 0.3))


def test_a_polynomial_without_a_declared_derivative():
    """Roots by the companion matrix."""
    ours = FunctionOfGaussian(CUBIC, MEAN, VARIANCE)
    for x in (-40.0, -2.5, -1.9, 0.0, 0.3, 1.99, 7.0):
        roots = np.roots([1, 0, -3, -x])
        roots = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
        parts = np.diff(np.concatenate([[0.0], ARGUMENT.cdf(roots), [1.0]]))
        assert float(ours.cdf(x)) == pytest.approx(parts[::2].sum(), rel=1e-11)
        density = np.sum(ARGUMENT.pdf(roots) / np.abs(3 * roots**2 - 3))
        assert float(ours.pdf(x)) == pytest.approx(density, rel=1e-9)
        assert float(ours.ppf(ours.cdf(x).value)) == pytest.approx(x, rel=1e-9, abs=1e-10)
    assert ours.support() == (-np.inf, np.inf)


@pytest.mark.parametrize("function", [GAP, BENT], ids=["jump", "kinks"])
def test_composed_functions_with_kinks_and_jumps(function):
    """The distribution function by brute force: the mass of fine cells of z, 1e-4 wide; the density as its derivative."""
    ours = FunctionOfGaussian(function, MEAN, VARIANCE)
    z = np.linspace(-10, 10, 200_001)
    middle, mass = 0.5 * (z[1:] + z[:-1]), np.diff(ARGUMENT.cdf(z))
    x = np.array([-1.5, -0.9, -0.2, 0.1, 1.3, 2.6, 4.0])
    brute = [mass[function(middle) <= level].sum() for level in x]
    np.testing.assert_allclose(ours.cdf(x).value, brute, atol=5e-5)
    np.testing.assert_allclose(ours.cdf(x).value + ours.sf(x).value, 1.0, rtol=1e-13)
    h = 1e-4
    slope = (ours.cdf(x + h).value - ours.cdf(x - h).value) / (2 * h)
    np.testing.assert_allclose(ours.pdf(x).value, slope, rtol=1e-6, atol=1e-10)


def test_expressions_of_a_program():
    """x relu(x) + max(x, -1), as the limit hands it over: 0 <= x: x^2 + x; -1 <= x <= 0: x; below: -1."""
    x = Leaf(0)
    ours = FunctionOfGaussian(static_function(add(mul(x, Call("relu", (x,))), Call("max", (x, lift(-1))))), MEAN, VARIANCE)
    [(place, mass)] = ours.atoms()
    assert place == -1.0 and float(mass) == pytest.approx(ARGUMENT.cdf(-1), rel=1e-13)
    np.testing.assert_allclose(ours.cdf([-0.3, 2.0, 6.0]).value, ARGUMENT.cdf([-0.3, 1.0, 2.0]), rtol=1e-12)
    np.testing.assert_allclose(ours.pdf([-0.3, 2.0, 6.0]).value, ARGUMENT.pdf([-0.3, 1.0, 2.0]) / [1, 3, 5], rtol=1e-10)


def test_components_of_variance_zero_are_mapped_to_atoms():
    ours = FunctionOfGaussian(UnaryFunction.of("square"), np.array([[2.0, 0.0]] * 2), np.array([[0.0, 1.0]] * 2))
    [(place, mass)] = ours.atoms()
    assert place == 4.0 and float(mass) == 0.5
    x = np.array([1.0, 4.0 - 1e-9, 4.0, 6.0])
    np.testing.assert_allclose(ours.cdf(x).value, 0.5 * (x >= 4) + 0.5 * stats.chi2.cdf(x, 1), rtol=1e-13)
    assert float(ours.ppf(0.6)) == 4.0
    fixed = law("exp", mean=1.0, variance=0.0)
    assert float(fixed.ppf(0.3)) == np.e and float(fixed.var()) == 0.0
    with pytest.raises(LawError, match="constant"):
        fixed.kurtosis()


def test_a_mixture_of_components_is_the_average_of_their_laws():
    generator = np.random.default_rng(2)
    mean, variance = generator.normal(size=(3, 40)), generator.gamma(2.0, size=(3, 40))
    ours = FunctionOfGaussian(UnaryFunction.of("abs"), mean, variance)
    x = np.array([0.2, 1.0, 3.0])
    deviation = np.sqrt(variance)[..., None]
    each = ndtr((x - mean[..., None]) / deviation) - ndtr((-x - mean[..., None]) / deviation)
    np.testing.assert_allclose(ours.cdf(x).value, each.mean(axis=(0, 1)), rtol=1e-13)
    expected_error = each.mean(axis=1).std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(ours.cdf(x).error, expected_error, rtol=1e-12)
    assert float(ours.moment(2)) == pytest.approx(np.mean(mean**2 + variance), rel=1e-12)


def test_characteristic_function():
    t = np.array([0.0, 0.7, -3.0])
    np.testing.assert_allclose(law("square", mean=0.0, variance=1.0).cf(t).value, (1 - 2j * t) ** -0.5, atol=1e-12)
    np.testing.assert_allclose(law("identity").cf(t).value, np.exp(1j * t * MEAN - t * t * VARIANCE / 2), atol=1e-12)
    odd = law("sign", mean=0.0)
    np.testing.assert_allclose(odd.cf(t).value, np.cos(t), atol=1e-12)


def test_interpolation_over_the_variances_agrees_with_quadrature_of_each():
    variance = np.random.default_rng(3).gamma(2.0, size=(4, 100)) + 0.01
    for name in ("relu", "tanh", "gelu"):
        g = UnaryFunction.of(name)
        power = UnaryFunction(key="p", function=lambda z, g=g: g(z) ** 4, kinks=g.kinks)
        value, error, method = component_means(power, np.full(variance.shape, 0.3), variance)
        each = np.array([component_means(power, np.array([0.3]), np.array([v]))[0][0] for v in variance.flat])
        assert "interpolated" in method
        np.testing.assert_allclose(value.ravel(), each, rtol=1e-12, atol=2e-13 * each.max())
        assert np.all(np.abs(value.ravel() - each) <= error.ravel() + 1e-14 * each)


@pytest.mark.parametrize("name", ["tanh", "square", "sin", "gelu"])
def test_draws_follow_the_distribution_function(name):
    """Kolmogorov-Smirnov at 20,000 draws: false alarm 1e-4 each; deviations of 0.03 are caught with certainty."""
    ours = law(name)
    draws = ours.rvs(20_000, random_state=4)
    assert stats.kstest(draws, lambda x: ours.cdf(x).value).statistic < stats.kstwo.isf(1e-4, 20_000)


def test_functions_without_a_law_are_refused():
    with pytest.raises(LawError, match="log is not a number at -"):
        law("log")
    fast = UnaryFunction(key="fast", function=lambda z: np.sin(1e7 * z))
    with pytest.raises(LawError, match="oscillates too fast"):
        FunctionOfGaussian(fast, 0.0, 1.0)
    growing = UnaryFunction(key="growing", function=lambda z: np.exp(z * z))
    assert float(FunctionOfGaussian(growing, 0.0, 1.0).cdf(np.e)) == pytest.approx(stats.chi2.cdf(1.0, 1), rel=1e-12)
    with pytest.raises(LawError, match="overflows or diverges"):
        FunctionOfGaussian(growing, 0.0, 1.0).mean()
    assert FunctionOfGaussian(growing, 0.0, 1.0).describe()["mean"] is None
    assert "without moments" in repr(FunctionOfGaussian(growing, 0.0, 1.0))
    with pytest.raises(ValueError, match="negative"):
        law("relu", variance=-1.0)


def test_the_density_is_infinite_at_the_turning_point_of_a_square():
    assert float(law("square").pdf(0.0)) == np.inf


def test_an_error_of_the_variance_is_passed_on():
    r = 1e-6
    f = UnaryFunction.of("relu")
    plain, blurred = FunctionOfGaussian(f, 0.4, 1.7), FunctionOfGaussian(f, 0.4, 1.7, method="quadrature", relative_error=r)
    moved = FunctionOfGaussian(f, 0.4, 1.7 * (1 + r))
    for number in (lambda l: l.mean(), lambda l: l.var(), lambda l: l.cdf(1.0), lambda l: l.pdf(1.0), lambda l: l.ppf(0.7)):
        change, bound = abs(number(moved).value - number(plain).value), number(blurred).error
        assert 0 < change <= bound * 1.001 + 1e-13
    assert blurred.cdf(1.0).method == "quadrature"
