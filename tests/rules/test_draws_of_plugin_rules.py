"""One call of a rule of a plug-in draws once, whether the family that it makes is whole or defined part by part.

A program with parts is compared with one in which the same vectors are one family: equal limits, and equal runs number for number.
"""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source
from netsor.rules import VectorRule


class Haar(VectorRule):
    """A multiple of an orthogonal matrix: keeps the angles between all vectors that it is applied to, at every width."""

    name, statement, citation = "haar", "Cov(Z^{Qx}, Z^{Qy}) = scale E[Z^x Z^y]", "none"
    constants = ("scale",)

    def limit(self, kernel, scale):
        return scale * kernel

    def draw(self, vectors, rng, scale):
        n = vectors.shape[1]
        q, r = np.linalg.qr(rng.standard_normal((n, n)))
        return np.sqrt(scale) * vectors @ (q * np.sign(np.diag(r))).T


HEAD = "width n\nindex i, j in 1..3\nindex b in 1..2\ninput h[i] ~ N(0, 1)\ninput g[b,i] ~ N(0, i)\n"
PARTS = "x[1] = relu(h[1])\nx[2] = h[2] + 1/2*h[1]\nx[3] = h[1]\n"
WHOLE = "x[i] = relu(h[1]) if i == 1 else h[2] + 1/2*h[1] if i == 2 else h[1]\n"
TURNED = "block turned(v):\n  w = haar(v, 1)\n  return w\n"

# what it shows: how y is defined
CALLS = {
    "the argument is defined part by part": "y[i] = haar(x[i], 2)",
    "the argument is an expression in it": "y[i] = haar(3*x[i] + h[i], 2)",
    "what is added is defined part by part": "y[i] = haar(h[i], 2) + x[i]",
    "an index that stays whole beside it": "u[b,i] = haar(x[i] + g[b,i], 2)\ny[i] = u[1,i] - 2*u[2,i]",
    "where a condition excludes some values": "y[i] = haar(x[i], 2) if i != 2 else h[i]",
    "two calls": "y[i] = haar(x[i], 2) + haar(x[i], 1)",
    "one call inside another": "y[i] = haar(relu(haar(x[i], 2)), 1)",
    "a call in a reduction": "y[i] = sum(haar(x[j], 2) / (i + j) for j)",
    "a call in a reduction with a guard": "y[i] = sum(haar(x[j], 2) for j if j >= i)",
    "a function that calls it": "def turn(z) = haar(z, 1) + z\ny[i] = turn(x[i]) + turn(2*x[i])",
    "a block that calls it": TURNED + "y[i] = turned(x[i])",
    "a block that calls it in what it returns": "block turned(v):\n  return haar(v, 1) + v\ny[i] = turned(x[i])",
    "scores of which it is the fresh factor": "u[i] = haar(x[i], 2)\ny[i] = dot(u[i], g[1,1]) / sqrt(n)",
    "a loop, each pass of which draws anew": "u[0,i] = x[i]\nfor t in 1..2:\n  u[t,i] = haar(u[t-1,i], 1)\ny[i] = u[1,i] + u[2,i]",
}


