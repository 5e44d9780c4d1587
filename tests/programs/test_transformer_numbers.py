"""The numbers that the transformers of programs/ expect, sampled here without netsor.

Given the scores every token is a Gaussian vector, so that a transformer is a recursion of s x s covariances: scores of a head are Gaussian
with covariance K[i,i'] K[j,j'] (K the normalised covariance of the tokens), its output adds A A^T, and the network of gelus adds the dual
kernel of gelu, here as a power series from Hermite coefficients.  Nothing here imports netsor.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

PROGRAMS = Path(__file__).parents[2] / "programs"
SAMPLES = 1_000_000
HEADS, EPS = 2, 1e-6


def gelu_series(terms: int = 60) -> np.ndarray:
    """c_k^2 / k! for gelu in probabilists' Hermite polynomials: E[gelu(u) gelu(v)] = sum of these times rho^k at unit variances."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / np.sqrt(2 * np.pi)
    values = nodes * ndtr(nodes)
    before, now = np.zeros_like(nodes), np.ones_like(nodes)  # normalised polynomials, by their recurrence
    found = []
    for k in range(terms):
        found.append(float(weights @ (values * now)) ** 2)
        before, now = now, (nodes * now - np.sqrt(k) * before) / np.sqrt(k + 1)
    return np.array(found)


SERIES = gelu_series()


def network(covariance: np.ndarray) -> np.ndarray:
    """Covariance of D gelu(U w), w of the given covariance with unit variances."""
    return np.polynomial.polynomial.polyval(covariance, SERIES)


def normalised(covariance: np.ndarray) -> np.ndarray:
    """The covariance after a layer norm; means over the width are zero."""
    scale = 1 / np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1) + EPS)
    return covariance * scale[..., :, None] * scale[..., None, :]


def attention(queries: np.ndarray, keys: np.ndarray, noise: np.random.Generator, mask: np.ndarray | None = None) -> np.ndarray:
    """What the heads add to the covariance of the queries' tokens."""
    added = np.zeros_like(queries)
    left, right = np.linalg.cholesky(queries), np.linalg.cholesky(keys)
    for _ in range(HEADS):
        scores = left @ noise.standard_normal((len(queries), left.shape[-1], right.shape[-1])) @ np.swapaxes(right, -1, -2)
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        added += weights @ keys @ np.swapaxes(weights, -1, -2) / HEADS
    return added


def pre_ln(samples: int, noise: np.random.Generator, layers: int = 2) -> np.ndarray:
    x = np.broadcast_to(np.eye(4), (samples, 4, 4)).copy()
    for _ in range(layers):
        u = normalised(x)
        y = x + attention(u, u, noise)
        x = y + network(normalised(y))
    return x


def post_ln(samples: int, noise: np.random.Generator, layers: int = 1) -> np.ndarray:
    x = np.broadcast_to(np.eye(4), (samples, 4, 4)).copy()
    for _ in range(layers):
        y = normalised(x + attention(x, x, noise))
        x = normalised(y + network(y))
    return x


def decoder(samples: int, noise: np.random.Generator, layers: int = 1) -> np.ndarray:
    x = np.broadcast_to(np.eye(3), (samples, 3, 3)).copy()
    memory = np.broadcast_to(np.eye(2), (samples, 2, 2))
    causal = np.tril(np.ones((3, 3), dtype=bool))
    for _ in range(layers):
        u = normalised(x)
        y = x + attention(u, u, noise, causal)
        z = y + attention(normalised(y), memory, noise)
        x = z + network(normalised(z))
    return x


# --- what the programs state


def moments(sample, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean covariance, its standard error, and the excess kurtosis of a mixture of Gaussians of these covariances."""
    noise = np.random.default_rng(seed)
    drawn = np.concatenate([sample(100_000, noise) for _ in range(SAMPLES // 100_000)])
    variance = np.diagonal(drawn, axis1=1, axis2=2)
    kurtosis = 3 * np.mean(variance**2, 0) / np.mean(variance, 0) ** 2 - 3
    return drawn.mean(0), drawn.std(0) / np.sqrt(len(drawn)), kurtosis


def stated(program: str) -> dict[tuple[str, int, int], float]:
    """The numbers in lines like `expect cov(x[L,1], x[L,2]) = 0.97 within 1e-3`."""
    text = (PROGRAMS / program).read_text(encoding="utf-8")
    found = {}
    for name, first, second, value in re.findall(r"^expect (\w+)\(x\[L,(\d)\](?:, x\[L,(\d)\])?\) = ([\d.e-]+)", text, re.M):
        found[name, int(first), int(second or first)] = float(value)
    assert len(found) >= 2
    return found


@pytest.mark.slow
@pytest.mark.parametrize("program, sample", [
    ("transformer.netsor", pre_ln), ("transformer_post_ln.netsor", post_ln), ("transformer_decoder.netsor", decoder),
])
def test_the_stated_numbers(program, sample):
    """Within 5 standard errors (2e-4 of a covariance at most) and the last digit stated; false alarms: less than 1 in 100,000."""
    mean, error, kurtosis = moments(sample, seed=11)
    for (name, i, j), value in stated(program).items():
        if name == "cov":
            assert abs(mean[i - 1, j - 1] - value) < 5 * error[i - 1, j - 1] + 6e-5, (name, i, j)
        else:
            assert abs(kurtosis[i - 1] - value) < 5e-5, (name, i)  # it varies by 1e-5 between samples of this size
