"""``netsor test --width``: expect lines against draws at finite widths.

False alarms: each command calls a true line wrong with probability at most 1e-4, so that this file fails for that reason in
fewer than 1 of 1,000 runs (seeds are fixed).  Where a wrong value must fail it is asserted that it is off by more than the
deviation that is seen with 90 % power."""

import re

import numpy as np
import pytest

from netsor.cli import verdicts
from netsor.cli.progress import ProgressDisplay
from netsor.compare import expectations
from netsor.compare.expectations import judge_expectations
from netsor.compare.judge import Series, judge
from netsor.compare.result import DISAGREES
from netsor.language import load_program

WIDTHS = "32,64,128"
LAYER = """width n
index b in 1..2
input h[b] ~ N(0, b)
matrix W ~ N(0, 2/n)
z[b] = W @ relu(h[b])
m[b] = avg(relu(h[b]))
output z
"""
COVARIANCE = 2**0.5 / np.pi
"""Of z[1] and z[2]: twice the product of the means of relu(h[1]) and relu(h[2])."""


def lines(found) -> list[dict]:
    return [line["at_finite_width"] for line in found["files"][0]["expectations"]]


def test_a_right_program_passes_and_says_what_would_have_been_seen(cli, program):
    path = program(LAYER + "expect cov(z[b], z[b]) = b within 1e-9\nexpect kurtosis(z[1]) = 0 within 1e-9\n")
    outcome = cli("test", path, "--width", WIDTHS, "--runs", 2000)
    assert outcome.status == 0, outcome.out
    assert "2,000 runs at each of widths 32, 64, 128" in outcome.out
    assert outcome.out.count("at finite width: passed, ") == 2 and outcome.out.count("would be seen (90 % power)") == 2
    assert outcome.out.endswith("2 expectations in 1 file: 2 passed; at finite width 2 passed\n")


def test_the_bias_is_removed_and_what_is_no_output_is_drawn_too(cli, program):
    """The average of relu(h) has variance (1/2 - 1/(2 pi))/n at width n: nothing but bias."""
    path = program(LAYER + "expect mean(m[1]) = 1/sqrt(2*pi) within 1e-9\nexpect cov(m[1], m[1]) = 0 within 1e-9\n")
    mean, variance = lines(cli("test", path, "--width", WIDTHS, "--runs", 2000, "--json").json)
    assert mean["verdict"] == variance["verdict"] == "passed"
    assert variance["smallest_detectable"] < (1 / 2 - 1 / (2 * np.pi)) / 128


@pytest.mark.parametrize("factor, verdict, status", [(1.0, "passed", 0), (1.2, "failed", 1), (0.8, "failed", 1)])
def test_a_cross_covariance_that_is_off_by_a_fifth_fails(cli, program, monkeypatch, factor, verdict, status):
    """The limit's own verdict is set aside: finite width alone decides the exit status here."""
    monkeypatch.setattr(verdicts, "judge", lambda line, found, _: verdicts.Verdict(
        line, "passed", found, np.array(0.0), np.array(1e-6)))
    path = program(LAYER + f"expect cov(z[1], z[2]) = {factor * COVARIANCE:.12f} within 1e-6\n")
    outcome = cli("test", path, "--width", WIDTHS, "--runs", 16_000, "--json")
    (line,) = lines(outcome.json)
    assert outcome.status == status and line["verdict"] == verdict
    assert line["smallest_detectable"] < 0.2 * COVARIANCE
    assert line["value"] == pytest.approx(COVARIANCE, abs=5 * line["error"])


def test_a_failure_says_where_and_by_how_much(cli, program):
    outcome = cli("test", program(LAYER + "expect cov(z[b], z[b]) = 1 within 0.1\n"), "--width", WIDTHS, "--runs", 2000)
    assert outcome.status == 1 and "; at finite width 1 failed\n" in outcome.out
    assert "at finite width: failed, " in outcome.out and " at b=2, expected 1: off by " in outcome.out


def test_a_scale_mixture_and_scores(cli, attention):
    """The variance of attention, within the tolerance of its line; the output is a vector, its scores are scalars."""
    text = attention.read_text() + "expect cov(p[1,1,1], p[1,1,1]) = 1 within 1e-6\nexpect cov(p[a,1,1], y[1]) = 0 within 1e-6\n"
    attention.write_text(text)
    outcome = cli("test", attention, "--samples", 1024, "--width", "32,64", "--runs", 1000, "--json")
    assert [line["verdict"] for line in lines(outcome.json)] == ["passed"] * 3


