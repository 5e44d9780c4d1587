"""The limit against mathematics done elsewhere: hand calculations, quadrature, identities that hold at every width, plain simulation.

Each case names its independent source.  Identities are the sharpest: where a later score is a sum of earlier ones at every finite width,
the difference of the two must vanish in every joint draw, whatever the groups, strips and orientations that the sampler chose.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import k0
from scipy.stats import norm

import netsor
from netsor.language.diagnostics import NetsorError

SIGMAS = 5  # with errors from 16 replicates: Student's t with 15 degrees of freedom, false-alarm rate 2e-4 a number


def limit(text: str, samples: int = 2**14, **options):
    return netsor.parse("width n\n" + text).limit(samples=samples, **options)


def check(estimate, wanted, tolerance: float = 1e-10, within: float = 0.03) -> None:
    """The estimate agrees within its error; ``within`` is the largest error, relative to the scale, that may be claimed."""
    value, error, wanted = np.asarray(estimate.value), np.asarray(estimate.error), np.asarray(wanted, dtype=float)
    scale = max(1.0, float(np.max(np.abs(wanted))))
    assert np.all(error <= within * scale), f"an error of {error} would hide everything"
    assert np.all(np.abs(value - wanted) <= SIGMAS * error + tolerance * scale), (value, wanted, error)


def relu_kernel(a: float, b: float, c: float) -> float:
    """E relu(u) relu(v) for Var u = a, Var v = b, Cov = c (Cho & Saul 2009)."""
    rho = c / math.sqrt(a * b)
    return math.sqrt(a * b) / (2 * math.pi) * (math.sqrt(1 - rho * rho) + (math.pi - math.acos(rho)) * rho)


def gaussian(function, **options) -> float:
    """E function(Z) by quadrature."""
    return quad(lambda t: function(t) * norm.pdf(t), -14, 14, limit=400, **options)[0]


# --- scores whose two sides share sources -----------------------------------------------------------------------------


def test_scores_of_a_dense_group_are_different_variables():
    """s is not p again: by Isserlis Var p = 1, Var s = 3, Cov = 1, so Var(p s) = 3 + 1."""
    found = limit("""
input x, y, z ~ N(0, 1)
p = dot(x, y) / sqrt(n)
s = dot(x * y, z^2) / sqrt(n)
t = p * s
output p, s, t
""")
    check(found["t"].mean, 1.0)
    check(found["t"].var, 4.0)
    draws = found.sample(20_000, random_state=0)
    assert abs(np.var(draws["s"]) - 3) < 5 * 3 * math.sqrt(2 / 20_000)


def test_products_of_odd_sources_in_one_dense_group():
    """By Isserlis: Var p_ij = E[y^4 x_i^2 x_j^2 z^2] = 9 (i = j) or 3; p is symmetric, p_ii and r differ by y^2 against y."""
    found = limit("""
index i, j in 1..3
input x[i], y, z ~ N(0, 1)
p[i,j] = dot(x[i] * y, y * x[j] * z) / sqrt(n)
q[i] = dot(y, z * x[i]^2) / sqrt(n)
r[i] = dot(y * x[i], z * x[i]) / sqrt(n)
e[i] = r[i] - q[i]
g[i,j] = p[i,j] - p[j,i]
k = sum(p[i,j]^2 for i, j)
output p, q, e, g, k
""")
    check(found["p"].var, 3 + 6 * np.eye(3))
    check(found["e"].var, np.zeros(3))
    check(found["g"].var, np.zeros((3, 3)))
    check(found["k"].mean, 45.0)


BORDER = {  # (program, what is said): there is no fresh factor, or the score diverges
    "an input with a mean": ("input v ~ N(0.3, 1)\ninput x ~ N(0, 1)\np = dot(v, x^2 - 1) / sqrt(n)\n", "N402"),
    "even functions": ("input x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\np = dot(abs(W @ x), x^2 - 1) / sqrt(n)\n", "N402"),
    # x'W'Wy/sqrt(n) has variance 2, for x.y/sqrt(n) fluctuates too; E[F^2] = 1
    "one matrix on both sides": ("input x, y ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\np = dot(W @ x, W @ y) / sqrt(n)\n", "N402"),
    "fluctuating kernels": (
        "input x ~ N(0, 1)\nmatrix W1, W2 ~ N(0, 1/n)\ng = W1 @ x\np = dot(W2 @ g, exp(0.5 * (W2 @ (g * g)))) / sqrt(n)\n", "N402"),
    "correlated elements": (
        "data K[B, C] = [[1, 0.5], [0.5, 1]]\nindex b, c in 1..2\ninput h[b] ~ N(0, K[b,c])\np = dot(h[1], h[2]) / sqrt(n)\n", "N401"),
    # for a = 2 the mean is E g_2^2 g_1^2 = 1, although W[1] alone looks odd where W[a] may be it
    "an element that may be another": (
        "index a in 1..2\ninput x ~ N(0, 1)\nmatrix W[a] ~ N(0, 1/n)\np[a] = dot((W[a] @ x) * (W[2] @ x), (W[1] @ x)^2) / sqrt(n)\n",
        "N401"),
    "an earlier score times the readout": (
        "input v, x ~ N(0, 1)\nq = dot(v, x) / sqrt(n)\np = dot(v, q * v + x) / sqrt(n)\n", "N401"),
}


@pytest.mark.parametrize("name", BORDER)
def test_scores_without_a_fresh_factor_are_refused(name):
    text, code = BORDER[name]
    with pytest.raises(NetsorError) as refused:
        limit(text + "output p\n")
    assert code in str(refused.value)


def test_fresh_factors_at_the_border():
    """Variances E[F^2] by Isserlis and one-dimensional quadrature; elements of a matrix family and odd functions are fresh."""
    found = limit("""
