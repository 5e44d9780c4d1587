"""Products with W and W.T at finite width, no matrix formed, against every matrix drawn in full.

The comparison, its false-alarm rate and its power are those of ``conftest.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.finite import gaussian_matrix
from netsor.finite.plan import make_plan

RUNS = 10_000

CASES = {
    "a tied autoencoder": (6, """
width n, m = 3*n/2
index i in 1..2
input x[i] ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/n)
h[i] = relu(W @ x[i])
xh[i] = W.T @ h[i]
err[i] = dot(xh[i] - x[i], xh[i] - x[i]) / n
output xh, h, err
"""),
    "powers of W.T W on inner products alone": (5, """
width n, m = 2*n
input v ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/m)
x[0] = v
for t in 1..3:
  x[t] = W.T @ (W @ x[t-1])
  c[t] = dot(v, x[t]) / n
output c
"""),
    "a symmetric matrix, coordinates recorded": (4, """
width n
input v ~ N(0, 1)
matrix W ~ N(0, 1/n)
x[0] = v
for t in 1..4:
  x[t] = (W @ x[t-1] + W.T @ x[t-1]) / sqrt(2)
output x[4], x[1]
"""),
    "heads, each with its transpose": (6, """
width n, m = n/2
index a, b in 1..2
index i in 1..2
input h[i] ~ N(0, 1)
matrix W[a] : (m, n) ~ N(0, a/n)
u[a,i] = W[a] @ h[i]
y[i] = sum(W[a].T @ tanh(u[a,i]) for a)
z[b,i] = W[b] @ y[i]
output y, z
"""),
    "a convolution and back": (5, """
width n
index t in 1..4
index o in -1..1
input x[t] ~ N(0, 1)
matrix W[o] ~ N(0, 1/n)
g[t] = sum(W[o] @ x[t+o] for o if 1 <= t+o and t+o <= 4)
d[t] = step(g[t]) * x[1]
b[t] = sum(W[o].T @ d[t-o] for o if 1 <= t-o and t-o <= 4)
output g, b
"""),
    "backpropagation through two layers": (6, """
width n
index i in 1..2
input h[i] ~ N(0, 1)
input v ~ N(0, 1)
matrix W1, W2 ~ N(0, 2/n)
g1[i] = W1 @ h[i]
g2[i] = W2 @ relu(g1[i])
f[i] = dot(v, relu(g2[i])) / sqrt(n)
d2[i] = v * step(g2[i])
d1[i] = (W2.T @ d2[i]) * step(g1[i])
d0[i] = W1.T @ d1[i]
k[i] = dot(d0[i], d0[1]) / n
output f, k, d0
"""),
    "several rounds through one matrix": (5, """
width n, m = 2*n
input x0 ~ N(0, 1)
input b : m ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/n)
x[0] = tanh(x0)
for t in 1..3:
  z[t] = tanh(W @ x[t-1] + b)
  x[t] = tanh(W.T @ z[t]) + x[t-1]
  q[t] = avg(x[t]^2)
output x[3], z[3], q
"""),
    "only the transpose is used": (5, """
width n, m = 2*n
index i in 1..2
input h[i] : m ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/n)
y[i] = W.T @ relu(h[i])
z[i] = W.T @ h[i]
output y, z
"""),
}


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_that_of_dense_sampling(name, differences, exact_and_dense):
    assert differences(*exact_and_dense(*CASES[name], RUNS)) == []


def test_what_no_function_touches_stays_in_a_frame():
    plan = make_plan(netsor.parse(CASES["powers of W.T W on inner products alone"][1]).ir)
    assert "coordinates" not in plan.text().replace("recorded coordinates", "")
    assert plan.text().count("drawn given earlier products") == 6


@pytest.mark.parametrize("name", [name for name in CASES if name != "only the transpose is used"])
def test_a_transpose_that_is_another_matrix_is_caught(name, differences, monkeypatch, exact_and_dense):
    def independent(self, vectors, fresh):
        if not hasattr(self, "other"):
            self.other = gaussian_matrix.GaussianMatrix(self.deviation[..., 0, 0])
        return self.other.times(vectors, fresh)

    monkeypatch.setattr(gaussian_matrix.GaussianMatrix, "transposed_times", independent)
    assert differences(*exact_and_dense(*CASES[name], RUNS)) != []


def test_a_million_coordinates_take_seconds():
    """E v^2 = 3/4 and E v g = 1/2 at width 2^20, where the matrix has 10^12 entries; errors of the averages are about 1e-3."""
    program = netsor.parse("""
width n
input g ~ N(0, 1)
matrix W ~ N(0, 1/n)
v = W.T @ relu(W @ g)
s = avg(v^2)
c = avg(v*g)
output s, c
""")
    runs = program.sample(2**20, 2, workers=1)
    assert np.allclose(runs["s"], 0.75, atol=0.01) and np.allclose(runs["c"], 0.5, atol=0.01)
