"""Verdicts on synthetic series of known truth."""

import numpy as np
import pytest

from netsor.compare.judge import DistributionSeries, Series, judge
from netsor.compare.result import AGREES, BIAS, DISAGREES, UNRESOLVED

WIDTHS = (16, 64, 256, 1024)
ERROR = 0.01


def series(values, widths=WIDTHS, limit=1.0, limit_error=0.0, error=ERROR, name="v"):
    count = len(widths)
    return Series("y", "variance", name, widths, np.asarray(values, dtype=float), np.full(count, error), np.zeros(count),
                  (50_000,) * count, limit, limit_error, 1.0)


def biased(truth, b, rng=None):
    n = np.array(WIDTHS, dtype=float)
    noise = 0 if rng is None else ERROR * rng.standard_normal(4)
    return truth + b / n + noise


def only(found):
    (result,) = found
    return result


def test_a_right_limit_with_bias_agrees_and_small_widths_differ_as_predicted():
    result = only(judge([series(biased(1.0, 5.0))], [], 1e-4))
    assert result.verdict == AGREES and result.decision.by == "extrapolation"
    assert [at.verdict for at in result.widths] == [BIAS, BIAS, AGREES, AGREES]
    assert result.rate[0] == pytest.approx(1.0, abs=0.05)
    assert result.widths[0].predicted == pytest.approx(1 + 5 / 16)


def test_a_wrong_limit_disagrees_at_every_width_that_sees_it():
    result = only(judge([series(biased(1.2, 5.0))], [], 1e-4))
    assert result.verdict == DISAGREES and result.decision.rejected
    assert [at.verdict for at in result.widths] == [DISAGREES] * 4


def test_one_width_cannot_tell_bias_from_disagreement():
    assert only(judge([series([1.3], (64,))], [], 1e-4)).verdict == UNRESOLVED
    result = only(judge([series([1.01], (64,))], [], 1e-4))
    assert result.verdict == AGREES and result.fit is None and result.decision.by == "width 64"


def test_where_no_fit_holds_the_largest_width_decides():
    off = only(judge([series([1.0, 2.0, 1.0], (16, 32, 64))], [], 1e-4))
    assert off.verdict == AGREES and off.decision.by == "width 64"
    assert [at.verdict for at in off.widths] == [AGREES, UNRESOLVED, AGREES]
    assert only(judge([series([1.0, 2.0, 1.3], (16, 32, 64))], [], 1e-4)).verdict == UNRESOLVED


def test_an_error_of_the_limit_counts():
    values = biased(1.1, 0.0)
    assert only(judge([series(values)], [], 1e-4)).verdict == DISAGREES
    assert only(judge([series(values, limit_error=0.05)], [], 1e-4)).verdict == AGREES


def test_fifteen_degrees_of_freedom_of_the_limit_count_too():
    """4.4 errors of the limit are 1e-5 for a normal law and 5e-4 for Student's with 15."""
    result = only(judge([series(np.full(4, 1.44), limit_error=0.1, error=1e-6)], [], 1e-4))
    assert result.decision.z == pytest.approx(4.4, rel=1e-3) and result.decision.p_value == pytest.approx(5.2e-4, rel=0.05)


def test_exact_constants():
    assert only(judge([series(np.ones(4), error=0.0)], [], 1e-4)).verdict == AGREES
    assert only(judge([series(np.full(4, 1 + 1e-6), error=0.0)], [], 1e-4)).verdict == DISAGREES
    zero = Series("c", "mean", "c", WIDTHS, np.zeros(4), np.zeros(4), np.zeros(4), (100,) * 4, 0.0, 0.0, 0.0)
    assert only(judge([zero], [], 1e-4)).verdict == AGREES


def test_a_number_that_is_not_finite_is_not_called_agreement():
    result = only(judge([series([np.nan, 1, 1, 1])], [], 1e-4))
    assert result.verdict == UNRESOLVED and "not finite" in result.decision.by
    assert result.widths[0].verdict == UNRESOLVED


