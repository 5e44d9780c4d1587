"""Inputs that are not Gaussian: moments, functions, and functions of several together with Gaussian vectors.

Expected numbers come from sums over atoms written out by hand and from quadrature by mpmath or by fine Gauss–Legendre rules that share
nothing with netsor's (no conditioning in closed form, no adaptive rule).
"""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

import netsor

GAUSS = np.polynomial.legendre.leggauss(400)


def limit(text: str, **settings):
    return netsor.parse("width n\n" + text).limit(**settings)


def normal_rule(mean: float = 0.0, deviation: float = 1.0, breaks=()):
    """Nodes and weights for a normal variable: Gauss–Legendre between breaks within 12 deviations."""
    inside = sorted(b for b in breaks if abs(b - mean) < 12 * deviation)
    edges = [mean - 12 * deviation, *inside, mean + 12 * deviation]
    parts = [((a + b) / 2 + (b - a) / 2 * GAUSS[0], (b - a) / 2 * GAUSS[1]) for a, b in zip(edges, edges[1:])]
    x, w = (np.concatenate(part) for part in zip(*parts))
    return x, w * np.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))


def uniform_rule(low: float, high: float, breaks=()):
    edges = [low, *sorted(breaks), high]
    parts = [((a + b) / 2 + (b - a) / 2 * GAUSS[0], (b - a) / 2 * GAUSS[1]) for a, b in zip(edges, edges[1:])]
    x, w = (np.concatenate(part) for part in zip(*parts))
    return x, w / (high - low)


def relu(x):
    return np.maximum(x, 0.0)


@pytest.mark.parametrize("law, raw", [
    ("Rademacher()", lambda k: (1 + (-1) ** k) / 2),
    ("Bernoulli(0.3)", lambda k: 0.3),
    ("Bernoulli(0)", lambda k: 0.0),
    ("Bernoulli(1)", lambda k: 1.0),
    ("Uniform(-1, 3)", lambda k: (3 ** (k + 1) - (-1) ** (k + 1)) / (4 * (k + 1))),
    ("Uniform(-2, 2)", lambda k: (2 ** (k + 1) - (-2) ** (k + 1)) / (4 * (k + 1))),
])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_moments_are_exact(law, raw, k):
    found = limit(f"input u ~ {law}\nm = avg(u^{k})\noutput m")["m"].mean
    assert found.value == pytest.approx(raw(k), rel=1e-15, abs=1e-300)
    assert found.error <= 1e-14 * max(1.0, abs(raw(k)))


@pytest.mark.parametrize("body, f, breaks", [
    ("relu(u)", lambda u: max(u, 0), [0]),
    ("step(u - 0.3)", lambda u: float(u > 0.3), [mpmath.mpf("0.3")]),
    ("exp(u)*abs(u - 2)", lambda u: mpmath.exp(u) * abs(u - 2), [2]),
    ("step(u^2 - 0.3)", lambda u: float(u * u > 0.3), [-mpmath.sqrt("0.3"), mpmath.sqrt("0.3")]),
    ("tanh(5*relu(u))", lambda u: mpmath.tanh(5 * max(u, 0)), [0]),
    ("where(u > 1, sin(u), u^2)", lambda u: mpmath.sin(u) if u > 1 else u**2, [1]),
    ("max(u, 0.5, 2*u - 1)", lambda u: max(u, mpmath.mpf("0.5"), 2 * u - 1), [0.5, 0.75, 1]),
])
def test_functions_of_a_uniform_vector(body, f, breaks):
    found = limit(f"input u ~ Uniform(-1, 3)\nm = avg({body})\noutput m")["m"].mean
    expected = float(mpmath.quad(f, [-1, *breaks, 3])) / 4
    assert found.value == pytest.approx(expected, rel=1e-11)
    assert abs(found.value - expected) <= found.error + 1e-14 * abs(expected)
    assert found.error <= 1e-6 * abs(expected)


def test_integrable_singularities_have_an_error_that_covers_them():
    found = limit("input u ~ Uniform(-1, 3)\nm = avg(1/sqrt(u + 1))\noutput m")["m"].mean
    assert abs(found.value - 1) <= found.error < 1e-5


def test_divergent_expectations_are_refused():
    with pytest.raises(netsor.NetsorError, match="N407"):
        limit("input u ~ Uniform(-1, 3)\nm = avg(1/(u + 1))\noutput m")


