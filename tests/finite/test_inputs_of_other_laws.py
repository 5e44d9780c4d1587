"""Inputs that are not Gaussian at finite width: the exact sampler against every matrix drawn in full, and both against the law."""

from __future__ import annotations

import math

import numpy as np
import pytest

import netsor
from netsor.finite.dense import sample_dense

PROGRAM = netsor.parse("""
width n, m = n/2
index i in 1..2
input h[i] ~ N(0, 1)
input k[i] ~ Bernoulli(i/4)
input s : m ~ Rademacher()
input u ~ Uniform(-1, 2)
matrix W ~ N(0, 1/n)
matrix V : (m, n) ~ N(0, 1/n)
x[i] = k[i] * relu(h[i]) + 0.5*u
y[i] = W @ x[i]
z[i] = s * (V @ tanh(y[i] + u))
f[i] = dot(s, z[i]) / sqrt(m)
output k, s, u, x, y, z, f
""")


def moments(drawn: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """First and second moments over runs of one coordinate of everything, all pairs."""
    runs = len(drawn["f"])
    flat = np.concatenate([drawn[name].reshape(runs, -1) for name in "ksuxyzf"], axis=1)
    return np.concatenate([flat, np.einsum("ra,rb->rab", flat, flat).reshape(runs, -1)], axis=1)


@pytest.mark.slow
def test_the_exact_sampler_agrees_with_the_dense_one():
    """Every first and second moment of one coordinate, n = 8, 20,000 runs of each: 5.5 sigma of the difference.

    About 100 numbers: false-alarm rate 4e-6; a moment that is wrong by 8 % of its standard deviation is certain to be seen."""
    exact = PROGRAM.sample(8, 20_000, seed=5)
    dense = sample_dense(PROGRAM.ir, 8, 20_000, seed=6, coordinates=1)
    one, two = moments(exact), moments({name: values for name, values in dense.items()})
    error = np.sqrt((one.var(axis=0) + two.var(axis=0)) / 20_000)
    assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) <= 5.5 * error + 1e-12).all()


@pytest.mark.parametrize("draw", [
    lambda: PROGRAM.sample(16, 300, seed=1, coordinates=None),
    lambda: sample_dense(PROGRAM.ir, 16, 300, seed=1),
], ids=["exact", "dense"])
def test_coordinates_have_their_law(draw):
    """Values of discrete laws, and 5 sigma of 300 runs and 8 or 16 coordinates for the frequencies: false-alarm rate 3e-6 in all."""
    drawn = draw()
    k, s, u = drawn["k"], drawn["s"], drawn["u"]
    assert set(np.unique(k)) == {0.0, 1.0} and set(np.unique(s)) == {-1.0, 1.0}
    assert s.shape == (300, 8) and u.shape == (300, 16)
    assert -1 <= u.min() < -0.99 and 1.99 < u.max() <= 2
    for i, keep in enumerate((0.25, 0.5)):
        assert abs(k[:, i].mean() - keep) < 5 * math.sqrt(keep * (1 - keep) / 4800)
    assert abs(s.mean()) < 5 / math.sqrt(2400)
    assert abs(u.mean() - 0.5) < 5 * math.sqrt(0.75 / 4800)


def test_the_same_draws_on_any_number_of_workers():
    one, two = PROGRAM.sample(4, 40, seed=2, workers=1), PROGRAM.sample(4, 60, seed=2, workers=2)
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name][:40])


@pytest.mark.slow
def test_finite_width_tends_to_the_limit():
    """Variances at n and 2n with the O(1/n) bias removed, against the limit: 5 sigma (false-alarm rate 1e-5); 5 % is seen."""
    limit = PROGRAM.limit()
    small, large = PROGRAM.sample(32, 20_000, seed=3), PROGRAM.sample(64, 20_000, seed=4)
    for name in "kuxyzf":
        wanted = limit[name].var.value + limit[name].mean.value ** 2
        one, two = (drawn[name].reshape(20_000, -1) ** 2 for drawn in (small, large))
        found = 2 * two.mean(axis=0) - one.mean(axis=0)
        error = np.sqrt((4 * two.var(axis=0) + one.var(axis=0)) / 20_000)
        assert (np.abs(found - wanted.ravel()) <= 5 * error + 1e-12).all(), name


def test_signs_are_signs_even_where_only_inner_products_are_asked_for():
    """A Gaussian vector could be held by its inner products; the square of a sign is 1, and a mask is its own square."""
    drawn = netsor.parse("""
width n
input s ~ Rademacher()
input m ~ Bernoulli(0.5)
matrix W ~ N(0, 1/n)
y = W @ s
a = dot(s, s) / n
b = dot(m, m) / n - avg(m)
output y, a, b
""").sample(7, 50, seed=1)
    np.testing.assert_array_equal(drawn["a"], 1)
    np.testing.assert_allclose(drawn["b"], 0, atol=1e-15)


@pytest.mark.parametrize("method", ["exact", "dense", "limit"])
def test_parameters_that_depend_on_subscripts(method):
    """Each element has its own interval or probability, in every sampler (5 sigma of 4,000 numbers, 6 of them: 4e-6)."""
    program = netsor.parse("""
width n
index i in 1..3
input u[i] ~ Uniform(-i, i^2)
input m[i] ~ Bernoulli(i/4)
x[i] = 2*u[i] + m[i]
output u, m, x
""")
    drawn = program.limit().sample(4000, 1) if method == "limit" else program.sample(4, 1000, seed=1, method=method, coordinates=None)
    u, m = (np.moveaxis(drawn[name], 1, -1).reshape(-1, 3) for name in "um")
    low, high = -np.arange(1, 4), np.arange(1, 4) ** 2
    assert ((low <= u) & (u <= high)).all()
    assert (np.abs(u.mean(axis=0) - (low + high) / 2) < 5 * (high - low) / math.sqrt(12 * 4000)).all()
    keep = np.arange(1, 4) / 4
    assert (np.abs(m.mean(axis=0) - keep) < 5 * np.sqrt(keep * (1 - keep) / 4000)).all()
    np.testing.assert_allclose(drawn["x"], 2 * drawn["u"] + drawn["m"])
