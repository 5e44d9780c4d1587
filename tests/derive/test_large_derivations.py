"""What is too long for a reader is shortened or refused with a reason, in time."""

from __future__ import annotations

import time

import pytest
import sympy

from netsor.api import parse
from netsor.derive.closed_forms.isserlis import TooLong, polynomial_moment
from netsor.language.diagnostics import NetsorError


def symmetric(size: int) -> sympy.Matrix:
    return sympy.Matrix(size, size, lambda i, j: sympy.Symbol(f"c{min(i, j)}{max(i, j)}"))


def test_moments_of_high_degree_are_counted_not_expanded():
    """E x^16 y^16 z^16 of standard normal variables with correlation 0 is 15!!^3; its formula takes a second."""
    start = time.process_time()
    found = polynomial_moment((16, 16, 16), symmetric(3))
    assert time.process_time() - start < 5
    independent = {symbol: int(str(symbol)[1] == str(symbol)[2]) for symbol in found.free_symbols}
    assert found.subs(independent) == sympy.factorial2(15) ** 3
    assert found.subs({symbol: 1 for symbol in found.free_symbols}) == sympy.factorial2(47)


def test_a_moment_of_many_variables_is_left_standing():
    with pytest.raises(TooLong):
        polynomial_moment((2,) * 12, symmetric(12))


def test_an_output_of_thousands_of_parts_is_refused():
    source = "width n\nindex i in 1..40\ninput x[i] ~ N(0, 1)\nfor k in 1..40:\n  for m in 1..40:\n    y[k,m] = x[k]*tanh(x[m])\noutput y"
    with pytest.raises(NetsorError) as error:
        parse(source).derive()
    assert error.value.diagnostics[0].code == "N522" and "1,600 parts" in error.value.diagnostics[0].message
