"""Hermite polynomials whose degree is a parameter, an index, or no degree at all."""

from __future__ import annotations

import numpy as np
import pytest

from netsor.api import parse
from netsor.language.diagnostics import NetsorError
from netsor.nonlinearities import get

PROGRAM = """
width n
param k = 3
index i in 1..3
input h ~ N(0, 1)
matrix W ~ N(0, 1/n)
y[i] = W @ (hermite(h, {degree}) * sigmoid(h))
output y
"""


def test_a_degree_for_each_element():
    x = np.linspace(-2, 2, 5)
    found = get("hermite")(x[:, None], np.array([0, 1, 3]))
    np.testing.assert_allclose(found, np.stack([np.ones(5), x, (x**3 - 3 * x) / 6**0.5], axis=1), atol=1e-14)


def test_products_with_functions_that_have_no_closed_form():
    """E[He_3(h)^2 sigmoid(h)^2] and, over an index, its own degree at each place; by quadrature of numpy's own polynomials."""
    t, w = np.polynomial.hermite_e.hermegauss(120)
    polynomials = np.stack([t, (t**2 - 1) / 2**0.5, (t**3 - 3 * t) / 6**0.5])
    expected = np.einsum("iq,q,q->i", polynomials**2, (1 / (1 + np.exp(-t))) ** 2, w / w.sum())
    fixed = parse(PROGRAM.format(degree="k")).limit()["y"].cov
    each = parse(PROGRAM.format(degree="i")).limit()["y"].cov
    assert abs(np.asarray(fixed.value)[0, 0] - expected[2]) < 1e-7
    np.testing.assert_allclose(np.diagonal(np.asarray(each.value)), expected, atol=1e-7)


@pytest.mark.parametrize("degree", ["2.5", "-1", "41", "i/2"])
def test_no_degree_is_refused_with_its_place(degree):
    with pytest.raises(NetsorError) as error:
        parse(PROGRAM.format(degree=degree))
    assert error.value.diagnostics[0].code == "N502" and error.value.diagnostics[0].span is not None
