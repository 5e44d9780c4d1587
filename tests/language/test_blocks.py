"""Blocks mean what they mean written out: each pair of programs here has the same limit, number for number."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

import netsor
from netsor.ir.expressions import Index
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source

HEAD = """
width n
param s = 3
index i, j in 1..s
index b in 1..2
index k in 1..2
data K[2,2] = [[1, 0.3], [0.3, 2]]
input h[i], m[k] ~ N(0, 1)
input g[b] ~ N(0, K)
input e[b,i] ~ N(0, 1 + b + i)
"""

ATTENTION = """
block attention(x[i], H, beta=1):
  width n like x
  index j like i
  index a in 1..H
  matrix Q[a], K[a], V[a] ~ N(0, 1/n)
  p[a,i,j] = beta * dot(Q[a] @ x[i], K[a] @ x[j]) / sqrt(n)
  A[a,i,j] = softmax(p[a,i,j] for j)
  return sum(A[a,i,j] * (V[a] @ x[j]) for a, j) / sqrt(H)
"""

LAYERNORM = """
block layernorm(x, eps=1e-6):
  mu = avg(x)
  return (x - mu) / sqrt(avg((x - mu)^2) + eps)
"""

# what it shows: (with blocks, written out)
PAIRS = {
    "a call has matrices of its own, and the same for all values that are carried": ("""
block dense(x, phi=relu):
  width n like x
  matrix W ~ N(0, 2/n)
  return phi(W @ x)
y[b] = dense(g[b])
z[b] = dense(g[b], tanh)
""", """
matrix W, V ~ N(0, 2/n)
y[b] = relu(W @ g[b])
z[b] = tanh(V @ g[b])
"""),
    "each pass of a loop is a new call": ("""
block dense(x, phi=relu):
  width n like x
  matrix W ~ N(0, 2/n)
  return phi(W @ x)
y[0,b] = g[b]
for l in 1..3:
  y[l,b] = dense(y[l-1,b])
""", """
index l in 1..3
matrix W[l] ~ N(0, 2/n)
y[0,b] = g[b]
for t in 1..3:
  y[t,b] = relu(W[t] @ y[t-1,b])
"""),
    "matrices that are passed are shared": ("""
matrix W ~ N(0, 2/n)
block dense(x, W):
  return relu(W @ x)
y[0,b] = g[b]
for l in 1..3:
  y[l,b] = dense(y[l-1,b], W)
""", """
matrix W ~ N(0, 2/n)
y[0,b] = g[b]
for l in 1..3:
  y[l,b] = relu(W @ y[l-1,b])
"""),
    "families of matrices are passed": ("""
matrix W[k] ~ N(0, k/n)
block both(x, M[a]):
  index a2 like a
  return sum(M[a2] @ x for a2) + M[1] @ x
y[b] = both(g[b], W[k])
""", """
matrix W[k] ~ N(0, k/n)
y[b] = sum(W[k] @ g[b] for k) + W[1] @ g[b]
"""),
    "matrices that are carried, and transposed ones": ("""
matrix W[k] ~ N(0, k/n)
matrix V ~ N(0, 1/n)
block apply(x, M):
  return tanh(M @ x)
y[k,b] = apply(g[b], W[k])
z[b] = apply(g[b], V.T)
""", """
matrix W[k] ~ N(0, k/n)
matrix V ~ N(0, 1/n)
y[k,b] = tanh(W[k] @ g[b])
z[b] = tanh(V.T @ g[b])
"""),
    "circular subscripts and inputs that are not Gaussian": ("""
block masked(x[i], keep):
  width n like x
  input d[i] ~ Bernoulli(keep)
  input r ~ Rademacher()
  input c : 1 ~ N(0, 2)
  u[i] = d[i] * x[wrap(i + 1)] + c * r
  return u[wrap(i - 1)]
