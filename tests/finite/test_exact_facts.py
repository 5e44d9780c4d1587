"""Moments at finite n that are known exactly, and the plan of the attention program."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.finite.plan import Held, make_plan

RUNS = 40_000

SCORES = """
width n
index i, j in 1..2
input h[i] ~ N(0, 1)
{layer}
matrix WQ, WK ~ N(0, 1/n)
p[i,j] = dot(WQ @ x[i], WK @ x[j]) / sqrt(n)
output p
"""
IDENTITY = SCORES.replace("{layer}", "x[i] = h[i]")
ONE_VECTOR = SCORES.replace("{layer}", "matrix W[i] ~ N(0, 1/n)\nx[i] = W[i] @ h[1]")


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("text, diagonal, other", [
    (IDENTITY, lambda n: 1 + 2 / n, lambda n: 1.0),
    (ONE_VECTOR, lambda n: (1 + 2 / n) ** 2, lambda n: 1 + 2 / n),
], ids=["independent tokens", "tokens of one vector"])
def test_variances_of_scores(text, diagonal, other, n):
    """5 sigma of 40,000 runs: false-alarm rate 1e-6 a number; 8 % is found at n = 40, 40 % at n = 2 (heavy tails)."""
    scores = netsor.parse(text).sample(n, RUNS, seed=n)["p"]
    squares = scores**2
    error = squares.std(axis=0) / np.sqrt(RUNS)
    wanted = np.where(np.eye(2, dtype=bool), diagonal(n), other(n))
    assert (np.abs(squares.mean(axis=0) - wanted) < 5 * error).all()


def test_what_is_held_of_attention():
    """Only the tokens are held at length n; frames are one for each head."""
    program = netsor.parse("""
width n
index i, j in 1..4
index a in 1..2
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i] = clip(h[i], -1, 1)
q[a,i] = WQ[a] @ x[i]
k[a,i] = WK[a] @ x[i]
p[a,i,j] = dot(q[a,i], k[a,j]) / sqrt(n)
u[a,i] = WV[a] @ x[i]
v[a,i] = WO[a] @ u[a,i]
y[i] = sum(softmax(p[a,i,j] for j) * v[a,j] for a, j)
unused = WQ[1] @ x[1] + h[2]
output p, y
""")
    plan = make_plan(program.ir)
    held = {family.name: kind for family, kind in plan.held.items() if family.is_vector}
    full, framed, rows = Held.ALL, Held.FRAME, Held.ROWS
    assert held == dict(h=full, x=full, q=framed, k=framed, u=framed, v=rows, y=rows)
    assert [space.sizes for space in plan.spaces] == [(2,), (2,)]
    assert not any(space.recorded for space in plan.spaces)
    assert "q[a,i]    frame 1, one for each a; drawn from the Gram matrix" in plan.text()


def test_a_linear_network_holds_nothing_at_length_n():
    program = netsor.parse("""
width n
index i in 1..3
input h[i], v ~ N(0, 1)
matrix W, U ~ N(0, 1/n)
x[i] = U @ (h[i] + W @ (h[i] + W @ h[i]))
f[i] = dot(v, x[i]) / sqrt(n)
m[i] = avg(x[i] * (x[1] - 2*v)) + avg((x[i] - v)^2)
output f, m
""")
    assert Held.ALL not in make_plan(program.ir).held.values()
    assert program.sample(10**12, 3)["f"].shape == (3, 3)  # the width is a parameter of chi-squared laws only


@pytest.mark.parametrize("line, wanted", [
    ("m = avg(x + 1)", Held.ALL), ("m = avg(x * x * x)", Held.ALL), ("m = avg(x * abs(z))", Held.ALL),
    ("m = avg(x * z + 2)", Held.ALL), ("m = avg(3 * x * (x - z))", Held.FRAME), ("m = avg((2 * x + z)^2)", Held.FRAME),
])
def test_functions_of_coordinates_need_the_coordinates(line, wanted):
    program = netsor.parse(f"width n\ninput h, z ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nx = W @ h\n{line}\noutput m\n")
    held = {family.name: kind for family, kind in make_plan(program.ir).held.items()}
    assert held["x"] == wanted
