"""Covariances that are none by the noise of quasi-random points are cut off, and the error says so; those beyond it are refused."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.limit.rounding import Allowance, NotACovariance, correlated, nonnegative

EQUAL = """
width n
input a, b, c ~ N(0, 1)
matrix W, U ~ N(0, 1/n)
u = tanh(a) * tanh(b) * tanh(c)
v = {same}
y = W @ u
z = {sign}W @ v
k = tanh(y) * tanh(z)
d = U @ k
output d, y, z, k
"""


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_and_opposite_vectors_behind_noise(sign, seed):
    """y and z are the same, one covariance by quadrature and two by quasi-random points: correlation 1 + 3e-4 now and then."""
    sign = "0 - " if sign else ""
    exact = netsor.parse(EQUAL.format(same="u", sign=sign)).limit()
    noisy = netsor.parse(EQUAL.format(same="max(u, -5)", sign=sign)).limit(points=2**12, seed=seed)
    for name in ("d", "z", "k"):
        for one, other in ((exact[name].var, noisy[name].var), (exact[name].mean, noisy[name].mean)):
            assert abs(float(one.value) - float(other.value)) <= 6 * float(other.error) + 1e-12
    assert 0 < float(noisy["d"].var.error) < 0.01 * float(noisy["d"].var.value)


def test_what_is_cut_off_is_told():
    told = []
    allowance = Allowance(0.01, told.append)
    one = np.ones(4)
    np.testing.assert_array_equal(correlated(np.array([1.004, -1.004, 0.5, 1.0]), one, one, allowance), [1, -1, 0.5, 1])
    np.testing.assert_array_equal(nonnegative(np.array([2.0, -0.01]), allowance), [2, 0])
    np.testing.assert_allclose(told, [0.002, 0.0025])


def test_what_is_more_than_noise_is_refused():
    one = np.ones(1)
    for allowance in (Allowance(), Allowance(0.01)):
        with pytest.raises(NotACovariance):
            correlated(np.array([1.02]), one, one, allowance)
        with pytest.raises(NotACovariance):
            nonnegative(np.array([1.0, -0.02]), allowance)
