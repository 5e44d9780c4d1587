"""The numbers that programs with transposes state: free probability, arc-cosine kernels and state evolution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from independently.stated import assert_stated
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm


def semicircle() -> dict[str, float]:
    """The density sqrt(4 - x^2)/(2 pi) integrated."""
    density = lambda x: math.sqrt(4 - x * x) / (2 * math.pi)  # noqa: E731
    return {f"mean(c[{k}])": quad(lambda x, k=k: x**k * density(x), -2, 2)[0] for k in (1, 2, 3, 4, 6, 8)}


def marchenko_pastur() -> dict[str, float]:
    """The density of the law at ratio 1/2 integrated."""
    low, high = (1 - math.sqrt(0.5))**2, (1 + math.sqrt(0.5))**2
    density = lambda x: math.sqrt((high - x) * (x - low)) / (2 * math.pi * 0.5 * x)  # noqa: E731
    return {f"mean(c[{k}])": quad(lambda x, k=k: x**k * density(x), low, high)[0] for k in range(1, 6)}


def neural_tangent_kernel() -> dict[str, float]:
    kappa0 = lambda r: (math.pi - math.acos(r)) / math.pi  # noqa: E731
    kappa1 = lambda r: (math.sqrt(max(1 - r * r, 0)) + r * (math.pi - math.acos(r))) / math.pi  # noqa: E731
    found = {}
    for pair, r0 in (("1,1", 1.0), ("1,2", 0.5)):
        r1 = kappa1(r0)
        found[f"mean(theta[{pair}])"] = kappa1(r1) + kappa0(r1) * r1 + kappa0(r1) * kappa0(r0) * r0
    return found | {"cov(f[1], f[2])": kappa1(kappa1(0.5))}


def message_passing() -> dict[str, float]:
    """State evolution: X = 0 with probability 9/10, else N(0, 1); X given r = X + tau Z is Gaussian in the latter case."""
    def error(tau: float) -> float:
        threshold, scale = 1.5 * tau, math.sqrt(1 + tau * tau)
        soft = lambda r: np.sign(r) * max(abs(r) - threshold, 0)  # noqa: E731
        square = lambda r: (soft(r) - r / scale**2)**2 * norm.pdf(r, scale=scale)  # noqa: E731
        points = [-12 * scale, -threshold, threshold, 12 * scale]
        filled = sum(quad(square, a, b, epsabs=1e-14)[0] for a, b in zip(points, points[1:])) + tau**2 / scale**2
        empty = 2 * tau**2 * (3.25 * ndtr(-1.5) - 1.5 * norm.pdf(1.5))
        return 0.9 * empty + 0.1 * filled

    tau1 = math.sqrt(0.01 + 2 * 0.1)
    tau2 = math.sqrt(0.01 + 2 * error(tau1))
    return {"mean(tau[1])": tau1, "mean(mse[1])": error(tau1), "mean(tau[2])": tau2, "mean(mse[2])": error(tau2)}


@pytest.mark.parametrize("numbers", [semicircle, marchenko_pastur, neural_tangent_kernel, message_passing], ids=lambda f: f.__name__)
def test_the_stated_numbers_are_those_of_an_independent_calculation(numbers):
    assert_stated(numbers.__name__, numbers(), digits=8)


def test_the_jacobian_of_independent_gates_has_the_stated_moments():
    """J of width 400 with gates that are independent of the weights; the mean of 40 draws is known to 0.6 %, its bias 1/n."""
    rng = np.random.default_rng(0)
    first, second = [], []
    for _ in range(40):
        product = np.eye(400)
        for _ in range(4):
            product = (rng.random(400) < 0.5)[:, None] * (rng.standard_normal((400, 400)) @ product) * math.sqrt(2 / 400)
        gram = product @ product.T
        first.append(np.trace(gram) / 400)
        second.append(np.sum(gram * gram) / 400)
    for values, stated in ((first, 1), (second, 9)):
        assert abs(np.mean(values) - stated) < 5 * np.std(values) / math.sqrt(40) + 0.02 * stated
