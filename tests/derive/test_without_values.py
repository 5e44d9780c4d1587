"""Programs whose parameters have no value: formulas there are, numbers there are not."""

from __future__ import annotations

import pytest

import netsor
from netsor.language.diagnostics import NetsorError

TEXT = """
width n
param s
param c = 2
param g
index i in 1..s
input x[i] ~ N(0, c)
matrix W ~ N(0, g^2/n)
y[i] = W @ relu(x[i])
output y
"""
DATA = """
width n
data D[2, 2]
index i in 1..2
input x[i] ~ N(0, D)
matrix W ~ N(0, 1/n)
y[i] = W @ relu(x[i])
output y
"""


def codes(error) -> list[str]:
    return [each.code for each in error.value.diagnostics]


def test_formulas_need_no_values():
    program = netsor.parse(TEXT)
    formulas = program.derive()
    assert {str(symbol) for symbol in formulas["Cov(y[i], y[i'])"].free_symbols} >= {"g", "c"}
    assert program.outputs == ["y"] and program.parameters["g"] is None
    assert "program" in repr(program)


@pytest.mark.parametrize("reading", [
    lambda program: program.limit(), lambda program: program.sample(8, 2), lambda program: program.sample(8, 2, method="dense"),
    lambda program: netsor.compare.compare(program, widths=(8, 16), runs=100), lambda program: program.ir,
])
def test_numbers_are_refused_with_the_place_and_a_hint(reading):
    import netsor.compare  # noqa: F401

    with pytest.raises(NetsorError) as error:
        reading(netsor.parse(TEXT))
    assert codes(error) == ["N503", "N503"]
    message = str(error.value)
    assert "param s\n  |       ^" in message and "netsor.load(…, s=…)" in message and "--set" not in message


def test_a_value_at_loading_is_in_force():
    program = netsor.parse(TEXT, s=2, g=1.5)
    assert program.limit()["y"].cov.value.shape == (2, 2) and program.parameters["s"] == 2
    with pytest.raises(NetsorError):
        netsor.parse(TEXT, s=2).limit()


def test_data_without_numbers():
    program = netsor.parse(DATA)
    assert "D[i,i]" in program.derive().text()
    with pytest.raises(NetsorError) as error:
        program.limit()
    assert codes(error) == ["N505"] and "netsor.load(…, data={'D': …})" in str(error.value)


@pytest.mark.parametrize("text, settings, code", [
    (TEXT.replace("relu", "reloo"), {}, "N208"), (TEXT.replace("x[i])", "x[j])"), {}, "N201"), (TEXT, {"q": 1}, "N205"),
    (TEXT.replace("relu(x[i])", "x[i] @ W"), {}, "N308"), (DATA, {"q": 1}, "N205"),
])
def test_other_errors_are_reported_when_the_program_is_loaded(text, settings, code):
    """What is wrong with a program whatever the values, and nothing about values that formulas do without."""
    with pytest.raises(NetsorError) as error:
        netsor.parse(text, **settings)
    assert codes(error) == [code]


def test_a_number_that_decides_the_structure_is_needed_beside_other_errors():
    text = TEXT.replace("y[i] = W @ relu(x[i])", "y[0,i] = x[i]\nfor l in 1..g:\n  y[l,i] = W @ relu(y[l-1,i])\nz[i] = reloo(x[i])")
    with pytest.raises(NetsorError) as error:
        netsor.parse(text)
    assert codes(error) == ["N503", "N208"] and "`g`" in error.value.diagnostics[0].message