def test_dropout_by_hand():
    """x = m relu(z)/keep with correlated z: the arc-cosine kernel off the diagonal, divided by keep on it."""
    found = limit("""
index i, j in 1..2
const K[i,j] = 1 if i == j else 0.5
input z[i] ~ N(0, K)
input m[i] ~ Bernoulli(0.8)
x[i] = m[i] * relu(z[i]) / 0.8
output x
""")["x"]
    second = np.array([[0.5 / 0.8, 0.0], [0.0, 0.5 / 0.8]])
    second[0, 1] = second[1, 0] = math.sqrt(3) / (4 * math.pi) + 1 / 6
    np.testing.assert_allclose(found.cov.value, second - 1 / (2 * math.pi), rtol=1e-13)
    # E x^4 = E relu(z)^4 / keep^3 = (3/2) / keep^3
    m1, m2, m3, m4 = 1 / math.sqrt(2 * math.pi), 0.5 / 0.8, math.sqrt(2 / math.pi) / 0.64, 1.5 / 0.512
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    assert found.excess_kurtosis.value[0] == pytest.approx(fourth / (m2 - m1**2) ** 2 - 3, rel=1e-12)


def test_one_mask_for_two_vectors_and_two_masks():
    """The same mask correlates; masks with different subscripts do not."""
    found = limit("""
index i in 1..2
input z ~ N(0, 1)
input m[i] ~ Bernoulli(0.25)
x = relu(m[1]*z) + m[1]
y = tanh(m[2]*z + m[1])
output x, y
c = avg(x*y)
output c
""")
    z, w = normal_rule(breaks=[-1, 0])
    expected = 0.0
    for a, pa in ((0, 0.75), (1, 0.25)):
        for b, pb in ((0, 0.75), (1, 0.25)):
            expected += pa * pb * np.sum(w * (relu(a * z) + a) * np.tanh(b * z + a))
    assert found["c"].mean.value == pytest.approx(expected, rel=1e-11)


def test_relu_of_a_mask_times_a_gaussian_plus_a_uniform():
    found = limit("""
index i, j in 1..2
const K[i,j] = 1 if i == j else 0.3
input z[i] ~ N(0, K)
input m[i] ~ Bernoulli(0.8)
input u ~ Uniform(-1, 3)
y[i] = relu(m[i]*z[i] + 0.5*u)
output y
""")["y"]
    x, wx = normal_rule()
    first = second = cross = 0.0
    for u, wu in zip(*uniform_rule(-1, 3, [0])):
        # E relu(z + u/2)^k in closed form: normal distribution function and density
        shift, density, below = u / 2, math.exp(-u * u / 8) / math.sqrt(2 * math.pi), 0.5 * (1 + math.erf(u / 2 / math.sqrt(2)))
        one = density + shift * below
        two = (1 + shift**2) * below + shift * density
        first += wu * (0.8 * one + 0.2 * max(shift, 0))
        second += wu * (0.8 * two + 0.2 * max(shift, 0) ** 2)
    assert found.mean.value[0] == pytest.approx(first, rel=1e-11)
    assert found.var.value[0] == pytest.approx(second - first**2, rel=1e-10)
    rho = 0.3  # the pair, by conditioning z2 on z1
    for u, wu in zip(*uniform_rule(-1, 3, [0])):
        shift = u / 2
        zs, ws = normal_rule(breaks=[-shift])
        deviation = math.sqrt(1 - rho**2)
        t = (rho * zs + shift) / deviation
        below = 0.5 * (1 + np.vectorize(math.erf)(t / math.sqrt(2)))
        inner = deviation * (np.exp(-t * t / 2) / math.sqrt(2 * math.pi) + t * below)
        both = np.sum(ws * relu(zs + shift) * inner)
        one = np.sum(ws * relu(zs + shift))
        cross += wu * (0.64 * both + 2 * 0.16 * one * max(shift, 0) + 0.04 * max(shift, 0) ** 2)
    assert found.cov.value[0, 1] == pytest.approx(cross - first**2, rel=1e-9)


def test_random_features_with_uniform_phases():
    """2 E cos(z + b) cos(z' + b) = exp(-Var(z - z')/2) for b uniform on 0..2 pi (Rahimi & Recht 2007)."""
    found = limit("""
index i, j in 1..3
const K[i,j] = exp(-abs(i-j))
input z[i] ~ N(0, K)
input b ~ Uniform(0, 2*pi)
f[i] = sqrt(2) * cos(z[i] + b)
output f
""")["f"]
    distance = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    np.testing.assert_allclose(found.cov.value, np.exp(-(1 - np.exp(-distance))), rtol=1e-12)
    np.testing.assert_allclose(found.mean.value, 0, atol=1e-14)


