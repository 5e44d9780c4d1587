"""What is zero but for rounding has no digits of its own, and takes none from what stands beside it."""

import numpy as np

from netsor import parse

ODD = """width n
input h ~ N(0, 1)
matrix W ~ N(0, 1/n)
w = sigmoid(h)*h*(1 - sigmoid(h))
e = h^2*gelu(h)*gelu(-h)
y[1] = W @ w
y[2] = W @ e
m = avg(w*e)
k = 1 + m
output y, w, m, k
"""


def test_a_covariance_of_zero_leaves_the_variances_their_digits():
    """E[w e] is 0 because w is odd and e is even, which no rule sees."""
    y = parse(ODD).limit()["y"]
    assert np.all(y.var.value > 0.02) and np.all(y.var.error < 1e-12)
    assert abs(y.cov.value[0, 1]) <= y.cov.error[0, 1] < 1e-12


def test_a_mean_of_zero_leaves_the_law_its_digits():
    w = parse(ODD).limit()["w"]
    assert abs(w.mean.value) < 1e-12
    law = w[()]
    assert law.cdf(0.1).error < 1e-10 and law.cf(1.0).error < 1e-10


def test_zero_itself_is_no_more_certain_than_its_error():
    limit = parse(ODD).limit()
    assert abs(limit["m"].mean.value) <= limit["m"].mean.error < 1e-12
    assert abs(limit["k"].mean.value - 1) <= 1e-15 and limit["k"].mean.error < 1e-12
