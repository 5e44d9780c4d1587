"""Draws that are no finite numbers are counted and said; nothing is judged by them, and what is finite stays known."""

import warnings

import numpy as np
import pytest

import netsor
from netsor.cli.text.comparison import describe
from netsor.compare import compare, kde_divergence, simulate
from netsor.compare.result import UNDEFINED, UNRESOLVED

NORMALISED = netsor.parse("""width n
input h ~ N(0, 1)
matrix W ~ N(0, 1/n)
c = avg(h)
v = avg((h - c)^2)
y = W @ ((h - c) / sqrt(v))
z = W @ h
output y, z
""")  # at width 1 both are divided: 0/0


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_a_simulation_says_how_many_and_keeps_the_other_outputs():
    found = simulate(NORMALISED, 1, runs=200)
    (note,) = found.notes
    assert note.startswith("y: 200 of 200 runs at width 1 are not finite") and found.as_dict()["notes"] == [note]
    assert np.isnan(found["y"].mean.value) and np.isfinite(found["z"].var.value)
    assert simulate(NORMALISED, 2, runs=200).notes == ()


def test_a_comparison_judges_nothing_by_them():
    found = compare(NORMALISED, (1, 2, 8), runs=300, controls=True, kernel_densities=True)
    own = {name: [r for r in found.results if r.output == name] for name in "yz"}
    assert {(r.verdict, r.decision.by) for r in own["y"]} == {(UNRESOLVED, UNDEFINED)}  # the distribution function too
    assert {r.widths[1].verdict for r in own["y"]} == {"agrees"}
    assert all(np.isfinite(r.decision.difference) for r in own["z"])
    assert [note.split(" are")[0] for note in found.notes] == ["y: 300 of 300 runs at width 1"]
    by_width = {d.width: d.value for d in found.kernel_densities if d.output == "y"}
    assert np.isnan(by_width[1]) and np.isfinite(by_width[8])
    text = "\n".join(describe(found, NORMALISED.ir, (1, 2, 8), 1.0))
    assert "nan" not in text and "mean of y, by nothing: a value is not finite" in text and "note: y: 300 of 300" in text


def test_where_all_is_undefined_the_verdict_and_the_controls_say_so():
    found = compare(NORMALISED, (1,), runs=200, controls=True, outputs=["y"])
    assert (found.verdict, found.meaning) == (UNRESOLVED, "is not judged where values are not finite")
    assert found.per_width[1].meaning == found.meaning
    assert {c.reason for c in found.controls[:2]} == {"omitted: no value is finite at these widths"} and all(c.passed for c in found.controls)


def test_third_cumulants_beyond_all_floats_are_not_taken_for_agreement():
    """Variances of 1e140: squares and their errors are floats, cubes are not."""
    program = netsor.parse("width n\ninput h ~ N(0, 10^140)\nmatrix W ~ N(0, 1/n)\ny = W @ h\noutput y")
    found = compare(program, (8, 16), runs=200)
    by = {r.statistic: r.decision.by for r in found.results}
    assert by["variance"] == UNDEFINED and by["mean"] == by["excess kurtosis"] == by["distribution"] == "extrapolation"


def test_samples_without_a_kernel_density_estimate_have_no_divergence():
    sample = np.linspace(-1, 1, 50)
    for other in (np.ones(50), np.append(sample, np.nan), np.append(sample, np.inf)):
        assert np.isnan(kde_divergence(other, sample))


def test_an_interrupt_during_the_limit_is_not_taken_for_its_end(monkeypatch):
    from netsor.limit import run

    whole = run.run_limit

    def stopped(*arguments, **options):
        result = whole(*arguments, **options)
        result.interrupted = True
        return result

    monkeypatch.setattr(run, "run_limit", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare(NORMALISED, (2, 4), runs=200)


def test_an_interrupt_among_the_controls_keeps_what_is_judged(monkeypatch):
    from netsor.compare import comparison

    def stopped(*arguments):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(comparison, "_controls", stopped)
    found = compare(NORMALISED, (2, 4), runs=200, controls=True)
    assert found.interrupted and found.controls == () and found.verdict == "agrees"
