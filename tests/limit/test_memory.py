"""Arrays that only lead to later ones are let go; what is asked for, by name or by a sample, stays."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.limit import numbers as module
from netsor.limit.levels import Levels
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import Recursion, generic

DEEP = """
width n
data K[B, C] = [[1]]
index b, c in 1..B
index l in 1..6
input x[b] ~ N(0, K[b,c])
matrix W[l] ~ N(0, 2/n)
h[0,b] = x[b]
for l in 1..6:
  h[l,b] = W[l] @ relu(h[l-1,b])
output h[6,b]
"""


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(module, "LARGE", 100)


def prepared():
    points = np.random.default_rng(0).standard_normal((30, 5))
    program = netsor.parse(DEEP, data={"K": points @ points.T})
    family = program.ir.outputs[0].parts[0].reference.family
    recursion = Recursion()
    reference = generic(family, "x"), generic(family, "y")
    expression = recursion.covariance(*reference).expression()
    numbers = Numbers(recursion, Levels(recursion))
    numbers.prepare(expression)
    return numbers, expression


def held(numbers):
    return [value.data.size for store in numbers._values.values() for value in store.values()]


def test_layers_in_between_are_let_go(small_is_large):
    numbers, expression = prepared()
    assert numbers.evaluate(expression).data.shape == (30, 30)
    assert sum(size == 900 for size in held(numbers)) <= 1


def test_results_are_the_same(monkeypatch):
    kept, expression = prepared()
    expected = kept.evaluate(expression).data
    assert sum(size == 900 for size in held(kept)) > 3
    monkeypatch.setattr(module, "LARGE", 100)
    numbers, expression = prepared()
    assert np.array_equal(numbers.evaluate(expression).data, expected)


def test_what_samples_need_is_kept(small_is_large, monkeypatch):
    """The kernel of the tokens is computed once, not for every chunk of samples."""
    program = netsor.parse("""
width n
index i, j in 1..6
input g[i] ~ N(0, 1)
matrix W, V, Q, R, O ~ N(0, 1/n)
x[i] = tanh(W @ relu(V @ tanh(g[i])))
p[i,j] = dot(Q @ x[i], R @ x[j]) / sqrt(n)
y[i] = sum(softmax(p[i,j] for j) * (O @ x[j]) for j)
output y
""")
    seen = []
    expect = module.integrate
    monkeypatch.setattr(module, "integrate", lambda expect_node, numbers: seen.append(expect_node) or expect(expect_node, numbers))
    monkeypatch.setattr("netsor.limit.sampling.MAX_CHUNK", 16)
    program.limit(samples=2**10)
    assert 3 <= len(seen) < 32  # of 64 chunks


def test_a_product_of_two_functions_is_a_pair(monkeypatch):
    """Kernels of analytic functions are interpolated as a whole and never done cell by cell on grids."""
    monkeypatch.setattr("netsor.limit.integrals.grid_expectation", None)
    found = netsor.parse(DEEP.replace("relu", "tanh"), data={"K": np.eye(3) + 1}).limit()["h"]
    assert "closed form" not in found.cov.method and found.cov.error.max() < 1e-8
