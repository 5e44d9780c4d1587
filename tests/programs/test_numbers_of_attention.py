"""The numbers that the programs with attention state, by quadrature over their scores."""

from __future__ import annotations

import numpy as np
import pytest
from independently.attention import excess_kurtosis, power_sums, rows_of_attention, softmax_mean, softmax_square_moments
from independently.kernels import as_function_of_correlation, mean_of
from independently.quadrature import expectation, normal
from independently.stated import assert_stated, stated
from scipy.integrate import quad
from scipy.special import expit, ndtr

gelu = lambda x: x * ndtr(x)


def attention_alibi() -> dict[str, float]:
    """Heads with slopes 1/16 and 1/256; the causal row of two tokens and that of three."""
    found = {}
    for tokens in (2, 3):
        distance = np.arange(tokens)[::-1]
        heads = [
            rows_of_attention(np.eye(1), np.eye(tokens), np.eye(tokens), bias=-slope * distance, count=80)
            for slope in (2.0**-4, 2.0**-8)
        ]
        found[f"cov(y[{tokens}], y[{tokens}])"] = mean = np.mean([float(kernel[0, 0]) for kernel, _ in heads])
    variance_of_mixing = sum(square - kernel[0, 0] ** 2 for kernel, square in heads) / 4
    return found | {"kurtosis(y[3])": 3 * variance_of_mixing / mean**2}


def attention_kernel() -> dict[str, float]:
    kernel = np.array([[0.5, 0.2, -0.1], [0.2, 0.6, 0.1], [-0.1, 0.1, 0.4]])
    weights = np.exp(kernel)
    weights /= weights.sum(axis=1, keepdims=True)
    mixed = weights @ kernel @ weights.T
    return {"cov(y[1], y[1])": mixed[0, 0], "cov(y[1], y[2])": mixed[0, 1]}


def attention_rotary() -> dict[str, float]:
    """Scores of one row have the covariance of the tokens times the mean cosine of the angles between them."""
    distance = np.subtract.outer(np.arange(3), np.arange(3))
    tokens = np.where(distance == 0, 1, 0.75)
    turned = np.mean([np.cos(frequency * distance) for frequency in (1, 0.1)], axis=0)
    kernel, square = rows_of_attention(np.eye(1), tokens * turned, tokens, count=80)
    return {"cov(y[1], y[1])": kernel[0, 0], "kurtosis(y[1])": excess_kurtosis(kernel[0, 0], square)}


def attention_sigmoid() -> dict[str, float]:
    first, second, fourth = (mean_of(lambda x, k=k: expit(x - np.log(4)) ** k) for k in (1, 2, 4))
    return {
        "cov(y[1], y[1])": 4 * second, "cov(y[1], y[2])": 4 * first**2,
        "kurtosis(y[1])": 3 * (fourth - second**2) / (4 * second**2),
    }


def attention_sink() -> dict[str, float]:
    mean, square = softmax_square_moments(3, 1.0, sink=1.0)
    return {
        "cov(y[1], y[1])": mean, "cov(y[1], y[2])": 3 * softmax_mean(3, sink=1.0) ** 2,
        "kurtosis(y[1])": excess_kurtosis(mean, square),
    }


