"""Sums that share a function of several variables are integrated whole: batch normalisation and its like, against quadrature.

For z iid normal over b = 1..B and v = mean((z - mu)^2), B v is chi-squared with B - 1 degrees of freedom.  By symmetry
E (z_b - mu)^2 / (v + eps) = E v / (v + eps), and elements sum to zero, so that others have -1/(B - 1) of it.  Reports are compared to 6 of their
own standard errors (of 16 randomisations: t with 15 degrees of freedom, beyond 6 with probability 2.4e-5).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, norm

import netsor
from netsor.ir.expressions import ScalarRef
from netsor.limit.forms import Forms

LINEAR = """
width n
param B = 4
param eps = 1e-5
index b, c in 1..B
input h[b] ~ N(0, 1)
matrix W, V ~ N(0, 1/n)
z[b] = W @ h[b]
mu = mean(z[b] for b)
{normalised}
y[b] = V @ x[b]
m2 = avg(x[1]^2)
output y, m2
"""
ROOT = "sqrt(mean((z[c] - mu)^2 for c) + eps)"
FORMS = {
    "ratio": f"x[b] = (z[b] - mu) / {ROOT}",
    "written out": f"x[b] = z[b] / {ROOT} - mu / {ROOT}",
    "by name": f"r = 1 / {ROOT}\nx[b] = r * (z[b] - mu)",
}


def expected(size: int, eps: float) -> float:
    """E v / (v + eps), in the logarithm of v."""
    law = chi2(size - 1)
    density = lambda t: np.exp(t) * size * law.pdf(size * np.exp(t)) / (1 + eps * np.exp(-t))  # noqa: E731
    return quad(density, -60, np.log(eps or 1.0), epsabs=1e-13)[0] + quad(density, np.log(eps or 1.0), 6, epsabs=1e-13)[0]


def check(limit, size: int, eps: float, largest_error: float) -> None:
    law = expected(size, eps) * (np.eye(size) * size - 1) / (size - 1)
    found = limit["y"].cov
    assert np.max(found.error) <= largest_error
    assert np.all(np.abs(found.value - law) <= 6 * found.error + 1e-12)
    assert np.array_equal(found.value, found.value.T)


@pytest.mark.parametrize("eps", [0, 1e-3, 1e-5])
@pytest.mark.parametrize("size, error", [(2, 1e-6), (3, 2e-5), (4, 1e-4), (8, 1e-3)])
def test_batch_normalisation_between_matrices(size, error, eps):
    check(netsor.parse(LINEAR.format(normalised=FORMS["ratio"]), B=size, eps=eps).limit(), size, eps, error)


@pytest.mark.parametrize("form", FORMS)
def test_however_it_is_written(form):
    limit = netsor.parse(LINEAR.format(normalised=FORMS[form]), B=3).limit()
    check(limit, 3, 1e-5, 2e-4)
    assert abs(limit["m2"].mean.value - expected(3, 1e-5)) <= 6 * limit["m2"].mean.error <= 1e-3


def test_sums_of_nonlinearities_are_not_expanded_either():
    """d = (relu(z_1) - relu(z_2)) / 2: zero if both are negative, half of a half-normal variable if one is; the difference of two
    half-normal variables has density 4 phi(t / sqrt(2)) Phi(-t / sqrt(2)) / sqrt(2) for t > 0."""
    text = """
width n
input z[1..2] ~ N(0, 1)
matrix V ~ N(0, 1/n)
mu = (relu(z[1]) + relu(z[2])) / 2
d = relu(z[1]) - mu
y = V @ (d / sqrt(d^2 + (relu(z[2]) - mu)^2 + 0.01))
output y
"""
    text = text.replace("input z[1..2]", "index b in 1..2\ninput z[b]")
    share = lambda t: (t / 2) ** 2 / (2 * (t / 2) ** 2 + 0.01)  # noqa: E731
    one = quad(lambda t: share(t) * norm.pdf(t), 0, 12, epsabs=1e-12)[0]
    both = quad(lambda t: share(t) * 4 * norm.pdf(t / np.sqrt(2)) * norm.cdf(-t / np.sqrt(2)) / np.sqrt(2), 0, 12, epsabs=1e-12)[0]
    found = netsor.parse(text).limit()["y"].var
    assert abs(float(found.value) - (one + both / 2)) <= 6 * float(found.error)
    assert float(found.error) < 1e-5


OUTSIDE = """
width n
index b, c in 1..3
input z[b], u, w ~ N(0, 1)
matrix W ~ N(0, 1/n)
p = dot(u, W @ w) / sqrt(n)
r = 1 / sqrt(mean((z[b] - z[1])^2 for b) + 0.1)
x[b] = p * z[b] * r - p * z[1] * r + u * r + tanh(w) * r
output x
"""


def test_what_is_independent_or_random_stays_outside():
    """p (z_b - z_1) r in one term with p outside, u r and tanh(w) r as they are: factors of expectations without samples inside."""
    output = netsor.parse(OUTSIDE).ir.outputs[0]
    terms = Forms().form(output.parts[0].reference.family).terms
    assert sorted(len(term.factors) for term in terms) == [1, 2, 2]
    assert [isinstance(term.coefficient, ScalarRef) for term in terms if len(term.factors) == 1] == [True]
