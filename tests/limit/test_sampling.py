"""Sampling: one seed, whatever the chunks and threads; errors that are honest; interruption keeps what is done."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

import netsor
from netsor.expectation import pair_quadrature
from netsor.limit import draw
from netsor.limit import run, sampling

ATTENTION = """
width n
param s = 3
param H = 2
index i, j in 1..s
index a in 1..H
input x[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a] ~ N(0, 1/n)
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i] = sum(A[a,i,j] * (WV[a] @ x[j]) for a, j) / sqrt(H)
g = relu(y[1]) * max(x[1], y[2])
output y, g
"""

LARGE = ATTENTION.replace("param s = 3", "param s = 24").replace("output y, g", "output y")


def values(limit) -> np.ndarray:
    return np.concatenate([limit[name].cov.value.ravel() for name in limit])


@pytest.mark.parametrize("text, quasi", [(ATTENTION, True), (LARGE, False)])
def test_chunks_and_threads_do_not_change_the_numbers(text, quasi, monkeypatch):
    """Quasi-random and pseudo-random points alike, to the rounding of sums."""
    program = netsor.parse(text)
    whole = values(program.limit(samples=512, seed=5, workers=1))
    monkeypatch.setattr(sampling, "CHUNK_BYTES", 1)
    monkeypatch.setattr(sampling, "BYTES_PER_EQUATION", 0)
    pieces = values(program.limit(samples=512, seed=5, workers=3))
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


def test_another_seed_gives_other_numbers_and_the_same_seed_the_same():
    program = netsor.parse(ATTENTION)
    first, again, other = (values(program.limit(samples=256, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_stated_errors_are_honest():
    """Var y_1 of one softmax head, s = 4, is 0.391971443576 (one-dimensional integral, reference values).  Over 40 seeds the standardised
    deviations t (15 degrees of freedom) must have mean square within 15/13 +- 4 standard deviations of it: [0.1, 2.3]; errors stated
    a factor 1.5 too small would give 2.6 on average.  False-alarm rate below 1e-3."""
    text = ATTENTION.replace("param s = 3", "param s = 4").replace("output y, g", "output y")
    program = netsor.parse(text, H=1)
    squares = []
    for seed in range(40):
        var = program.limit(samples=512, seed=seed)["y"].var[0]
        squares.append(((float(var.value) - 0.391971443576) / float(var.error)) ** 2)
    assert 0.3 < np.mean(squares) < 2.3


def test_interrupting_keeps_what_is_done(monkeypatch):
    program = netsor.parse(ATTENTION.replace("output y, g", "output y"))
    monkeypatch.setattr(sampling, "MAX_CHUNK", 64)

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    limit = run.run_limit(program.ir, samples=4096, seed=0, progress=stop)
    assert limit.interrupted and 0 < limit.samples < 4096
    full = program.limit(samples=4096, seed=0)
    difference = np.abs(limit["y"].cov.value - full["y"].cov.value)
    assert (difference < 6 * limit["y"].cov.error + 1e-12).all()


def test_interrupting_does_not_wait_for_what_is_running(monkeypatch):
    """A chunk that would take a minute (a plane for each pair of variances) ends where it is."""
    monkeypatch.setattr(pair_quadrature, "MODERATE", -1.0)
    layer = "u[i] = y[i] / sqrt(erf(y[i]^2) + 1e-6)\nmatrix W ~ N(0, 1/n)\nz[i] = W @ u[i]\noutput z"
    program = netsor.parse(ATTENTION.replace("output y, g", layer))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    begun = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 3.0)
        with pytest.raises(KeyboardInterrupt):
            program.limit(samples=1024)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert 2.5 < time.monotonic() - begun < 8.0


def test_samples_are_joint_draws_of_every_output():
    """Correlations between outputs survive: Cov(y_1, y_2) from 40,000 draws within 5 sigma of its limit; errors caught about 0.02."""
    limit = netsor.parse(ATTENTION.replace("output y, g", "output y, p, A")).limit(samples=2048)
    draws = limit.sample(40_000, random_state=3)
    assert draws["p"].shape == (40_000, 2, 3, 3) and draws["y"].shape == (40_000, 3)
    np.testing.assert_allclose(draws["A"].sum(axis=-1), 1.0, rtol=1e-12)
    product = draws["y"][:, 0] * draws["y"][:, 1]
    assert abs(product.mean() - limit["y"].cov.value[0, 1]) < 5 * product.std() / 200
    weights = np.exp(draws["p"]) / np.exp(draws["p"]).sum(-1, keepdims=True)
    np.testing.assert_allclose(weights, draws["A"], rtol=1e-12)


LAYERS = """
width n
index i, j in 1..3
index l in 1..3
input h[i] ~ N(0, 1)
input g[i] ~ N(0, 1)
matrix WQ, WK, WV ~ N(0, 1/n)
x[0,i] = h[i]
for l in 1..3:
  p[l,i,j] = dot(WQ @ x[l-1,i], WK @ KEYS) / sqrt(n)
  x[l,i] = x[l-1,i] + sum(softmax(p[l,i,j] for j) * (WV @ x[l-1,j]) for j)
output x[3,i]
"""


@pytest.mark.parametrize("keys, alike", [("x[l-1,j]", True), ("(x[l-1,j] + g[j])", False)])
def test_one_factor_serves_both_sides_only_where_queries_and_keys_read_the_same(monkeypatch, keys, alike):
    """The same numbers as with a factor for each side."""
    seen = []
    judge = draw._sides_are_alike
    monkeypatch.setattr(draw, "_sides_are_alike", lambda group: seen.append(judge(group)) or seen[-1])
    found = netsor.parse(LAYERS.replace("KEYS", keys)).limit(samples=256)["x"]
    assert set(seen) == {alike}
    monkeypatch.setattr(draw, "_sides_are_alike", lambda group: False)
    expected = netsor.parse(LAYERS.replace("KEYS", keys)).limit(samples=256)["x"]
    np.testing.assert_allclose(found.cov.value, expected.cov.value, rtol=1e-10)
    np.testing.assert_allclose(found.excess_kurtosis.value, expected.excess_kurtosis.value, rtol=1e-8)
