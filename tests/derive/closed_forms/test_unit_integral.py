"""Integrals over the unit interval against adaptive quadrature."""

import pytest
import sympy
from scipy.integrate import quad

from netsor.derive.closed_forms.unit_integral import unit_integral

u = sympy.Symbol("u", real=True)
a = sympy.Symbol("a", positive=True)
b = sympy.Symbol("b", real=True)
BODIES = [
    sympy.cos(2 * sympy.pi * u), sympy.cos(2 * sympy.pi * u + b) ** 2, sympy.sin(2 * sympy.pi * u) ** 2 * sympy.sinh(b) + b * u**3,
    sympy.cos(a * u + b) * sympy.sin(3 * a * u) * u**2, sympy.sin(u) ** 4, u * sympy.exp(-a * u + b), u**4 * sympy.sin(a * u - b), (u - b) ** 5,
    sympy.exp(b + u) * a, sympy.cos(a * u) * sympy.cos(a * u + 1) * sympy.cos(2 * a * u),
]


@pytest.mark.parametrize("body", BODIES, ids=str)
def test_integrals_are_closed_and_right(body):
    found = unit_integral(body, u)
    assert not found.has(sympy.Integral) and u not in found.free_symbols
    for values in ({a: 1.3, b: -0.4}, {a: 7.0, b: 2.5}):
        function = sympy.lambdify(u, body.subs(values))
        assert float(found.subs(values)) == pytest.approx(quad(function, 0, 1, epsabs=1e-14)[0], abs=1e-12)


@pytest.mark.parametrize("body", [sympy.tanh(u), sympy.sqrt(u), sympy.cos(u**2), sympy.cos(b * u), sympy.exp(u) * sympy.cos(u), 1 / (1 + u)], ids=str)
def test_what_is_no_such_integral_is_left(body):
    """A slope that may be 0 included: the formula would be 0/0 there."""
    assert unit_integral(body, u) is None
