"""What has no reading at a width, or does not fit into memory: a diagnostic with its place and the next step, before anything is drawn."""

import re

import pytest

import netsor
import netsor.compare
from netsor.finite import effort
from netsor.finite.backends import drawing_on
from netsor.finite.failures import NoReading
from netsor.finite.plan import make_plan

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


def test_memory_and_time_are_those_of_what_is_held():
    """Vectors that nothing but linear maps touch are coordinates in a span: no width is too large for them."""
    program = netsor.parse(
        "width n\nindex i in 1..2\ninput x[i] ~ N(0, 1)\nmatrix W : (n, n) ~ N(0, 1/n)\ny[i] = W @ x[i]\noutput y\n")
    assert netsor.compare.simulate(program, 10**12, 200).runs == 200


@pytest.mark.parametrize("request_", [dict(width=16, runs=10**11), dict(width=10**6, runs=10**9)])
def test_refusals_name_memory_and_time(request_):
    with pytest.raises(netsor.NetsorError) as caught:
        netsor.compare.simulate(netsor.parse("width n, m = n\n" + BODY), **request_)
    assert re.search(r"would take .*iB of memory and about .* (days|years)", caught.value.diagnostics[0].message)


def test_more_workers_take_less_time_and_fewer_than_asked_where_memory_does_not_suffice(monkeypatch):
    plan = make_plan(netsor.parse("width n, m = n\n" + BODY).ir)
    monkeypatch.setattr(effort, "available_memory", lambda: 2**30)
    with drawing_on(None, workers=4):
        small, large = (effort.effort_of_draws(plan, width, 1000, 1) for width in (10**3, 10**7))
        assert small.seconds == small.shared / 4 and small.workers == 4
        assert large.workers == max(2**30 // large.block, 1) < 4
    with drawing_on(None, workers=1):
        assert small.seconds == small.shared


@pytest.mark.parametrize("options", [dict(width=5.5), dict(width=5, runs=100.5), dict(width=5, coordinates=0), dict(width=5, workers=0)])
def test_arguments_of_simulate_that_make_no_sense(options):
    with pytest.raises(ValueError, match="integer"):
        netsor.compare.simulate(netsor.parse("width n, m = n\n" + BODY), **options)


def test_an_output_that_is_not_there_is_refused_by_simulate():
    with pytest.raises(netsor.NetsorError) as caught:
        netsor.compare.simulate(netsor.parse("width n, m = n\n" + BODY), 16, 100, outputs=["nope"])
    assert caught.value.diagnostics[0].code == "N220"