def test_randomised_slopes():
    """E[f(z) f(z')] for f = z where z > 0, else u z, slopes u independent for each element: polynomial in u."""
    found = limit("""
index i, j in 1..2
const K[i,j] = 1 if i == j else -0.4
input z[i] ~ N(0, K)
input u[i] ~ Uniform(0.125, 0.5)
x[i] = where(z[i] > 0, z[i], u[i]*z[i])
output x
""")["x"]
    m1, m2 = 0.3125, (0.5**3 - 0.125**3) / (3 * 0.375)
    theta = math.acos(-0.4)
    agree = (math.sin(theta) + (math.pi - theta) * -0.4) / (2 * math.pi)  # E relu(z) relu(z')
    differ = -0.4 / 2 - agree  # E relu(z) min(z', 0), from E relu(z) z' = rho/2
    mean = (1 - m1) / math.sqrt(2 * math.pi)
    assert found.var.value[0] == pytest.approx((1 + m2) / 2 - mean**2, rel=1e-12)
    assert found.cov.value[0, 1] == pytest.approx(agree + 2 * m1 * differ + m1**2 * agree - mean**2, rel=1e-11)


def test_products_of_a_uniform_and_a_gaussian_inside_a_function():
    """The variance of u z vanishes where u does: |u| has a kink there."""
    found = limit("input z ~ N(0, 1)\ninput u ~ Uniform(-1, 2)\nm = avg(relu(u*z))\nk = avg(relu(u*z + tanh(u))^2)\noutput m, k")
    assert found["m"].mean.value == pytest.approx(2.5 / 3 / math.sqrt(2 * math.pi), rel=1e-11)
    u, wu = uniform_rule(-1, 2, [0])
    shift, scale = np.tanh(u), np.abs(u)
    t = shift / scale
    below = 0.5 * (1 + np.vectorize(math.erf)(t / math.sqrt(2)))
    density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    expected = np.sum(wu * ((shift**2 + scale**2) * below + shift * scale * density))
    assert found["k"].mean.value == pytest.approx(expected, rel=1e-10)


def test_two_uniform_vectors():
    """E relu(u + v) over the square, cut along a line: (b - a)^3 / 6 arithmetic by hand."""
    found = limit("index i in 1..2\ninput u[i] ~ Uniform(-1, 1)\nm = avg(relu(u[1] + u[2]))\noutput m")["m"].mean
    assert found.value == pytest.approx(1 / 3, rel=1e-11)
    assert abs(found.value - 1 / 3) <= found.error + 1e-15


def test_each_element_is_cut_at_its_own_kink():
    """Jumps at 200 different places, none of which a rule without cuts would find to better than 1e-12."""
    found = limit("index i in 1..200\ninput u ~ Uniform(0, 1)\nm[i] = avg(step(u - i/300) * u)\noutput m")["m"].mean
    np.testing.assert_allclose(found.value, (1 - (np.arange(1, 201) / 300) ** 2) / 2, rtol=2e-15)
    assert found.error.max() < 1e-14


def test_many_masks_by_quasi_random_points():
    """A function of a sum over masks is sampled, with an error that covers the truth (binomial, by hand)."""
    found = limit("""
index d in 1..12
input m[d] ~ Bernoulli(0.3)
y = tanh(sum(m[d] for d) - 3)
c = avg(y)
output c
""")["c"].mean
    expected = sum(math.comb(12, k) * 0.3**k * 0.7 ** (12 - k) * math.tanh(k - 3) for k in range(13))
    assert abs(found.value - expected) <= 5 * found.error
    assert found.error < 2e-3


def test_probabilities_that_depend_on_subscripts():
    found = limit("""
index i in 1..3
input z ~ N(0, 1)
input m[i] ~ Bernoulli(i/4)
x[i] = exp(m[i]*z)
output x
""")["x"]
    keep = np.arange(1, 4) / 4
    mean = 1 - keep + keep * math.exp(0.5)
    np.testing.assert_allclose(found.mean.value, mean, rtol=1e-12)
    np.testing.assert_allclose(found.var.value, 1 - keep + keep * math.exp(2.0) - mean**2, rtol=1e-11)
    joint = np.outer(1 - keep, 1 - keep) + (np.outer(keep, 1 - keep) + np.outer(1 - keep, keep)) * math.exp(0.5)
    joint += np.outer(keep, keep) * math.exp(2.0)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(found.cov.value[off], (joint - np.outer(mean, mean))[off], rtol=1e-11)


