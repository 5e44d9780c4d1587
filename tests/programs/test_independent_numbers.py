"""The numbers that programs/ expect, computed here without netsor: quadrature, arc-cosine recursions, plain sampling.

Nothing in this file but the last test imports netsor.  Samplers work in an explicit orthonormal basis of directions (the
tokens and their images under products of value matrices), so that they share no formula with the package.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

PROGRAMS = Path(__file__).parents[2] / "programs"
SAMPLES = 1_000_000


# --- quadrature -------------------------------------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(160)
_WEIGHTS = _WEIGHTS / np.sqrt(2 * np.pi)


def softmax_square_moments(tokens: int, variance: float) -> tuple[float, float]:
    """E V and E V^2, V = sum_j A_j^2 for the softmax A of iid N(0, variance) scores.

    With S = sum_j e^{x_j}: 1/S^2 = int t e^{-tS} dt and 1/S^4 = int t^3 e^{-tS} dt / 6, over t = e^r.
    """
    powers = np.exp(np.sqrt(variance) * _NODES)

    def weighted(t: float, power: int) -> float:
        return float(_WEIGHTS @ (powers**power * np.exp(-t * powers)))

    def first(r: float) -> float:
        t = np.exp(r)
        return t**2 * tokens * weighted(t, 2) * weighted(t, 0) ** (tokens - 1)

    def second(r: float) -> float:
        t = np.exp(r)
        same = tokens * weighted(t, 4) * weighted(t, 0) ** (tokens - 1)
        pairs = tokens * (tokens - 1) * weighted(t, 2) ** 2 * weighted(t, 0) ** (tokens - 2) if tokens > 1 else 0.0
        return t**4 / 6 * (same + pairs)

    options = {"epsabs": 1e-13, "epsrel": 1e-12, "limit": 400}
    return quad(first, -25, 12, **options)[0], quad(second, -25, 12, **options)[0]


def low_rank_attention(tokens: int, heads: int, rank: int) -> tuple[float, float]:
    """Var y and the excess kurtosis of y with heads of dimension ``rank``.

    Given the query, the scores are iid N(0, |q|^2/rank) with |q|^2 chi-square; given the weights a head's output is
    Gaussian with iid coordinates, so its mean square is V times a chi-square over ``rank``.
    """
    def density(x: float) -> float:  # of chi-square / rank
        half = rank / 2
        return np.exp((half - 1) * np.log(x) + half * np.log(half) - half * x - gammaln(half))

    moment = [quad(lambda x: density(x) * softmax_square_moments(tokens, x)[k], 1e-9, 30, epsrel=1e-8)[0] for k in (0, 1)]
    variance_of_mixing = (moment[1] * (1 + 2 / rank) - moment[0] ** 2) / heads
    return moment[0], 3 * variance_of_mixing / moment[0] ** 2


# --- arc-cosine recursions --------------------------------------------------------------------------------------------


def relu_kernel(kernel: np.ndarray) -> np.ndarray:
    """E relu(u) relu(v) (Cho & Saul 2009)."""
    scale = np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    cosine = np.clip(kernel / np.where(scale > 0, scale, 1), -1, 1)
    return scale * (np.sqrt(1 - cosine**2) + cosine * (np.pi - np.arccos(cosine))) / (2 * np.pi)


def resnet() -> np.ndarray:
    points = np.loadtxt(PROGRAMS / "points.csv", delimiter=",")
    kernel = points @ points.T / 3
    for _ in range(8):
        kernel = kernel + relu_kernel(2 * kernel) / 8
    return kernel


def convolution() -> np.ndarray:
    x = np.load(PROGRAMS / "sequences.npy")
    batch, size, channels = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (0, 0)))
    patches = np.stack([padded[:, o : o + size] for o in range(3)], axis=2).reshape(batch * size, -1)
    first = relu_kernel(2 / 3 * patches @ patches.T / channels).reshape(batch, size, batch, size)
    wide = np.pad(first, ((0, 0), (1, 1), (0, 0), (1, 1)))
    half = size // 2
    # position m (from 0) of the second layer is centred at 2m, its window at 2m .. 2m+2 of the padded sequence
    second = 2 / 3 * sum(wide[:, o : o + 2 * half : 2, :, o : o + 2 * half : 2] for o in range(3))
    flat = relu_kernel(second.reshape(batch * half, batch * half)).reshape(batch, half, batch, half)
    return flat.mean(axis=(1, 3))


def graph_convolution() -> tuple[float, np.ndarray]:
    adjacency = np.loadtxt(PROGRAMS / "ring.csv", delimiter=",") + np.eye(5)
    features = np.loadtxt(PROGRAMS / "ring_features.csv", delimiter=",")
    degree = adjacency.sum(axis=1)
    mixing = adjacency / np.sqrt(np.outer(degree, degree))
    first = mixing @ features
    second = 2 * mixing @ relu_kernel(first @ first.T / 3) @ mixing.T
    return relu_kernel(second).mean(), second


# --- sampling deep attention ------------------------------------------------------------------------------------------


def deep_attention(tokens: int, heads: int, layers: int, causal: bool, shared: bool, samples: int, seed: int, chunk=4096):
    """Conditional variances (samples, tokens) of the last layer of a residual attention stack on independent tokens.

    A token of layer l is a vector of coefficients over orthonormal directions: the input tokens and everything that the
    value matrices have made of them.  Query and key matrices act through their score matrix Xi on these directions; with
    shared matrices Xi and the images of known directions are kept, and Xi is read on as many directions as there are.
    """
    generator = np.random.default_rng(seed)
    variances = []
    mask = np.tril(np.ones((tokens, tokens), dtype=bool)) if causal else np.ones((tokens, tokens), dtype=bool)
    last = tokens * sum(heads**k for k in range(layers)) if shared else tokens * (1 + heads) ** (layers - 1)
    for start in range(0, samples, chunk):
        count = min(chunk, samples - start)
        x = np.broadcast_to(np.eye(tokens), (count, tokens, tokens))
        kept = generator.standard_normal((count, heads, last, last)) if shared else None
        for _ in range(layers):
            size = x.shape[2]
            form = kept[:, :, :size, :size] if shared else generator.standard_normal((count, heads, size, size))
            scores = np.matmul(np.matmul(x[:, None], form), np.swapaxes(x, 1, 2)[:, None])
            weights = np.where(mask, np.exp(scores), 0.0)
            weights /= weights.sum(axis=-1, keepdims=True)
            mixed = np.matmul(weights, x[:, None]) / np.sqrt(heads)  # (count, heads, tokens, size)
            if shared:
                # direction d of the old basis goes to direction tokens + a * size + d of the new one: words h, a h, a b h
                images = np.moveaxis(mixed, 1, 2).reshape(count, tokens, heads * size)
                x = _add_images(x, images, tokens, heads)
            else:
                x = np.concatenate([x, np.moveaxis(mixed, 1, 2).reshape(count, tokens, heads * size)], axis=2)
        variances.append((x**2).sum(axis=2))
    return np.concatenate(variances)


def _add_images(x: np.ndarray, images: np.ndarray, tokens: int, heads: int) -> np.ndarray:
    """x + images in the basis of words, ordered by length, then by the outermost letter.

    Image of the word w under letter a is the word aw; images come as (letter, word) with words in the old order.
    """
    count, size = len(x), x.shape[2]
    lengths, total = [], 0
    while total < size:
        lengths.append(tokens * heads ** len(lengths))
        total += lengths[-1]
    new = np.zeros((count, tokens, size + lengths[-1] * heads))
    new[:, :, :size] = x
    by_letter = images.reshape(count, tokens, heads, size)
    read, write = 0, tokens
    for length in lengths:
        block = by_letter[:, :, :, read : read + length].reshape(count, tokens, heads * length)
        new[:, :, write : write + heads * length] += block
        read, write = read + length, write + heads * length
    return new


def variance_and_kurtosis(mixing: np.ndarray) -> tuple[float, float, float, float]:
    """E V and 3 Var V / (E V)^2 with standard errors (delta method)."""
    mean, count = mixing.mean(), len(mixing)
    kurtosis = 3 * mixing.var() / mean**2
    influence = 3 * (mixing - mean) ** 2 / mean**2 - kurtosis - 2 * kurtosis * (mixing - mean) / mean
    return mean, mixing.std() / np.sqrt(count), kurtosis, influence.std() / np.sqrt(count)