def program(text: str, output: str = "output y") -> netsor.Program:
    return netsor.Program(load_program(Source(f"{HEAD}{text}\n{output}\n"), rules={"haar": Haar()}))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_parts_have_the_limit_of_the_whole(call):
    parts, whole = (program(x + call).limit()["y"] for x in (PARTS, WHOLE))
    np.testing.assert_allclose(parts.mean.value, whole.mean.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(parts.cov.value, whole.cov.value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["dense", "exact"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_parts_have_the_runs_of_the_whole(call, method):
    """The same matrix is drawn, whatever vectors it is applied to besides."""
    parts, whole = (
        program(x + call).sample(12, 3, seed=7, method=method, coordinates=None)["y"] for x in (PARTS, WHOLE))
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["dense", "exact"])
def test_all_parts_are_turned_by_one_matrix(method):
    """Q keeps all angles, of parts between which other families are defined too."""
    text = PARTS + "y[i] = haar(tanh(x[i]), 4)\nbefore[i,j] = dot(tanh(x[i]), tanh(x[j])) / n\nafter[i,j] = dot(y[i], y[j]) / n"
    runs = program(text, "output before, after").sample(16, 20, seed=3, method=method)
    np.testing.assert_allclose(runs["after"], 4 * runs["before"], rtol=1e-10)
    assert np.abs(runs["before"]).min() > 1e-4


def test_parts_that_nothing_needs_are_not_drawn():
    """Nor is what they are applied to: the samplers know what is asked for."""
    text = PARTS + "y[i] = haar(x[i], 1)"
    some = program(text, "output y[2]").sample(12, 5, seed=1, method="exact", coordinates=None)["y"]
    assert some.shape == (5, 12) and np.isfinite(some).all()


def test_calls_are_independent():
    """Of two statements, two passes of a loop, and two calls of a block."""
    text = """
y[1] = haar(h[1], 1)
y[2] = haar(h[1], 1)
for t in 3..4:
  y[t] = haar(h[1], 1)
""" + TURNED + "y[5] = turned(h[1])\ny[6] = turned(h[1])"
    np.testing.assert_allclose(program(text).limit()["y"].cov.value, np.eye(6), atol=1e-12)
    runs = program(text + "\nc[1] = dot(y[1], y[2])/n\nc[2] = dot(y[3], y[4])/n\nc[3] = dot(y[5], y[6])/n", "output c")
    assert np.abs(runs.sample(100, 1, seed=1)["c"]).max() < 0.6  # 6 sigma


@pytest.mark.parametrize("text, variance", [
    ("def twice(z) = z + z\ny = twice(haar(h[1], 1))", 4),  # the value of one call, used twice
    ("def turn(z) = haar(z, 1)\ny = turn(h[1]) + turn(h[1])", 2),  # two calls of the function
    ("def turn(z) = haar(z, 1)\ndef both(z) = turn(z) + turn(z)\ny = both(h[1]) + both(h[1])", 4),
    ("y = haar(h[1], 1) + haar(h[1], 1)", 2),
    ("y = sum(haar(h[1], 1) for i)", 9),
])
def test_a_call_is_what_stands_in_the_text(text, variance):
    np.testing.assert_allclose(program(text).limit()["y"].var.value, variance, rtol=1e-12)


def test_vectors_of_different_widths_have_draws_of_their_own():
    text = "width m = 2*n\ninput k : m ~ N(0, 1)\nx[1] = k\nx[2] = h[1]\ny[b] = haar(x[b], 1)"
    for method in ("dense", "exact"):
        runs = program(text, "output y[1], y[2]").sample(8, 2, method=method, coordinates=None)
        assert runs["y[1]"].shape == (2, 16) and runs["y[2]"].shape == (2, 8)


REFUSED = {
    "elements that are computed from each other": (
        "N409", "y[1] = h[1]\nindex k in 2..4\ny[k] = haar(y[k-1], 1)", "haar(y[k-1], 1)"),
    "by way of a call in between": (
        "N409", "y[1] = h[1]\nindex k in 2..4\ny[k] = haar(relu(haar(y[k-1], 1)), 2)", "haar("),
    "two calls in a circle": (
        "N409", "index k in 1..4\nx[0] = h[3]\n"
        "x[k] = haar(h[1] if k == 1 else x[k-2], 1) if mod(k, 3) == 1 else haar(h[2] if k == 2 else x[k-2], 2)\ny = x[4]",
        "haar("),
    "a constant that is not the same for all": ("N320", PARTS + "y[i] = haar(x[i], i)", "i"),
}


@pytest.mark.parametrize("code, text, marked", REFUSED.values(), ids=REFUSED)
def test_what_one_draw_cannot_give_is_refused(code, text, marked):
    with pytest.raises(NetsorError) as caught:
        program(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code and diagnostic.span.text.startswith(marked)
    assert diagnostic.hint or code == "N320"


def test_the_next_step_of_a_refusal_works():
    """A loop draws anew in every pass."""
    text = "y[1] = h[1]\nfor k in 2..4:\n  y[k] = haar(y[k-1], 1)"
    np.testing.assert_allclose(program(text).limit()["y"].cov.value, np.eye(4), atol=1e-12)


def test_a_derivation_knows_parts_of_one_draw():
    class Spin(Haar):
        """The same under a name for all programs: a derivation reads the program anew."""

        name = "spin"

    netsor.register_rule(Spin())
    text = HEAD + "param s = 2\nx[1] = h[1]\nx[2] = s*h[1] + h[2]\ny[b] = spin(x[b], 3)\noutput y\n"
    derived = netsor.parse(text).derive()
    assert "3*s" in str(derived)
    np.testing.assert_allclose(netsor.parse(text).limit()["y"].cov.value, [[3, 6], [6, 15]], rtol=1e-12)
