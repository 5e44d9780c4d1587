"""Exact sampling has the law of dense sampling, at widths below the number of directions too; wrong samplers are caught.

The comparison, its false-alarm rate and its power are those of ``conftest.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import netsor
from netsor.finite import frame, gaussian_matrix

RUNS = 10_000

ATTENTION = """
width n
index i, j in 1..3
index a in 1..2
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i]     = clip(h[i], -{C}, {C})
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i]     = sum(A[a,i,j] * (WO[a] @ (WV[a] @ x[j])) for a, j) / sqrt(2)
output p, y
"""

CASES = {
    "attention": (8, ATTENTION.replace("{C}", "100")),
    "attention with a narrow clip": (8, ATTENTION.replace("{C}", "0.7")),
    "attention on relu tokens of one matrix": (6, """
width n
index i, j in 1..3
input h[i] ~ N(0, 1)
matrix W, WQ, WK, WV ~ N(0, 2/n)
x[i]   = relu(W @ h[i])
p[i,j] = dot(WQ @ x[i], WK @ x[j]) / sqrt(n)
y[i]   = sum(softmax(p[i,j] for j) * (WV @ x[j]) for j)
output p, y
"""),
    "more tokens than coordinates": (3, """
width n
index i, j in 1..5
input h[i] ~ N(0, 1)
matrix WQ, WK, WV ~ N(0, 1/n)
p[i,j] = dot(WQ @ h[i], WK @ h[j]) / sqrt(n)
y[i]   = h[i] + sum(softmax(p[i,j] for j) * (WV @ h[j]) for j)
m[i]   = avg(y[i] * y[1])
output p, y, m
"""),
    "two layers that share all matrices": (6, """
width n
index i, j in 1..2
index a in 1..2
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[0,i] = h[i]
for l in 1..2:
  p[l,a,i,j] = dot(WQ[a] @ x[l-1,i], WK[a] @ x[l-1,j]) / sqrt(n)
  x[l,i] = x[l-1,i] + sum(softmax(p[l,a,i,j] for j) * (WO[a] @ (WV[a] @ x[l-1,j])) for a, j) / sqrt(2)
output p, x
"""),
    "a transformer of two layers": (8, """
width n
index i, j in 1..3
input h[i] ~ N(0, 1)
x[0,i] = h[i]
for l in 1..2:
  matrix WQ[l], WK[l], WV[l], U[l], D[l] ~ N(0, 1/n)
  p[l,i,j] = dot(WQ[l] @ x[l-1,i], WK[l] @ x[l-1,j]) / sqrt(n)
  z[l,i] = x[l-1,i] + sum(softmax(p[l,i,j] for j if j <= i) * (WV[l] @ x[l-1,j]) for j)
  x[l,i] = z[l,i] + D[l] @ gelu(U[l] @ (z[l,i] / sqrt(avg(z[l,i]^2))))
output x, p[2,i,j]
"""),
    "a recurrence longer than the width": (5, """
width n
index t in 1..8
input u[t] ~ N(0, 0.5)
matrix W ~ N(0, 2/n)
s[1] = tanh(u[1])
for r in 2..8:
  s[r] = tanh(W @ s[r-1] + u[r])
output s
"""),
    "a linear recurrence": (4, """
width n
input x, v ~ N(0, 1)
matrix W ~ N(0, 1/n)
s[0] = x
for r in 1..6:
  s[r] = W @ s[r-1]
f[1] = dot(v, s[1]) / sqrt(n)
f[6] = dot(v, s[6]) / sqrt(n)
m = avg(s[2] * s[5])
output f, m, s[6]
"""),
    "readouts, a bottleneck and a router": (8, """
width n
index i in 1..2
index c, d in 1..3
input x[i] ~ N(0, 1)
input r[c] ~ N(0, 1)
matrix W[c] ~ N(0, 1/n)
g[c,i] = dot(r[c], relu(x[i])) / sqrt(n)
top[c,i] = 1 if sum(1 for d if g[d,i] > g[c,i]) < 2 else 0
w[c,i] = softmax(2*g[c,i] for c)
y[i] = sum(top[c,i] * w[c,i] * (W[c] @ relu(x[i])) for c)
z[i] = relu(y[i]) - avg(relu(y[i]))
output g, y, z
"""),
    "low rank": (6, """
width n
index i, j in 1..3
index r in 1..2
data K[S, S] = [[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 2]]
input x[i] ~ N(0, K)
input wq[r], wk[r], wv[r], wo[r] ~ N(0, 1)
q[i,r] = dot(wq[r], x[i]) / sqrt(n)
k[i,r] = dot(wk[r], x[i]) / sqrt(n)
v[i,r] = dot(wv[r], x[i]) / sqrt(n)
A[i,j] = softmax(sum(q[i,r] * k[j,r] for r) / sqrt(2) for j)
y[i] = x[i] + sum(A[i,j] * v[j,r] * wo[r] for j, r)
output q, y
"""),
    "layer normalisation": (6, """
width n
index i in 1..2
input h[i] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
x[i] = relu(W @ h[i]) + 0.5
mu[i] = avg(x[i])
v[i] = avg((x[i] - mu[i])^2)
y[i] = V @ ((x[i] - mu[i]) / sqrt(v[i] + 0.1))
r[i] = (W @ h[i]) / sqrt(avg((W @ h[i])^2) + 0.1)
output y, mu, v, r
"""),
    "convolutions with shared weights": (5, """