def attention_sinusoidal() -> dict[str, float]:
    distance = np.subtract.outer(np.arange(3), np.arange(3))
    tokens = np.mean([np.cos(distance / 10_000 ** (2 * f / 8)) for f in range(4)], axis=0) + [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    outer, _ = rows_of_attention(tokens[np.ix_([0, 2], [0, 2])], tokens, tokens, count=44)
    middle, square = rows_of_attention(tokens[1:2, 1:2], tokens, tokens, count=100)
    return {
        "cov(y[1], y[1])": outer[0, 0], "cov(y[1], y[3])": outer[0, 1], "cov(y[2], y[2])": middle[0, 0],
        "kurtosis(y[2])": excess_kurtosis(middle[0, 0], square),
    }


def attention_temperature() -> dict[str, float]:
    """Two tokens: A = sigmoid(t) with t ~ N(0, 18); V = (1 + tanh(t/2)^2)/2."""
    density = lambda t: np.exp(-t * t / 36) / np.sqrt(36 * np.pi)
    integral = lambda f: 2 * quad(lambda t: f(t) * density(t), 0, 60, epsabs=1e-13, limit=200)[0]
    mean, square = (integral(lambda t, k=k: ((1 + np.tanh(t / 2) ** 2) / 2) ** k) for k in (1, 2))
    return {"cov(y[1], y[1])": mean, "kurtosis(y[1])": excess_kurtosis(mean, square), "mean(peak[1])": integral(expit)}


def cross_attention() -> dict[str, float]:
    mean, square = softmax_square_moments(4, 0.75)
    spread = 0.75**2 * (square - mean**2) / 2  # of V over two heads
    variance = 1 + 0.25 + 0.75 * mean
    return {"cov(y[1], y[1])": variance, "kurtosis(y[1])": 3 * spread / variance**2}


def graph_attention() -> dict[str, float]:
    """Given its own readout l a node has iid scores; kinks of leaky ReLU at r = -l, hence quadrature in two pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def pieces(kink: float) -> tuple[np.ndarray, np.ndarray]:
        """r and its Gaussian weights on both sides of the kink."""
        edges = np.array([-10.0, np.clip(kink, -9, 9), 10.0])
        half = np.diff(edges) / 2
        r = ((edges[:-1] + edges[1:]) / 2 + half * nodes[:, None]).T.ravel()
        return r, (half * weights[:, None]).T.ravel() * np.exp(-r * r / 2) / np.sqrt(2 * np.pi)

    def moments(neighbours: int) -> np.ndarray:
        total = np.zeros(2)
        for own, weight in zip(*normal(48)):
            r, density = pieces(-own)
            scores = own + r
            total += weight * np.array(power_sums(np.exp(np.where(scores > 0, scores, 0.2 * scores)), density, neighbours))
        return total

    (centre, square), (leaf, _) = moments(4), moments(2)
    return {
        "cov(y[1], y[1])": centre, "cov(y[2], y[2])": leaf, "kurtosis(y[1])": excess_kurtosis(centre, square),
    }


def _two_heads(f, count: int = 48) -> float:
    """E f over the weights of two tokens in two heads: A_11 = sigmoid(x) for x ~ N(0, 2), one for each row and head.

    f takes K_11, K_22 and K_12 of (1/H) sum_a A_a A_a^T.
    """
    def kernel(*normals):
        own = [expit(np.sqrt(2) * z) for z in normals]
        rows = [[own[2 * head], 1 - own[2 * head]] for head in range(2)], [[1 - own[2 * head + 1], own[2 * head + 1]] for head in range(2)]
        product = lambda a, b: sum(a[head][j] * b[head][j] for head in range(2) for j in range(2)) / 2
        return f(product(rows[0], rows[0]), product(rows[1], rows[1]), product(rows[0], rows[1]))

    return float(expectation(kernel, 4, count))


def transformer_post_norm() -> dict[str, float]:
    cosine = lambda first, second, both: both / np.sqrt((1 + first) * (1 + second))
    hidden = as_function_of_correlation(gelu)

    def result(*kernel):
        rho = cosine(*kernel)
        return (rho + hidden(rho)) / (1 + hidden(1.0))

    return {"cov(z[1], z[2])": _two_heads(cosine), "cov(y[1], y[2])": _two_heads(result)}


def transformer_pre_norm() -> dict[str, float]:
    hidden = as_function_of_correlation(gelu)
    mean, square = softmax_square_moments(2, 1.0)
    variance = 3 + mean + mean_of(lambda x: gelu(x) ** 2)
    covariance = _two_heads(lambda first, second, both: both + hidden(both / np.sqrt((3 + first) * (3 + second))))
    return {
        "cov(y[1], y[1])": variance, "cov(y[1], y[2])": covariance,
        "kurtosis(y[1])": 3 * (square - mean**2) / 2 / variance**2,
    }


def softmax_overlap(tokens: int, variance: float, correlation: float) -> float:
    """E sum_j A_j A'_j for two softmaxes over iid pairs of scores: 1/(S S') = int int exp(-t S - t' S') dt dt'."""
    x, weights = normal(80)
    scores = np.sqrt(variance) * x
    other = np.exp(correlation * scores[:, None] + np.sqrt(1 - correlation**2) * scores)
    both = np.outer(weights, weights)
    r = np.linspace(-24, 8, 257)
    t = np.exp(r)
    left, right = np.exp(-t[:, None] * np.exp(scores)), np.exp(-t[:, None, None] * other)
    plain = np.einsum("ta,ab,sab->ts", left, both, right)
    marked = np.einsum("ta,ab,sab->ts", left, both * np.exp(scores)[:, None] * other, right)
    return tokens * (r[1] - r[0]) ** 2 * float(t @ (marked * plain ** (tokens - 1)) @ t)


