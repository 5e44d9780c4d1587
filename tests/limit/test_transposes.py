"""Products with W and W.T: limits that are known, conditions on scores, and what results stand on."""

from __future__ import annotations

import math

import numpy as np
import pytest

import netsor
from netsor import nonlinearities
from netsor.language.diagnostics import NetsorError
from netsor.nonlinearities.base import Nonlinearity

START = """
width n, m = 3*n/2
param s2 = 1
input g, t, v ~ N(0, 1)
input c : m ~ N(0, 1)
matrix W, U ~ N(0, s2/n)
matrix R : (m, n) ~ N(0, s2/n)
"""


def moments(text: str, **settings) -> dict[str, float]:
    """The limits of a program's averages."""
    limit = netsor.parse(START + text, **settings).limit()
    return {name: float(variable.mean.value) for name, variable in limit.items()}


DENSITY = 1 / math.sqrt(2 * math.pi)

# (program of averages a, b: E v^2 and E v g unless said otherwise, their values with the derivation)
KNOWN = {
    "relu": ("v1 = W.T @ relu(W @ g)", 0.75, 0.5),  # E relu^2 + (E relu')^2, E relu'
    "linear": ("v1 = W.T @ (W @ g)", 2, 1),  # the second moment of Marchenko–Pastur at ratio 1
    "sign": ("v1 = W.T @ sign(W @ g)", 1 + (2 * DENSITY)**2, 2 * DENSITY),  # E sign' = 2 phi(0)
    "step at a bias": ("v1 = W.T @ step(W @ g + 1)", 0.8413447460685429 + (DENSITY * math.exp(-0.5))**2, DENSITY * math.exp(-0.5)),
    "square": ("v1 = W.T @ (W @ g)^2", 3, 0),  # E 2z = 0
    "rectangular, back": ("v1 = R.T @ relu(R @ g)", 1.5 * 0.5 + 0.75**2, 0.75),  # m/n in both parts
    "rectangular, forth": ("d1 = R.T @ c\nv1 = R @ relu(d1)", 1.5 * 0.5 + 0.25, 0.5),  # with c: sigma^2 E relu'
    "the transpose first": ("d1 = W.T @ g\nv1 = W @ (d1 + d1^3)", 1 + 2 * 3 + 15 + 16, 4),  # E(z + z^3)^2 + (1 + 3)^2
    "the transpose alone": ("v1 = W.T @ relu(U @ g)", 0.5, 0),
    "weights of another variance": ("v1 = W.T @ relu(W @ g)", None, None),
}


