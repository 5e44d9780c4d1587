"""Two elements of a family whose covariance has a term for equal elements alone: without that term the rest is no covariance of one
element with itself, and must not be taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import netsor

PROGRAM = """
width n
index t, u in 1..2
{inputs}
matrix U, D ~ N(0, 1/n)
z[t] = {function}(U @ y[t])
g[t] = D @ z[t]
output g
"""
MIXED = "data A[2, 2] = [[-0.7, 0.1], [0.1, -0.7]]\ninput x[t] ~ N(0, 1)\ny[t] = x[t] + sum(A[t,u] * x[u] for u)"
WHOLE = "data K[2, 2] = [[0.1, 0.06], [0.06, 0.1]]\ninput y[t] ~ N(0, K)"


@pytest.mark.parametrize("function", ["gelu", "relu", "tanh"])
def test_a_residual_that_takes_most_of_it_away(function):
    """y = (1 + A) x: the variance 1 + 2 A_tt + (A A^T)_tt is 0.1, and without the 1 of equal elements -0.9."""
    found, wanted = (netsor.parse(PROGRAM.format(inputs=inputs, function=function)).limit()["g"].cov for inputs in (MIXED, WHOLE))
    np.testing.assert_allclose(found.value, wanted.value, rtol=1e-10)


def test_tokens_mixed_by_random_scalars():
    """An MLP mixer: the residual sum(M2[t,k] * h[k] for k) may be nearly -x[t].  Over 2,048 samples some are."""
    text = """
import std.normalization
width n
index t in 1..2
index k in 1..2
input x[t] ~ N(0, 1)
input M1[k,t], M2[t,k] : 1 ~ N(0, 1/2)
matrix U, D ~ N(0, 1/n)
l[t] = layernorm(x[t])
h[k] = gelu(sum(M1[k,t] * l[t] for t))
y[t] = x[t] + sum(M2[t,k] * h[k] for k)
m[t] = layernorm(y[t])
z[t] = D @ gelu(U @ m[t])
output z
"""
    variance = netsor.parse(text).limit(samples=2**11)["z"].var
    # U @ m has variance 1 but for eps / Var y, rarely as much as 1e-3
    wanted = quad(lambda v: (v * norm.cdf(v)) ** 2 * norm.pdf(v), -12, 12)[0]
    assert np.all(variance.value <= wanted + 1e-9) and np.all(variance.value >= wanted * (1 - 1e-4))
