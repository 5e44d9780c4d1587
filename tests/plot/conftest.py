"""Limits that figures are made of."""

import pytest

import netsor

ATTENTION = """
width n
index i, j in 1..3
input x[i] ~ N(0, 1)
matrix WQ, WK, WV ~ N(0, 1/n)
p[i,j] = dot(WQ @ x[i], WK @ x[j]) / sqrt(n)
A[i,j] = softmax(p[i,j] for j)
y[i] = sum(A[i,j] * (WV @ x[j]) for j)
m[i,j] = dot(x[i], x[j]) / n
output p, A, y, m
"""


@pytest.fixture(scope="session")
def program():
    """Scores, weights known through samples, a mixture, and numbers."""
    return netsor.parse(ATTENTION)


@pytest.fixture(scope="session")
def limit(program):
    return program.limit(samples=2**11)
