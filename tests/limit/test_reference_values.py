"""Limits against numbers from independent quadrature or simulation, to the digits given.

Programs without random scores are compared to 1e-9.  Sampled numbers are compared within 4 of their own standard errors and the digits
of the reference: a true number fails with probability 0.0012 (Student's t, 15 degrees of freedom) at an unlucky seed, and the seed is
fixed; each test says from what deviation on it sees an error.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import netsor
from netsor.limit.recursion import Recursion, generic

POINTS = "data X[B, D] = [[1, 2, 3], [3, -1, 0.5], [0, 0, 0], [2, 4, 6]]"


def covariance(text: str, name: str, **options) -> np.ndarray:
    return netsor.parse(text, **options).limit()[name].cov.value


def assert_upper(found: np.ndarray, rows: list[list[float]], tolerance: float) -> None:
    """The upper triangle of ``found`` is ``rows``."""
    for i, row in enumerate(rows):
        np.testing.assert_allclose(found[i, i:], row, rtol=0, atol=tolerance)
        np.testing.assert_allclose(found[i:, i], row, rtol=0, atol=tolerance)


# --- networks: independent quadrature ---------------------------------------------------------------------------------


def perceptron(function: str, weight: float, bias: float) -> np.ndarray:
    """Kernel after two hidden layers and a linear output layer, with biases everywhere."""
    return covariance(
        f"""
width n
param w = {weight}
param v = {bias}
{POINTS}
index b, c in 1..B
index d in 1..D
index l in 1..3
const K[b,c] = w * mean(X[b,d] * X[c,d] for d) + v
input first[b] ~ N(0, K)
matrix W[l] ~ N(0, w/n)
input bias[l] ~ N(0, v)
h[1,b] = first[b]
for k in 2..3:
  h[k,b] = W[k] @ {function}(h[k-1,b]) + bias[k]
y[b] = h[3,b]
output y
""",
        "y",
    )


def test_relu_network():
    expected = [
        [9.633333333333, 4.775120218624, 0.794638067923, 18.967689489019],
        [7.133333333333, 0.709584436202, 9.299203252065],
        [0.3, 1.389827376203],
        [37.633333333333],
    ]
    assert_upper(perceptron("relu", 2, 0.1), expected, 1e-9)


def test_erf_network():
    found = perceptron("erf", 1.5, 0.05)
    np.testing.assert_allclose(found[0], [0.798468752727, 0.187986221936, 0.117435295093, 0.805747413238], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1, 1:3], [0.785460857616, 0.121904810564], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[2, 2], 0.256912360843, rtol=0, atol=1e-9)


def test_growing_relu_network_does_not_overflow():
    # 15 hidden layers with weights of standard deviation 1, 2, ..., 15: q (15!)^2 / 2^15, exactly
    text = """
width n
index l in 1..15
input h1 ~ N(0, 0.385)
matrix W[l] ~ N(0, l^2/n)
input v ~ N(0, 1)
h[1] = h1
for k in 2..15:
  h[k] = W[k] @ relu(h[k-1])
f = dot(v, relu(h[15])) / sqrt(n)
output f
"""
    found = float(netsor.parse(text).limit()["f"].var.value)
    assert math.isclose(found, 0.385 * math.factorial(15) ** 2 / 2**15, rel_tol=1e-12)
    assert math.isclose(found, 2.0091391519128932e19, rel_tol=1e-12)


def test_shared_matrix():
    text = "width n\ninput g ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ relu(g)\nout = y + W @ relu(y)\noutput out\n"
    found = float(netsor.parse(text).limit()["out"].var.value)
    assert abs(found - 0.975079079) < 1e-9
    assert abs(found - (3 / 4 + math.sqrt(2) / (2 * math.pi))) < 1e-12


GRAM = "data G[T, T] = [[1, 0.5, 0.2], [0.5, 1, -0.3], [0.2, -0.3, 1]]\nindex t in 1..T\n"


def test_erf_recurrent_network():
    text = f"""
width n
{GRAM}
input u[t] ~ N(0, G)
matrix W ~ N(0, 1/n)
s[1] = erf(u[1])
for r in 2..T:
  s[r] = erf(W @ s[r-1] + u[r])
output s
"""
    rows = [[0.4645590544, 0.1881538523, 0.0730254782], [0.5355688912, -0.0356247965], [0.5441134933]]
    assert_upper(covariance(text, "s"), rows, 1e-9)


def test_gated_recurrent_unit():
    # the reference is given to 1e-7; three time steps are expectations of products of three gates
    text = f"""
