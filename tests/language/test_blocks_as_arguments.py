"""Blocks that are passed to blocks: a call by the name of an argument is the call of what was passed, at that place.

Each pair of programs has the same limit, number for number; one of them has no blocks, or calls them directly.
"""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.format import format_source
from netsor.language.source import Source
from netsor.rules import VectorRule
from tests.language.test_blocks import ATTENTION, HEAD, LAYERNORM, limits

SKIP = """
block skip(x[i], f):
  y[i] = f(x[i])
  return x[i] + y[i]
"""

DENSE = """
block dense(x, phi=relu):
  width n like x
  matrix W ~ N(0, 2/n)
  return phi(W @ x)
"""

# what it shows: (with blocks that are passed, written out)
PAIRS = {
    "a block is called by the name of an argument": (DENSE + SKIP + "y[i] = skip(h[i], dense)", """
matrix W ~ N(0, 2/n)
y[i] = h[i] + relu(W @ h[i])
"""),
    "by name, and a def or a function of the catalogue in its place": (DENSE + SKIP + """
def half(z, c=1/2) = c*z
y[i] = skip(h[i], f=half)
z[i] = skip(h[i], f=tanh)
""", """
y[i] = h[i] + h[i]/2
z[i] = h[i] + tanh(h[i])
"""),
    "two calls of one argument have matrices of their own": (DENSE + """
block twice(x, f):
  u = f(x)
  v = f(x, tanh)
  w = f(u)
  return u + v + w
y[b] = twice(g[b], dense)
""", """
matrix A, B, C ~ N(0, 2/n)
u[b] = relu(A @ g[b])
y[b] = u[b] + tanh(B @ g[b]) + relu(C @ u[b])
output y
"""),
    "each pass of a loop is a new call": (DENSE + """
block stack(x, L, f):
  y[0] = x
  for l in 1..L:
    y[l] = f(y[l-1])
  return y[L]
y[b] = stack(g[b], 3, dense)
""", """
index l in 1..3
matrix W[l] ~ N(0, 2/n)
x[0,b] = g[b]
for t in 1..3:
  x[t,b] = relu(W[t] @ x[t-1,b])
y[b] = x[3,b]
output y
"""),
    "a loop of calls that pass a block": (DENSE + SKIP + """
y[0,i] = h[i]
for l in 1..2:
  y[l,i] = skip(y[l-1,i], dense)
""", """
index l in 1..2
matrix W[l] ~ N(0, 2/n)
y[0,i] = h[i]
for t in 1..2:
  y[t,i] = y[t-1,i] + relu(W[t] @ y[t-1,i])
"""),
    "matrices that are passed on are shared": ("""
matrix W ~ N(0, 2/n)
block tied(x, W):
  return relu(W @ x)
block stack(x, L, W, f):
  y[0] = x
  for l in 1..L:
    y[l] = f(y[l-1], W)
  return y[L]
y[b] = stack(g[b], 3, W, tied)
""", """
matrix W ~ N(0, 2/n)
y[b] = relu(W @ relu(W @ relu(W @ g[b])))
"""),
    "the subscripts of its head are bound, the others carried": (ATTENTION + """
block apply(x[i], f, H):
  y[i] = f(x[i], H, beta=2)
  return y[i]
y[b,i] = apply(e[b,i], attention, 2)
output y, y.y.p[2,1,1,i]
""", ATTENTION + """
y[b,i] = attention(e[b,i], 2, beta=2)
output y, y.p[2,1,1,i]
"""),
    "what the head carries is bound by what is passed, or not": (ATTENTION + DENSE + """
block apply(x[i], f):
  y[i] = f(x[i])
  return sum(y[i] for i)
block heads(x[i]):
  y[i] = attention(x[i], 2)
  return y[i]
y[b] = apply(e[b,i], heads)
z[b] = apply(e[b,i], dense)
""", """
index a in 1..2
matrix W ~ N(0, 2/n)
matrix Q[a], K_[a], V[a] ~ N(0, 1/n)
p[b,a,i,j] = dot(Q[a] @ e[b,i], K_[a] @ e[b,j]) / sqrt(n)
y[b] = sum(softmax(p[b,a,i,j] for j) * (V[a] @ e[b,j]) for a, j, i) / sqrt(2)
z[b] = sum(relu(W @ e[b,i]) for i)
output y, z
"""),
    "a default is a block": (DENSE + """
block skip(x[i], f=dense, g=f):
  y[i] = f(x[i])
  z[i] = g(x[i])
  return x[i] + y[i] + z[i]
y[i] = skip(h[i])
z[i] = skip(h[i], g=tanh)
""", """
matrix A, B, C ~ N(0, 2/n)
y[i] = h[i] + relu(A @ h[i]) + relu(B @ h[i])
z[i] = h[i] + relu(C @ h[i]) + tanh(h[i])
"""),
    "a block is handed on through two blocks, with what it is called with": (LAYERNORM + DENSE + """
block inner(x[i], f, c):
  v[i] = f(x[i], c)
  return v[i]
block outer(x[i], g, c, norm):
  u[i] = norm(x[i])
  w[i] = inner(u[i], g, c)
  return w[i]
y[i] = outer(h[i] + h[1], dense, sin, layernorm)
""", """
matrix W ~ N(0, 2/n)
x[i] = h[i] + h[1]
mu[i] = avg(x[i])
y[i] = sin(W @ (x[i] - mu[i]) / sqrt(avg((x[i] - mu[i])^2) + 1e-6))
output y
"""),
    "a function is passed to a block that was passed": (DENSE + """
block inner(x, f, phi):
  v = f(x, phi)
  return v
block outer(x, f, c):
  u = 2 * x
  def shifted(z) = c * z + u
  w = inner(x, f, shifted)
  return w
y[b] = outer(g[b], dense, 3)
""", """
matrix W ~ N(0, 2/n)
y[b] = 3 * (W @ g[b]) + 2 * g[b]
"""),
    "a block passed to itself ends where it calls something else": (DENSE + """
block skip(x, f=dense):
  y = f(x)
  return x + y
y[b] = skip(g[b], skip)
""", """
matrix W ~ N(0, 2/n)
y[b] = g[b] + g[b] + relu(W @ g[b])
"""),
    "widths that it derives are widths of the program": ("""
block mlp(x, r=4, phi=gelu):
  width n like x, m = r*n
  matrix U : (m, n) ~ N(0, 1/n)
  matrix D : (n, m) ~ N(0, 1/m)
  return D @ phi(U @ x)
""" + SKIP + "y[i] = skip(h[i], mlp)", """
width q = 4*n
matrix U : (q, n) ~ N(0, 1/n)
matrix D : (n, q) ~ N(0, 1/q)
y[i] = h[i] + D @ gelu(U @ h[i])
"""),
    "its elements are defined one by one where its argument is": (DENSE + SKIP + """
u[1] = g[1]
u[2] = 2*g[1] + g[2]
y[b] = skip(u[b], dense)
""", """
matrix W ~ N(0, 2/n)
u[1] = g[1]
u[2] = 2*g[1] + g[2]
y[b] = u[b] + relu(W @ u[b])
output y
"""),
    "inner names go through it": (ATTENTION + SKIP.replace("f(x[i])", "f(x[i], 2)") + """
x[0,i] = h[i]
for l in 1..2:
  x[l,i] = skip(x[l-1,i], attention)
y[i] = x.y.V[2,1] @ h[i]
z[i] = sum(x.y.A[1,1,i,j] * x.y[2,j] for j)
""", """
index a in 1..2
index l in 1..2
matrix Q[l,a], K_[l,a], V[l,a] ~ N(0, 1/n)
x[0,i] = h[i]
for t in 1..2:
  p[t,a,i,j] = dot(Q[t,a] @ x[t-1,i], K_[t,a] @ x[t-1,j]) / sqrt(n)
  A[t,a,i,j] = softmax(p[t,a,i,j] for j)
  q[t,i] = sum(A[t,a,i,j] * (V[t,a] @ x[t-1,j]) for a, j) / sqrt(2)
  x[t,i] = x[t-1,i] + q[t,i]
y[i] = V[2,1] @ h[i]
z[i] = sum(A[1,1,i,j] * q[2,j] for j)
output y, z
"""),
}


