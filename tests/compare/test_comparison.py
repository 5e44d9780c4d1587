"""Programs end to end: right limits agree, wrong ones do not, and what cannot be seen is said."""

import json
from pathlib import Path

import numpy as np
import pytest

import netsor
from netsor.compare import compare
from netsor.compare.controls import MATCHED, SCALED, UNCORRECTED, UNSHARED
from netsor.compare.probability import power_against
from netsor.language.diagnostics import NetsorError

ROOT = Path(__file__).parents[2]

WIDTHS = (16, 32, 64)


@pytest.fixture(scope="module")
def attention():
    """Flagship with one head, 4,000 runs at three small widths."""
    program = netsor.load(ROOT / "programs" / "attention.netsor", H=1, s=3)
    return compare(program, WIDTHS, runs=4000, seed=3, samples=2**15, controls=True, coordinates=2)


def find(comparison, statistic, element):
    return next(r for r in comparison.results if (r.statistic, r.element) == (statistic, element))


def test_attention_agrees(attention):
    assert attention.verdict == "agrees" and attention.widths == WIDTHS
    assert {r.statistic for r in attention.results} == {
        "mean", "variance", "excess kurtosis", "covariance", "squares", "distribution",
        *(f"cf {part} {t}/sd" for part in ("real", "imaginary") for t in (1, 2))}
    assert attention.per_width[16].verdict in ("agrees", "bias")


@pytest.mark.parametrize("element, exact", [("p[1,1,1]", lambda n: 1 + 2 / n), ("p[1,1,2]", lambda n: 1.0)])
def test_scores_have_their_exact_variances_at_every_width(attention, element, exact):
    """Var p_ii = 1 + 2/n and Var p_ij = 1: six numbers within 5 errors (false alarms below 1e-5)."""
    for at in find(attention, "variance", element).widths:
        assert abs(at.finite - exact(at.width)) < 5 * at.stderr


def test_a_vector_is_more_than_its_variance(attention):
    """Two coordinates of y share the scores: E c^2 c'^2 exceeds Var^2 by Var(V), which one coordinate cannot show."""
    result = find(attention, "squares", "y[1]")
    variance = find(attention, "variance", "y[1]").limit
    assert result.limit > 1.02 * variance**2


def test_the_table_has_every_statistic_at_every_width_and_the_decision(attention):
    rows = attention.table()
    assert len(rows) == attention.tests * (len(WIDTHS) + 1)
    first = rows[0]
    assert first.width == 16 and first.z == pytest.approx(first.difference / first.stderr)
    assert sum(row.width is None for row in rows) == attention.tests


def test_the_dictionary_is_strict_json(attention):
    found = json.loads(json.dumps(attention.as_dict(), allow_nan=False))
    assert found["verdict"] == "agrees" and found["widths"] == list(WIDTHS) and found["runs"] == 4000
    assert found["false_alarm_rate"] == 1e-4 and found["tests"] == len(found["statistics"])
    assert {control["control"] for control in found["controls"]} == {MATCHED, SCALED, UNSHARED}


def test_controls_that_these_runs_can_see_are_rejected_and_others_are_explained(attention):
    matched, scaled, unshared = attention.controls
    assert all(control.passed for control in attention.controls)
    assert scaled.control == SCALED and scaled.expected in ("must", "may")
    kurtosis = next(d for d in matched.details if (d.output, d.statistic) == ("y", "excess kurtosis"))
    distance = next(d for d in matched.details if (d.output, d.statistic) == ("y", "distribution"))
    assert kurtosis.deviation > 0.1 and kurtosis.runs_needed < distance.runs_needed
    assert distance.expected == "cannot" and not distance.rejected
    assert unshared.details == () and "no matrix is used twice" in unshared.reason


def test_forgetting_that_a_matrix_is_shared_is_noticed():
    program = netsor.load(ROOT / "programs" / "shared_matrix.netsor")
    comparison = compare(program, WIDTHS, runs=20_000, seed=1, controls=True)
    assert comparison.verdict == "agrees"
    control = next(c for c in comparison.controls if c.control == UNSHARED)
    assert control.expected == "must" and control.rejected


def test_forgetting_the_correction_of_a_transpose_is_noticed():
    """E xh^2 = 2 and err = 1; without the correction 1 and 2."""
    program = netsor.load(ROOT / "programs" / "autoencoder.netsor")
    comparison = compare(program, WIDTHS, runs=2_000, seed=1, controls=True)
    assert comparison.verdict == "agrees"
    control = next(c for c in comparison.controls if c.control == UNCORRECTED)
    assert control.expected == "must" and control.rejected


def test_a_limit_of_another_program_is_rejected(monkeypatch):
    """The limit of softmax attention with scores of twice the variance, against draws of the right program."""
    from netsor.limit import run

    right = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ relu(h)\noutput y")
    wrong = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1.2/n)\ny = W @ relu(h)\noutput y")
    original = run.run_limit
    monkeypatch.setattr(run, "run_limit", lambda ir, **options: original(wrong.ir, **options))
    comparison = compare(right, WIDTHS, runs=4000, seed=1)
    assert comparison.verdict == "disagrees" and comparison.per_width[64].verdict == "disagrees"
    assert find(comparison, "variance", "y").verdict == "disagrees"


