"""Programs with hostile draws: overflow, 0/0, sizes beyond all memory.  Each runs in a process with limits, at several widths."""

from functools import partial

import pytest
from harness.worker import FINITE

START = """width n{widths}
param s = 3
index i, j in 1..s
input h[i] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
"""
PLAIN = START.format(widths="")


@pytest.fixture
def drawn(settled):
    return partial(settled, stage=FINITE)


def test_what_is_not_finite_is_so_in_every_way_of_drawing(drawn):
    """Also what is linear in it, in every place of a program: a matrix used once, again, transposed; scores, softmax, averages."""
    undefined = PLAIN + "x[i] = log(-1 - h[i]^2)\nc = avg(x[1])\n"
    found = drawn({
        "a product": undefined + "y[i] = W @ x[i]\noutput y",
        "one of several products": undefined + "y = W @ x[1] + W @ h[2]\nz = W @ h[3]\noutput y, z",
        "the first product of a matrix": undefined + "y = W @ x[1]\nz = W @ tanh(W @ h[2])\noutput y, z",
        "a product with what came before": undefined + "y = W @ x[1]\nz = W @ tanh(y)\noutput y, z",
        "a transpose": undefined + "y = W @ h[1]\nz = W.T @ (y / c)\nu = W @ z\noutput y, z, u",
        "scores": undefined + "p[i,j] = dot(W @ x[i], V @ h[j]) / sqrt(n)\ny[i] = sum(softmax(p[i,j] for j) * h[j] for j)\noutput p, y",
        "overflow": PLAIN + "x = exp(exp(9*h[1]))\ny = W @ x\nz = W.T @ tanh(y)\noutput x, y, z",
        "draws around the largest number": PLAIN + "x = 10^308*h[1]\ny = W @ x\nz = W @ (10^(-308)*y)\noutput y, z",
        "draws around the smallest number": PLAIN + "x = 10^(-310)*h[1]\ny = W @ x\nz = W @ (10^308*y)\noutput y, z",
        "the logarithm of a score": PLAIN + "p = dot(W @ h[1], h[2]) / sqrt(n)\nx = log(p)*h[1]\noutput p, x",
    })
    assert set(found.values()) == {"drawn"}, found


def test_widths_that_vanish_and_widths_beyond_all_numbers(drawn):
    body = "matrix Q : (m, n) ~ N(0, 1/n)\nx[i] = Q @ relu(h[i])\ny[i] = Q.T @ x[i]\noutput x, y"
    found = drawn({ratio: START.format(widths=f", m = {ratio}") + body for ratio in (
        "n/4", "n/1000", "n*10^(-300)", "1000*n", "10^9*n", "10^30*n", "10^300*n")})
    assert found.pop("n/4") == found.pop("1000*n") == "drawn", found
    assert {found.pop("n/1000"), found.pop("n*10^(-300)")} == {"N523"}
    assert set(found.values()) == {"N521"}, found


def test_what_does_not_fit_is_refused(drawn):
    found = drawn({
        "a million tokens": PLAIN.replace("s = 3", "s = 1000000") + "p[i,j] = dot(W @ h[i], V @ h[j]) / sqrt(n)\noutput p",
        "more elements than a 64-bit number counts": PLAIN.replace("s = 3", "s = 10^30") + "x[i] = W @ relu(h[i])\noutput x",
        "an infinite axis": PLAIN.replace("s = 3", "s = inf") + "x = sum(W @ h[i] for i) / sqrt(s)\noutput x",
    })
    assert list(found.values()) == ["N521", "N521", "N504"], found


def test_laws_that_are_constant_or_discrete_at_these_widths(drawn):
    found = drawn({
        "zero": PLAIN.replace("N(0, 1)\nmat", "N(0, 0)\nmat") + "x = W @ tanh(h[1])\noutput x",
        "a step": PLAIN + "x = sign(W @ h[1])\nc = avg(x)\noutput x, c",
        "a constant that only the limit has": PLAIN + "c = avg(h[1]^2)\nx = h[1]*c\noutput c, x",
        "nearly always zero": PLAIN + "x = relu(h[1] - 6)\ny = W @ x\noutput x, y",
    })
    assert set(found.values()) == {"drawn"}, found
