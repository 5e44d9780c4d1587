"""Several widths in the limit: ratios enter where scales mention another width than the natural one, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import netsor

ATTENTION = """
param r = 1/4
width n, m = r*n
index i, j in 1..3
index a in 1..2
input h[i] ~ N(0, 1)
matrix Q[a], K[a], V[a] : (m, n) ~ N(0, 1/n)
matrix O[a] : (n, m) ~ N(0, 1/m)
p[a,i,j] = dot(Q[a] @ h[i], K[a] @ h[j]) / sqrt(m)
A[a,i,j] = softmax(p[a,i,j] for j)
y[i] = sum(A[a,i,j] * (O[a] @ (V[a] @ h[j])) for a, j) / sqrt(2)
z[i] = h[i] + O[1] @ relu(V[1] @ y[i])
f = dot(V[2] @ y[1], relu(Q[1] @ y[2])) / sqrt(m)
output p, y, z, f
"""


def numbers(program: str, **settings) -> dict:
    limit = netsor.parse(program, **settings).limit(samples=2**12, seed=0)
    return {name: np.concatenate([variable.mean.value.ravel(), variable.cov.value.ravel()]) for name, variable in limit.items()}


@pytest.mark.parametrize("ratio", ["4", "1/7", "pi"])
def test_with_natural_scales_the_ratio_does_not_matter(ratio):
    """With scales 1/sqrt(m) and variances over the fan-in the limit is that of one width, number for number (same seed)."""
    one = numbers(ATTENTION.replace("width n, m = r*n", "width n").replace("/m)", "/n)").replace("(m)", "(n)")
                  .replace(" : (m, n)", "").replace(" : (n, m)", ""))
    several = numbers(ATTENTION, r=ratio)
    for name, values in one.items():
        np.testing.assert_allclose(several[name], values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("ratio", [0.25, 3])
def test_scores_scaled_by_another_width_have_its_ratio(ratio):
    """sum over m coordinates / n: Var p = m/n * E; the score of two such is a Kronecker product as before."""
    program = f"""
width n, m = {ratio}*n
input x, z ~ N(0, 1)
input b : m ~ N(0, 2)
matrix Q : (m, n) ~ N(0, 3/n)
p[1] = dot(b, Q @ x) / sqrt(n)
p[2] = dot(b, Q @ z) / sqrt(n + m)
p[3] = dot(b, Q @ (x + z)) / sqrt(m)
g = dot(b, b) / n + avg(b^2)
output p, g
"""
    found = numbers(program)
    sides = np.array([ratio**0.5, (ratio / (1 + ratio))**0.5, 1])
    gram = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    np.testing.assert_allclose(found["p"][3:].reshape(3, 3), 6 * gram * np.outer(sides, sides), rtol=0.01)
    np.testing.assert_allclose(found["g"][:1], 2 * ratio + 2, rtol=1e-13)


@pytest.mark.parametrize("ratio", [0.5, 4])
def test_glorot_variances(ratio):
    """2/(n + m): variance times fan-in is 2/(1 + r) and 2r/(1 + r); E relu(u)^2 is half the variance."""
    found = numbers(f"""
width n, m = {ratio}*n
input x ~ N(0, 1)
matrix U : (m, n) ~ N(0, 2/(n + m))
matrix D : (n, m) ~ N(0, 2/(n + m))
u = U @ x
y = D @ relu(u)
output u, y
""")
    up, down = 2 / (1 + ratio), 2 * ratio / (1 + ratio)
    np.testing.assert_allclose([found["u"][1], found["y"][1]], [up, down * up / 2], rtol=1e-13)


def test_vectors_of_different_widths_are_independent_given_the_scores():
    """Coordinates of x and b never share randomness, also where both depend on one score; joint draws agree."""
    program = netsor.parse("""
width n, m = n/2
input x, v ~ N(0, 1)
input b : m ~ N(0, 1)
s = dot(v, x) / sqrt(n)
y = s*x
z = s*b
w = (1 + s)*b + 2
output y, z, w
expect cov(y, z) = 0 within 1e-9
expect cov(z, w) = 1 within 0.05
""")
    limit = program.limit(samples=2**13)
    for expectation, found in limit.expectations:
        assert abs(found.value - float(expectation.value.value)) <= 5 * found.error + 1e-12, expectation.span.text
    drawn = limit.sample(20_000, 1)
    products = drawn["y"] * drawn["z"]
    assert abs(products.mean()) < 5 * products.std() / 20_000**0.5
    squares = drawn["y"]**2 * drawn["z"]**2  # E s^4 = 3, were they independent it would be 1
    assert abs(squares.mean() - 3) < 5 * squares.std() / 20_000**0.5 and squares.mean() > 2


def test_two_scores_over_different_widths_are_independent():
    found = numbers("""
width n, m = 2*n
index k in 1..2
input x, v ~ N(0, 1)
input b : m ~ N(0, 1)
matrix Q : (m, n) ~ N(0, 1/n)
p[1] = dot(v, x) / sqrt(n)
p[2] = dot(b, Q @ x) / sqrt(m)
output p
""")
    np.testing.assert_allclose(found["p"][2:].reshape(2, 2), np.eye(2), atol=0.05)