def test_functions_with_atoms_numbers_and_several_kinds_of_outputs():
    program = netsor.parse("""
width n
index i in 1..2
input h[i] ~ N(0.2, 1)
matrix W ~ N(0, 2/n)
x[i] = relu(W @ relu(h[i]))
m[i] = avg(x[i]^2)
c = avg(h[1]) * 0 + 3
s[i] = sign(h[i])
output x, m, c, s
""")
    comparison = compare(program, WIDTHS, runs=3000, seed=2)
    assert comparison.verdict == "agrees"
    assert find(comparison, "mass", "x[1] = 0").limit == pytest.approx(0.5)
    assert find(comparison, "mass", "s[2] = 1").limit == pytest.approx(0.579259709)
    assert any("atoms" in note for note in comparison.notes)
    assert find(comparison, "variance", "m[1]").limit == 0.0 and find(comparison, "variance", "c").decision.difference == 0.0


def test_the_numbers_do_not_depend_on_which_other_widths_are_drawn():
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")
    both, one = compare(program, (16, 32), runs=500), compare(program, (32,), runs=500)
    assert both.table()[1].finite == one.table()[0].finite and both.table()[1].finite != both.table()[0].finite


def test_kernel_density_estimates_come_with_their_floor():
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")
    (found,) = compare(program, (64,), runs=2000, kernel_densities=True).kernel_densities
    assert found.element == "y" and found.width == 64 and found.floor > 0 and found.value < found.floor + 10 * found.floor_deviation


def test_an_interrupted_comparison_keeps_the_widths_that_are_done():
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")

    def stop(done, total):
        if done > 1000:
            raise KeyboardInterrupt

    comparison = compare(program, (16, 32, 64), runs=1000, progress=stop)
    assert comparison.interrupted and comparison.widths == (16,) and comparison.results

    def at_once(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(program, (16, 32, 64), runs=1000, progress=at_once)


@pytest.mark.parametrize("options, code, words", [
    (dict(runs=10**12), "N521", "GiB"), (dict(widths=(10**12,)), "N521", "width"), (dict(coordinates=20), "N523", "coordinates"),
    (dict(runs=3 * 10**8, widths=(10**6,)), "N522", "days"),
])
def test_what_is_out_of_reach_is_refused_before_it_starts(options, code, words):
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")
    with pytest.raises(NetsorError) as caught:
        compare(program, **{"widths": WIDTHS, **options})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code and words in diagnostic.message


def test_an_infinite_axis_has_no_finite_reading():
    program = netsor.load(ROOT / "programs" / "attention_infinite_heads.netsor")
    with pytest.raises(NetsorError) as caught:
        compare(program)
    assert caught.value.diagnostics[0].code == "N504" and "H" in caught.value.diagnostics[0].message


def test_large_outputs_are_compared_on_a_stated_selection():
    program = netsor.parse(
        "width n\nindex i, j in 1..30\ninput h[i,j] ~ N(0, 1)\ny[i,j] = tanh(h[i,j])\noutput y")
    comparison = compare(program, (16,), runs=200)
    assert sum(r.statistic == "mean" for r in comparison.results) == 64
    assert sum(r.statistic == "covariance" for r in comparison.results) == 512
    assert any("64 of 900 elements" in note for note in comparison.notes)
    assert any("512 of 2,016 pairs" in note for note in comparison.notes)


def test_options_that_make_no_sense():
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")
    for options in (dict(widths=()), dict(widths=(0,)), dict(runs=5), dict(coordinates=0), dict(level=0.0)):
        with pytest.raises(ValueError):
            compare(program, **{"widths": (16,), "runs": 200, **options})
    assert np.isfinite(compare(program, 2 * (16,), runs=200).table()[0].z)


def test_numbers_are_scaled_too_where_a_control_scales_the_limit():
    """Deterministic outputs: 3 % of the moments of a law are far beyond what 5,000 runs see."""
    program = netsor.load(ROOT / "programs" / "marchenko_pastur.netsor")
    comparison = compare(program, (64, 128, 256), runs=5000, controls=True)
    (scaled,) = [control for control in comparison.controls if control.control.startswith("scale")]
    assert comparison.verdict == "agrees" and scaled.rejected
    (mean,) = [detail for detail in scaled.details if detail.statistic == "mean"]
    values = np.abs(program.limit()["c"].mean.value)
    assert any(np.isclose(mean.deviation, 0.03 * values)) and mean.deviation > mean.smallest_detectable


def test_each_statistic_has_its_false_alarm_rate():
    program = netsor.parse("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ tanh(h)\noutput y")
    comparison = compare(program, (16, 32), runs=500, level=1e-3)
    rates = [own["false_alarm_rate"] for own in comparison.as_dict()["statistics"]]
    assert len(set(rates)) == 1 and sum(rates) == pytest.approx(1e-3)
    result = comparison.results[0]  # a deviation of the stated size has 90 % power at that level
    assert power_against(result.decision.smallest_detectable, result.decision.stderr, rates[0]) == pytest.approx(0.9, abs=1e-6)


def test_an_infinite_axis_is_told_what_to_set():
    with pytest.raises(NetsorError) as caught:
        compare(netsor.load(ROOT / "programs" / "attention_infinite_heads.netsor"))
    assert "--set H=64" in caught.value.diagnostics[0].hint