@pytest.mark.parametrize("name", [name for name, case in KNOWN.items() if case[1] is not None])
def test_second_moments_and_overlaps_that_are_known(name):
    body, square, overlap = KNOWN[name]
    other = "c" if name == "rectangular, forth" else "g"
    found = moments(body + f"\na = avg(v1^2)\nb = avg(v1*{other})\noutput a, b\n")
    assert found == pytest.approx({"a": square, "b": overlap}, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("variance", [0.5, 3])
def test_the_variance_of_the_entries_enters_both_parts(variance):
    """v = W.T relu(W g): E v^2 = s^2 * s^2/2 + (s^2/2)^2, E v g = s^2/2."""
    found = moments("v1 = W.T @ relu(W @ g)\na = avg(v1^2)\nb = avg(v1*g)\noutput a, b\n", s2=variance)
    assert found == pytest.approx({"a": variance**2 * 0.75, "b": variance / 2}, rel=1e-12)


def catalan(k: int) -> int:
    return math.comb(2 * k, k) // (k + 1)


def test_the_semicircle_law_up_to_the_sixteenth_moment():
    limit = netsor.load("programs/semicircle.netsor", k=16).limit()["c"]
    assert limit.mean.value == pytest.approx([catalan(k // 2) if k % 2 == 0 else 0 for k in range(1, 17)], rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("ratio", ["1/4", "1", "3"])
def test_the_marchenko_pastur_law_at_other_ratios(ratio):
    """W.T W for W of n*ratio rows, variance 1/rows: the k-th moment is the Narayana polynomial in 1/ratio."""
    text = netsor.load("programs/marchenko_pastur.netsor").ir.source.text.replace("m = 2*n", f"m = {ratio}*n")
    text = text[:text.index("# The sum")]
    shape = 1 / eval(ratio)
    wanted = [sum(math.comb(k, r) * math.comb(k - 1, r) / (r + 1) * shape**r for r in range(k)) for k in range(1, 6)]
    assert netsor.parse(text).limit()["c"].mean.value == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("layers", [1, 3])
def test_the_jacobian_of_a_tanh_network_has_the_mean_field_moments(layers):
    """Mean and second moment of J J.T, J = product of D W: chi^L, and m2/m1^2 = 1 + L (E phi'^4/(E phi'^2)^2) for equal layers
    (Pennington, Schoenholz & Ganguli 2018, arXiv:1802.09979, equation 23: sigma_JJT^2 = L (mu_2/mu_1^2 - 1 - s_1), s_1 = -1)."""
    text = netsor.load("programs/jacobian.netsor").ir.source.text
    text = text[:text.index("# (sw2/2)^L")].replace("relu(g[k])", "tanh(g[k])").replace("x[0] = h", "x[0] = h0").replace(
        "input h, v ~ N(0, 1)", f"input h0 ~ N(0, {FIXED / 1.5})\ninput v ~ N(0, 1)")
    for index in ("k", "L+1-k"):
        text = text.replace(f"step(g[{index}])", f"(1 - tanh(g[{index}])^2)")
    limit = netsor.parse(text, L=layers, sw2=1.5).limit()
    second, fourth = (gaussian(lambda z, k=k: (1 - np.tanh(z)**2)**k, FIXED) for k in (2, 4))
    mean = (1.5 * second)**layers
    assert limit["c1"].mean.value == pytest.approx(mean, rel=1e-8)
    assert limit["c2"].mean.value == pytest.approx(mean**2 * (1 + layers * fourth / second**2), rel=1e-8)


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)


def gaussian(function, variance: float) -> float:
    """E f(z) by Gauss–Hermite quadrature."""
    return float(WEIGHTS @ function(np.sqrt(variance) * NODES) / WEIGHTS.sum())


def fixed_point(variance: float) -> float:
    """q = s^2 E tanh(sqrt(q) z)^2."""
    q = 1.0
    for _ in range(200):
        q = variance * gaussian(lambda z: np.tanh(z)**2, q)
    return q


FIXED = fixed_point(1.5)


def test_gradient_kernels_are_products_of_derivative_kernels():
    """Backpropagation with readout weights v through a relu network: E d0_i d0_j = product of sigma^2 E[relu'(g_i) relu'(g_j)] over
    the layers (gradient independence; Jacot, Gabriel & Hongler 2018), arc-cosine kernels of degree 0."""
    limit = netsor.parse("""
width n
index i, j in 1..2
const K[i,j] = 1 if i == j else 1/2
input h[i] ~ N(0, K)
input v ~ N(0, 1)
matrix W1, W2 ~ N(0, 2/n)
g1[i] = W1 @ h[i]
g2[i] = W2 @ relu(g1[i])
d2[i] = v * step(g2[i])
d1[i] = (W2.T @ d2[i]) * step(g1[i])
d0[i] = W1.T @ d1[i]
output d0
""").limit()["d0"]
    angle = lambda c: (math.pi - math.acos(c)) / (2 * math.pi)  # noqa: E731 (E step step at correlation c)
    second = (math.sqrt(0.75) + (math.pi - math.acos(0.5)) * 0.5) / math.pi  # correlation after one layer
    assert limit.cov.value == pytest.approx(np.array(
        [[1, 4 * angle(0.5) * angle(second)], [4 * angle(0.5) * angle(second), 1]]), rel=1e-10)


SMOOTH = {
    "one vector": "a1 = W @ g\nv1 = W.T @ tanh(a1 + 0.3)\n",
    "two correlated vectors": "a1 = W @ g\na2 = W @ (g + t)\nv1 = W.T @ (tanh(a1)*sigmoid(a2))\n",
    "the same vector twice": "a1 = W @ g\na2 = W @ (2*g)\nv1 = W.T @ (tanh(a1)*erf(a2))\n",
    "through definitions, with an input": "a1 = W @ g\nb1 = erf(a1) + t\nv1 = W.T @ (b1*tanh(b1 + a1))\n",
    "two rounds": "a1 = W @ g\nb1 = W.T @ tanh(a1)\nv1 = W.T @ (tanh(W @ tanh(b1) + a1))\n",
}


@pytest.mark.parametrize("name", SMOOTH)
def test_steins_lemma_gives_what_the_derivative_gives(name, monkeypatch):
    """The same program with derivatives and without: two ways to the same coefficients."""
    text = SMOOTH[name] + "a = avg(v1^2)\nb = avg(v1*g)\nd = avg(v1*t)\noutput a, b, d\n"
    derived = moments(text)
    for name in ("tanh", "sigmoid", "erf"):
        monkeypatch.setattr(type(nonlinearities.get(name)), "slope", Nonlinearity.slope)
    assert moments(text) == pytest.approx(derived, rel=2e-4, abs=2e-4)


def test_a_function_without_a_known_derivative_is_left_to_steins_lemma():
    class Ramp(Nonlinearity):
        """relu under another name, without a slope."""

        name, growth, strip, citation = "ramp_without_slope", "linear", math.inf, "for this test"
        function = staticmethod(lambda x: np.maximum(x, 0.0))
        derivative = staticmethod(lambda x: np.heaviside(x, 0.0))
        kinks = staticmethod(lambda: (0.0,))

    nonlinearities.registry.register(Ramp())
    try:
        found = moments("v1 = W.T @ ramp_without_slope(W @ g)\na = avg(v1^2)\nb = avg(v1*g)\noutput a, b\n")
    finally:
        del nonlinearities.registry._catalogue["ramp_without_slope"]
    assert found == pytest.approx({"a": 0.75, "b": 0.5}, rel=1e-9)


def test_powers_of_a_jump_are_one_jump():
    """step^3 = step, and step * relu = relu: what a product rule at the jump would get wrong."""
    text = "u1 = W @ g\ns1 = step(u1)\n{}\na = avg(v1*g)\noutput a\n"
    assert moments(text.format("v1 = W.T @ (s1*s1*s1)"))["a"] == pytest.approx(DENSITY, rel=1e-9)
    assert moments(text.format("v1 = W.T @ (s1*relu(u1)*s1)"))["a"] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("body, overlap_g, overlap_t", [
    ("step(u1)*step(2*u1)", DENSITY, 0), ("step(u1)*step(W @ (2*g))", DENSITY, 0),
    ("step(u1)*step(u2)*step(u1 + u2)", DENSITY / 2, DENSITY / 2), ("step(u1)*step(u2)*step(W @ (g + t))", DENSITY / 2, DENSITY / 2),
])
def test_jumps_of_dependent_products(body, overlap_g, overlap_t):
    """Products that are linear in earlier ones: all are step(u1), or step(u1) step(u2), whose expected derivative is phi(0)/2."""
    found = moments(f"u1 = W @ g\nu2 = W @ t\nv1 = W.T @ ({body})\na = avg(v1*g)\nb = avg(v1*t)\noutput a, b\n")
    assert found == pytest.approx({"a": overlap_g, "b": overlap_t}, abs=3e-4)


def test_a_tie_has_one_winner():
    """max(g, g) = g: its derivative is 1, not 0 or 2.  E max(g1, g2)^2 = 1, and each of the two is the larger one half of the time."""
    limit = netsor.parse("""
width n
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
g[i] = W @ x[i]
pairs[i,j] = W.T @ max(g[i], g[j])
all = W.T @ max(g[floor((k + 1)/2)] for k in 1..4)
low = W.T @ min(g[1], g[2], g[1])
output pairs, all, low
""").limit()
    assert limit["pairs"].var.value == pytest.approx(np.array([[2, 1.5], [1.5, 2]]), rel=1e-3)
    assert limit["all"].var.value == pytest.approx(1.5, rel=1e-3) and limit["low"].var.value == pytest.approx(1.5, rel=1e-3)


# --- scores


@pytest.mark.parametrize("score", [
    "dot(g, W.T @ (W @ g)^2)", "dot(U @ g, W.T @ (W @ (U @ g))^2)", "dot(W @ g, W.T @ t)",
])
def test_scores_whose_fresh_factor_goes_through_both_are_refused(score):
    with pytest.raises(NetsorError, match="N405"):
        netsor.parse(START + f"p = {score} / sqrt(n)\noutput p\n").limit(samples=2**8)


def test_a_score_that_diverges_is_told_so():
    with pytest.raises(NetsorError, match=r"N401.*its mean is 0.5\*sqrt\(n\)"):
        netsor.parse(START + "p = dot(g, W.T @ relu(W @ g)) / sqrt(n)\noutput p\n").limit()


@pytest.mark.parametrize("score, variance", [
    ("dot(v, W.T @ relu(W @ g))", 0.75), ("dot(v, x1*g)", 1.25),
    ("dot(v, U @ x1)", 0.75), ("dot(W @ g, U @ (W.T @ t))", 1),
])
def test_readouts_of_what_went_through_both_are_allowed(score, variance):
    """Var = E v^2 E z^2; E (x1 g)^2 = E xhat^2 + E g^4 / 4 = 1/2 + 3/4."""
    found = netsor.parse(START + f"x1 = W.T @ relu(W @ g)\np = {score} / sqrt(n)\noutput p\n").limit(samples=2**8)
    assert found["p"].var.value == pytest.approx(variance, rel=1e-6)


def test_what_comes_after_a_score_has_no_bearing_on_it():
    """Two sides of one number, dot(v, W u) = dot(W.T v, u): each alone is a readout, both together are refused."""
    forward, backward = "p = dot(v, W @ t) / sqrt(n)\n", "q = dot(W.T @ v, t) / sqrt(n)\n"
    assert netsor.parse(START + forward + "y = W.T @ v\noutput p, y\n").limit(samples=2**8)["p"].var.value == pytest.approx(1)
    assert netsor.parse(START + backward + "y = W @ t\noutput q, y\n").limit(samples=2**8)["q"].var.value == pytest.approx(1)
    with pytest.raises(NetsorError, match="N405"):
        netsor.parse(START + forward + backward + "output p, q\n").limit(samples=2**8)


# --- kinds and theorems


def test_products_with_both_are_of_kind_h_and_a_transpose_alone_is_not():
    program = netsor.parse(START + "a1 = W @ g\nb1 = W.T @ a1\nc1 = U.T @ g\nd1 = b1 + c1\noutput d1\n").ir
    assert {f.name: f.kind for f in program.families if f.name in ("a1", "b1", "c1", "d1")} == {
        "a1": "H", "b1": "H", "c1": "G", "d1": "H"}


@pytest.mark.parametrize("body, words, proved", [
    ("y = W.T @ relu(W @ g)", "NETSOR⊤ master theorem (Yang 2020, arXiv:2009.10685)", True),
    ("y = W.T @ relu(U @ g)", "NETSOR master theorem (Yang 2019", True),
    ("y = dot(v, W.T @ relu(W @ g)) / sqrt(n)", "random scores beside transposes", False),
])
def test_results_say_what_they_stand_on(body, words, proved):
    theorem = netsor.parse(START + body + "\noutput y\n").limit(samples=2**8).theorem
    assert words in theorem.name and theorem.proved is proved


# --- equalities of indices that imply each other


def test_three_equalities_of_which_two_imply_the_third():
    """E of cos(h_i) cos(h_1) cos(h_k) cos(h_1): i = 1 and k = 1 say i = k, and a case in which they do not never occurs."""
    limit = netsor.parse("""
width n
index i in 1..2
input h[i] ~ N(0, i)
y[i] = cos(h[i] * h[1]) * cos(h[1])
output y
""").limit()["y"]
    one, two = np.random.default_rng(0).standard_normal((2, 1_000_000)) * np.sqrt([[1], [2]])
    sample = np.stack([np.cos(one * one) * np.cos(one), np.cos(two * one) * np.cos(one)])
    assert np.allclose(limit.cov.value, np.cov(sample), atol=5 * 0.5 / math.sqrt(1e6))  # products vary by less than 1/2


def test_masks_and_uniform_vectors_between_the_two_directions():
    """k = 0, 1 with probability 1/2, x uniform on [-1, 1]: Var u = 1/6; E k step(u + k) = Phi(sqrt 6)/2, and its expected derivative by
    u, half the density of u at -1, is the response r.  z then has the independent part of variance E[y^2 k], the correction s/2, and
    twice their covariance, Cov(z, u) r/2 = E[y k x k] r/2 = r^2/12."""
    limit = netsor.parse("""
width n
input x ~ Uniform(-1, 1)
input k ~ Bernoulli(1/2)
matrix W ~ N(0, 1/n)
u = W @ (x*k)
s = k * step(u + k)
y = W.T @ s
z = W @ (y*k)
output y, z
""").limit()
    open_ = 0.5 * 0.5 * math.erfc(-math.sqrt(3))
    response = 0.5 * math.sqrt(6) * DENSITY * math.exp(-3)
    assert limit["y"].var.value == pytest.approx(open_ + response**2 / 6, rel=1e-9)
    assert limit["z"].mean.value == pytest.approx(open_ / 2, rel=1e-9)
    assert limit["z"].var.value == pytest.approx(open_ / 2 + response**2 / 6 + (open_ - open_**2) / 4 + response**2 / 6, rel=1e-9)


def test_heads_without_number_share_what_comes_back():
    """y = mean over a of W[a].T relu(W[a] x): the independent parts average out, and E relu' x = x/2 is left.  z[b] = W[b] y has the
    independent part of variance 1/4, and what W[b].T brought to y is one head of infinitely many."""
    limit = netsor.parse("""
width n
param H = inf
index a, b in 1..H
input x ~ N(0, 1)
matrix W[a] ~ N(0, 1/n)
y = sum(W[a].T @ relu(W[a] @ x) for a) / H
z[b] = W[b] @ y
output y, z
""").limit(samples=2**8)
    assert limit["y"].var.value == pytest.approx(0.25, rel=1e-9)
    assert limit["z"].var.value == pytest.approx(0.25, rel=1e-9)