@pytest.mark.parametrize("passed, written_out", PAIRS.values(), ids=PAIRS)
def test_a_program_that_passes_blocks_has_the_limit_of_the_program_written_out(passed, written_out):
    first, second = limits(passed), limits(written_out)
    assert len(first) == len(second) > 0
    for one, other in zip(first, second):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("passed, written_out", PAIRS.values(), ids=PAIRS)
def test_what_is_passed_is_no_value(passed, written_out):
    """Nothing but the names that hand a value on is added to the program."""
    passed, plain = (len(load_program(Source(HEAD + text)).families) for text in (passed, written_out))
    assert passed <= 2 * plain + 1


# --- what is seen where


def test_a_block_that_is_passed_sees_the_names_of_its_own_file(tmp_path):
    """Each of three files has a `scale`: that of the file of the block counts, not that of its caller or of the program."""
    for name, text in {
        "three": "def scale(z) = 3*z\n",
        "five": "def scale(z) = 5*z\n",
        "layers": 'import "three.netsor"\nblock part(x):\n  return scale(x)\nblock layer(x, f=part):\n  y = f(x)\n  return y\n',
        "skips": 'import "five.netsor"\n' + SKIP.replace("x[i] + y[i]", "scale(x[i]) + y[i]"),
        "main": """
import "layers.netsor"
import "skips.netsor"
width n
index i in 1..2
input h[i] ~ N(0, 1)
def scale(z) = 7*z
block own(x):
  return scale(x)
w[i] = skip(h[i], layer)
y[i] = skip(h[i], scale)
z[i] = skip(h[i], own)
output w, y, z
""",
    }.items():
        (tmp_path / f"{name}.netsor").write_text(text)
    limit = netsor.load(tmp_path / "main.netsor").limit()
    for name, factor in {"w": 5 + 3, "y": 5 + 7, "z": 5 + 7}.items():
        np.testing.assert_allclose(limit[name].var.value, factor**2, rtol=1e-12)