def attention_biases() -> dict[str, float]:
    mean, square = softmax_square_moments(4, 1.5)
    return {
        "cov(y[1], y[1])": mean + 0.5, "cov(y[1], y[2])": softmax_overlap(4, 1.5, 1 / 3) + 0.5,
        "kurtosis(y[1])": excess_kurtosis(mean, square, fixed=0.5, heads=2),
    }


def mixture_of_experts() -> dict[str, float]:
    """Two tokens of correlation 1/2, hence two rows of logits of correlation 1/2."""
    return {"cov(y[1], y[2])": softmax_overlap(4, 1.0, 0.5) * 2 * (np.sqrt(3) / (4 * np.pi) + 1 / 6)}


def mixture_top_k() -> dict[str, float]:
    """The two largest of eight normal variables are b + t and b."""
    gap, gap_weights = np.polynomial.legendre.leggauss(120)
    gap, gap_weights = 5 * (gap + 1), 5 * gap_weights  # 0 to 10
    b, b_weights = np.polynomial.legendre.leggauss(120)
    b, b_weights = 9 * b, 9 * b_weights
    phi = lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    density = 56 * (phi(b[:, None] + gap) * (phi(b) * ndtr(b) ** 6 * b_weights)[:, None]).sum(axis=0)
    own = expit(gap) ** 2 + expit(-gap) ** 2
    mean, square = (float(gap_weights @ (density * own**k)) for k in (1, 2))
    assert abs(gap_weights @ density - 1) < 1e-12
    return {"cov(y, y)": 1 + mean, "kurtosis(y)": excess_kurtosis(mean, square, fixed=1.0)}


def attention_multi_query(samples: int, seed: int) -> tuple[float, float]:
    """The kurtosis and its error.  Given the weights V is the mean over d of v^T M v, M = sum_a A_a A_a^T/H: E V^2 = (tr M)^2 + 2 tr(M^2)/d.

    E tr M is known from quadrature; its estimate serves as control variate.
    """
    generator = np.random.default_rng(seed)
    trace, square = [], []
    for _ in range(samples // 100_000):
        keys, queries = generator.standard_normal((100_000, 3, 4)), generator.standard_normal((100_000, 2, 4))
        weights = np.exp(np.einsum("sjr,shr->shj", keys, queries) / 2)
        weights /= weights.sum(axis=-1, keepdims=True)
        overlaps = np.einsum("shj,sgj->shg", weights, weights)
        trace.append(np.einsum("shh->s", overlaps) / 2)
        square.append(trace[-1] ** 2 + 2 * (overlaps**2).sum(axis=(1, 2)) / 4 / 4)
    trace, square = np.concatenate(trace), np.concatenate(square)
    mean = stated("attention_low_rank")["cov(y[1], y[1])"]
    corrected = square - np.cov(square, trace)[0, 1] / trace.var() * (trace - mean)
    return 3 * (corrected.mean() / mean**2 - 1), 3 * corrected.std() / np.sqrt(len(trace)) / mean**2


longer = lambda calculation: pytest.param(calculation, marks=pytest.mark.slow, id=calculation.__name__)
CALCULATIONS = [
    attention_alibi, attention_kernel, attention_rotary, attention_sigmoid, attention_sink, longer(attention_sinusoidal),
    attention_temperature, cross_attention, longer(graph_attention), longer(mixture_of_experts), longer(attention_biases), mixture_top_k,
    longer(transformer_post_norm), transformer_pre_norm,
]


@pytest.mark.parametrize("calculation", CALCULATIONS, ids=lambda calculation: calculation.__name__)
def test_the_numbers_are_stated(calculation):
    assert_stated(calculation.__name__, calculation(), digits=9)


@pytest.mark.slow
def test_shared_keys_and_values_are_stated():
    """Five standard errors of this run, and as much for the stated number: no false alarms above 1e-6; a change of 0.1 % would be seen."""
    value, error = attention_multi_query(samples=2_000_000, seed=5)
    assert abs(stated("attention_multi_query")["kurtosis(y[1])"] - value) < 5 * 2**0.5 * error
