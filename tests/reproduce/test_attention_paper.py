"""The attention paper's experiments: its settings, and numbers that were found independently."""

from pathlib import Path

import numpy as np
import pytest

import netsor
from netsor.cli.verdicts import PASSED, judge
from netsor.reproduce.attention_paper import attention_paper
from netsor.reproduce.figures import paper_figure
from netsor.reproduce.kernel_densities import divergences
from netsor.reproduce.measure import draw, measure, of_draws, reference
from netsor.reproduce.numbers import COLUMNS, rows
from netsor.reproduce.settings import EXPERIMENTS, SCORES, Point

PROGRAMS = Path(__file__).parents[2] / "programs" / "paper"


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.netsor")), ids=lambda path: path.stem)
def test_the_programs_give_the_numbers_that_they_state(path):
    program = netsor.load(path)
    result = program.limit()
    assert result.expectations and "Source:" in path.read_text(encoding="utf-8")
    for expectation, found in result.expectations:
        assert judge(expectation, found, program.ir).verdict == PASSED, expectation.span.text


def test_the_settings_are_those_of_the_paper():
    by_figure = {e.figure: e for e in EXPERIMENTS}
    shown = {f: ([(p.width, p.parameters["s"], p.parameters["H"]) for p in e.points], e.runs, e.seeds) for f, e in by_figure.items()}
    widths = (16, 64, 256, 1024)
    assert shown["1"] == ([(n, 4, 2) for n in widths], 50_000, 10)
    assert shown["2"] == ([(256, 4, 1), (256, 4, 256)], 50_000, 10)
    assert shown["3"] == ([(64, 4, 1), (256, 4, 4), (1024, 4, 16)], 50_000, 10)
    assert shown["5"] == ([(n, 4, 2) for n in widths], 100_000, 10)
    assert shown["8-tokens"][0] == [(n, 8, 2) for n in widths]
    assert SCORES == ("scores.netsor", 256, 50_000)


def test_the_heads_of_figure_3_are_64_wide():
    for point in next(e for e in EXPERIMENTS if e.figure == "3").points:
        program = netsor.load(PROGRAMS / "narrow_heads.netsor", **point.parameters)
        assert program.ir.widths["m"] * point.width == 64


@pytest.mark.parametrize(("program", "parameters", "exact"), [
    ("attention.netsor", {"H": 1}, 9.7e-4), ("attention.netsor", {"H": 2}, 2.7e-4), ("attention_relu.netsor", {"H": 2}, 6.8e-8),
])
def test_the_matched_gaussian_is_as_far_away_as_quadrature_says(program, parameters, exact):
    """Two digits of an independent quadrature over the scores; 4 standard errors."""
    found = reference(netsor.load(PROGRAMS / program, **parameters), 100, 2, 0, 2**14).exact
    assert abs(float(found.value) - exact) < 4 * float(found.error) + 0.02 * exact


def test_divergences_without_smoothing_are_those_found_elsewhere():
    """2.2e-2, 2.1e-3 and 1.6e-4 at n = 16, 64, 256 by an implementation of its own; two digits and 4 errors."""
    program = netsor.load(PROGRAMS / "attention.netsor")
    own = reference(program, 3000, 2, 0, 2**13)
    for width, known in ((16, 2.2e-2), (64, 2.1e-3), (256, 1.6e-4)):
        found = measure(program, Point(width, ""), own, 1).conditional
        assert abs(float(found.value) - known) < 4 * float(found.error) + 0.05 * known
        assert float(found.error) < 0.2 * known


def test_draws_from_conditional_laws_have_the_law_of_dense_draws():
    """Second and fourth moment at n = 4, where the limit is far off; 4.5 standard errors, false alarms 7e-6 each."""
    program = netsor.load(PROGRAMS / "attention.netsor")
    runs = 8_000
    drawn, _ = draw(program, Point(4, ""), runs, 3)
    dense = program.sample(4, runs, 4, method="dense")["y"][:, 0, 0]
    for power in (2, 4):
        one, other = drawn**power, dense**power
        assert abs(one.mean() - other.mean()) < 4.5 * np.hypot(one.std(), other.std()) / np.sqrt(runs)
    assert float(of_draws(drawn)[0].value) > 0.5  # the limit's is 0.39: the widths are not mixed up