def test_infinite_parameters_are_said_to_need_a_value(cli, program):
    text = LAYER.replace("index b", "param N = inf\nindex c in 1..N\nindex b").replace("output z", "u = sum(g[c] for c)/N\noutput z")
    text = text.replace("matrix W", "input g[c] ~ N(0, 1)\nmatrix W") + "expect cov(z[1], z[1]) = 1 within 1e-9\n"
    outcome = cli("test", program(text), "--width", WIDTHS, "--runs", 1000)
    assert outcome.status == 0, outcome.out + outcome.err
    assert "at finite width: not checked, N must be finite there" in outcome.out
    assert outcome.out.endswith("1 expectation in 1 file: 1 passed\n")


def test_without_widths_nothing_is_drawn(cli, program):
    outcome = cli("test", program(LAYER + "expect mean(z[1]) = 0 within 1e-9\n"))
    assert outcome.status == 0 and "finite width" not in outcome.out


def test_one_width_cannot_remove_a_bias(cli, program):
    path = program(LAYER + "expect mean(z[1]) = 0 within 1e-9\n")
    outcome = cli("test", path, "--width", "64")
    assert outcome.status == 2 and "two widths at least" in outcome.err
    with pytest.raises(ValueError, match="two positive widths"):
        judge_expectations(load_program(path), (64,))


def test_set_parameters_skip_both_readings(cli, attention):
    outcome = cli("test", attention, "--set", "s=3", "--width", WIDTHS)
    assert outcome.status == 0 and "1 skipped" in outcome.out and "at finite width" not in outcome.out


def test_a_deviation_within_the_tolerance_is_no_failure_and_the_power_is_as_stated():
    """Estimates normal with known errors about a value that is off by t, and by the deviation said to be seen.

    At level 0.1 the first fails in 5 % of cases (one side), the second in 90 %: of 1,000 each, bounds at 5 standard errors."""
    rng, widths, error, tolerance = np.random.default_rng(1), (32, 64, 128), 0.1, 0.3

    def rate(deviation: float) -> float:
        failed = 0
        for _ in range(1000):
            values = 1 + deviation + 2 / np.array(widths) + error * rng.standard_normal(3)
            series = Series("y", "cov", "", widths, values, np.full(3, error), np.zeros(3), (10**7,) * 3, 1.0, 0.0, 1.0, tolerance)
            (result,) = judge([series], [], 0.1)
            failed += result.verdict == DISAGREES
        seen.append(result.decision.smallest_detectable)
        return failed / 1000

    seen: list[float] = []
    assert rate(tolerance) == pytest.approx(0.05, abs=0.035)
    assert rate(seen[0]) == pytest.approx(0.9, abs=0.048)


@pytest.mark.parametrize("values, said", [([1e-11, 1e-14, 8e-15], "agrees"), ([1e-3, 1e-14, 8e-15], "unresolved")])
def test_values_that_fit_no_form_agree_if_all_are_within_the_tolerance(values, said):
    """A state that has converged: what is left falls much faster than 1/n, and far below what the line asks for."""
    series = Series("moved", "mean", "", (64, 128, 256), np.array(values), np.full(3, 1e-16), np.zeros(3), (1000,) * 3,
                    0.0, 0.0, 1e-14, tolerance=1e-9)
    (result,) = judge([series], [], 1e-4)
    assert result.decision.by == "width 256" and expectations._verdict(result, series.tolerance) == said


def test_ctrl_c_at_finite_width_says_how_far_it_came(cli, program, monkeypatch):
    class Stopping(ProgressDisplay):
        def __call__(self, done, total):
            super().__call__(done, total)
            if total == 6000 and done > 2500:
                raise KeyboardInterrupt

    monkeypatch.setattr("netsor.cli.test.ProgressDisplay", Stopping)
    file = program("width n\ninput h ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W @ relu(h)\noutput y\nexpect cov(y, y) = 1/2 within 0.01\n")
    options = ("--width", "16,32,64", "--runs", 2000)
    outcome = cli("test", file, *options)
    assert outcome.status == 130 and "1 passed" in outcome.out and "interrupted after" not in outcome.out
    assert re.search(r"at finite width: interrupted, nothing is judged there; 2,\d+ of 6,000 runs done, widths 16 of 16, 32, 64", outcome.out)
    found = cli("test", file, *options, "--json").json["files"][0]
    assert found["interrupted"] is True and "widths 16 of" in found["at_finite_width"]
