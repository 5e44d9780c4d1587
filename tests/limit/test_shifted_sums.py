"""Convolutions in two dimensions: sums over shifted arrays, all at once or shift by shift."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.ir import evaluate

CONVOLUTION = """
width n
data X[B, S, T, D] = [[[[1]]]]
index b, c in 1..B
index i, k in 1..S
index j, l in 1..T
index d in 1..D
index o, p in -1..1
const K[b,i,j,c,k,l] = mean(X[b,i,j,d] * X[c,k,l,d] for d)
input h1[b,i,j] ~ N(0, K)
matrix W[o,p] ~ N(0, 2/(9*n))
x1[b,i,j] = relu(h1[b,i,j])
h2[b,i,j] = sum(W[o,p] @ x1[b,i+o,j+p] for o, p if 1 <= i+o and i+o <= S and 1 <= j+p and j+p <= T)
x2[b,i,j] = relu(h2[b,i,j])
h3[b,i,j] = sum(W[o,p] @ x2[b,i+o,j+p] for o, p if 1 <= i+o and i+o <= S and 1 <= j+p and j+p <= T)
output h3
"""


def expected(X: np.ndarray) -> np.ndarray:
    """The recursion of arc-cosine kernels (Cho & Saul 2009) on arrays padded with zeros; the filters are shared by both layers and
    independent for different offsets."""
    B, S, T, D = X.shape
    K = np.einsum("bijd,ckld->bijckl", X, X) / D
    for _ in range(2):
        deviation = np.sqrt(np.einsum("bijbij->bij", K))
        scale = deviation[:, :, :, None, None, None] * deviation
        rho = np.clip(K / scale, -1, 1)
        relu = scale * (np.sqrt(1 - rho**2) + rho * (np.pi - np.arccos(rho))) / (2 * np.pi)
        padded = np.pad(relu, [(0, 0), (1, 1), (1, 1)] * 2)
        K = sum(
            padded[:, o:o + S, p:p + T, :, o:o + S, p:p + T] for o in range(3) for p in range(3)
        ) * 2 / 9
    return K


@pytest.mark.parametrize("large", [1, 2**22])
def test_a_convolution_in_two_dimensions(monkeypatch, large):
    monkeypatch.setattr(evaluate, "LARGE_SUM", large)
    X = np.random.default_rng(0).standard_normal((2, 3, 4, 3))
    found = netsor.parse(CONVOLUTION, data={"X": X}).limit()["h3"]
    np.testing.assert_allclose(found.cov.value, expected(X), rtol=1e-10, atol=1e-12)
