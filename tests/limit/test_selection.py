"""Names of outputs that are asked for in Python: those that do not exist are refused as on the command line."""

from __future__ import annotations

import pytest

import netsor
import netsor.compare

PROGRAM = netsor.parse("width n\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nu = relu(x)\ny = W @ u\nz = 2 * y\noutput y, z")


@pytest.mark.parametrize("ask", [
    lambda names: PROGRAM.limit(outputs=names), lambda names: PROGRAM.derive(outputs=names),
    lambda names: netsor.compare.compare(PROGRAM, widths=(8, 16), runs=100, outputs=names),
], ids=["limit", "derive", "compare"])
def test_a_name_that_is_no_output_is_refused(ask):
    with pytest.raises(netsor.NetsorError) as caught:
        ask(["y", "q", "u"])
    unknown, inner = caught.value.diagnostics
    assert (unknown.code, inner.code) == ("N220", "N220")
    assert "no output `q`" in unknown.message and inner.hint == "add it there: output u"


def test_some_outputs_in_the_order_of_the_program():
    assert list(PROGRAM.limit(outputs=["z"])) == ["z"]
    assert list(PROGRAM.limit(outputs=["z", "y"])) == ["y", "z"]


@pytest.mark.parametrize("samples", [0, -3])
def test_a_number_of_samples_is_positive(samples):
    with pytest.raises(ValueError, match="positive"):
        PROGRAM.limit(samples=samples)


def test_a_comparison_says_its_verdict_in_one_line():
    comparison = netsor.compare.compare(PROGRAM, widths=(8, 16), runs=200)
    assert repr(comparison) == (
        f"<comparison of program at widths 8, 16: {comparison.verdict}, {len(comparison.results)} statistics>")
