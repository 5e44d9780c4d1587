"""The numbers that programs/ expect, computed here without netsor: quadrature, arc-cosine recursions, plain sampling.

Nothing here imports netsor.  Samplers of deep attention work in an explicit orthonormal basis of directions (the
tokens and their images under products of value matrices), so that they share no formula with the package.
"""

from __future__ import annotations

import numpy as np
import pytest
from independently.attention import softmax_square_moments
from independently.kernels import relu_kernel
from independently.stated import PROGRAMS, stated
from scipy.integrate import quad
from scipy.special import gammaln, ndtr

SAMPLES = 1_000_000


# --- quadrature -------------------------------------------------------------------------------------------------------


def low_rank_attention(tokens: int, heads: int, rank: int) -> tuple[float, float]:
    """Var y and the excess kurtosis of y with heads of dimension ``rank``.

    Given the query, the scores are iid N(0, |q|^2/rank) with |q|^2 chi-square; given the weights a head's output is
    Gaussian with iid coordinates, so its mean square is V times a chi-square over ``rank``.
    """
    def density(x: float) -> float:  # of chi-square / rank
        half = rank / 2
        return np.exp((half - 1) * np.log(x) + half * np.log(half) - half * x - gammaln(half))

    mean = quad(lambda x: density(x) * softmax_square_moments(tokens, x)[0], 1e-9, 30, epsrel=1e-8)[0]
    square = quad(lambda x: density(x) * softmax_square_moments(tokens, x)[1], 1e-9, 30, epsrel=1e-8)[0]
    variance_of_mixing = (square * (1 + 2 / rank) - mean**2) / heads
    return mean, 3 * variance_of_mixing / mean**2


def low_rank_covariance(tokens: int, rank: int, samples: int, seed: int) -> tuple[float, float]:
    """Cov(y_1, y_2) = E sum_j A_1j A_2j and its standard error: two queries, the same keys, by sampling."""
    generator = np.random.default_rng(seed)
    queries = generator.standard_normal((samples, 2, rank))
    keys = generator.standard_normal((samples, tokens, rank))
    weights = np.exp(queries @ np.swapaxes(keys, 1, 2) / np.sqrt(rank))
    weights /= weights.sum(axis=-1, keepdims=True)
    overlap = (weights[:, 0] * weights[:, 1]).sum(axis=-1)
    return overlap.mean(), overlap.std() / np.sqrt(samples)


# --- arc-cosine recursions --------------------------------------------------------------------------------------------


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


# --- the programs say what is computed here ---------------------------------------------------------------------------


def test_softmax_moments_are_stated():
    numbers = stated("attention_causal")
    for tokens in (2, 3, 4):
        mean, square = softmax_square_moments(tokens, 1.0)
        assert abs(numbers[f"cov(y[{tokens}], y[{tokens}])"] - mean) < 1e-12
    assert abs(stated("attention")["cov(y[1], y[1])"] - mean) < 1e-11
    assert abs(3 * (square - mean**2) / mean**2 - 0.2433184252) < 1e-9  # excess kurtosis of one head, four tokens
    mean, square = softmax_square_moments(3, 1.0)
    assert abs(stated("attention_head_width")["cov(y[1], y[1])"] - mean) < 1e-11
    assert abs(3 * (square - mean**2) / mean**2 - 0.1926625253) < 1e-9


def test_arc_cosine_recursions_are_stated():
    assert abs(stated("resnet")["cov(x[L,1], x[L,2])"] - resnet()[0, 1]) < 1e-11
    kernel = convolution()
    numbers = stated("convolution")
    for left, (i, j) in {"cov(f[1,1], f[1,1])": (0, 0), "cov(f[2,1], f[2,1])": (1, 1), "cov(f[1,1], f[2,1])": (0, 1)}.items():
        assert abs(numbers[left] - kernel[i, j]) < 1e-12
    readout, hidden = graph_convolution()
    numbers = stated("graph_convolution")
    assert abs(numbers["cov(f, f)"] - readout) < 1e-12
    assert abs(numbers["cov(h2[1], h2[3])"] - hidden[0, 2]) < 1e-12


def test_a_wide_hidden_layer_is_stated():
    """E relu(u) relu(v) for a pair of variance 1/2 and covariance 3/10, v = 3/5 u + noise, the inner mean in closed form."""
    def density(u: float) -> float:
        deviation = np.sqrt(0.5 - 0.3**2 / 0.5)
        t = 0.6 * u / deviation
        inner = 0.6 * u * ndtr(t) + deviation * np.exp(-t * t / 2) / np.sqrt(2 * np.pi)
        return u * inner * np.exp(-u * u) / np.sqrt(np.pi)

    numbers = stated("feed_forward")
    assert abs(numbers["cov(y[1], y[2])"] - 0.5 - 8 / 5 * quad(density, 0, 8, epsabs=1e-13)[0]) < 1e-11
    assert abs(numbers["cov(y[1], y[1])"] - 1 - 8 / 5 * 0.25) < 1e-12


@pytest.mark.slow
def test_low_rank_attention_is_stated():
    numbers = stated("attention_low_rank")
    variance, kurtosis = low_rank_attention(tokens=3, heads=2, rank=4)
    assert abs(numbers["cov(y[1], y[1])"] - variance) < 1e-9
    assert abs(numbers["kurtosis(y[1])"] - kurtosis) < 1e-9
    covariance, error = low_rank_covariance(tokens=3, rank=4, samples=SAMPLES, seed=1)
    assert abs(numbers["cov(y[1], y[2])"] - covariance) < 5 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "tokens", "causal", "shared"),
    [("transformer_two_layers", 4, False, False), ("decoder", 4, True, False), ("universal_transformer", 3, False, True)],
)
def test_two_layers_of_attention_are_stated(program, tokens, causal, shared):
    """Six comparisons at 5 standard errors of this run or more: false alarms below 1e-5.

    The stated number has an error of its own, hence sqrt(2); a change of 0.3 % in a variance would be seen.
    """
    mixing = deep_attention(tokens, heads=2, layers=2, causal=causal, shared=shared, samples=300_000, seed=3)
    for left, number in stated(program).items():
        token = int(left[left.index(",") + 1])
        mean, mean_error, kurtosis, kurtosis_error = variance_and_kurtosis(mixing[:, token - 1])
        value, error = (kurtosis, kurtosis_error) if left.startswith("kurtosis") else (mean, mean_error)
        assert abs(number - value) < 5 * 2**0.5 * error + 1e-5, left