y[b,i] = masked(e[b,i], 1/4)
""", """
input d[i] ~ Bernoulli(1/4)
input r ~ Rademacher()
input c : 1 ~ N(0, 2)
u[b,i] = d[i] * e[b,wrap(i + 1)] + c * r
y[b,i] = u[b,wrap(i - 1)]
output y
"""),
    "a def of a block, passed on to another block": ("""
block use(x, f):
  return f(x) + 1
block outer(x, c):
  v = 2 * x
  def shifted(z) = c * z + v
  w = use(x, shifted)
  return w
y[b] = outer(g[b], b)
""", "y[b] = b*g[b] + 2*g[b] + 1"),
    "attention, whose index j is a copy of a bound one": (ATTENTION + "y[i] = attention(h[i], 2)\noutput y, y.A[1,1,j]", """
index a in 1..2
matrix Q[a], K_[a], V[a] ~ N(0, 1/n)
p[a,i,j] = dot(Q[a] @ h[i], K_[a] @ h[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i] = sum(A[a,i,j] * (V[a] @ h[j]) for a, j) / sqrt(2)
output y, A[1,1,j]
"""),
    "the last subscripts are bound, those before are carried": (
        ATTENTION + "y[b,i] = attention(e[b,i], 2, beta=b)\noutput y, y.p[2,1,1,i]", """
index a in 1..2
matrix Q[a], K_[a], V[a] ~ N(0, 1/n)
p[b,a,i,j] = b * dot(Q[a] @ e[b,i], K_[a] @ e[b,j]) / sqrt(n)
A[b,a,i,j] = softmax(p[b,a,i,j] for j)
y[b,i] = sum(A[b,a,i,j] * (V[a] @ e[b,j]) for a, j) / sqrt(2)
output y, p[2,1,1,i]
"""),
    "two arguments with indices of their own, one of which is on the left": ("""
block cross(x[i], m[j]):
  width n like m
  matrix Q ~ N(0, 1/n)
  p[i,j] = dot(Q @ x[i], m[j]) / sqrt(n)
  return sum(softmax(p[i,j] for j) * m[j] for j)
y[i] = cross(h[i], m[k])
z[i] = cross(h[i], h[j])
""", """
matrix Q, R ~ N(0, 1/n)
p[i,k] = dot(Q @ h[i], m[k]) / sqrt(n)
y[i] = sum(softmax(p[i,k] for k) * m[k] for k)
q[i,j] = dot(R @ h[i], h[j]) / sqrt(n)
z[i] = sum(softmax(q[i,j] for j) * h[j] for j)
output y, z
"""),
    "one index of the caller for two of the block": ("""
block pairs(x[i], z[j]):
  return sum((x[i] + 2*z[j]) / (i + j) for j)
y[i] = pairs(h[i], h[i])
""", "y[i] = sum((h[i] + 2*h[j]) / (i + j) for j)"),
    "arguments that are expressions": (LAYERNORM + """
y[i] = layernorm(h[i] + 2*h[1])
""", """
x[i] = h[i] + 2*h[1]
mu[i] = avg(x[i])
y[i] = (x[i] - mu[i]) / sqrt(avg((x[i] - mu[i])^2) + 1e-6)
output y
"""),
    "blocks in blocks, and blocks in loops in blocks": (ATTENTION + LAYERNORM + """
block encoder(x[i], L):
  y[0,i] = x[i]
  for l in 1..L:
    u[l,i] = layernorm(y[l-1,i])
    a[l,i] = attention(u[l,i], 2)
    y[l,i] = y[l-1,i] + a[l,i]
  return y[L,i]
x[i] = encoder(h[i], 2)
output x, x.a.p[2,1,1,j], x.y[1,i]
""", """
index a in 1..2
index l in 1..2
matrix Q[l,a], K_[l,a], V[l,a] ~ N(0, 1/n)
y[0,i] = h[i]
for t in 1..2:
  mu[t,i] = avg(y[t-1,i])
  u[t,i] = (y[t-1,i] - mu[t,i]) / sqrt(avg((y[t-1,i] - mu[t,i])^2) + 1e-6)
  p[t,a,i,j] = dot(Q[t,a] @ u[t,i], K_[t,a] @ u[t,j]) / sqrt(n)
  A[t,a,i,j] = softmax(p[t,a,i,j] for j)
  y[t,i] = y[t-1,i] + sum(A[t,a,i,j] * (V[t,a] @ u[t,j]) for a, j) / sqrt(2)
output y[2,i], p[2,1,1,j], y[1,i]
"""),
    "elements that are defined one by one, inside and outside": ("""
block recurrent(x[t], T):
  width n like x
  matrix W ~ N(0, 1/n)
  r[1] = x[1]
  for t in 2..T:
    r[t] = tanh(W @ r[t-1] + x[t])
  return r[t]
block last(x[t], T):
  return 3 * x[T]
u[b,1] = g[b]
u[b,2] = 2*g[b]
u[b,3] = 3*g[b]
y[b,i] = recurrent(u[b,i], s)
z[b] = last(u[b,i], 3)
""", """
matrix W ~ N(0, 1/n)
y[b,1] = g[b]
y[b,2] = tanh(W @ y[b,1] + 2*g[b])
y[b,3] = tanh(W @ y[b,2] + 3*g[b])
z[b] = 9*g[b]
output y, z
"""),
    "carried values that are defined one by one": (ATTENTION + """
u[1,i] = h[i]
u[2,i] = h[i] + h[1]
y[b,i] = attention(u[b,i], 1)
""", """
matrix Q, R, V ~ N(0, 1/n)
u[1,i] = h[i]
u[2,i] = h[i] + h[1]
p[b,i,j] = dot(Q @ u[b,i], R @ u[b,j]) / sqrt(n)
y[b,i] = sum(softmax(p[b,i,j] for j) * (V @ u[b,j]) for j)
output y
"""),
    "inputs of a block serve all values that are carried": ("""
block noisy(x[i], C[i,j], c):
  width n like x
  input u[i] ~ N(0, C)
  input v ~ N(0, c)
  return x[i] + u[i] + v
const D[i,j] = 1 / (1 + abs(i - j))
y[b,i] = noisy(e[b,i], D[i,j], 2)
""", """
const D[i,j] = 1 / (1 + abs(i - j))
input u[i] ~ N(0, D)
input v ~ N(0, 2)
y[b,i] = e[b,i] + u[i] + v
output y
"""),
    "const in a block, with and without what is carried": ("""
block weighted(x[i], c):
  index j like i
  const w[i,j] = 2^(-abs(i - j))
  const v[i] = c * sum(w[i,j] for j)
  const two = 2
  return two * v[i] * sum(w[i,j] * x[j] for j)
y[b,i] = weighted(e[b,i], b)
""", """
y[b,i] = 2 * b * sum(2^(-abs(i - j)) for j) * sum(2^(-abs(i - j)) * e[b,j] for j)
"""),
    "widths of arguments, and derived ones": ("""
block mlp(x, r=4):
  width n like x
  width m = r*n, q = m/2
  matrix U : (m, n) ~ N(0, 1/n)
  matrix R : (q, m) ~ N(0, 1/m)
  matrix D : (n, q) ~ N(0, 3/q)
  c = dot(U @ x, U @ x) / m
  return c * (D @ tanh(R @ relu(U @ x)))
block up(x, W):
  width k like W
  return W @ x
y[b] = mlp(g[b])
z[b] = mlp(y[b], r=1/2)
""", """
width m1 = 4*n, q = 2*n, m2 = n/2, q2 = n/4
matrix U : (m1, n) ~ N(0, 1/n)
matrix R : (q, m1) ~ N(0, 1/m1)
matrix D : (n, q) ~ N(0, 3/q)
matrix U2 : (m2, n) ~ N(0, 1/n)
matrix R2 : (q2, m2) ~ N(0, 1/m2)
matrix D2 : (n, q2) ~ N(0, 3/q2)
c[b] = avg((U @ g[b])^2)
y[b] = c[b] * (D @ tanh(R @ relu(U @ g[b])))
d[b] = avg((U2 @ y[b])^2)
z[b] = d[b] * (D2 @ tanh(R2 @ relu(U2 @ y[b])))
output y, z
"""),
    "functions are passed, also those of the program": ("""
def twice(z, c=2) = c*z + avg(z^2)
block use(x, f, c=3, w=2*c):
  return f(x) + w*x
y[b] = use(g[b], twice)
z[b] = use(g[b], sin, w=1)
""", """
y[b] = 2*g[b] + avg(g[b]^2) + 6*g[b]
z[b] = sin(g[b]) + g[b]
"""),
    "def in a block sees the block": ("""
block gated(x, c):
  width n like x
  matrix W ~ N(0, c/n)
  v = W @ x
  def gate(z) = c * z * tanh(v)
  return gate(x) + gate(v)
y[b] = gated(g[b], 2)
""", """
matrix W ~ N(0, 2/n)
v[b] = W @ g[b]
y[b] = 2*g[b]*tanh(v[b]) + 2*v[b]*tanh(v[b])
output y
"""),
    "scalars are passed and returned": ("""
block power(x[i], c):
  q[i] = c * avg(x[i]^2)
  return sum(q[i] for i)
t = avg(h[1]^4)
y = power(h[i], t)
z[b] = power(e[b,i], b)
""", """
t = avg(h[1]^4)
y = sum(t * avg(h[i]^2) for i)
z[b] = sum(b * avg(e[b,i]^2) for i)
output y, z
"""),
    "inner names in expressions": (ATTENTION + """
y[b,i] = attention(e[b,i], 2)
z[b,i] = sum(y.A[b,1,i,j] * y[b,j] for j)
w[i] = y.V[2,1] @ h[i]
output z, w
""", """
index a in 1..2
matrix Q[a], K_[a], V[a] ~ N(0, 1/n)
p[b,a,i,j] = dot(Q[a] @ e[b,i], K_[a] @ e[b,j]) / sqrt(n)
A[b,a,i,j] = softmax(p[b,a,i,j] for j)
y[b,i] = sum(A[b,a,i,j] * (V[a] @ e[b,j]) for a, j) / sqrt(2)
z[b,i] = sum(A[b,1,i,j] * y[b,j] for j)
w[i] = V[1] @ h[i]
output z, w
"""),
}


def limits(text: str, samples: int = 256) -> list[np.ndarray]:
    """Means and covariances of the outputs, in their order; without any, of y and z."""
    if "output" not in text:
        text += "\noutput " + ", ".join(name for name in "yz" if re.search(rf"^{name}\b", text, re.M))
    limit = netsor.parse(HEAD + text).limit(samples=samples)
    return [field.value for variable in limit.values() for field in (variable.mean, variable.cov)]


@pytest.mark.parametrize("with_blocks, written_out", PAIRS.values(), ids=PAIRS)
def test_a_program_with_blocks_has_the_limit_of_the_program_written_out(with_blocks, written_out):
    first, second = limits(with_blocks), limits(written_out)
    assert len(first) == len(second)
    for one, other in zip(first, second):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("with_blocks, written_out", PAIRS.values(), ids=PAIRS)
def test_families_stay_whole(with_blocks, written_out):
    """Blocks give no more families of values than the program written out, but for names that only hand a value on."""
    plain = len(load_program(Source(HEAD + written_out)).families)
    blocks = len(load_program(Source(HEAD + with_blocks)).families)
    assert blocks <= 2 * plain


# --- hygiene: what things are called in a block does not matter


NEUTRAL = """
block mix(X[I], Y[M], C, F):
  width T like X
  index J like I
  index A in 1..C
  def G(Z, Q=2) = Q * F(Z)
  matrix W[A] ~ N(0, 1/T)
  P[A,I,J] = C * dot(W[A] @ X[I], Y[1]) / sqrt(T) + I - J
  S[I] = sum(G(X[I]) * P[A,I,J] for A, J) + sum(X[J] * O for J, O in 0..1)
  return S[I] + sum(Y[M] / (1 + M + I) for M)
"""
CALL = "y[b,i] = mix(e[b,i], m[k], 2, tanh)\noutput y"
OTHER_NAMES = {
    "names of the caller's values": dict(X="e", Y="h", C="g", F="K", P="m", S="y", G="mix2"),
    "names of the caller's indices, permuted": dict(I="b", J="i", M="j", A="k", O="s"),
    "the index of the caller that is bound, for another": dict(J="i", I="j", A="b", M="i2", O="k"),
    "names of the caller's width, parameter and block": dict(T="s", C="n", A="e", X="mix", I="h"),
    "one letter after the other": dict(X="a", Y="b", C="c", F="d", T="e", J="f", I="g", A="h", G="i", Z="j", Q="k", W="l", P="m",
                                       S="n", O="o", M="p"),
}


@pytest.mark.parametrize("names", OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_names_inside_a_block_mean_nothing_outside(names):
    block = re.sub(r"\b[A-MO-Z]\b", lambda found: names.get(found[0], found[0]), NEUTRAL)
    for one, other in zip(limits(NEUTRAL + CALL), limits(block + CALL)):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_axes_of_a_family_have_names_of_their_own():
    """Also where the block and its caller use one name for two indices."""
    program = load_program(Source(HEAD + """
block f(x):
  width n like x
  index i in 1..2
  matrix W[i] ~ N(0, 1/n)
  q[i] = W[i] @ x
  return sum(q[i] for i)
y[i] = f(h[i])
output y, y.q
"""))
    (family,) = (family for family in program.families if family.name == "y.q")
    assert len({axis.name for axis in family.axes}) == 2
    assert [axis.range.size for axis in family.axes] == [3, 2]


# --- what is reported


def test_inner_values_that_nobody_uses_are_not_reported():
    program = load_program(Source(HEAD + """
block f(x):
  unused = 3 * x
  return 2 * x
y[i] = f(h[i])
"""))
    assert "y" in [output.name for output in program.outputs]
    assert not any("unused" in output.name for output in program.outputs)


def test_inner_names_are_outputs_and_can_be_expected():
    program = load_program(Source(HEAD + ATTENTION + """
for l in 1..2:
  y[l,b,i] = attention(e[b,i], 2)
output y.p, y.p[1,b,1,1,j]
expect mean(y.A[2,1,1,1,j]) = 1/3 within 1
expect cov(y.p[1,1,1,1,1], y.p[2,1,1,1,1]) = 0 within 1e-9
"""))
    whole, part = program.outputs
    assert [axis.range.size for axis in whole.axes] == [2, 2, 2, 3, 3]
    assert [axis.name for axis in part.axes] == ["b", "j"]
    assert len(program.expectations) == 2


def test_inner_names_of_calls_inside_calls():
    program = load_program(Source(HEAD + ATTENTION + """
block two(x[i]):
  for l in 1..2:
    a[l,i] = attention(x[i], 2)
  return a[1,i] + a[2,i]
y[b,i] = two(e[b,i])
output y.a.p[b,2,1,i,j]
"""))
    (output,) = program.outputs
    assert [axis.name for axis in output.axes] == ["b", "i", "j"]
    assert output.parts[0].reference.family.pattern[1] == 2


def test_inner_names_that_two_calls_define_are_not_chosen_between():
    text = HEAD + """
index l in 4..5
input f[l] ~ N(0, 1)
block total(x[i]):
  c = sum(x[i] for i)
  return c + x[i]
y[i] = total(h[i])
y[l] = total(f[l])
"""
    assert load_program(Source(text + "output y"))
    with pytest.raises(NetsorError, match="`c` is not one thing in all the calls that define `y`"):
        load_program(Source(text + "output y.c"))


# --- widths and indices


def test_widths_of_one_size_that_blocks_derive_go_together():
    program = load_program(Source("""
width n, k = 3*n
input h ~ N(0, 1)
block up(x, r):
  width n like x, m = r*n
  matrix U : (m, n) ~ N(0, 1/n)
  return U @ x
y = up(h, 2)
z = up(h, 2)
w = y + z
u = up(h, 3)
width q like w
matrix D : (k, q) ~ N(0, 1/q)
v = D @ w + u
"""))
    assert program.widths == {"n": 1, "k": 3, "m": 2}
    assert {family.name: family.width for family in program.families}["v"] == "k"


def test_index_like_has_the_range_of_the_other():
    program = load_program(Source("width n\nparam s = 4\nindex i in 2..s\nindex j, k like i\ninput h[i] ~ N(0, 1)\ny[j,k] = h[j] + h[k]"))
    assert [(axis.name, axis.range.lo, axis.range.hi) for axis in program.outputs[0].axes] == [("j", 2, 4), ("k", 2, 4)]


def test_an_infinite_number_of_heads_is_an_argument():
    text = "width n\nparam H = inf\nindex i in 1..3\ninput h[i] ~ N(0, 1)\n" + ATTENTION + "y[i] = attention(h[i], H)\n"
    limit = netsor.parse(text).limit(samples=256)
    plain = netsor.parse(text.split("block")[0] + """
index j like i
index a in 1..H
matrix Q[a], K[a], V[a] ~ N(0, 1/n)
p[a,i,j] = dot(Q[a] @ h[i], K[a] @ h[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i] = sum(A[a,i,j] * (V[a] @ h[j]) for a, j) / sqrt(H)
output y
""").limit(samples=256)
    np.testing.assert_allclose(limit["y"].cov.value, plain["y"].cov.value, rtol=1e-12)


def test_an_index_without_values_leaves_nothing_to_compute():
    program = load_program(Source(HEAD + ATTENTION + "index z in 1..0\ny[z,i] = attention(h[i], 2)\noutput h"))
    assert not any(family.name.startswith("y") for family in program.families)


# --- size


def test_four_hundred_layers_of_blocks_are_as_fast_as_written_out():
    layer = "block layer(x):\n  width n like x\n  matrix W ~ N(0, 2/n)\n  u = relu(x)\n  return W @ u\n"
    text = layer + "x[0,b] = g[b]\nfor l in 1..400:\n  x[l,b] = layer(x[l-1,b])\noutput x[400,b]"
    start = time.process_time()
    program = load_program(Source(HEAD + text))
    assert time.process_time() - start < 10  # 1.6 s, of the processor
    assert len(program.matrices) == 400
    assert all(isinstance(family.pattern[-1], Index) for family in program.families if family.name == "x.u")


@pytest.mark.slow
def test_blocks_that_call_blocks_twice_each_stop_at_a_limit():
    """2^25 calls would be made."""
    blocks = ["block f0(x):\n  y = 2*x\n  return y\n"]
    blocks += [f"block f{k}(x):\n  y = f{k - 1}(x)\n  z = f{k - 1}(y)\n  return z\n" for k in range(1, 26)]
    with pytest.raises(NetsorError) as error:
        load_program(Source(HEAD + "".join(blocks) + "y = f25(h[1])"))
    assert {each.code for each in error.value.diagnostics} == {"N512"}


def test_blocks_are_nested_to_a_limit():
    blocks = ["block f0(x):\n  return 2*x\n"]
    blocks += [f"block f{k}(x):\n  y = f{k - 1}(x)\n  return y\n" for k in range(1, 200)]
    with pytest.raises(NetsorError) as error:
        load_program(Source(HEAD + "".join(blocks) + "y = f199(h[1])"))
    assert {each.code for each in error.value.diagnostics} == {"N113"}
    assert netsor.parse(HEAD + "".join(blocks) + "y = f25(h[1])\noutput y")
