"""The numbers that programs without random weights of attention state: kernel recursions and quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from independently.kernels import erf_kernel, mean_of, normalised, quadrature_kernel, relu_kernel
from independently.quadrature import expectation, pair
from independently.stated import PROGRAMS, assert_stated
from scipy.optimize import brentq
from scipy.special import erf, expit, ndtr

gate = lambda x: (1 + erf(x)) / 2


def critical_tanh(bias: float) -> tuple[float, float]:
    """Variance of the weights with chi_1 = 1 at the fixed point of the variance, and the fixed point."""
    slope = lambda x: 1 - np.tanh(x) ** 2

    def excess(q: float) -> float:
        """Of the variance map over q, with the weights that make chi_1 = 1 at q."""
        return mean_of(lambda x: np.tanh(x) ** 2, q) / mean_of(lambda x: slope(x) ** 2, q) + bias - q

    q = brentq(excess, 0.05, 3.0, xtol=1e-15)
    return 1 / mean_of(lambda x: slope(x) ** 2, q), q


def mean_field() -> dict[str, float]:
    weights, q = critical_tanh(0.05)
    kernel = np.array([[1, 0.6], [0.6, 1]])
    for _ in range(23):
        kernel = weights * quadrature_kernel(np.tanh, kernel) + 0.05
    return {"weights": weights, "cov(h[L,b], h[L,b])": q, "cov(h[L,1], h[L,2])": kernel[0, 1]}


def convolution_2d() -> dict[str, float]:
    x = np.load(PROGRAMS / "images.npy")
    images, rows, columns, channels = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    offsets = [(o, p) for o in range(3) for p in range(3)]
    patches = np.stack([padded[:, o:o + rows, p:p + columns] for o, p in offsets], axis=3)
    patches = patches.reshape(images * rows * columns, 9 * channels)
    first = relu_kernel(2 / 9 * patches @ patches.T / channels).reshape(images, rows, columns, images, rows, columns)
    wide = np.pad(first, ((0, 0), (1, 1), (1, 1)) * 2)
    second = 2 / 9 * sum(wide[:, o:o + rows, p:p + columns, :, o:o + rows, p:p + columns] for o, p in offsets)
    size = images * rows * columns
    pooled = relu_kernel(second.reshape(size, size)).reshape(second.shape).mean(axis=(1, 2, 4, 5))
    return {
        "cov(f[1], f[1])": pooled[0, 0], "cov(f[2], f[2])": pooled[1, 1], "cov(f[1], f[2])": pooled[0, 1],
        "cov(h2[1,2,2], h2[1,1,1])": second[0, 1, 1, 0, 0, 0],
    }


def rnn_sequences() -> dict[str, float]:
    """States in the order of their computation; a state is known by its sequence and the number of tokens it has seen."""
    x = np.array([[[1, 0, 1], [-1, 1, 1], [0.5, 2, 0]], [[1, 1, 0], [2, -1, 0.5], [0, 0, 0]]])
    gram = np.einsum("btd,cud->btcu", x, x) / 3 + 0.1
    states = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]
    before = np.full((5, 5), 0.0)  # arguments of erf
    after = np.zeros((5, 5))
    for i, (b, t) in enumerate(states):
        for j, (c, u) in enumerate(states[:i + 1]):
            recurrent = 2 * after[states.index((b, t - 1)), states.index((c, u - 1))] if t and u else 0.0
            before[i, j] = before[j, i] = gram[b, t, c, u] + recurrent
        after = erf_kernel(before[:i + 1, :i + 1])
        after = np.pad(after, (0, 5 - len(after)))
    return {
        "cov(f[1], f[1])": after[4, 4], "cov(f[1], f[2])": after[4, 3], "cov(f[2], f[2])": after[3, 3],
        "cov(s[1,2], s[2,1])": after[2, 1], "cov(s[2,2], s[2,3])": after[3, 3],
    }


def lstm() -> dict[str, float]:
    """Tokens of variance 1 and covariance 1/2; the states of two steps."""
    second = lambda x: gate(x) ** 2
    cell = lambda i, u: gate(i) * erf(u)
    both = lambda x, y: (x, 0.5 * x + np.sqrt(1 + state - 0.25) * y)  # the arguments of a gate at times 1 and 2
    first = mean_of(second) * mean_of(lambda x: erf(x) ** 2)
    state = mean_of(second) * float(expectation(lambda i, u: erf(cell(i, u)) ** 2, 2, 160))
    gates, candidates = pair(gate, gate, 1, 1 + state, 0.5), pair(erf, erf, 1, 1 + state, 0.5)
    cross = mean_of(gate, 1 + state) * first + gates * candidates
    last = mean_of(second, 1 + state) * (first + mean_of(lambda x: erf(x) ** 2, 1 + state))
    last += 2 * mean_of(gate, 1 + state) * gates * candidates

    def cells(f, i, j, u, v):
        (i, j), (u, v) = both(i, j), both(u, v)
        old = cell(i, u)
        return old, gate(np.sqrt(1 + state) * f) * old + cell(j, v)

    def hidden_square(*normals):
        return erf(cells(*normals)[1]) ** 2

    def hidden_product(*normals):
        old, new = cells(*normals)
        return erf(old) * erf(new)

    return {
        "cov(c[1], c[1])": first, "cov(c[1], c[2])": cross, "cov(c[2], c[2])": last, "cov(h[1], h[1])": state,
        "cov(h[1], h[2])": gates * float(expectation(hidden_product, 5, 31, edge=6.0)),
        "cov(h[2], h[2])": mean_of(second, 1 + state) * float(expectation(hidden_square, 5, 31, edge=6.0)),
    }


def deep_equilibrium() -> dict[str, float]:
    kernel = np.zeros((2, 2))
    for _ in range(100):
        kernel = relu_kernel(0.5 * kernel + [[1, 0.5], [0.5, 1]])
    return {"cov(f[1], f[2])": kernel[0, 1]}


def state_space() -> dict[str, float]:
    moment = [mean_of(lambda a, k=k: expit(1 + a) ** k) for k in range(9)]
    covariance = lambda s, t: sum(moment[s + t - 2 * r] for r in range(1, min(s, t) + 1))
    return {
        "cov(x[2], x[2])": covariance(2, 2), "cov(x[4], x[4])": covariance(4, 4), "cov(x[2], x[4])": covariance(2, 4),
        "cov(y[4], y[4])": 1 + covariance(4, 4) / 2,
    }


def squeeze_excitation() -> dict[str, float]:
    own, other = 1 / 2, 1 / (2 * np.pi)
    squeezed = (own + 3 * other) / 4
    passed = mean_of(lambda x: expit(x) ** 2, 2 * squeezed)
    return {"cov(y[1], y[1])": own * passed, "cov(y[1], y[2])": other * passed}


def maxout() -> dict[str, float]:
    grid = np.linspace(-8, 8, 321)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    both = np.empty((len(grid), len(grid)))
    for k, a in enumerate(grid):
        u = (a - 9) / 2 + (a + 9) / 2 * nodes
        density = (a + 9) / 2 * weights * np.exp(-u * u / 2) / np.sqrt(2 * np.pi)
        both[k] = density @ ndtr((grid - 0.5 * u[:, None]) / np.sqrt(0.75))
    step = grid[1] - grid[0]
    covariance = step**2 * (both**3 - np.outer(ndtr(grid) ** 3, ndtr(grid) ** 3)).sum()
    return {"cov(h1[1], h1[2])": float(covariance)}


def highway() -> dict[str, float]:
    opened, closed = lambda x: expit(x - 2), lambda x: expit(2 - x)
    kernel = np.array([[1, 0.5], [0.5, 1]])
    for _ in range(3):
        kernel = quadrature_kernel(opened, kernel) * quadrature_kernel(np.tanh, kernel) + quadrature_kernel(closed, kernel) * kernel
    return {"cov(x[L,1], x[L,1])": kernel[0, 0], "cov(x[L,1], x[L,2])": kernel[0, 1]}


def densenet() -> dict[str, float]:
    points = np.loadtxt(PROGRAMS / "points.csv", delimiter=",")
    layers = [points @ points.T / 3]
    for _ in range(4):
        layers.append(2 * np.mean([relu_kernel(kernel) for kernel in layers], axis=0))
    return {"cov(h[L,1], h[L,2])": layers[-1][0, 1], "cov(h[L,2], h[L,4])": layers[-1][1, 3]}


def fnet() -> dict[str, float]:
    place = np.arange(6)
    mixing = np.eye(6) + np.cos(2 * np.pi * np.outer(place, place) / 6) / np.sqrt(6)
    kernel = normalised(mixing @ mixing.T)
    result = normalised(kernel + 2 * relu_kernel(kernel))
    return {"cov(z[2], z[6])": kernel[1, 5], "cov(y[1], y[2])": result[0, 1], "cov(y[2], y[6])": result[1, 5]}


CALCULATIONS = [
    convolution_2d, deep_equilibrium, densenet, fnet, highway, pytest.param(lstm, marks=pytest.mark.slow, id="lstm"), maxout, rnn_sequences, squeeze_excitation, state_space,
]


@pytest.mark.parametrize("calculation", CALCULATIONS, ids=lambda calculation: calculation.__name__)
def test_the_numbers_are_stated(calculation):
    assert_stated(calculation.__name__, calculation(), digits=9)


def test_the_edge_of_chaos_is_stated():
    numbers = mean_field()
    weights = numbers.pop("weights")
    assert f"param sw2 = {weights:.12f}" in (PROGRAMS / "mean_field.netsor").read_text(encoding="utf-8")
    assert_stated("mean_field", numbers)
