"""Widths at finite n: each is rounded once, and the rounded size is what every scale and variance uses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import chdtri

import netsor
from netsor.finite.evaluate import sizes_of_widths

METHODS = pytest.mark.parametrize("method", ["dense", "exact"])
ALARM = 1e-5


def chi_square_bounds(degrees: int) -> tuple[float, float]:
    """Where a chi-square variable over its degrees of freedom lies but for a probability of 1e-5."""
    return chdtri(degrees, 1 - ALARM / 2) / degrees, chdtri(degrees, ALARM / 2) / degrees


@pytest.mark.parametrize("n, sizes", [
    (4, {"n": 4, "m": 1, "k": 8, "r": 5}), (10, {"n": 10, "m": 2, "k": 20, "r": 13}), (11, {"n": 11, "m": 3, "k": 22, "r": 15}),
])
def test_sizes_are_rounded_multiples_of_the_first(n, sizes):
    program = netsor.parse("width n, m = n/4, k = 8*m, r = 4*n/3\ninput x ~ N(0, 1)\n")
    assert sizes_of_widths(program.ir, n) == sizes


@METHODS
def test_a_width_of_zero_is_refused(method):
    program = netsor.parse("width n, m = n/4\ninput x : m ~ N(0, 1)\n")
    with pytest.raises(ValueError, match="at n = 1 the width m = 1/4.n would be 0"):
        program.sample(1, 2, method=method)


@METHODS
def test_scales_of_a_dot_are_exact(method):
    """b has coordinates 1: dot(b, b) is the rounded m = 2, and nothing is random."""
    program = netsor.parse("""
width n, m = n/4
input b : m ~ Const(1)
input h ~ Const(1)
matrix Q : (m, n) ~ N(0, 1/n)
c[1] = dot(b, b) / n
c[2] = dot(b, b) / m
c[3] = dot(b, 3*b) / (n + m)
c[4] = dot(b, b) * n / m^2
c[5] = avg(b)
c[6] = 1 + 2*dot(b, b) / sqrt(n*m)
p[1] = dot(b, b) / sqrt(n)
p[2] = dot(b, b) / sqrt(m)
p[3] = 1 + 2*dot(b, b) * sqrt(n) / m
p[4] = 3 * dot(b, b) / sqrt(n + m)
p[5] = dot(h, h) / sqrt(m)
output c, p, b, h
""")
    drawn = program.sample(10, 3, method=method, coordinates=None)
    assert drawn["b"].shape == (3, 2) and drawn["h"].shape == (3, 10)
    wanted = {
        "c": [0.2, 1, 0.5, 5, 1, 1 + 4 / 20**0.5],
        "p": [2 / 10**0.5, 2**0.5, 1 + 4 * 10**0.5 / 2, 6 / 12**0.5, 10 / 2**0.5],
    }
    for name, numbers in wanted.items():
        np.testing.assert_allclose(drawn[name], np.broadcast_to(numbers, (3, len(numbers))), rtol=1e-13)


@METHODS
@pytest.mark.parametrize("shape, variance, exact", [
    ("(n, m)", "1/m", 1), ("(n, m)", "1/n", 2 / 10), ("(n, m)", "3/(n + m)", 6 / 12), ("(m, n)", "1/n", 1), ("(m, n)", "1/m", 5),
    ("(m, m)", "1/sqrt(n*m)", 2 / 20**0.5), ("(n, n)", "1/m", 5),
])
def test_entries_of_a_matrix_have_the_variance_that_is_written(method, shape, variance, exact):
    """W @ 1 has independent N(0, variance * columns) coordinates, here with n = 10 and m = 2, where n/4 is 2.5.

    Some 20,000 coordinates: false alarms 1e-5, an error of 6 % is certain to be seen; rounding is worth 20 %."""
    rows, columns = shape[1], shape[4]
    program = netsor.parse(f"""
width n, m = n/4
input u : {columns} ~ Const(1)
matrix W : {shape} ~ N(0, {variance})
y = W @ u
""")
    count = {"n": 10, "m": 2}[rows]
    y = program.sample(10, 20_000 // count, seed=3, method=method, coordinates=None)["y"]
    assert y.shape == (20_000 // count, count)
    low, high = chi_square_bounds(y.size)
    assert low < np.mean(y**2) / exact < high


def test_fewer_coordinates_are_recorded_where_there_are_no_more():
    program = netsor.parse("width n, m = n/4\ninput x ~ N(0, 1)\ninput b : m ~ N(0, 1)\noutput x, b\n")
    for method in ("dense", "exact"):
        drawn = program.sample(8, 5, method=method, coordinates=3)
        assert drawn["x"].shape == (5, 3) and drawn["b"].shape == (5, 2)


def test_dense_sampling_is_the_program_written_in_numpy(differences):
    """Attention with heads of width n/4 and a wide hidden layer, against a plain loop (power: conftest.py)."""
    program = netsor.parse("""
width n, m = n/4, k = 3*n
index i, j in 1..2
input h[i] ~ N(0, 1)
input b : k ~ N(0, 0.1)
matrix Q, K, V : (m, n) ~ N(0, 1/n)
matrix O : (n, m) ~ N(0, 1/m)
matrix U : (k, n) ~ N(0, 2/(n + k))
matrix D : (n, k) ~ N(0, 2/(n + k))
p[i,j] = dot(Q @ h[i], K @ h[j]) / sqrt(m)
y[i] = h[i] + O @ sum(softmax(p[i,j] for j) * (V @ h[j]) for j)
z[i] = y[i] + D @ relu(U @ y[i] + b)
c = dot(V @ h[1], V @ h[2]) / n
output p, z, c
""")
    n, m, k, runs = 6, 2, 18, 20_000
    rng = np.random.default_rng(11)
    normal = lambda variance, *shape: rng.standard_normal((runs, *shape)) * np.sqrt(variance)  # noqa: E731
    h, b = normal(1, 2, n), normal(0.1, 1, k)
    queries, keys, values = (h @ normal(1 / n, n, m) for _ in range(3))
    p = queries @ keys.swapaxes(1, 2) / np.sqrt(m)
    weights = np.exp(p) / np.exp(p).sum(axis=2, keepdims=True)
    y = h + weights @ values @ normal(1 / m, m, n)
    z = y + np.maximum(y @ normal(2 / (n + k), n, k) + b, 0) @ normal(2 / (n + k), k, n)
    c = np.sum(values[:, 0] * values[:, 1], axis=1) / n
    drawn = program.sample(n, runs, 4, coordinates=2, method="dense")
    assert differences(drawn, {"p": p, "z": z[..., :2], "c": c}) == []