def test_errors_of_moments_of_draws_are_right():
    """64 samples of 4,000 Laplace draws: the standardised deviations have standard deviation 1 within 4.5/sqrt(128)."""
    draws = np.random.default_rng(0).laplace(size=(64, 4000))
    found = [of_draws(row)[0] for row in draws]
    z = [(float(f.value) - 2) / float(f.error) for f in found]
    assert abs(np.std(z) - 1) < 4.5 / np.sqrt(128)


@pytest.fixture(scope="module")
def figures():
    """All figures of a very short run."""
    return {data.experiment.figure: data for data in attention_paper(PROGRAMS, runs=64, quick=True)}


def test_every_figure_is_made_of_every_point(figures):
    assert list(figures) == [experiment.figure for experiment in EXPERIMENTS]
    for data in figures.values():
        table = list(rows(data))
        assert all(len(row) == len(COLUMNS) for row in table)
        labels = [row[0] for row in table]
        assert [own.point.label for own in data.measured] == [label for label in labels if not label.startswith("  ")]
        assert "2 × 64 runs" in paper_figure(data).get_suptitle()


def test_panel_b_shows_the_measured_divergences(figures):
    data = figures["1"]
    axes = next(a for a in paper_figure(data).axes if a.get_title().startswith("(b)"))
    mean = next(line for line in axes.get_lines() if line.get_label().startswith("KDE: finite"))
    np.testing.assert_allclose(mean.get_ydata(), [own.kde.mean() for own in data.measured])
    exact = axes.containers[0].lines[0]
    np.testing.assert_array_equal(exact.get_ydata(), [v for own in data.measured if (v := float(own.conditional.value)) > 0])


def test_panel_a_shows_the_law_of_the_limit(figures):
    data = figures["1"]
    axes = paper_figure(data).axes[0]
    line = next(each for each in axes.get_lines() if each.get_label() == "limit")
    x, density = line.get_xydata().T
    np.testing.assert_array_equal(density, data.measured[0].reference.law.pdf(x).value)


def test_a_seed_reproduces_every_number():
    first, second = (
        list(rows(next(attention_paper(PROGRAMS, figures=["3"], runs=32, quick=True, seed=5)))) for _ in range(2))
    assert first == second


def test_the_paper_s_statistic_is_the_divergence_where_kernels_resolve_it():
    """KL(N(0,1), N(0.5,1)) = 1/8: smoothing by Scott's h adds h^2 to both variances; noise of 20,000 draws is about 1 %."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal(20_000), 0.5 + rng.standard_normal(20_000)
    (found,) = divergences([first], second)
    assert found == pytest.approx(0.125 / (1 + 20_000**-0.4), rel=0.05)
    assert divergences([second], second)[0] == 0


def test_a_matched_gaussian_scores_what_the_limit_scores_against_itself():
    """The statistic cannot tell them apart at the paper's 50,000 draws, though their divergence is known to three digits."""
    own = reference(netsor.load(PROGRAMS / "attention.netsor"), 50_000, 3, 0, 2**14)
    assert 1e-4 < own.floor.mean() < 1.2e-3
    assert abs(own.matched.mean() - own.floor.mean()) < 3 * np.hypot(own.floor.std(ddof=1), own.matched.std(ddof=1))
    assert float(own.exact.value) > 50 * float(own.exact.error)


def overlap(one, other):
    """The part of two intervals that both have, of the longer one."""
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0])) / max(one[1] - one[0], other[1] - other[0])


def test_the_scores_of_figure_2_fill_their_panel(figures):
    axes = paper_figure(figures["2"]).axes[0]
    shown = np.concatenate([each.get_data().values for each in axes.patches] + [axes.get_lines()[0].get_ydata()])
    assert overlap(np.log(axes.get_ylim()), np.log([shown.min(), shown.max()])) > 0.6


@pytest.mark.parametrize(("figure", "panel", "limits"), [("2", 1, 3), ("3", 0, 3)])
def test_limits_of_different_numbers_of_heads_are_told_apart(figures, figure, panel, limits):
    axes = paper_figure(figures[figure]).axes[panel]
    lines = [each for each in axes.get_lines() if each.get_label().startswith("limit")]
    assert len({(each.get_color(), each.get_linestyle()) for each in lines}) == len({each.get_color() for each in lines}) == limits
