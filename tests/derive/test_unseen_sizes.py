"""Formulas hold at sizes and parameters that the derivation has not seen: nothing in them is specific to a trial value."""

from __future__ import annotations

import pytest

from netsor.language.source import Source
from tests.derive.test_against_numbers import compare

CIRCLE = """
width n
param D = 4
param k = 1
index p in 1..D
index o in -k..k
index c in 1..2
input x[c,p] ~ N(0, c)
matrix W[o] ~ N(0, 1/(n*(2*k+1)))
h[c,p] = sum(W[o] @ x[c,wrap(p+o)] for o)
z[c,p] = sum(W[o] @ relu(h[c,p+o]) for o if p+o >= 1 and p+o <= D) + x[c,wrap(5)]
output h, z
"""


@pytest.mark.parametrize("sizes", [{"D": 3}, {"D": 6}, {"D": 5, "k": 2}], ids=str)
def test_a_circle_of_symbolic_size(sizes):
    """`wrap` goes around the circle of D places, not of the D that the derivation was tried at; correlations that formulas mention at
    shifted places are stated for all places."""
    assert compare(Source(CIRCLE), **sizes) == 2


DIAGONAL = """
width n
param s = 3
index i in 1..s
index m in 1..2*s
input x[i] ~ N(0, i)
input z[m] ~ N(0, m)
a = sum(z[m]*x[i] for m, i if i == m)
b = sum(z[m]*x[i] for i, m if i == m)
output a, b
"""


@pytest.mark.parametrize("s", [2, 5])
def test_a_delta_between_indices_of_different_ranges(s):
    """Where i is one of 1..s, the sum over m in 1..2s of what has m = i has s terms, whichever index is named first."""
    assert compare(Source(DIAGONAL), s=s) == 2


EMPTY = """
width n
param k = 1
param s = 3
index i in 1..s
index o in 1..k-1
input x[i] ~ N(0, i)
y[i] = x[i] + sum(o*x[i] for o)
output y
"""


def test_a_range_that_is_empty_at_the_programs_value_needs_that_value():
    """The sum over 1..k-1 is not 0 for every k because it is for k = 1."""
    from netsor.api import parse

    assert parse(EMPTY).derive().free == ["s"]
    assert compare(Source(EMPTY), structure={"k": 3}, s=2) == 1


CAPTURE = """
width n
param u = 2
param v = 0.5
param w = 1.5
index i in 1..2
input x[i] ~ N(0, u)
input phase ~ Uniform(-v, v)
input K_x ~ N(0, v)
const rho_K_x[i] = i
matrix W ~ N(0, w/n)
y[i] = W @ tanh(u*x[i] + v*K_x)
z[i] = W @ relu(rho_K_x[i]*x[i]) + W @ tanh(x[i] + phase)
output y, z
"""


@pytest.mark.parametrize("values", [{}, {"u": 0.5, "w": 0.4}], ids=str)
def test_names_of_the_program_mean_nothing_else(values):
    """Variables of expectations and integrals, kernels and correlations get names that the program has not given."""
    assert compare(Source(CAPTURE), tolerance=1e-9, **values) == 2


NUMBERS_FIRST = """
width n
param r = 0.3
index i, j in 1..3
const K[i,j] = 1 + i if i == j else r
input x[i] ~ N(0, K)
matrix W ~ N(0, 1/n)
y = W @ (relu(x[1]) + relu(x[2]))
z[i] = W @ (relu(x[i]) - relu(x[4-i]))
output y, z
"""


def test_a_correlation_is_stated_after_its_kernel_and_for_all_its_elements():
    from netsor.api import parse

    assert compare(Source(NUMBERS_FIRST), r=-0.2) == 2
    lines = parse(NUMBERS_FIRST).derive().text().splitlines()
    stated = [line.strip().split(" = ")[0] for line in lines if " = " in line]
    assert stated.index("K[i,j]") < next(k for k, left in enumerate(stated) if left.startswith("rho_K["))
    assert sum(left.startswith("rho_K[") for left in stated) == 1


SHIFTED = """
width n
param k = 1
index o in -k..k
input x[o] ~ N(0, 1 + abs(o))
matrix Q, K, V ~ N(0, 1/n)
p[o] = dot(Q @ x[o], K @ x[0])/sqrt(n)
y[o] = p[o]*(V @ x[o])
output y, p
"""


def test_scores_over_a_range_that_begins_at_a_parameter():
    assert compare(Source(SHIFTED), k=2) == 2
