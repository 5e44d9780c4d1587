"""Reductions over values that are defined one by one, under guards: the same numbers as the terms written out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import netsor

PIECES = """
width n
index i in 1..3
index k in 1..4
input g[i] : 1 ~ N(0, 1)
s[1,i] = g[i]
s[2,i] = -2*g[i]
s[3,i] = g[i] + 1
s[4,i] = abs(g[i])
"""


def values(text: str) -> np.ndarray:
    """The output `t` of 50 runs, and the scalars s (runs, k, i)."""
    drawn = netsor.parse(PIECES + text + "\noutput g, t").sample(1, 50, seed=1)
    g = drawn["g"]
    return drawn["t"], np.stack([g, -2 * g, g + 1, np.abs(g)], axis=1)


REDUCE = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize("op", REDUCE)
def test_guards_on_numbers(op):
    """k >= i admits other terms for each i, and at least one."""
    t, s = values(f"t[i] = {op}(s[k,i] for k if k >= i)")
    expected = np.stack([REDUCE[op](s[:, i:, i], axis=1) for i in range(3)], axis=1)
    np.testing.assert_allclose(t, expected)


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_guards_on_scalars(op):
    """Which terms count differs from run to run; k = 3 always does."""
    t, s = values(f"t[i] = {op}(s[k,i] for k if s[3,i] >= 1 or k >= 3)")
    expected = np.where(s[:, 2] >= 1, REDUCE[op](s, axis=1), REDUCE[op](s[:, 2:], axis=1))
    np.testing.assert_allclose(t, expected)


@pytest.mark.parametrize("op", REDUCE)
def test_guards_over_two_indices(op):
    """Terms defined one by one along k, whole along i; for k = 4 there are none."""
    t, s = values(f"t = {op}(s[k,i] for k, i if i + k <= 4)")
    chosen = np.stack([s[:, k, i] for k, i in itertools.product(range(4), range(3)) if i + k + 2 <= 4], axis=1)
    np.testing.assert_allclose(t, REDUCE[op](chosen, axis=1))


@pytest.mark.parametrize("op", ["max", "min", "prod"])
def test_vectors_in_the_limit(op):
    """E of the max (or product) of the vectors that the guard admits, for each i: by the moments of the written-out program."""
    vectors = "width n\nindex i in 1..2\nindex k in 1..3\ninput x[1] ~ N(0, 1)\ninput x[2] ~ N(0, 4)\ninput x[3] ~ N(1, 1)\n"
    guarded = netsor.parse(vectors + f"y[i] = {op}(x[k] for k if k != i)\noutput y").limit()["y"]
    join = {"max": "max({}, {})", "min": "min({}, {})", "prod": "{} * {}"}[op].format
    written = netsor.parse(vectors + f"y[1] = {join('x[2]', 'x[3]')}\ny[2] = {join('x[1]', 'x[3]')}\noutput y").limit()["y"]
    for field in ("mean", "var"):
        one, two = getattr(guarded, field), getattr(written, field)
        assert (np.abs(one.value - two.value) <= 5 * (one.error + two.error) + 1e-9).all(), field


@pytest.mark.parametrize("op", ["mean", "max", "min"])
def test_guards_that_exclude_everything(op):
    with pytest.raises(netsor.NetsorError, match="N511.*for i = 2"):
        netsor.parse(PIECES + f"t[i] = {op}(s[k,i] for k if k <= 1 and i != 2)\noutput t")
    with pytest.raises(netsor.NetsorError, match="N511"):
        netsor.parse(PIECES + f"t = {op}(s[k,i] for k, i if k > 4)\noutput t")