def test_blocks_of_the_library_are_passed():
    """A pre-LN layer put together from what is passed is the one of the library."""
    text = HEAD + """
import std.attention
import std.feed_forward
import std.normalization
import std.transformer
block before(x[i], f, norm=layernorm):
  u[i] = norm(x[i])
  a[i] = f(u[i])
  return x[i] + a[i]
block heads(x[i]):
  y[i] = causal_attention(x[i], 2)
  return y[i]
a[i] = before(h[i], heads)
y[i] = before(a[i], mlp)
z[i] = decoder_layer(h[i], 2)
output y, z
"""
    limit = netsor.parse(text).limit(samples=4096)
    one, other = limit["y"].cov, limit["z"].cov  # matrices of their own: equal up to sampling
    np.testing.assert_array_less(np.abs(one.value - other.value), 5 * np.hypot(one.error, other.error) + 1e-9)


def test_a_name_of_the_caller_is_not_seen_by_the_block_that_is_passed():
    text = HEAD + SKIP + "block layer(x):\n  return s * x\ny[i] = skip(h[i], layer)\n"
    with pytest.raises(NetsorError, match="`s` is not seen here"):
        load_program(Source(text))


def test_a_rule_of_a_plug_in_is_passed():
    class Doubled(VectorRule):
        """A matrix of variance 2/n."""

        name, statement, citation = "doubled", "…", "none"

        def limit(self, kernel):
            return 2 * kernel

        def draw(self, vectors, rng):
            n = vectors.shape[1]
            return vectors @ rng.standard_normal((n, n)) * np.sqrt(2 / n)

    program = load_program(Source(HEAD + SKIP + "y[i] = skip(h[i], doubled)\noutput y"), rules={"doubled": Doubled()})
    np.testing.assert_allclose(netsor.Program(program).limit()["y"].cov.value, 3 * np.eye(3), atol=1e-12)


# --- built-in functions keep their own name


@pytest.mark.parametrize("call, plain", [
    ("f(x, 0)", "max(x, 0)"), ("f(x, 0, 1/2)", "max(x, 0, 1/2)"),
    ("x * f(7/2)", "x * floor(7/2)"), ("x * f(7/2, 2)", "x * mod(7/2, 2)"),
])
def test_built_in_functions_are_passed(call, plain):
    word = plain.removeprefix("x * ").split("(")[0]
    passed = f"block use(x, f):\n  return {call}\ny[b] = use(g[b], {word})\n"
    written = f"block use(x):\n  return {plain}\ny[b] = use(g[b])\n"
    for one, other in zip(limits(passed), limits(written)):
        np.testing.assert_array_equal(one, other)


# --- what does not end


@pytest.mark.parametrize("body", [
    "y = f(x, f)\n  return y",
    "y = f(x, f)\n  z = f(x, f)\n  return y + z",
    "y[0] = x\n  for l in 1..1000:\n    y[l] = f(y[l-1], f)\n  return y[1000]",
])
def test_a_block_passed_to_itself_without_end_is_refused(body):
    with pytest.raises(NetsorError) as error:
        load_program(Source(HEAD + f"block again(x, f):\n  {body}\ny = again(h[1], again)"))
    assert {each.code for each in error.value.diagnostics} == {"N113"}
    assert all("a loop" in each.hint and len(str(each).splitlines()) < 15 for each in error.value.diagnostics)


def test_blocks_passed_to_each_other_without_end_are_refused():
    with pytest.raises(NetsorError) as error:
        load_program(Source(HEAD + """
block ping(x, f, g):
  y = f(x, g, f)
  z = g(x, f, g)
  return y + z
block pong(x, f, g):
  y = f(x, f, g)
  z = f(y, g, g)
  return y + z
y = ping(h[1], pong, ping)
"""))
    assert {each.code for each in error.value.diagnostics} == {"N113"}


@pytest.mark.slow
def test_blocks_that_hand_on_twice_each_stop_at_a_limit():
    """2^25 calls would be made: f25 hands f23, …, f0 on one by one."""
    blocks = ["block f0(x):\n  y = 2*x\n  return y\n"]
    for k in range(1, 26):
        blocks.append(f"block f{k}(x, f=f{k - 1}):\n  y = f(x)\n  z = f(y)\n  return z\n")
    with pytest.raises(NetsorError) as error:
        load_program(Source(HEAD + "".join(blocks) + "y = f25(h[1])"))
    assert {each.code for each in error.value.diagnostics} == {"N512"}


def test_the_formatter_leaves_what_is_passed():
    text = DENSE + SKIP + "y[i]=skip( h[i] ,f = dense )\n"
    formatted = format_source(Source(text))
    assert "y[i] = skip(h[i], f=dense)" in formatted
    for one, other in zip(limits(text), limits(formatted)):
        np.testing.assert_array_equal(one, other)