def test_conditions_on_masks_and_uniforms():
    found = limit("""
input z, g ~ N(0, 1)
input m ~ Bernoulli(0.3)
input s ~ Rademacher()
input u ~ Uniform(0, 1)
a = avg(where(m > 0, relu(z), g^2))
b = avg(step(m - 0.5))
c = avg(where(u < 0.3, relu(z), g^2))
d = avg(s*tanh(s*z + 1))
output a, b, c, d
""")
    half = 1 / math.sqrt(2 * math.pi)
    assert found["a"].mean.value == pytest.approx(0.3 * half + 0.7, rel=1e-14)
    assert found["b"].mean.value == pytest.approx(0.3, rel=1e-15)
    assert found["c"].mean.value == pytest.approx(0.3 * half + 0.7, rel=1e-11)
    z, w = normal_rule()
    assert found["d"].mean.value == pytest.approx(np.sum(w * np.tanh(z + 1)) / 2 - np.sum(w * np.tanh(1 - z)) / 2, abs=1e-12)


# --- scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law, second", [("Rademacher()", 1.0), ("Uniform(-3, 3)", 3.0)])
def test_symmetric_inputs_serve_as_fresh_factors(law, second):
    """f = dot(v, x)/sqrt(n): Var = E v^2 E x^2, and an odd function of v does as well."""
    found = limit(f"""
input v ~ {law}
input z ~ N(0, 1)
f = dot(v, relu(z)) / sqrt(n)
g = dot(v^3, relu(z)) / sqrt(n)
output f, g
""")
    third = {1.0: 1.0, 3.0: 3**6 / 7}[second]
    assert found["f"].var.value == pytest.approx(second / 2, rel=1e-14)
    assert found["g"].var.value == pytest.approx(third / 2, rel=1e-13)


@pytest.mark.parametrize("law", ["Bernoulli(0.5)", "Uniform(0, 1)", "Uniform(-1, 1.5)"])
def test_other_inputs_do_not(law):
    with pytest.raises(netsor.NetsorError, match="N401"):
        limit(f"input v ~ {law}\ninput z ~ N(0, 1)\nf = dot(v, relu(z)) / sqrt(n)\noutput f")
    with pytest.raises(netsor.NetsorError, match="N402"):
        limit(f"input v ~ {law}\ninput z ~ N(0, 1)\nf = dot(v - avg(v), relu(z)) / sqrt(n)\noutput f")


def test_queries_and_keys_behind_dropout():
    """Scores of dropped tokens: Cov(p_ij, p_kl) = K_ik K_jl, K the kernel of the dropped tokens."""
    found = limit("""
index i, j in 1..2
input h[i] ~ N(0, 1)
input m[i] ~ Bernoulli(0.5)
matrix Q, K ~ N(0, 1/n)
x[i] = 2*m[i]*relu(h[i])
p[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
output p
""")["p"]
    kernel = np.array([[1.0, 1 / (2 * math.pi)], [1 / (2 * math.pi), 1.0]])
    np.testing.assert_allclose(found.cov.value, np.einsum("ik,jl->ijkl", kernel, kernel), rtol=1e-12)


# --- laws and draws --------------------------------------------------------------------------------------------------


def test_the_law_of_an_input_itself():
    found = limit("input u ~ Uniform(-1, 3)\ninput m ~ Bernoulli(0.3)\ninput s ~ Rademacher()\noutput u, m, s")
    t = np.array([-1.5, -0.5, 0.0, 2.9, 3.5])
    np.testing.assert_allclose(found["u"][()].cdf(t).value, np.clip((t + 1) / 4, 0, 1), atol=1e-12)
    np.testing.assert_allclose(found["u"][()].pdf(np.array([0.0, 2.0])).value, 0.25, rtol=1e-9)
    np.testing.assert_allclose(found["m"][()].cdf(np.array([-0.5, 0.5, 1.5])).value, [0, 0.7, 1], atol=1e-12)
    np.testing.assert_allclose(found["s"][()].cdf(np.array([-1.5, 0.0, 1.5])).value, [0, 0.5, 1], atol=1e-12)