data K[B, C] = [[1, 0.5], [0.5, 1]]
index b, c in 1..2
index a in 1..3
input h[b] ~ N(0, K[b,c])
input v ~ N(0.3, 1)
input x, y ~ N(0, 1)
matrix W[a] ~ N(0, 1/n)
elements = dot(W[1] @ x, W[2] @ x) / sqrt(n)
cubic = dot(h[1], h[2]^2) / sqrt(n)
shifted = dot(v, x) / sqrt(n)
sine = dot(sin(W[3] @ x), exp(y)) / sqrt(n)
lopsided = dot(clip(W[3] @ x, -1, 2), y) / sqrt(n)
polynomial = dot(y^3 - 3*y, gelu(W[3] @ x)) / sqrt(n)
output elements, cubic, shifted, sine, lopsided, polynomial
""")
    check(found["elements"].var, 1.0)
    check(found["cubic"].var, 3 + 12 * 0.25)
    check(found["shifted"].var, 1.09)
    check(found["sine"].var, (1 - math.exp(-2)) / 2 * math.exp(2))
    check(found["lopsided"].var, gaussian(lambda t: np.clip(t, -1, 2) ** 2, points=[-1, 2]))
    check(found["polynomial"].var, 6 * gaussian(lambda t: (t * norm.cdf(t)) ** 2))


# --- identities that hold at every width ------------------------------------------------------------------------------

IDENTITIES = {
    "affine, constant and diagonal subscripts": """
