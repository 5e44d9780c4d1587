"""Circular subscripts: the range they go around, and the same numbers as mod written out."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.finite.dense import sample_dense

CIRCULAR = """
width n
index t, u in {range}
index o in -2..2
input h[t] ~ N(0, 1)
matrix W[o] ~ N(0, 1/(5*n))
y[t] = sum(W[o] @ relu(h[{shifted}]) for o)
z[t] = sum(W[o] @ relu(y[{shifted}]) for o)
output y, z
"""


@pytest.mark.parametrize("range_, shifted", [("1..4", "mod(t + o - 1, 4) + 1"), ("0..3", "mod(t + o, 4)")])
def test_wrap_is_mod_in_the_range_of_the_subscript(range_, shifted):
    wrapped = netsor.parse(CIRCULAR.format(range=range_, shifted="wrap(t + o)")).limit()
    written = netsor.parse(CIRCULAR.format(range=range_, shifted=shifted)).limit()
    for name in "yz":
        np.testing.assert_array_equal(wrapped[name].cov.value, written[name].cov.value)


def test_a_circular_convolution_by_its_recursion():
    """K'[t,u] = mean over o of V[t+o, u+o], V the arc-cosine kernel of K, on arrays that are rolled."""
    found = netsor.parse(CIRCULAR.format(range="1..6", shifted="wrap(t + o)")).limit()
    kernel = np.eye(6)
    for name in "yz":
        deviation = np.sqrt(np.diag(kernel))
        theta = np.arccos(np.clip(kernel / np.outer(deviation, deviation), -1, 1))
        after = np.outer(deviation, deviation) * (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / (2 * np.pi)
        kernel = np.mean([np.roll(after, (o, o), (0, 1)) for o in range(-2, 3)], axis=0)
        np.testing.assert_allclose(found[name].cov.value, kernel, rtol=1e-12)


def test_wrap_over_elements_defined_one_by_one():
    found = netsor.parse("""
width n
input x[1] ~ N(0, 1)
input x[2] ~ N(0, 2)
input x[3] ~ N(0, 3)
index i in 1..3
y[i] = x[wrap(i + 1)] + 2*x[wrap(-i)]
output y
""").limit()["y"]
    after, mirrored = [2, 3, 1], [2, 1, 3]  # i + 1; -i is 3 - i, or 3 for i = 3
    np.testing.assert_allclose(found.var.value, [a + 4 * b + (4 * a if a == b else 0) for a, b in zip(after, mirrored)])


def test_wrap_of_matrices_and_arrays():
    found = netsor.parse("""
width n
index i in 1..3
data a[3] = [1, 2, 4]
input x ~ N(0, 1)
matrix W[i] ~ N(0, 1/n)
y[i] = a[wrap(i + 4)] * (W[wrap(i - 1)] @ x) + W[i] @ x
output y
""").limit()["y"]
    np.testing.assert_allclose(found.cov.value, _by_hand())


def _by_hand() -> np.ndarray:
    """Rows: coefficients of W[1] x, W[2] x, W[3] x."""
    rows = np.eye(3)
    for i, factor in enumerate((2, 4, 1)):
        rows[i, (i - 1) % 3] += factor
    return rows @ rows.T


def test_wrap_at_finite_width():
    """The exact sampler and the dense one: second moments of one coordinate over 4,000 runs, 5 sigma (10 numbers: 6e-6)."""
    program = netsor.parse(CIRCULAR.format(range="1..4", shifted="wrap(t + o)"))
    one, two = program.sample(6, 4000, seed=1), sample_dense(program.ir, 6, 4000, seed=2, coordinates=1)
    a, b = (np.einsum("ri,rj->rij", d["z"][..., 0], d["z"][..., 0])[:, *np.triu_indices(4)] for d in (one, two))
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 4000)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 5 * error).all()


def test_wrap_on_a_long_circle_is_checked_without_trying_all_values():
    text = "width n\nindex i in 1..1000000\ninput h[i] ~ N(0, 1)\nx = mean(h[wrap(3*i + 5)] for i)\noutput x"
    assert netsor.parse(text).ir.outputs