def test_joint_draws_share_their_inputs():
    """x is 0 exactly where the mask is; u and its function agree in every draw."""
    found = limit("""
index i in 1..2
input z ~ N(0, 1)
input m[i] ~ Bernoulli(0.25)
input u ~ Uniform(2, 5)
x[i] = m[i]*exp(z)
v = u^2
output x, m, u, v
""")
    drawn = found.sample(4000, 3)
    assert np.array_equal(drawn["x"] == 0, drawn["m"] == 0)
    np.testing.assert_allclose(drawn["v"], drawn["u"] ** 2)
    assert ((2 <= drawn["u"]) & (drawn["u"] <= 5)).all()
    # 5 standard errors of 4000 draws; false-alarm rate 1e-6 each
    assert abs(drawn["m"].mean(axis=0) - 0.25).max() < 5 * math.sqrt(0.25 * 0.75 / 4000)
    assert abs((drawn["m"][:, 0] * drawn["m"][:, 1]).mean() - 1 / 16) < 5 * math.sqrt(1 / 16 / 4000)
    assert abs(drawn["u"].mean() - 3.5) < 5 * math.sqrt(0.75 / 4000)


def residual_dropout(layers: int, keep: float, rho: float) -> tuple[float, float]:
    """Variance and covariance of x + m W relu(x)/keep after some layers, by summing over all masks of both points."""
    def pair(a: float, b: float, c: float) -> float:
        theta = math.acos(max(-1.0, min(1.0, c / math.sqrt(a * b))))
        return math.sqrt(a * b) * (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / (2 * math.pi)

    # given the masks m, m' all is Gaussian with V = 1 + sum m_l/keep^2 S_l, S_l the second moment of relu(x_{l-1}), and C likewise
    singles, crosses = [], []
    for layer in range(layers):
        one = two = 0.0
        for masks in itertools.product((0, 1), repeat=2 * layer):
            m, k = masks[:layer], masks[layer:]
            weight = math.prod(keep if bit else 1 - keep for bit in masks)
            a, b = (1 + sum(bit * s for bit, s in zip(own, singles)) / keep**2 for own in (m, k))
            c = rho + sum(x * y * s for x, y, s in zip(m, k, crosses)) / keep**2
            one += weight * a / 2
            two += weight * pair(a, b, c)
        singles.append(one)
        crosses.append(two)
    return 1 + sum(singles) / keep, rho + sum(crosses)


def test_masks_that_pile_up_in_a_residual_network():
    """Eight masks and more inside one function: all combinations, in an array."""
    found = limit("""
param L = 5
index b, c in 1..2
const K[b,c] = 1 if b == c else 0.5
input x[0,b] ~ N(0, K)
for l in 1..L:
  input m[l,b] ~ Bernoulli(0.8)
  matrix W[l] ~ N(0, 1/n)
  x[l,b] = x[l-1,b] + m[l,b]*(W[l] @ relu(x[l-1,b]))/0.8
output x[L,b]
""", outputs=["x"])["x"]
    variance, covariance = residual_dropout(5, 0.8, 0.5)
    np.testing.assert_allclose(found.cov.value, [[variance, covariance], [covariance, variance]], rtol=1e-12)
    assert found.cov.error.max() < 1e-12


def test_many_signs_with_probabilities_that_depend_on_subscripts():
    """cos(z + sum of ten masks) by its characteristic function, for each element."""
    found = limit("""
index i in 1..3
input z ~ N(0, 1)
input a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i] ~ Bernoulli(i/4)
input s, t ~ Rademacher()
m[i] = avg(cos(z + a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + s + t))
output m
""")["m"].mean
    keep = np.arange(1, 4) / 4
    expected = math.exp(-0.5) * math.cos(1.0) ** 2 * ((1 - keep + keep * np.exp(1j)) ** 8).real
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)


def test_two_uniform_vectors_and_a_gaussian_in_one_condition():
    """Quasi-random points where nested quadrature would take minutes; the integrals over both uniforms by hand, over z by quadrature."""
    found = limit("""
input z ~ N(0, 1)
input u, w ~ Uniform(0, 1)
m = avg(where(u + z >= 0, w, z) * max(w, z))
output m
""")["m"].mean
    z, weights = normal_rule(breaks=[-1, 0, 1])
    above = np.clip(1 + z, 0, 1)  # P(u >= -z)
    one = np.where(z <= 0, 0.5, np.where(z < 1, (1 + z**2) / 2, z))  # E max(w, z)
    two = np.where(z <= 0, 1 / 3, np.where(z < 1, z**3 / 2 + (1 - z**3) / 3, z / 2))  # E w max(w, z)
    expected = np.sum(weights * (above * two + (1 - above) * z * one))
    assert abs(found.value - expected) <= 5 * found.error
    assert found.error < 1e-3