index i, j in 1..4
input x[i] ~ N(0, 1)
matrix A, B ~ N(0, 1/n)
q[i] = A @ x[i]
k[i] = B @ x[i]
m[i,j] = dot(q[i], k[j]) / sqrt(n)
e1[i] = dot(q[i], k[i]) / sqrt(n) - m[i,i]
e2[i] = dot(q[1], k[i]) / sqrt(n) - m[1,i]
e3[i] = dot(q[i], k[5-i]) / sqrt(n) - m[i,5-i]
e4[i,j] = 2^(-i) * dot(q[i], k[j]) / sqrt(n) - 2^(-i) * m[i,j]
output e1, e2, e3, e4
""",
    "the same scores three times, once transposed": """
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix Q, K, V ~ N(0, 1/n)
p[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
r[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
t[j,i] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
e1[i,j] = p[i,j] - r[i,j]
e2[i,j] = p[i,j] - t[j,i]
output e1, e2
""",
    "single elements and their sum": """
index i in 1..2
input x[i] ~ N(0, 1)
matrix Q, K ~ N(0, 1/n)
q[i] = Q @ x[i]
k[i] = K @ x[i]
p = dot(q[1], k[1]) / sqrt(n)
r = dot(q[2], k[1]) / sqrt(n)
t = dot(q[1] + q[2], k[1]) / sqrt(n)
e = t - p - r
output e
""",
    "a dense group over two levels": """
input x, y, z ~ N(0, 1)
p = dot(x * y, z) / sqrt(n)
s = dot(x, z^2) / sqrt(n)
q = dot(x * z, p * y + z) / sqrt(n)
e = q - p^2 - s
output e
""",
    "linearity through a matrix, components first": """
index i, j in 1..3
input x[i], v ~ N(0, 1)
matrix W ~ N(0, 1/n)
p[i] = dot(v, x[i]) / sqrt(n)
r[i] = dot(v, W @ x[i]) / sqrt(n)
y[i] = x[i] * p[1] + sum(tanh(p[j] * r[i]) * (W @ x[j]) for j)
t[i] = dot(v, W @ (W @ x[i])) / sqrt(n)
q[i] = dot(v, W @ y[i]) / sqrt(n)
e1[i] = q[i] - p[1] * r[i] - sum(tanh(p[j] * r[i]) * t[j] for j)
e2[i] = dot(v, y[i]) / sqrt(n) - p[i] * p[1] - sum(tanh(p[j] * r[i]) * r[j] for j)
output e1, e2
""",
    "linearity through a matrix, components last": """
index i, j in 1..3
input x[i], v ~ N(0, 1)
matrix W ~ N(0, 1/n)
p[i] = dot(v, x[i]) / sqrt(n)
y[i] = x[i] * p[1] + sum(tanh(p[j]) * (W @ x[j]) for j)
q[i] = dot(v, W @ y[i]) / sqrt(n)
r[i] = dot(v, W @ x[i]) / sqrt(n)
t[i] = dot(v, W @ (W @ x[i])) / sqrt(n)
e[i] = q[i] - p[1] * r[i] - sum(tanh(p[j]) * t[j] for j)
output e
""",
    "two attention layers with shared matrices, expanded": """
index i, j, k, l in 1..3
input x[i] ~ N(0, 1)
matrix Q, K, V ~ N(0, 1/n)
p[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
A[i,j] = softmax(p[i,j] for j)
y[i] = x[i] + sum(A[i,j] * (V @ x[j]) for j)
q[i,j] = dot(Q @ y[i], K @ y[j]) / sqrt(n)
a[i,j] = dot(Q @ (V @ x[i]), K @ x[j]) / sqrt(n)
b[i,j] = dot(Q @ x[i], K @ (V @ x[j])) / sqrt(n)
c[i,j] = dot(Q @ (V @ x[i]), K @ (V @ x[j])) / sqrt(n)
first[i,j] = sum(A[i,k] * a[k,j] for k) + sum(A[j,k] * b[i,k] for k)
e[i,j] = q[i,j] - p[i,j] - first[i,j] - sum(A[i,k] * A[j,l] * c[k,l] for k, l)
output e
""",
    "heads swapped and queries used as keys": """
index i, j, k, l in 1..3
index a in 1..2
input x[i] ~ N(0, 1)
matrix Q[a], K[a] ~ N(0, 1/n)
p[a,i,j] = dot(Q[a] @ x[i], K[a] @ x[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j if j <= i)
y[i] = x[i] + sum(A[a,i,j] * x[j] for a, j)
q[a,i,j] = dot(K[3-a] @ y[i], Q[3-a] @ y[j]) / sqrt(n)
B[i,k] = (1 if i == k else 0) + sum(A[a,i,k] for a)
e[a,i,j] = q[a,i,j] - sum(B[i,k] * B[j,l] * p[3-a,l,k] for k, l)
output e
""",
    "an index that is a head here and a token there": """
index i, j in 1..3
input x[i] ~ N(0, 1)
matrix Q[i], K ~ N(0, 1/n)
p[i,j] = dot(Q[i] @ x[j], K @ x[j]) / sqrt(n)
q[j] = dot(Q[j] @ x[1], K @ x[1]) / sqrt(n)
r = dot(Q[2] @ (x[1] * p[1,1] + x[3]), K @ x[1]) / sqrt(n)
t = dot(Q[2] @ x[3], K @ x[1]) / sqrt(n)
e1[j] = q[j] - p[j,1]
e2 = r - p[1,1] * p[2,1] - t
output e1, e2
""",
    "four levels with one readout": """
index i, j in 1..2
input x[i], v ~ N(0, 1)
y[0,i] = x[i]
p[0,i] = dot(v, y[0,i]) / sqrt(n)
for m in 1..3:
  y[m,i] = y[m-1,i] + sum(p[m-1,j] * y[m-1,j] for j)
  p[m,i] = dot(v, y[m,i]) / sqrt(n)
  e[m,i] = (p[m,i] - p[m-1,i] - sum(p[m-1,j]^2 for j)) / (1 + abs(p[m,i]))
output e
""",
    "nonlinearities between the levels": """
index i in 1..2
input x[i], v ~ N(0, 1)
matrix W, U ~ N(0, 1/n)
h[i] = relu(W @ x[i])
p[i] = dot(v, h[i]) / sqrt(n)
g[i] = relu(U @ (h[i] + p[i]))
q[i] = dot(v, g[i] * p[1] + h[i]) / sqrt(n)
r[i] = dot(v, g[i]) / sqrt(n)
e[i] = q[i] - p[1] * r[i] - p[i]
output e
""",
    "scores of normalised vectors": """
index i in 1..2
input x[i], v ~ N(0, 1)
matrix W ~ N(0, 1/n)
p[i] = dot(v, x[i]) / sqrt(n)
y[i] = x[i] + p[i] * (W @ x[1])
m[i] = avg(y[i]^2)
q[i] = dot(v, y[i] / sqrt(m[i])) / sqrt(n)
r = dot(v, W @ x[1]) / sqrt(n)
e[i] = q[i] * sqrt(m[i]) - p[i] - p[i] * r
output e
""",
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_of_scores_hold_in_every_draw(name):
    """Bilinearity of dot, at every width.  A missing regression on earlier strips, or two scores taken for one, leaves terms of order 1."""
    draws = limit(IDENTITIES[name], samples=256).sample(300, random_state=1)
    for values in draws.values():
        assert np.max(np.abs(values)) < 1e-6


# --- laws of scores over several levels -------------------------------------------------------------------------------


def test_scores_over_three_levels():
    """f2 = f1^2 + a fresh N(0, 1) (scores that share a readout); r given p is N(0, (1 + p^2)) with kurtosis 3 E(1+p^2)^2/4 - 3."""
    found = limit("""
input v, u, g, x, z ~ N(0, 1)
matrix W ~ N(0, 1/n)
f1 = dot(v, g) / sqrt(n)
f2 = dot(v, f1 * g + W @ g) / sqrt(n)
e = f2 - f1^2
p = dot(x, z) / sqrt(n)
r = dot(u, p * x + z) / sqrt(n)
output f2, e, r
""", samples=2**16)
    check(found["e"].var, 1.0)
    check(found["f2"].mean, 1.0)
    check(found["f2"].var, 3.0)
    check(found["f2"][()].cdf(1.0), gaussian(lambda s: norm.cdf(1 - s * s)), within=1e-3)
    check(found["r"].var, 2.0)
    check(found["r"].excess_kurtosis, 1.5, within=0.2)
    cdf = gaussian(lambda s: norm.cdf(1 / math.sqrt(1 + s * s)))
    check(found["r"][()].cdf(1.0), cdf, within=1e-3)


def test_queries_become_keys_in_the_second_layer():
    """u = x + p_12 z: K_u = 1 + p_12^2 on the diagonal, Var r = E(1 + p^2)^2 = 6; r_21 contains p_12 whole."""
    found = limit("""
index i, j in 1..2
input x[i], z[i] ~ N(0, 1)
matrix Q, K ~ N(0, 1/n)
p[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
u[i] = x[i] + p[1,2] * z[i]
r[i,j] = dot(K @ u[i], Q @ u[j]) / sqrt(n)
e = r[2,1] - p[1,2]
expect cov(r[1,1], p[1,1]) = 1 within 1
expect cov(r[2,1], p[1,2]) = 1 within 1
expect cov(r[1,2], p[1,2]) = 0 within 1
output r, e
""", samples=2**16)
    check(found["r"].var, np.full((2, 2), 6.0), within=0.05)
    check(found["e"].var, 5.0)
    for (_, estimate), wanted in zip(found.expectations, (1.0, 1.0, 0.0)):
        check(estimate, wanted)


def test_mixtures_with_conditional_means():
    """y = 2p + p W x' + x: V = p^2 + 1, mean 2p.  Var = 4 + 2, E d^4 = 16 3 + 24 (3 + 1) + 3 (3 + 2 + 1), by hand."""
    found = limit("""
input v, x, x2 ~ N(0, 1)
input c ~ Const(2)
matrix W ~ N(0, 1/n)
p = dot(v, x) / sqrt(n)
y = c * p + (W @ x2) * p + x
output y
""", samples=2**16)
    check(found["y"].var, 6.0)
    check(found["y"].excess_kurtosis, 162 / 36 - 3)


def test_normalisation_after_attention():
    """m = 1 + p^2, so E m = 2, Var m = 2; a normalised vector is exactly N(0, 1); E relu(y) = E sqrt(1 + p^2)/sqrt(2 pi)."""
    found = limit("""
index i in 1..2
input x[i], r ~ N(0, 1)
matrix V ~ N(0, 1/n)
p[i] = dot(r, x[i]) / sqrt(n)
y[i] = x[i] + p[i] * (V @ x[i])
m[i] = avg(y[i]^2)
z[i] = y[i] / sqrt(m[i])
w[i] = z[i]^2
f[i] = relu(y[i])
output m, z, w, f
""", samples=2**16)
    check(found["m"].mean, [2.0, 2.0])
    check(found["m"].var, [2.0, 2.0])
    check(found["z"].cov, np.eye(2))
    check(found["w"].var, [2.0, 2.0])
    check(found["f"].mean, np.full(2, gaussian(lambda t: math.sqrt(1 + t * t)) / math.sqrt(2 * math.pi)))


def test_linear_attention_is_variance_gamma():
    """Excess kurtosis 6/(s H) for scores without softmax (s tokens, H heads)."""
    found = limit("""
index i, j in 1..3
index a in 1..2
input x[i] ~ N(0, 1)
matrix Q[a], K[a], V[a] ~ N(0, 1/n)
p[a,i,j] = dot(Q[a] @ x[i], K[a] @ x[j]) / sqrt(n)
y[i] = sum(p[a,i,j] * (V[a] @ x[j]) for a, j) / sqrt(6)
output y
""", samples=2**16)
    check(found["y"].cov, np.eye(3))
    check(found["y"].excess_kurtosis, np.ones(3))


def test_copied_and_zero_tokens():
    """A Gram of rank one: scores of copies are equal, those of the zero token vanish, softmax averages over equal logits."""
    found = limit("""
index i, j in 1..3
input h ~ N(0, 1)
input zero ~ Const(0)
matrix A, B, V ~ N(0, 1/n)
x[1] = h
x[2] = h
x[3] = zero
p[i,j] = dot(A @ x[i], B @ x[j]) / sqrt(n)
w[i,j] = softmax(p[i,j] for j)
y[i] = sum(w[i,j] * (V @ x[j]) for j)
output p, y
""")
    draws = found.sample(200, random_state=0)["p"]
    assert np.allclose(draws[:, :2, :2], draws[:, :1, :1]) and np.all(draws[:, 2] == 0) and np.all(draws[:, :, 2] == 0)
    check(found["y"].var[2], 4 / 9)
    weight = gaussian(lambda t: (2 * math.exp(t) / (2 * math.exp(t) + 1)) ** 2)
    check(found["y"].var[:2], [weight, weight])


def test_scores_of_single_elements_are_different_variables():
    """Two scalars from the same families with other subscripts: independent N(0, 1); 4 sigma, catches a correlation of 0.03."""
    draws = limit("""
index i in 1..2
input x[i] ~ N(0, 1)
matrix Q, K ~ N(0, 1/n)
q[i] = Q @ x[i]
k[i] = K @ x[i]
p = dot(q[1], k[1]) / sqrt(n)
r = dot(q[2], k[1]) / sqrt(n)
t = dot(q[2], k[2]) / sqrt(n)
output p, r, t
""", samples=256).sample(20_000, random_state=0)
    correlation = np.corrcoef(np.stack([draws["p"], draws["r"], draws["t"]]))
    assert np.max(np.abs(correlation - np.eye(3))) < 4 / math.sqrt(20_000)


# --- infinite axes ----------------------------------------------------------------------------------------------------

HEADS = """
param H = inf
index a in 1..H
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix Q[a], K[a], V[a], U ~ N(0, 1/n)
p[a,i,j] = dot(Q[a] @ x[i], K[a] @ x[j]) / sqrt(n)
"""


def test_averages_over_infinitely_many_heads():
    """C = E tanh(Z)^2 by quadrature; a shared matrix over H keeps 2 C^2, own matrices over H vanish, functions act on the average."""
    found = limit(HEADS + """
own[i] = sum(p[a,i,j] * (V[a] @ x[j]) for a, j) / sqrt(2*H)
shared[i] = sum(tanh(p[a,i,j])^2 * (U @ x[j]) for a, j) / H
gone[i] = sum(tanh(p[a,i,j])^2 * (Q[a] @ x[j]) for a, j) / H
c[i,j] = sum(tanh(p[a,i,j])^2 for a) / H
e[i,j] = exp(c[i,j])
y[i] = sum(e[i,j] * x[j] for j)
output own, shared, gone, e, y
""", samples=2**16)
    average = gaussian(lambda t: math.tanh(t) ** 2)
    check(found["own"].cov, np.eye(2), within=1e-2)
    check(found["own"].excess_kurtosis, np.zeros(2))
    check(found["shared"].cov, np.full((2, 2), 2 * average**2), within=1e-3)
    check(found["gone"].cov, np.zeros((2, 2)))
    check(found["e"].mean, np.full((2, 2), math.exp(average)), within=1e-3)
    check(found["y"].var, np.full(2, 2 * math.exp(2 * average)), within=1e-3)


def test_outputs_along_an_infinite_axis():
    """Elements along the axis are alike: laws of tanh(Z), tanh(Z) Z' and its relu, by quadrature; their average is a number."""
    found = limit(HEADS + """
t[a,i] = tanh(p[a,i,i])
v[a,i] = tanh(p[a,i,i]) * (V[a] @ x[i])
f[a,i] = relu(v[a,i])
c = mean(t[a,1]^2 for a)
output p, t, v, f, c
""")
    second, fourth = (gaussian(lambda t, k=k: math.tanh(t) ** k) for k in (2, 4))
    check(found["p"].var, np.ones((2, 2)))
    check(found["t"].var, [second, second])
    check(found["v"].var, [second, second])
    check(found["v"].excess_kurtosis, np.full(2, 3 * (fourth / second**2 - 1)))
    check(found["f"].mean, np.full(2, gaussian(lambda t: abs(math.tanh(t))) / math.sqrt(2 * math.pi)))
    check(found["c"].mean, second)
    assert found["c"].law == "constant" and float(found["c"].excess_kurtosis) == 0


def test_draws_of_functions_of_sums_over_infinite_heads():
    """relu(c x), c = E p^2 = 1, and tanh of a unit Gaussian: 2,000 draws, 5 sigma (about 20 %)."""
    draws = limit(HEADS + """
y[i] = relu(x[i] * sum(p[a,i,i]^2 for a) / H)
z[i] = tanh(sum(p[a,i,i] * (V[a] @ x[i]) for a) / sqrt(H))
output y, z
""", samples=2**10).sample(2_000, random_state=0)
    assert np.allclose(np.mean(draws["y"] ** 2, axis=0), 0.5, atol=5 * math.sqrt(1.25 / 2_000))
    second, fourth = (gaussian(lambda t, k=k: math.tanh(t) ** k) for k in (2, 4))
    assert np.allclose(np.mean(draws["z"] ** 2, axis=0), second, atol=5 * math.sqrt((fourth - second**2) / 2_000))


def test_an_infinite_axis_inside_sampled_scores():
    """p | s ~ N(0, s^2): E c = E s^2 = 1, Var c = 2."""
    found = limit("""
param H = inf
index a in 1..H
input x, r ~ N(0, 1)
matrix Q[a], V[a] ~ N(0, 1/n)
s = dot(r, x) / sqrt(n)
p[a] = dot(Q[a] @ (s*x), x) / sqrt(n)
v[a] = p[a] * (V[a] @ x)
c = mean(p[a]^2 for a)
output p, v, c
""")
    check(found["p"].var, 1.0, within=0.1)
    check(found["v"].var, 1.0, within=0.1)
    check(found["c"].mean, 1.0)
    check(found["c"].var, 2.0, within=0.1)


@pytest.mark.parametrize("line", ["y = p[1,1,1] * x[1]", "y = tanh(p[1,1,1])", "y = sum(p[i,i,i] * x[i] for i)"])
def test_one_element_of_an_infinite_axis_has_no_name(line):
    """It would be random, and was taken for a number before."""
    with pytest.raises(NetsorError, match="N313"):
        limit(HEADS + line + "\noutput y\n")


@pytest.mark.parametrize("line", [
    "y[i] = sum(tanh(p[a,i,j])^2 * (U @ x[j]) for a, j) / sqrt(H)",  # grows like H
    "y[i] = sum(V[a] @ x[i] for a)",
])
def test_sums_that_grow_along_an_infinite_axis_are_refused(line):
    with pytest.raises(NetsorError, match="N404"):
        limit(HEADS + line + "\noutput y\n")


def test_two_infinite_axes():
    """E p^2 = 1, E cos(q)^2 = (1 + e^-2)/2 given Var q = 1."""
    found = limit("""
param H = inf
param G = inf
index a in 1..H
index b in 1..G
input x ~ N(0, 1)
matrix Q[a], V[a], R[b], S[b] ~ N(0, 1/n)
p[a] = dot(Q[a] @ x, x) / sqrt(n)
y = sum(p[a] * (V[a] @ x) for a) / sqrt(H)
q[b] = dot(R[b] @ y, y) / sqrt(n)
z = sum(cos(q[b]) * (S[b] @ y) for b) / sqrt(G)
output z
""")
    check(found["z"].var, (1 + math.exp(-2)) / 2)


# --- moments, guards, indices -----------------------------------------------------------------------------------------


def test_what_a_guard_excludes_may_divide_by_zero():
    """Var of sum_j x_j/(i-j), j != i, and of relu of such, by hand; 1/0 stands only where it is excluded."""
    found = limit("""
index i, j in 1..3
input x[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
y[i] = sum(x[j] / (i-j) for j if j != i)
z[i] = W @ relu(sum(x[j] / (i-j) for j if j != i))
u[i] = x[i] / (i-1) if i > 1 else x[i]
v[i] = relu(x[i] / (i-1) if i > 1 else x[i])
output y, z, u, v
""")
    check(found["y"].var, [1.25, 2, 1.25])
    check(found["z"].var, [0.625, 1, 0.625])
    check(found["u"].var, [1, 1, 0.25])
    check(found["v"].mean, np.array([1, 1, 0.5]) / math.sqrt(2 * math.pi))


def test_guards_on_scores():
    """Weights of a softmax over j != i sum to one and leave out the diagonal, where the logits are infinite."""
    found = limit("""
index i, j in 1..3
input x[i], r ~ N(0, 1)
p[i] = dot(r, x[i]) / sqrt(n)
w[i,j] = softmax(p[i] / (i-j) for j if j != i)
z[i] = sum(w[i,j] * x[j] for j)
output w, z
""", samples=2**10)
    assert np.allclose(found["w"].mean.value.sum(axis=1), 1) and np.all(np.diag(found["w"].mean.value) == 0)
    assert np.all(found["z"].var.value < 1)


def test_index_equalities_under_nonlinearities():
    """Moebius inversion: relu kernels (Cho & Saul) of u_ij = sum_a W_a x_i + x_j, whose covariance is 2 delta_ii' + delta_jj'."""
    found = limit("""
index i, j in 1..3
index a in 1..2
input x[i] ~ N(0, 1)
matrix W[a], U ~ N(0, 1/n)
y[i,j] = U @ relu(sum(W[a] @ x[i] for a) + x[j])
r[i,j] = U @ relu(x[i] + x[j])
s[i,j] = U @ (x[i] * x[j])
output y, r, s
""")
    delta = np.eye(3)
    overlap = 2 * delta[:, None, :, None] + delta[None, :, None, :]
    check(found["y"].cov, np.vectorize(relu_kernel)(3, 3, overlap), tolerance=1e-7)
    pair = delta[:, None, :, None] + delta[:, None, None, :] + delta[None, :, :, None] + delta[None, :, None, :]
    size = 2 + 2 * delta
    wanted = np.vectorize(relu_kernel)(size[:, :, None, None], size, np.minimum(pair, np.sqrt(size[:, :, None, None] * size)))
    check(found["r"].cov, wanted, tolerance=1e-7)
    product = delta[:, :, None, None] * delta + delta[:, None, :, None] * delta[None, :, None, :]
    check(found["s"].cov, product + delta[:, None, None, :] * delta[None, :, :, None])


def test_strides_conditions_and_positions():
    """Hand counts of overlapping terms, relu kernels (Cho & Saul), E tanh(2Z)^2 by quadrature."""
    found = limit("""
index i, j in 1..4
index o in -1..1
input x[i] ~ N(0, 1)
matrix W[o], U ~ N(0, 1/n)
y[i] = U @ relu(sum(W[o] @ x[i+o] for o if 1 <= i+o and i+o <= 4))
z[i] = U @ tanh(x[i+1] if i < 4 else 2*x[1])
v[i] = U @ mean(x[j]^2 for j if j <= i)
w[i] = sum(2^(-abs(i-j)) * i * x[j] for j if j <= i)
output y, z, v, w
""")
    check(found["y"].var, [1, 1.5, 1.5, 1])
    check(found["y"].cov[0], [1, relu_kernel(2, 3, 0), relu_kernel(2, 3, 0), relu_kernel(2, 2, 0)])
    check(found["z"].cov[3], [0, 0, 0, gaussian(lambda t: math.tanh(2 * t) ** 2)])
    check(found["v"].cov[3], [1.5, 1.5, 1.5, 1.5])
    check(found["w"].var, [i * i * sum(4.0 ** -(i - j) for j in range(1, i + 1)) for i in range(1, 5)])


def test_sums_over_part_of_a_range():
    """E[x_i (x_1 + x_2)] and the overlap of x_i + x_(i+1) with x_j, by counting."""
    found = limit("""
index i in 1..4
index j in 1..2
index k in 3..4
input x[i] ~ N(0, 1)
y = sum(x[j] for j)
r[i] = avg(x[i] * y)
s[i] = avg(x[i] * sum((x[j] + x[j+1])^2 for j) * x[i])
t[k] = avg(x[k] * sum(x[k-j] + x[k] for j))
output r, s, t
""")
    check(found["r"].mean, [1, 1, 0, 0])
    check(found["s"].mean, [4 + 2, 4 + 4, 4 + 2, 4])
    check(found["t"].mean, [2, 2])


def test_correlated_inputs_over_two_axes():
    """Isserlis with means: Cov(h k, h' k') = K (K + m m')."""
    found = limit("""
data K[B, C] = [[1, 0.5], [0.5, 2]]
index b, c in 1..2
index g, f in 1..2
input h[g,b] ~ N(0, K[b,c])
input k[b] ~ N(0.1*b, K[b,c])
matrix U ~ N(0, 1/n)
y[g,b] = U @ relu(h[g,b])
z[b] = U @ (h[1,b] * k[b])
q[b] = k[b] * k[1]
p[g,f,b,c] = dot(U @ h[g,b], h[f,c]) / sqrt(n)
expect cov(p[1,2,1,1], p[1,2,2,2]) = 0.25 within 1
expect cov(p[1,2,1,1], p[2,1,1,1]) = 0 within 1
output y, z, q, p
""")
    check(found["y"].cov[0, 0], [[0.5, relu_kernel(1, 2, 0.5)], [relu_kernel(1, 1, 0), relu_kernel(1, 2, 0)]])
    check(found["z"].cov, [[1.01, 0.26], [0.26, 4.08]])
    check(found["q"].mean, [1.01, 0.52])
    check(found["q"].var, [2 + 4 * 0.01, 2 + 0.25 + 0.04 + 2 * 0.01 + 2 * 0.02 * 0.5])
    check(found["p"].var[0, :, 0, 1], [2, 2])
    for (_, estimate), wanted in zip(found.expectations, (0.25, 0.0)):
        check(estimate, wanted)


def test_a_vector_that_reduces_to_a_constant():
    """1 + 0 x is the constant vector: readouts, products and averages of it by hand."""
    found = limit("""
input x, z ~ N(0, 1)
matrix W ~ N(0, 1/n)
c = 1 + 0*x
r = dot(x * z * z, c) / sqrt(n)
y = W @ c
m = avg(c)
output r, y, m
""")
    check(found["r"].var, 3.0)
    check(found["y"].var, 1.0)
    check(found["m"].mean, 1.0)


def test_exact_correlations_and_ties():
    """Tokens h, -h, 2h, g: relu, step and sign kernels by hand; step(0) = sign(0) = 0."""
    found = limit("""
index i in 1..4
input h, g ~ N(0, 1)
input one ~ Const(1)
matrix W ~ N(0, 1/n)
x[1] = h
x[2] = -h
x[3] = 2*h
x[4] = g
r[i] = W @ relu(x[i])
s[i] = W @ step(x[i])
o[i] = W @ sign(x[i])
t = step(one - 1)
output r, s, o, t
""")
    a = 1 / (2 * math.pi)
    check(found["r"].cov, [[0.5, 0, 1, a], [0, 0.5, 0, a], [1, 0, 2, 2 * a], [a, a, 2 * a, 0.5]], tolerance=1e-8)
    check(found["s"].cov, [[0.5, 0, 0.5, 0.25], [0, 0.5, 0, 0.25], [0.5, 0, 0.5, 0.25], [0.25, 0.25, 0.25, 0.5]])
    check(found["o"].cov, [[1, -1, 1, 0], [-1, 1, -1, 0], [1, -1, 1, 0], [0, 0, 0, 1]])
    check(found["t"].mean, 0.0)


def test_growth_and_scale():
    """relu stacks carry the factor sigma^2/2 a layer; moments of exp by the lognormal law."""
    stack = """
param L = 60
index l in 1..L
input h ~ N(0, 1e6)
matrix W[l] ~ N(0, 100/n)
x[0] = h
for k in 1..L:
  x[k] = relu(W[k] @ x[k-1])
second = avg(x[L]^2)
output second
"""
    assert float(limit(stack)["second"].mean) == pytest.approx(1e6 * 50.0**60, rel=1e-9)
    found = limit("input h ~ N(0, 1)\nmatrix W, U ~ N(0, 1/n)\nx = exp(W @ h)\ny = exp(U @ x)\noutput y\n")
    assert float(found["y"].mean) == pytest.approx(math.exp(math.exp(2) / 2), rel=1e-10)
    assert float(found["y"].var) == pytest.approx(math.exp(2 * math.exp(2)) - math.exp(math.exp(2)), rel=1e-10)


# --- laws and errors --------------------------------------------------------------------------------------------------


def test_kurtosis_of_functions():
    """Closed forms: Bernoulli, lognormal, the product of two N(m, 2)."""
    found = limit("""
input x, z ~ N(0.4, 2)
y = exp(0.3*x)
s = step(x)
q = x * z
output y, s, q
""")
    p = norm.cdf(0.4 / math.sqrt(2))
    check(found["s"].excess_kurtosis, (1 - 6 * p * (1 - p)) / (p * (1 - p)), tolerance=1e-9)
    w = math.exp(0.18)
    check(found["y"].excess_kurtosis, w**4 + 2 * w**3 + 3 * w**2 - 6, tolerance=1e-9)
    check(found["q"].var, 4 + 2 * 2 * 0.16)


def test_the_law_of_a_score_times_an_input():
    """p x has density K_0(|t|)/pi and characteristic function 1/sqrt(1 + t^2)."""
    law = limit("input x, v ~ N(0, 1)\np = dot(v, x) / sqrt(n)\ny = p * x\noutput y\n", samples=2**16)["y"][()]
    t = np.array([-1.0, 0.3, 2.0])
    check(law.pdf(t), k0(np.abs(t)) / math.pi, within=1e-3)
    check(law.cdf(t), [0.5 + math.copysign(quad(lambda s: k0(s) / math.pi, 0, abs(u))[0], u) for u in t], within=1e-3)
    assert np.allclose(law.cf(t).value.real, 1 / np.sqrt(1 + t * t), atol=2e-3)


def test_expected_covariances_between_kinds():
    """Vector and scalar, vector and its own image, function and scalar: E[y p] = 2 E p^2; E|p| p^2 = 2 sqrt(2/pi)."""
    found = limit("""
input x, v ~ N(0, 1)
input c ~ Const(2)
matrix W ~ N(0, 1/n)
p = dot(v, x) / sqrt(n)
q = p^2
y = p * x + p * c
z = relu(p * x)
u = x * tanh(x)
k = x + W @ x
expect cov(y, p) = 2 within 1
expect cov(z, q) = 0.3 within 1
expect cov(x, k) = 1 within 1
expect cov(k, u) = 0 within 1
output y
""", samples=2**16)
    wanted = (2.0, math.sqrt(2 / math.pi) / math.sqrt(2 * math.pi), 1.0, 0.0)
    for (_, estimate), value in zip(found.expectations, wanted):
        check(estimate, value)


def test_joint_draws_fit_together():
    """Functions of scores and coordinates in one draw; scores are independent of coordinates."""
    found = limit("""
index i in 1..2
input x[i], v ~ N(0, 1)
input shifted[i] ~ N(i, 0.01)
p[i] = dot(v, x[i]) / sqrt(n)
y = p[1] * x[1]
z = relu(x[1]) * p[2]
m = avg(z^2)
output p, x, y, z, m, shifted
""", samples=256)
    draws = found.sample(20_000, random_state=3)
    p, x = draws["p"], draws["x"]
    assert np.allclose(draws["y"], p[:, 0] * x[:, 0])
    assert np.allclose(draws["z"], p[:, 1] * np.maximum(x[:, 0], 0))
    assert np.allclose(draws["m"], p[:, 1] ** 2 / 2)
    assert np.all(np.abs(draws["shifted"].mean(axis=0) - [1, 2]) < 5 * 0.1 / math.sqrt(20_000))
    joint = np.corrcoef(np.concatenate([p, x], axis=1).T)  # 4 sigma for six numbers: false-alarm rate 4e-4, catches 0.03
    assert np.max(np.abs(joint - np.eye(4))) < 4 / math.sqrt(20_000)


def test_errors_tell_of_cancellation():
    """Little is left of the digits of the kurtosis of 1000 + tanh/1000: the stated error must say so.  True: Var 1e-6 E tanh^2."""
    found = limit("input x ~ N(0, 1)\ny = 1000 + 0.001*tanh(x)\noutput y\n")["y"]
    variance = 1e-6 * gaussian(lambda t: math.tanh(t) ** 2)
    assert abs(float(found.var) - variance) <= float(found.var.error) < 0.1 * variance
    kurtosis = gaussian(lambda t: math.tanh(t) ** 4) / gaussian(lambda t: math.tanh(t) ** 2) ** 2 - 3
    assert abs(float(found.excess_kurtosis) - kurtosis) <= float(found.excess_kurtosis.error)


def test_errors_are_not_blown_up_by_vanishing_odd_moments():
    """max(x, x) is x, though nothing in the expression says that its mean vanishes."""
    found = limit("input x ~ N(0, 1)\nf = max(x, x)\noutput f\n")["f"]
    check(found.var, 1.0, within=1e-12)
    check(found.mean, 0.0, within=1e-12)


def test_noise_of_quasi_random_integrals_is_no_kurtosis():
    """V depends on the score by 1e-6 only, so y is Gaussian: before, kurtosis came out 3 sigma above 0 for every seed."""
    text = """
index i in 1..3
input x[i], v ~ N(0, 1)
matrix W ~ N(0, 1/n)
p = dot(v, x[1]) / sqrt(n)
y = W @ max(x[1], x[2] + 1e-6*p*x[1], x[3])
output y
"""
    scores = [limit(text, seed=seed, samples=2**12)["y"].excess_kurtosis for seed in range(4)]
    assert all(abs(float(k.value)) < 1.5 * float(k.error) for k in scores)


# --- plain simulation, written without netsor -------------------------------------------------------------------------


def times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.matmul(matrix, vector[..., None])[..., 0]


def one_matrix_in_odd_functions(rng, n: int, runs: int) -> np.ndarray:
    W, x = rng.standard_normal((runs, n, n)) / math.sqrt(n), rng.standard_normal((runs, n))
    g = times(W, x)
    h, k = times(W, np.maximum(g, 0)), times(W, g * g)
    return np.stack([np.sum(np.tanh(h) * g * g, 1), np.sum(g * h * h, 1), np.sum(np.tanh(k) * g * g, 1)], 1) / math.sqrt(n)


def normalised_readouts(rng, n: int, runs: int) -> np.ndarray:
    W, U = rng.standard_normal((2, runs, n, n)) / math.sqrt(n)
    x, v = rng.standard_normal((2, runs, n))
    g = np.maximum(times(W, x), 0)
    y = g / np.sqrt(np.mean(g * g, 1, keepdims=True)) - np.mean(g, 1, keepdims=True)
    p = np.sum(v * y, 1) / math.sqrt(n)
    z = y + p[:, None] * times(U, y)
    w = z / np.sqrt(np.mean(z * z, 1, keepdims=True))
    return np.stack([p, np.sum(v * w, 1) / math.sqrt(n), np.sum(times(U, w) * np.tanh(v), 1) / math.sqrt(n)], 1)


def matrices_in_a_cycle(rng, n: int, runs: int) -> np.ndarray:
    A, B, C, V = rng.standard_normal((4, runs, n, n)) / math.sqrt(n)
    x = rng.standard_normal((2, runs, n))
    dot = lambda M, u, N, w: np.sum(times(M, u) * times(N, w), 1) / math.sqrt(n)  # noqa: E731
    p = [dot(A, u, B, u) for u in x]
    y = [np.maximum(u, 0) + np.tanh(s)[:, None] * times(V, u) for u, s in zip(x, p)]
    return np.stack([p[0], dot(B, y[0], C, np.maximum(y[1], 0)), dot(C, y[1], A, y[0]), dot(C, y[0], A, y[0])], 1)


SIMULATIONS = {
    one_matrix_in_odd_functions: """
input x ~ N(0, 1)
matrix W ~ N(0, 1/n)
g = W @ x
h = W @ relu(g)
k = W @ (g^2)
p[1] = dot(tanh(h), g^2) / sqrt(n)
p[2] = dot(g, h^2) / sqrt(n)
p[3] = dot(tanh(k), g * g) / sqrt(n)
output p
""",
    normalised_readouts: """
input x, v ~ N(0, 1)
matrix W, U ~ N(0, 1/n)
m = avg(relu(W @ x)^2)
y = relu(W @ x) / sqrt(m) - avg(relu(W @ x))
p[1] = dot(v, y) / sqrt(n)
z = y + p[1] * (U @ y)
k = avg(z^2)
w = z / sqrt(k)
p[2] = dot(v, w) / sqrt(n)
p[3] = dot(U @ w, tanh(v)) / sqrt(n)
output p
""",
    matrices_in_a_cycle: """
index a in 1..3
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix W[a], V ~ N(0, 1/n)
q[i,j] = dot(W[1] @ x[i], W[2] @ x[j]) / sqrt(n)
y[i] = relu(x[i]) + tanh(q[i,i]) * (V @ x[i])
r[i,j] = dot(W[2] @ y[i], W[3] @ relu(y[j])) / sqrt(n)
t[i,j] = dot(W[3] @ y[i], W[1] @ y[j]) / sqrt(n)
p[1] = q[1,1]
p[2] = r[1,2]
p[3] = t[2,1]
p[4] = t[1,1]
output p
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("simulate", SIMULATIONS, ids=lambda simulate: simulate.__name__)
def test_scores_agree_with_plain_simulation(simulate):
    """Second moments of scores at n = 40 and 80, their O(1/n) bias cancelled by the pair.

    5 sigma for at most ten numbers: false-alarm rate 6e-6; the test itself says that a change by 40 % of a standard deviation product
    is seen (variances typically by 20 %)."""
    moments = {}
    for n in (40, 80):
        rng = np.random.default_rng(n)
        values = np.concatenate([simulate(rng, n, 500) for _ in range(40)])
        products = values[:, :, None] * values[:, None, :]
        moments[n] = products.mean(axis=0), products.std(axis=0) / math.sqrt(len(products))
    found = 2 * moments[80][0] - moments[40][0]
    error = np.hypot(2 * moments[80][1], moments[40][1])
    draws = limit(SIMULATIONS[simulate], samples=2**10).sample(50_000, random_state=0)["p"]
    products = draws[:, :, None] * draws[:, None, :]
    wanted, own = products.mean(axis=0), products.std(axis=0) / math.sqrt(len(products))
    scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert np.all(5 * np.hypot(error, own) < 0.4 * scale), "the comparison would see little"
    assert np.all(np.abs(found - wanted) < 5 * np.hypot(error, own)), (found, wanted, error)
