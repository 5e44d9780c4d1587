"""The limit against the same program at finite width, every matrix drawn in full: see ``conftest.py`` for what is compared."""

from __future__ import annotations

import pytest

WIDTH = 96

CASES = {
    "biases and leaky relu": """
width n
index b in 1..3
data K[B, C] = [[1, 0.5, -0.2], [0.5, 2, 0.3], [-0.2, 0.3, 0.5]]
input h[b] ~ N(0.3, K[b,c])
matrix W ~ N(0, 1.5/n)
input beta ~ N(0, 0.2)
y[b] = W @ leaky_relu(h[b], 0.2) + beta + 0.5
output y
""".replace("index b in 1..3\ndata", "data").replace("input h[b] ~ N(0.3, K[b,c])", "index b, c in 1..3\ninput h[b] ~ N(0.3, K[b,c])"),
    "one matrix three times": """
width n
input x ~ N(0, 1)
matrix W ~ N(0, 1/n)
y = W @ relu(x)
z = W @ relu(y) + y
u = W @ tanh(z + x)
output y, z, u
""",
    "gates and products": """
width n
input x, g ~ N(0, 1)
matrix U, V ~ N(0, 1/n)
a = sigmoid(U @ x) * tanh(V @ x) + (1 - sigmoid(U @ x)) * g
y = V @ (a * g)
output a, y
""",
    "conditions and maxima": """
width n
index i in 1..3
input x[i] ~ N(0, 1)
matrix W ~ N(0, 1/n)
m = max(x[i] for i)
w = where(x[1] > x[2], x[1], 0.5 * x[3])
y = W @ (m - w)
output m, w, y
""",
    "layer normalisation": """
width n
index i in 1..2
input h[i] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
x[i] = relu(W @ h[i]) + 0.5
mu[i] = avg(x[i])
v[i] = avg((x[i] - mu[i])^2)
y[i] = V @ ((x[i] - mu[i]) / sqrt(v[i] + 0.1))
output y, mu, v
""",
    "convolution with stride and shared weights": """
width n
index t in 1..6
index u in 1..3
index o in -1..1
input h[t] ~ N(0, 1)
matrix W[o] ~ N(0, 1/(3*n))
y[u] = sum(W[o] @ relu(h[2*u-1+o]) for o if 1 <= 2*u-1+o and 2*u-1+o <= 6)
z[u] = sum(W[o] @ relu(y[u+o]) for o if 1 <= u+o and u+o <= 3)
output y, z
""",
    "causal attention with normalisation and an MLP": """
width n
param s = 3
index i, j in 1..s
input h[i] ~ N(0, 1)
matrix WQ, WK, WV, U, D ~ N(0, 1/n)
p[i,j] = dot(WQ @ h[i], WK @ h[j]) / sqrt(n)
A[i,j] = softmax(p[i,j] for j if j <= i)
x[i] = h[i] + sum(A[i,j] * (WV @ h[j]) for j)
r[i] = x[i] / sqrt(avg(x[i]^2))
y[i] = x[i] + D @ gelu(U @ r[i])
q[i] = dot(WQ @ y[i], WK @ y[i]) / sqrt(n)
output x, y, q
""",
    "readouts, a bottleneck and a router": """
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
output g, w, y, z
""",
    "odd score and scaled score": """
width n
param beta = 0.7
index i, j in 1..2
input x[i] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
q[i] = tanh(2 * (W @ x[i]))
k[i] = relu(V @ x[i])
p[i,j] = beta * dot(q[i], k[j]) / sqrt(n)
s = dot(x[1], W @ x[2]) / sqrt(n)
output p, s
""",
    "scores that share a readout": """
width n
input v ~ N(0, 1)
input g ~ N(0, 1)
matrix W ~ N(0, 1/n)
f1 = dot(v, g) / sqrt(n)
f2 = dot(v, g + f1 * (W @ g)) / sqrt(n)
output f1, f2
""",
    "heads of width n/4 whose output leads back": """
width n, m = n/4
index i, j in 1..2
index a in 1..2
input h[i] ~ N(0, 1)
matrix Q[a], K[a], V[a] : (m, n) ~ N(0, 1/n)
matrix O[a] : (n, m) ~ N(0, 1/n)
v[a,i] = V[a] @ h[i]
p[a,i,j] = dot(Q[a] @ h[i], K[a] @ h[j]) / sqrt(m)
y[i] = 2*sum(O[a] @ sum(softmax(p[a,i,j] for j) * v[a,j] for j) for a)
s = dot(v[1,1], relu(v[2,1])) / sqrt(n)
output p, y, v, s
""",
    "a hidden layer of width 4n and averages over it": """
width n, m = 4*n, k = n/2
index i in 1..2
input h[i] ~ N(0, 1)
input b : m ~ N(0.5, 0.1)
matrix U : (m, n) ~ N(0, 2/(n + m))
matrix D : (n, m) ~ N(0, 2/(n + m))
matrix B : (k, m) ~ N(0, 1/n)
u[i] = relu(U @ h[i] + b)
c[i] = dot(u[i], u[1]) / n + avg(u[i])
y[i] = D @ (u[i] - avg(u[i])) + h[i] * c[1]
z[i] = B @ tanh(u[i])
output u, c, y, z
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_limit_agrees_with_finite_width(name, agrees_with_dense):
    agrees_with_dense(CASES[name], WIDTH, 4_000 if ") / sqrt(" in CASES[name] else 400)  # scores have one value a run
