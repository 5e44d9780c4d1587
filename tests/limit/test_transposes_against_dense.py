"""Programs with W and W.T: the limit with its corrections against every matrix drawn in full (``conftest.py`` says what is compared).

Without the corrections every one of these programs is rejected; the last test says so.
"""

from __future__ import annotations

import pytest

import netsor
from netsor.limit import analysis
from netsor.rules.transpose import without_transposes

WIDTH, RUNS = 128, 300

CASES = {
    "there and back": """
width n
input g ~ N(0, 1)
matrix W ~ N(0, 1/n)
v = W.T @ relu(W @ g)
s = W @ v
output v, s
""",
    "a step": """
width n
index i in 1..2
input g[i] ~ N(0, i)
matrix W ~ N(0, 2/n)
u[i] = W @ g[i]
v[i] = W.T @ (2*step(u[i]) + sign(u[i] - 0.5)*u[1])
output v
""",
    "a tied autoencoder and its gradient": """
width n, m = 2*n
input x ~ N(0, 1)
matrix W : (m, n) ~ N(0, 1/n)
u = W @ x
h = relu(u)
r = W.T @ h - x
dh = step(u) * (W @ r)
dx = W.T @ dh - r
output h, r, dh, dx
""",
    "backpropagation through a tanh network": """
width n
index i in 1..2
input h[i] ~ N(0, 1)
input t ~ N(0, 1)
matrix W1, W2 ~ N(0, 1.5/n)
x1[i] = tanh(W1 @ h[i])
x2[i] = tanh(W2 @ x1[i] + 0.3)
d2[i] = 3*x2[i]*(1 - x2[i]^2) + 0.3*t
d1[i] = (W2.T @ d2[i]) * (1 - x1[i]^2)
d0[i] = W1.T @ d1[i]
output d2, d1, d0
""",
    "backpropagation through a relu network with a loss": """
width n
input h, t ~ N(0, 1)
matrix W1, W2 ~ N(0, 2/n)
g1 = W1 @ h
g2 = W2 @ relu(g1)
d2 = (relu(g2) - t) * step(g2)
d1 = (W2.T @ d2) * step(g1)
d0 = W1.T @ d1
output d2, d1, d0
""",
    "several rounds through one rectangular matrix": """
width n, m = n/2
input x0 ~ N(0, 1)
input b : m ~ N(0.3, 1)
matrix W : (m, n) ~ N(0, 1/n)
x[0] = x0
for t in 1..3:
  z[t] = tanh(W @ x[t-1] + b)
  x[t] = tanh(W.T @ z[t]) + 0.5*x[t-1]
output x[1], x[2], x[3], z[1], z[2], z[3]
""",
    "one matrix applied to its own products": """
width n
input x0 ~ N(0, 1)
matrix W ~ N(0, 1/n)
x[0] = x0
for t in 1..3:
  x[t] = relu(W @ x[t-1] + W.T @ x[t-1])
output x[1], x[2], x[3]
""",
    "a network shared between layers, transposed": """
width n
index i in 1..2
input h[i] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
a[i] = tanh(W @ h[i])
b[i] = tanh(W @ a[i] + V @ a[i])
c[i] = W.T @ (b[i] + a[1])
e[i] = V.T @ (c[i] * b[i]) + W.T @ c[i]
output b, c, e
""",
    "families: heads with a transpose each": """
width n
index a, b in 1..2
index i in 1..2
input h[i] ~ N(0, 1)
matrix W[a] ~ N(0, a/n)
u[a,i] = W[a] @ h[i]
c[i] = sum(W[a].T @ tanh(u[a,i]) for a)
e[b] = W[b] @ (c[1] * c[2])
f[b] = W[3-b].T @ relu(e[b])
output c, e, f
""",
    "a convolution and its transpose": """
width n
index t in 1..4
index o in -1..1
input x[t] ~ N(0, 1)
matrix W[o] ~ N(0, 1/(3*n))
g[t] = sum(W[o] @ x[t+o] for o if 1 <= t+o and t+o <= 4)
d[t] = relu(g[t]) - step(g[t]) * x[1]
b[t] = sum(W[o].T @ d[t-o] for o if 1 <= t-o and t-o <= 4)
output g, b
""",
    "maxima, conditions and normalisation": """
width n
index i, j in 1..3
input h[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
u[i] = W @ h[i]
m = max(u[i] for i)
w = where(u[1] > u[2], u[1]*u[3], h[1])
k = sum(gaussian(u[j])*h[j] for j) + prod(u[j] for j if j < 3)
r = m / sqrt(avg(m^2) + avg(w^2)) - avg(m)
y = W.T @ r
z = W.T @ w
q = W.T @ k
output y, z, q
""",
    "maxima over pairs, ties among them": """
width n
index i, j in 1..3
input x[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
g[i] = W @ x[i]
y[i] = W.T @ sum(max(g[j], g[i])*2^(-abs(i-j)) for j if j <= i)
z[i] = W @ tanh(y[i] + max(x[j] for j if j >= i))
output y, z
""",
    "matrices chosen by data": """
width n
data word[T] = [1, 2, 1]
index t in 1..T
index w in 1..2
input x[t] ~ N(0, 1)
matrix W[w] ~ N(0, w/n)
g[t] = W[word[t]] @ x[t]
y[t] = W[word[t]].T @ tanh(g[1] + g[2])
z[t] = W[word[t]] @ relu(y[3] - y[2])
output y, z
""",
    "products over an index, around a ring": """
width n
index i in 1..4
input x[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
g[i] = W @ x[i]
y[i] = W.T @ (sin(prod(g[j] for j in 1..4 if j != i)) + (g[i] if i < 3 else g[5-i]^2))
z[i] = W @ (y[wrap(i+1)]*y[i])
output y, z
""",
    "jumps upon jumps": """
width n
input x ~ N(0, 1)
matrix W ~ N(0, 1/n)
u = W @ x
v = W.T @ (step(u)*relu(u+1)*exp(-u)/3 + u/2)
w = W @ (step(v)*v)
z = W.T @ (step(w)*w + sign(u)*step(w))
output v, z
""",
    "a readout, its residual and the gradient": """
width n
index i in 1..2
input h[i] ~ N(0, 1)
input v ~ N(0, 1)
matrix W1, W2 ~ N(0, 2/n)
g1[i] = W1 @ h[i]
g2[i] = W2 @ relu(g1[i])
f[i] = dot(v, relu(g2[i])) / sqrt(n)
d2[i] = tanh(f[i] - 1) * v * step(g2[i])
d1[i] = (W2.T @ d2[i]) * step(g1[i])
k[i] = dot(d1[i], d1[1]) / n
e[i] = W1 @ (W1.T @ d1[i])
output f, k, e
""",
    "readouts and attention on top": """
width n
index i, j in 1..2
input h[i] ~ N(0, 1)
input v ~ N(0, 1)
matrix W, Q, K, V ~ N(0, 1/n)
x[i] = W.T @ relu(W @ h[i])
f[i] = dot(v, x[i]) / sqrt(n)
p[i,j] = dot(Q @ x[i], K @ x[j]) / sqrt(n)
y[i] = sum(softmax(p[i,j] for j) * (V @ x[j]) for j) + tanh(f[i]) * x[1]
output f, p, y
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_limit_agrees_with_finite_width(name, agrees_with_dense):
    scores = ") / sqrt(n)" in CASES[name]  # one value a run
    agrees_with_dense(CASES[name], WIDTH // 2 if scores else WIDTH, 4_000 if scores else RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if "readout" not in name])
def test_a_limit_without_the_corrections_is_rejected(name, agrees_with_dense, monkeypatch):
    monkeypatch.setattr(analysis, "without_transposes", lambda program: without_transposes(program, corrected=False))
    with pytest.raises(AssertionError, match="at finite width"):
        agrees_with_dense(CASES[name], WIDTH, RUNS)


def test_all_these_programs_have_a_limit():
    for text in CASES.values():
        analysis.Analysis(netsor.parse(text).ir)