def test_pairs_are_reported():
    n = np.array([32.0, 64.0])
    (pair,) = only(judge([series(1 + 3 / n, (32, 64))], [], 1e-4)).pairs
    assert pair[0] == 32 and pair[1] == pytest.approx(0.0, abs=1e-12) and pair[2] == pytest.approx(ERROR * np.sqrt(5))


def test_false_alarms_of_a_family_and_its_power():
    """400 comparisons of 10 statistics at level 0.05: at most 20 expected, beyond 46 with probability 1e-7.
    One statistic off by its smallest detectable deviation: found in 0.9 of 300 (5 sigma: 0.087)."""
    rng = np.random.default_rng(1)
    alarms = sum(
        any(r.verdict != AGREES for r in judge([series(biased(1.0, b, rng)) for b in np.linspace(-9, 9, 10)], [], 0.05))
        for _ in range(400))
    assert alarms <= 46
    off = only(judge([series(biased(1.0, 0.0))], [], 1e-4)).decision.smallest_detectable
    found = sum(only(judge([series(biased(1.0 + off, 4.0, rng))], [], 1e-4)).verdict == DISAGREES for _ in range(300))
    assert abs(found / 300 - 0.9) < 0.087


def test_distribution_functions_are_extrapolated():
    edges = np.arange(1, 200) / 200
    bump = edges * (1 - edges)
    def at(shift):
        return DistributionSeries("y", "y[1]", WIDTHS, tuple(edges + (shift + 3 / n) * bump for n in WIDTHS), (50_000,) * 4,
                                  edges, 1e-4, np.inf)
    right, wrong = (only(judge([], [at(shift)], 1e-4)) for shift in (0.0, 0.2))
    assert right.verdict == AGREES and [w.verdict for w in right.widths] == [BIAS, BIAS, AGREES, AGREES]
    assert wrong.verdict == DISAGREES and wrong.decision.difference == pytest.approx(0.05, abs=1e-3)
    few = at(0.2)
    few = DistributionSeries(few.output, few.element, few.widths, few.below, few.counts, few.reference, 1e-4, 200)
    assert only(judge([], [few], 1e-4)).verdict == AGREES  # a limit known through 200 samples proves nothing


def vanishing(values, widths):
    return only(judge([series(values, widths, limit=0.0, error=1e-5)], [], 1e-4))


def test_a_variance_that_vanishes_with_large_higher_powers_agrees():
    """8/n + 2000/n^2: a fit of 1 and 1/n alone is off by many errors and by less than what is left at the largest width."""
    n = np.array([32.0, 64.0, 128.0])
    result = vanishing(8 / n + 2000 / n**2, (32, 64, 128))
    assert result.verdict == AGREES and result.decision.by == "the two largest widths"
    assert abs(result.decision.difference) > 100e-5 and [at.verdict for at in result.widths] == [BIAS] * 3


def test_a_variance_that_does_not_vanish_disagrees():
    n = np.array(WIDTHS, dtype=float)
    assert vanishing(0.05 + 1 / n, WIDTHS).verdict == DISAGREES


def test_a_variance_that_does_not_vanish_and_fits_no_form_is_unresolved():
    n = np.array([32.0, 64.0, 128.0])
    assert vanishing(1 + 8 / n + 2000 / n**2, (32, 64, 128)).verdict == UNRESOLVED


def test_distances_have_a_rate_where_they_stand_out_of_their_noise():
    """Distances 2/n to the uniform law from 10^6 draws' worth of noise, none drawn: two widths are seen, the third is below."""
    edges = np.linspace(0.01, 0.99, 99)
    shifted = [edges + 2 / n for n in (16, 64, 1024)]
    series = DistributionSeries("y", "y[1]", (16, 64, 1024), tuple(shifted), (10**6,) * 3, edges, 0.0, np.inf)
    (result,) = judge([], [series], 1e-4)
    assert result.rate[0] == pytest.approx(1.0, abs=1e-6)
    quiet = DistributionSeries("y", "y[1]", (16, 64), tuple(edges + 1e-4 for _ in (16, 64)), (10**6,) * 2, edges, 0.0, np.inf)
    assert judge([], [quiet], 1e-4)[0].rate is None