width n
{GRAM}
input uz[t], ur[t], uh[t] ~ N(0, G)
matrix Wz, Wr, Wh ~ N(0, 1/n)
h[1] = sigmoid_erf(uz[1]) * erf(uh[1])
for k in 2..T:
  z[k] = sigmoid_erf(uz[k] + Wz @ h[k-1])
  r[k] = sigmoid_erf(ur[k] + Wr @ h[k-1])
  h[k] = (1 - z[k]) * h[k-1] + z[k] * erf(uh[k] + Wh @ (h[k-1] * r[k]))
output h
"""
    found = netsor.parse(text).limit()["h"].cov
    expected = [[0.17009354, 0.12504675, 0.07759862], [0.12504675, 0.24492177, 0.10757901], [0.07759862, 0.10757901, 0.26508359]]
    np.testing.assert_allclose(found.value, expected, rtol=0, atol=1.1e-7)
    assert np.all(found.error < 3e-7)


def test_six_steps_of_a_gated_unit_are_worked_out():
    """Gates stay whole as factors: expanded, six steps would have more than 200,000 terms."""
    text = """
width n
index t in 1..6
input uz[t], uh[t] ~ N(0, 1)
matrix Wz, Wh ~ N(0, 1/n)
def gate(z) = (1 + erf(z)) / 2
h[1] = gate(uz[1]) * erf(uh[1])
for k in 2..6:
  h[k] = (1 - gate(uz[k] + Wz @ h[k-1])) * h[k-1] + gate(uz[k] + Wz @ h[k-1]) * erf(uh[k] + Wh @ h[k-1])
output h[6]
"""
    recursion = Recursion()
    family = netsor.parse(text).ir.outputs[0].parts[0].reference.family
    recursion.moment(generic(family, "x"), generic(family, "y"))
    assert len(recursion.equations.bindings) < 500


def test_batch_normalisation():
    # sees a deviation of 2e-4; the diagonal is exact by symmetry
    text = """
width n
index b, c in 1..4
input h[b] ~ N(0, 1)
matrix W ~ N(0, 1/n)
m = mean(h[c] for c)
v = mean((h[c] - m)^2 for c)
y[b] = W @ relu((h[b] - m) / sqrt(v))
output y
"""
    found = netsor.parse(text).limit()["y"].cov
    expected = np.where(np.eye(4) > 0, 0.5, 0.08474829402108314)
    assert np.all(np.abs(found.value - expected) <= 4 * found.error), found
    assert np.all(found.error < 1e-4)


# --- the attention law: independent quadrature ------------------------------------------------------------------------


def attention(tokens: int, variance: float = 1, heads: float = 1, before: str = "x[i] = h[i]") -> netsor.Program:
    """One layer of attention on iid tokens, logits of the given variance."""
    return netsor.parse(
        f"""
width n
param s = {tokens}
param H = {heads}
index i, j in 1..s
index a in 1..H
input h[i] ~ N(0, 1)
matrix WQ[a] ~ N(0, {variance}/n)
matrix WK[a], WV[a], WO[a] ~ N(0, 1/n)
{before}
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i] = sum(A[a,i,j] * (WO[a] @ (WV[a] @ x[j])) for a, j) / sqrt(H)
output y
"""
    )


def assert_within(estimate, expected, digits: float, error: float) -> None:
    """Agreement within 4 standard errors and the reference's digits, with errors no larger than ``error``."""
    expected = np.asarray(expected)
    assert np.all(np.abs(estimate.value - expected) <= digits + 4 * estimate.error), f"{estimate} against {expected}"
    assert np.all(estimate.error <= error), f"too uncertain to tell: {estimate}"


@pytest.mark.parametrize(
    ("tokens", "variance", "mean", "kurtosis"),
    [
        (2, 1, 0.6368381539684, 0.1199808308),
        (4, 1, 0.391971443576, 0.2433184252),
        (4, 4, 0.574413957, 0.346828),
        (8, 1, 0.23231344721, 0.35292913),
    ],
)
@pytest.mark.parametrize("heads", [1, 2])
def test_variance_and_kurtosis_of_attention(tokens, variance, mean, kurtosis, heads):
    # a variance off by 0.3 %, a kurtosis off by 0.01 or a covariance off by 0.002 is seen
    y = attention(tokens, variance, heads).limit()["y"]
    assert_within(y.var, np.full(tokens, mean), 1e-9, 2e-4)
    assert_within(y.excess_kurtosis, np.full(tokens, kurtosis / heads), 1e-6, 2e-3)
    off_diagonal = ~np.eye(tokens, dtype=bool)
    assert_within(y.cov[off_diagonal], 1 / tokens, 0, 4e-4)  # Cov(y_i, y_k) = 1/s, exactly


