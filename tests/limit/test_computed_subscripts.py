"""Elements with variances of their own, read at computed subscripts inside a nonlinearity: which variance belongs to which element."""

from __future__ import annotations

import numpy as np
import pytest

import netsor

HEAD = "width n\nindex i, j in 1..3\nindex b in 1..2\n"
CASES = {
    "reversed": ("input x[i] ~ N(0, i)\nr[i] = relu(x[4-i])\n", [3, 2, 1]),
    "shifted": ("input x[i] ~ N(0, i)\nr[b] = relu(x[b+1])\n", [2, 3]),
    "shifted, with variances that fall": ("input x[i] ~ N(0, 5-i)\nr[b] = relu(x[b+1])\n", [3, 2]),
    "chosen": ("input x[i] ~ N(0, i)\nr[b] = relu(x[3 if b == 1 else 1])\n", [3, 1]),
    "through a matrix family": ("input x ~ N(0, 1)\nmatrix W[i] ~ N(0, i/n)\nr[i] = relu(W[4-i] @ x)\n", [3, 2, 1]),
    "of a family with two indices": ("input x[i,j] ~ N(0, i + 3*j)\nr[i] = relu(x[i,4-i])\n", [10, 8, 6]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_element_has_its_own_variance(name):
    """Var relu(x) = (1/2 - 1/(2 pi)) Var x, different elements are independent."""
    text, variances = CASES[name]
    found = netsor.parse(HEAD + text + "output r\n").limit()["r"].cov
    np.testing.assert_allclose(found.value, np.diag(variances) * (1 / 2 - 1 / (2 * np.pi)), atol=1e-12)


def test_one_element_under_two_names_is_one_variable():
    """x[3-b] is x[b'] where b' = 3 - b, and another element elsewhere."""
    text = "input x[i] ~ N(0, i)\nr[b] = relu(x[b])\ns[b] = relu(x[3-b])\nc[b] = avg(r[b] * s[1])\noutput c\n"
    found = netsor.parse(HEAD + text).limit()["c"]
    np.testing.assert_allclose(found.mean.value, [np.sqrt(2) / (2 * np.pi), 1], atol=1e-12)


@pytest.mark.parametrize("left, right, shown", [
    ("3-i", "3-j", "j = i"), ("2*i-1", "2*j+3", "j = i - 2"), ("2*i", "2*j+1", "never"), ("i+1", "j+1", "j = i"),
])
def test_covariances_of_computed_subscripts(left, right, shown):
    """Var x = 1: the second moment of x[left] and x[right] is 1 where they are the same element."""
    text = f"width n\nindex i, j in 1..4\nindex k in -10..20\ninput x[k] ~ N(0, 1)\nc[i,j] = avg(relu(x[{left}]) * relu(x[{right}]))\noutput c\n"
    same = {"j = i": np.eye(4), "j = i - 2": np.eye(4, k=-2), "never": np.zeros((4, 4))}[shown]
    expected = np.where(same == 1, 1 / 2, 1 / (2 * np.pi))
    np.testing.assert_allclose(netsor.parse(text).limit()["c"].mean.value, expected, atol=1e-12)


REVERSED = """
width n
index i in 1..2
input x[i] ~ N(0.5, 0.5)
input u ~ Uniform(0, 1)
matrix W ~ N(0, 2/n)
r[i] = relu(W @ x[i] + x[i])
g[i] = W @ r[i] - u
h[i] = cos(r[PLACE]) * g[1]
output h
"""


@pytest.mark.slow
def test_elements_in_reverse_order_have_the_covariances_of_the_others_in_reverse_order():
    """r[3-i] stands where r[i] did, with the same matrix in all of them: 4 standard errors, which are 1e-3 at most."""
    forward, backward = (netsor.parse(REVERSED.replace("PLACE", place)).limit()["h"] for place in ("i", "3-i"))
    for one, other in ((forward.mean, backward.mean[::-1]), (forward.cov, backward.cov[::-1, ::-1]),
                       (forward.excess_kurtosis, backward.excess_kurtosis[::-1])):
        assert np.all(np.abs(one.value - other.value) <= 4 * np.hypot(one.error, other.error) + 1e-12)
        assert np.all(one.error <= 0.02)


def test_numbers_and_computed_subscripts_meet():
    """g[1] and g[3-i] are one variable at i = 2, and of variance 2 and correlation 1/2 at i = 1 (arc-cosine kernel)."""
    text = "width n\nindex i in 1..2\ninput x[i] ~ N(0, 1)\ninput z ~ N(0, 1)\ng[i] = x[i] + z\nc[i] = avg(relu(g[1]) * relu(g[3-i]))\noutput c\n"
    found = netsor.parse(text).limit()["c"].mean.value
    np.testing.assert_allclose(found, [2 * (np.sqrt(3) / (4 * np.pi) + 1 / 6), 1], atol=1e-12)


def test_a_comparison_of_one_variable_under_two_names_is_a_tie():
    """x[3-b] is x[1] at b = 2: never greater, so that h = x[1]/2 there; covariances of the family are an array, no equalities."""
    text = "width n\nindex i, j in 1..2\nconst C[i,j] = 1 if i == j else 0.9\ninput x[i] ~ N(0, C)\n"
    text += "h[i] = where(x[3-i] > x[1], x[3-i], 0.5*x[1])\noutput h\n"
    h = netsor.parse(text).limit()["h"]
    assert abs(h.var.value[1] - 1 / 4) < 4 * h.var.error[1] < 1e-3


@pytest.mark.parametrize("line, mean", [("max(x[i], x[1])", 1 / np.sqrt(np.pi)), ("max(x[3-i], x[1])", 1 / np.sqrt(np.pi))])
def test_a_part_that_is_zero_does_not_spoil_the_error_of_the_rest(line, mean):
    """E max(x, x) = 0 up to rounding: its error is no share of it that would count for E max(x, y) = 1/sqrt(pi)."""
    h = netsor.parse(f"width n\nindex i in 1..2\ninput x[i] ~ N(0, 1)\nh[i] = {line}\noutput h\n").limit()["h"]
    assert np.all(h.mean.error < 1e-4) and abs(max(h.mean.value) - mean) < 4 * max(h.mean.error)


def test_cases_that_exclude_an_equality_are_not_computed_where_it_holds():
    """m[i] = E sin(x_i) y_i = A_ii E sin(x) x given the scores, and covariances of h that are no covariances where i = i'."""
    text = "width n\nindex i, j in 1..2\ninput x[i] ~ N(0, 0.5)\ninput v ~ N(0, 1)\np[i] = dot(v, x[i]) / sqrt(n)\n"
    text += "A[i,j] = softmax(p[j] for j if j <= i)\ny[i] = sum(A[i,j] * x[j] for j)\nh[i] = sin(x[i]) * y[i]\noutput h\n"
    h = netsor.parse(text).limit(samples=2**12)["h"]
    expected = np.array([1, 1 / 2]) * np.exp(-1 / 4) / 2  # E A_22 = 1/2, E x sin(x) = Var x e^(-Var x/2)
    assert np.all(np.abs(h.mean.value - expected) < 4 * h.mean.error) and np.all(h.mean.error < 0.01)
