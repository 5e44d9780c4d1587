"""Closed forms over the scores against quadrature over the scores themselves, which knows nothing of the formulas."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from netsor.api import load, parse
from netsor.derive.objects import ScoreExpectation

PROGRAMS = Path(__file__).parents[2] / "programs"
HEAD = """
width n
param s = 3
param H = 2
param v = 0.8
param c = 0.3
index i, j, k in 1..s
index a in 1..H
input x[i] ~ N(0, 1)
matrix WQ[a], WK[a], WP[a], WR[a], WV[a], WO[a] ~ N(0, 1/n)
p[a,i,j] = sqrt(v) * dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
r[a,i,j] = dot(WP[a] @ x[i], WR[a] @ x[j]) / sqrt(n)
"""
TAIL = """
y[i] = sum(A[a,i,j] * (WO[a] @ (WV[a] @ x[j])) for a, j) / sqrt(H)
output y
"""
STEP = 0.4  # of the trapezoidal rule: softmax has its poles at distance pi/deviation, so that the error is below e^{-27}


def attention(weights: str):
    return parse(HEAD + f"A[a,i,j] = {weights}" + TAIL)


def grid(scores: int, variance: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """All combinations of the nodes of a trapezoidal rule for iid N(0, variance) scores, first axis the score, and their weights."""
    z = np.arange(-7.2, 7.3, STEP)
    w = np.exp(-(z**2) / 2)
    points = np.stack(np.meshgrid(*[math.sqrt(variance) * z] * scores, indexing="ij")).reshape(scores, -1)
    weights = math.prod(np.meshgrid(*[w / w.sum()] * scores, indexing="ij"))
    return points, weights.reshape(-1)


def softmax(p: np.ndarray) -> np.ndarray:
    weights = np.exp(p - p.max(axis=0))
    return weights / weights.sum(axis=0)


def rows(weights_of_row) -> tuple[np.ndarray, np.ndarray]:
    """E sum_j A_ij A_i'j and the excess kurtosis of y_i at H = 2, ``weights_of_row(i, p)`` being row i of A (tokens by points)."""
    points, w = grid(3)
    own = [weights_of_row(i, points) for i in range(3)]
    mean = [row @ w for row in own]
    squares = [(row**2).sum(axis=0) for row in own]
    covariance = np.array([[squares[i] @ w if i == k else mean[i] @ mean[k] for k in range(3)] for i in range(3)])
    kurtosis = [3 * ((q**2 @ w) / (q @ w) ** 2 - 1) / 2 for q in squares]
    return covariance, np.array(kurtosis)


def masked(mask):
    """The softmax over the tokens j that a mask admits for token i."""
    def row(i, p):
        found = np.zeros_like(p)
        kept = [j for j in range(3) if mask(i, j)]
        found[kept] = softmax(p[kept])
        return found
    return row


CASES = {
    "softmax(p[a,i,j] for j if j <= i)": masked(lambda i, j: j <= i),
    "softmax(p[a,i,j] for j if j >= i)": masked(lambda i, j: j >= i),
    "softmax(p[a,i,j] for j if j != i)": masked(lambda i, j: j != i),
    "softmax(p[a,i,j] for j if j <= i and j >= i - 1)": masked(lambda i, j: i - 1 <= j <= i),
    "softmax(p[a,i,j] + 1 for j)": lambda i, p: softmax(p),
    "softmax(2 * p[a,i,j] for j if j < i + 1)": lambda i, p: masked(lambda i, j: j <= i)(i, 2 * p),
    "(1 if i == j else 0) + c * (softmax(p[a,i,j] for j) - 1/s)": lambda i, p: np.eye(3)[i][:, None] + 0.3 * (softmax(p) - 1 / 3),
    "softmax(p[a,i,j] for j) - c": lambda i, p: softmax(p) - 0.3,
}