POINTS_OF_THE_DENSITY = [0.0, 0.5, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("heads", "density"),
    [
        (1, [0.6534883928, 0.4619069055, 0.1692344196, 0.0053429870, 0.0000699411]),
        (2, [0.64608013, 0.46240278, 0.17319460, 0.00468894, 0.00002913]),
    ],
)
def test_density_of_attention(heads, density):
    # seen: 1e-4 anywhere
    law = attention(4, 1, heads).limit()["y"][0]
    assert_within(law.pdf(POINTS_OF_THE_DENSITY), density, 1e-8, 2.5e-5)
    np.testing.assert_allclose(law.pdf(POINTS_OF_THE_DENSITY).value, density, rtol=0, atol=1e-4)


def test_distribution_function_of_attention():
    law = attention(4).limit()["y"][0]
    expected = [0.7924715799, 0.9458080578, 0.9987261010, 0.9999852003]
    assert_within(law.cdf([0.5, 1.0, 2.0, 3.0]), expected, 1e-10, 2.5e-5)
    np.testing.assert_allclose(law.ppf(expected).value, [0.5, 1.0, 2.0, 3.0], rtol=0, atol=2e-3)


def test_infinitely_many_heads_are_gaussian_with_the_same_variance():
    y = attention(4, heads="inf").limit()["y"]
    assert y.law == "gaussian"
    assert_within(y.var, np.full(4, 0.391971443576), 1e-9, 1e-4)


def test_attention_on_relu_tokens():
    y = attention(4, before="x[i] = relu(h[i])").limit()["y"]
    assert_within(y.var, np.full(4, 0.254765946768), 1e-9, 1e-5)
    assert_within(y.excess_kurtosis, np.full(4, 0.0036189854), 1e-9, 2e-5)
    assert_within(y.cov[0, 1], 0.247594031179, 1e-9, 1e-5)


def test_attention_on_given_sequences():
    # tokens that are not exchangeable; a deviation of 0.6 % is seen
    b, t, i = np.ogrid[0:2, 0:3, 0:4]
    text = """
width n
data X[B, T, D]
index b, c in 1..B
index t, u in 1..T
index i in 1..D
const K[b,t,c,u] = 9 * mean(X[b,t,i] * X[c,u,i] for i)
input x[b,t] ~ N(0, K)
matrix WQ, WK, WV, WO ~ N(0, 1/n)
p[b,t,u] = dot(WQ @ x[b,t], WK @ x[b,u]) / sqrt(n)
A[b,t,u] = softmax(p[b,t,u] for u)
y[b,t] = sum(A[b,t,u] * (WO @ (WV @ x[b,u])) for u)
output y
"""
    cov = netsor.parse(text, data={"X": np.sin(1.0 + 2 * b + 3 * t + 5 * i)}).limit()["y"].cov
    row = [[3.164733, -2.889500, 2.819152], [-0.064510, 0.014601, 0.029292]]
    diagonal = [[3.164733, 3.139632, 3.116695], [3.368210, 3.394192, 3.419963]]
    assert_within(cov[0, 0], row, 2e-5, 5e-3)
    for place, value in np.ndenumerate(diagonal):
        assert_within(cov[place + place], value, 2e-5, 5e-3)


@pytest.mark.parametrize(("tokens", "heads"), [(4, 1), (4, 2), (3, 5)])
def test_attention_without_softmax_has_the_kurtosis_of_a_variance_gamma_law(tokens, heads):
    # excess kurtosis 6/(s H), exactly: moments of the chi-square
    text = f"""
width n
index i, j in 1..{tokens}
index a in 1..{heads}
input x[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a] ~ N(0, 1/n)
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
y[i] = sum(p[a,i,j] * (WV[a] @ x[j]) for a, j) / sqrt({tokens * heads})
output y
"""
    y = netsor.parse(text).limit()["y"]
    assert_within(y.var, np.ones(tokens), 0, 2e-4)
    assert_within(y.excess_kurtosis, np.full(tokens, 6 / (tokens * heads)), 0, 5e-3)
