"""What has no reading at a width, or does not fit into memory: a diagnostic with its place and the next step, before anything is drawn."""

import pytest

import netsor
from netsor.finite.failures import NoReading

METHODS = pytest.mark.parametrize("method", ["exact", "dense"])
BODY = "input h ~ N(0, 1)\nmatrix W : (m, n) ~ N(0, 1/n)\nx = tanh(W @ tanh(h))\noutput x\n"


@pytest.mark.parametrize("ratio, hint", [
    ("n/4", "a width of 3 at least"), ("3*n/10", "a width of 2 at least"), ("n*10^(-200)", "make it a larger share")])
def test_the_width_that_vanishes_is_shown_with_the_least_that_does_not(ratio, hint):
    program = netsor.parse(f"width n, m = {ratio}\n" + BODY)
    with pytest.raises(NoReading) as caught:
        program.sample(1, 2)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.span.text) == ("N523", "m") and hint in diagnostic.hint


def test_the_least_width_is_one_for_all_widths():
    program = netsor.parse("width n, m = n/4, k = n/40\n" + BODY)
    with pytest.raises(NoReading, match="(?s)m = .* a width of 21 at least"):
        program.sample(2, 2)
    assert program.sample(21, 2)["x"].shape == (2, 1)


@METHODS
@pytest.mark.parametrize("ratio, width", [("10^300*n", 8), ("10^300*n", 10**9), ("n", 10**9), ("n", 10**40)])
def test_what_does_not_fit_into_memory(ratio, width, method):
    with pytest.raises(netsor.NetsorError) as caught:
        netsor.parse(f"width n, m = {ratio}\n" + BODY).sample(width, 2, method=method, coordinates=None)
    assert caught.value.diagnostics[0].code == "N521"


def test_more_runs_than_memory_holds():
    with pytest.raises(netsor.NetsorError, match="N521"):
        netsor.parse("width n, m = n\n" + BODY).sample(8, 10**12)


@METHODS
@pytest.mark.parametrize("arguments", [
    dict(width=0), dict(width=-1), dict(width=2.5), dict(runs=0), dict(runs=1.5), dict(coordinates=5), dict(coordinates=0)])
def test_arguments_that_make_no_sense(arguments, method):
    program = netsor.parse("width n, m = n\n" + BODY)
    with pytest.raises(ValueError):
        program.sample(**{"width": 4, "runs": 2} | arguments, method=method)