@pytest.mark.parametrize("weights", CASES)
def test_moments_of_softmax_weights_are_closed(weights):
    """Masks of all kinds, exponents scaled and shifted, weights shifted and added to the identity."""
    derivation = attention(weights).derive()
    covariance, kurtosis = rows(CASES[weights])
    values = derivation.evaluate()
    np.testing.assert_allclose(values["Cov(y[i], y[i'])"], covariance, atol=1e-10)
    np.testing.assert_allclose(values["excess kurtosis(y[i])"], kurtosis, atol=1e-9)


def test_products_of_two_softmaxes():
    """A = softmax(p) - c softmax(r) of three tokens: a softmax sees the two contrasts of its scores alone."""
    values = attention("softmax(p[a,i,j] for j) - c * softmax(r[a,i,j] for j)").derive().evaluate()
    contrasts = np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6])
    (one, w_one), (two, w_two) = grid(2), grid(2, 1.0)
    one, two = softmax(contrasts @ one), softmax(contrasts @ two)
    first = second = 0.0
    for start in range(0, one.shape[1], 500):
        part = slice(start, start + 500)
        cross = np.einsum("jp,jq->pq", one[:, part], two)
        v = (one[:, part] ** 2).sum(axis=0)[:, None] - 0.6 * cross + 0.09 * (two**2).sum(axis=0)
        first += w_one[part] @ v @ w_two
        second += w_one[part] @ v**2 @ w_two
    assert abs(values["Cov(y[i], y[i'])"][0, 0] - first) < 1e-10
    assert abs(values["excess kurtosis(y[i])"][0] - 3 * (second / first**2 - 1) / 2) < 1e-9


ONE_BY_ONE = {
    "sigmoid(p[a,i,j] - log(s))": lambda p: 1 / (1 + 3 * np.exp(-p)),
    "relu(p[a,i,j]) / s": lambda p: np.maximum(p, 0) / 3,
    "silu(p[a,i,j]) * p[a,i,j]": lambda p: p**2 / (1 + np.exp(-p)),
    "step(p[a,i,j]) * p[a,i,j]^2": lambda p: (p > 0) * p**2,
    "exp(p[a,i,j])": np.exp,
    "exp(p[a,i,j] / 2) / s": lambda p: np.exp(p / 2) / 3,
    "sin(p[a,i,j])": np.sin,
    "clip(p[a,i,j], -1, 1)": lambda p: np.clip(p, -1, 1),
    "abs(p[a,i,j]) + c": lambda p: np.abs(p) + 0.3,
}


@pytest.mark.parametrize("weights", ONE_BY_ONE)
def test_functions_of_single_scores_need_one_variable(weights):
    """E phi, E phi^2, E phi^4 by the trapezoidal rule with the kinks on its nodes; nothing stands as an expectation over the scores."""
    derivation = attention(weights).derive()
    step = 1 / 4096
    p = np.arange(-12 + step / 2, 12, step)
    w = np.exp(-(p**2) / 1.6) * step / math.sqrt(1.6 * math.pi)
    phi = ONE_BY_ONE[weights](p)
    mean, second, fourth = phi @ w, phi**2 @ w, phi**4 @ w
    assert not any(statement.right.has(ScoreExpectation) for statement in derivation.statements)
    values = derivation.evaluate()
    np.testing.assert_allclose(values["Cov(y[i], y[i'])"], 3 * np.where(np.eye(3), second, mean**2), rtol=2e-7, atol=1e-9)
    np.testing.assert_allclose(values["excess kurtosis(y[i])"], 3 * (fourth - second**2) / (2 * 3 * second**2), rtol=2e-6)


def test_the_denominator_is_given_where_it_is_known():
    """E V^2 of the gated unit stands, E V does not."""
    found = load(PROGRAMS / "gated_attention_unit.netsor").derive()["excess kurtosis(y[i])"]
    assert len(found.atoms(ScoreExpectation)) <= 1