width n
index t in 1..5
index u in 1..3
index o in -1..1
input h[t] ~ N(0, 1)
matrix W[o] ~ N(0, 1/(3*n))
y[u] = sum(W[o] @ relu(h[2*u-1+o]) for o if 1 <= 2*u-1+o and 2*u-1+o <= 5)
z[u] = sum(W[o] @ relu(y[u+o]) for o if 1 <= u+o and u+o <= 3)
output y, z
"""),
    "a linear convolution around a ring": (4, """
width n
index t in 1..4
index o in -1..1
input h[t] ~ N(0, 1)
input v ~ N(0, 1)
matrix W[o] ~ N(0, 1/(3*n))
y[t] = sum(W[o] @ h[mod(t+o-1, 4)+1] for o)
z[t] = sum(W[o] @ y[mod(t+o-1, 4)+1] for o)
f[t] = dot(v, z[t]) / sqrt(n)
output f, z
"""),
    "gates and products": (6, """
width n
input x, g ~ N(0, 1)
matrix U, V ~ N(0, 1/n)
a = sigmoid(U @ x) * tanh(V @ x) + (1 - sigmoid(U @ x)) * g
y = V @ (a * g)
q = dot(y, U @ a) / n
output a, y, q
"""),
    "a score between a nonlinear and a linear vector": (5, """
width n
index i in 1..2
input x[i] ~ N(0.5, 1)
matrix W, V ~ N(0, 1/n)
s[i] = dot(relu(x[1]), W @ x[i]) / sqrt(n)
y = V @ (x[1] + s[1] * (W @ x[2]))
output s, y
"""),
    "rectangular matrices": (4, """
width n, m = 2*n, r = n/2
index i, j in 1..2
input h[i] ~ N(0, 1)
matrix U : (m, n) ~ N(0, 1/n)
matrix D : (n, m) ~ N(0, 1/m)
matrix Q, K : (r, n) ~ N(0, 1/n)
x[i] = h[i] + D @ relu(U @ h[i])
z[i] = x[i] + D @ relu(U @ x[i])
p[i,j] = dot(Q @ z[i], K @ z[j]) / sqrt(r)
y[i] = sum(softmax(p[i,j] for j) * (U @ z[j]) for j)
output p, x, y
"""),
    "some matrices used again and others not": (5, """
width n
index a in 1..3
input x, z ~ N(0, 1)
matrix W[a] ~ N(0, a/n)
u[a] = W[a] @ x
w = W[2] @ (u[2] + z)
b[a] = W[1 if a < 3 else 3] @ z
f[a] = avg(u[a] * b[a])
g = avg(w * u[1])
output f, g, b, w
"""),
}

CASES["a recurrence of eight steps"] = (12, CASES["a recurrence longer than the width"][1])


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_that_of_dense_sampling(name, differences, exact_and_dense):
    assert differences(*exact_and_dense(*CASES[name], RUNS)) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "programs").glob("*.netsor")), ids=lambda path: path.stem)
def test_the_example_programs_have_the_law_of_dense_sampling(path, differences):
    program = netsor.load(path)
    if program.ir.infinite:
        program = netsor.load(path, **dict.fromkeys(program.ir.infinite, 3))
    exact = program.sample(5, RUNS, 1, coordinates=2, workers=1)
    assert differences(exact, program.sample(5, RUNS, 2, coordinates=2, method="dense")) == []


@pytest.mark.parametrize("name", ["attention", "two layers that share all matrices", "a recurrence longer than the width"])
def test_all_coordinates_have_the_law_of_dense_sampling(name, differences):
    """Inner products of whole outputs; two coordinates of each."""
    width, text = CASES[name]
    program = netsor.parse(text)
    runs = [program.sample(width, RUNS, 3, coordinates=None, workers=1),
            program.sample(width, RUNS, 4, coordinates=None, method="dense")]
    for values in runs:
        for key, value in list(values.items()):
            if value.shape[-1] == width:
                vectors = value.reshape(RUNS, -1, width)
                values[key] = vectors[..., -2:]
                values["products of " + key] = vectors @ vectors.swapaxes(1, 2)
    assert differences(*runs) == []


@pytest.mark.parametrize("name", [
    "two layers that share all matrices", "a recurrence longer than the width", "a linear recurrence",
    "convolutions with shared weights", "a linear convolution around a ring", "some matrices used again and others not",
])
def test_a_sampler_that_forgets_earlier_products_is_caught(name, differences, monkeypatch, exact_and_dense):
    monkeypatch.setattr(gaussian_matrix.Known, "remember", _forget)
    assert differences(*exact_and_dense(*CASES[name], RUNS)) != []


def _forget(self, unit, images):
    """Earlier products as if they had been with another matrix."""
    rng = np.random.default_rng(5)
    known = 0 if self.images is None else self.images.shape[-2]
    REMEMBER(self, unit, images)
    if known:
        self.images = np.concatenate([rng.standard_normal(self.images[..., :known, :].shape), self.images[..., known:, :]], axis=-2)


REMEMBER = gaussian_matrix.Known.remember


class _TooManyDegrees:
    """A generator whose remainders are as long as if no dimension were used up."""

    def __init__(self, rng: np.random.Generator, n: int):
        self.standard_normal = rng.standard_normal
        self.chisquare = lambda degrees, size: rng.chisquare(np.full_like(degrees, n), size)


def test_a_frame_with_wrong_degrees_of_freedom_is_caught(differences, monkeypatch, exact_and_dense):
    create = frame.Frame.__init__
    monkeypatch.setattr(
        frame.Frame, "__init__", lambda self, lead, n, recorded, rng: create(self, lead, n, recorded, _TooManyDegrees(rng, n)))
    assert differences(*exact_and_dense(*CASES["more tokens than coordinates"], RUNS)) != []
