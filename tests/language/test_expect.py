"""``expect`` lines and what is set from outside."""

import pytest

from netsor.language import load_program
from netsor.language.diagnostics import NetsorError
from netsor.language.source import Source


def test_expectations_of_elements_that_a_setting_removes_are_left_out():
    """They speak of the program with its own parameters, and are skipped under --set anyway; other mistakes are still told."""
    text = "width n\nparam L = 3\ninput h ~ N(0, 1)\nx[0] = h\nfor l in 1..L:\n  x[l] = x[l-1] + h\noutput x[L]\n"
    wanted = "expect mean(x[3]) = 0 within 1e-9\n"

    assert len(load_program(Source(text + wanted)).expectations) == 1
    assert load_program(Source(text + wanted), settings={"L": 2}).expectations == []
    with pytest.raises(NetsorError):
        load_program(Source(text + wanted.replace("x[3]", "y[3]")), settings={"L": 2})
