"""Laws of functions that a program writes out: NaN at infinity (0 times inf), rounding in a flat tail, oscillations."""

import numpy as np
import pytest
from scipy import stats

from netsor import parse

PROGRAM = "width n\ninput h ~ N(0, 1)\nz = {}\noutput z\n"


def law(function: str):
    return parse(PROGRAM.format(function)).limit()["z"][()]


# the fraction of 2^18 midpoints in probability below x: an error of at most (pieces + 1)/2^18
MIDPOINTS = stats.norm.ppf((np.arange(2**18) + 0.5) / 2**18)
FUNCTIONS = {
    "h*sigmoid(h)": lambda h: h / (1 + np.exp(-h)),
    "h*tanh(softplus(h))": lambda h: h * np.tanh(np.log1p(np.exp(h))),
    "relu(h)*exp(-h^2/2)": lambda h: np.maximum(h, 0) * np.exp(-h * h / 2),
    "relu(h) - relu(h - 1)": lambda h: np.clip(h, 0, 1),
    "h*step(h)": lambda h: np.maximum(h, 0),
    "h/(1 + h^2)": lambda h: h / (1 + h * h),
    "0.5*h*(1 + erf(h/sqrt(2)))": lambda h: h * stats.norm.cdf(h),
    "sigmoid(h)*h*(1 - sigmoid(h))": lambda h: h * np.exp(-h) / (1 + np.exp(-h)) ** 2,
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_distribution_function_is_that_of_the_values(function):
    values = np.sort(FUNCTIONS[function](MIDPOINTS))
    found = law(function)
    assert found.kind == "function of gaussian"
    for x in np.quantile(values, [0.03, 0.2, 0.41, 0.77, 0.98]) + 1e-3:
        assert float(np.asarray(found.cdf(x).value)) == pytest.approx(np.mean(values <= x), abs=5 / 2**18)


def test_a_function_that_turns_too_often_has_the_law_of_its_draws():
    """sin of a million radians is the sine of a uniform angle: P(z <= x) = 1/2 + arcsin(x)/pi, here by 2^14 draws or more; five
    standard errors, a false alarm in 1 of 2 million."""
    found = law("sin(1000000*h)")
    for x in (-0.5, 0.0, 0.8):
        assert float(np.asarray(found.cdf(x).value)) == pytest.approx(0.5 + np.arcsin(x) / np.pi, abs=5 * 0.5 / 2**7)


def test_comparisons_meet_them_too():
    """They ended in N901."""
    from netsor.compare import compare

    program = parse("width n\ninput h ~ N(0, 1)\nz = h*sigmoid(h)\nw = 0.5*h*(1 + erf(h/sqrt(2)))\nv = sin(1000000*h)\noutput z, w, v\n")
    assert compare(program, (16, 32), 400).verdict == "agrees"
