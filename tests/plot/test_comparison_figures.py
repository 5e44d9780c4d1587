"""Figures of draws and of comparisons show the numbers of their results."""

import numpy as np
import pytest

import netsor
from netsor.compare import compare, simulate
from netsor.compare.result import AtWidth, Decision, Fit, StatisticResult
from netsor.plot import figure_of
from netsor.plot.convergence import draw_statistic, drawn_bias
from netsor.plot.style import new_figure

READOUT = "width n\nindex b in 1..2\ninput x[b], v ~ N(0, 1)\nf[b] = dot(v, relu(x[b])) / sqrt(n)\nm[b] = avg(relu(x[b]))\noutput f, m\n"
WIDTHS = (8, 32, 128)


@pytest.fixture(scope="module")
def comparison():
    return compare(netsor.parse(READOUT), widths=WIDTHS, runs=500)


def part(figure, name):
    """The part of a comparison's figure that is about one output."""
    (found,) = [each for each in figure.subfigs if each.get_suptitle().startswith(f"{name}: ")]
    return found


def statistics(figure):
    """Panels that show a statistic against the width, with its result's statistic and element."""
    for axes in figure.axes:
        if axes.get_xlabel() == "width n":
            yield axes, axes.get_title().split("\n")[0].split(", ", 1)


def labelled(axes, label):
    return [each for each in [*axes.get_lines(), *axes.patches] if each.get_label() == label]


def test_every_panel_shows_differences_errors_and_what_would_have_been_detected(comparison):
    shown = list(statistics(figure_of(comparison)))
    assert len(shown) >= 7
    for axes, (statistic, element) in shown:
        (result,) = [r for r in comparison.results if r.element == element and r.statistic == statistic]
        x, y = axes.containers[0].lines[0].get_data()
        assert tuple(x) == comparison.widths
        np.testing.assert_array_equal(y, [abs(at.difference) for at in result.widths])
        (dotted,) = labelled(axes, "smallest difference that would be detected")
        np.testing.assert_array_equal(dotted.get_ydata(), [at.smallest_detectable for at in result.widths])
        low, high = axes.get_ylim()
        assert low < min(dotted.get_ydata()) and max(dotted.get_ydata()) < high
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert axes.get_title().split("\n")[1].startswith("$\\sim n^{-" if result.rate else "rate: not resolved")


def test_a_random_output_shows_limit_finite_width_and_matched_gaussian_on_both_scales(comparison):
    figure = part(figure_of(comparison), "f")
    law, drawn = comparison.limit["f"][0], comparison.drawn["f"].draws
    for axes, scale in zip(figure.axes, ("linear", "log")):
        assert axes.get_yscale() == scale and axes.get_xlabel() == "f[1]"
        (line,) = labelled(axes, "limit")
        np.testing.assert_array_equal(line.get_ydata(), law.pdf(line.get_xdata()).value)
        for width in WIDTHS:
            (stairs,) = labelled(axes, f"n = {width}")
            heights, edges, _ = stairs.get_data()
            np.testing.assert_allclose(heights, np.histogram(drawn[width], edges)[0] / (500 * np.diff(edges)), rtol=1e-12)
    images = [image for axes in figure.axes for image in axes.get_images()]
    np.testing.assert_array_equal(images[0].get_array(), comparison.limit["f"].cov.value)


def test_a_mixture_has_its_matched_gaussian(program):
    figure = part(figure_of(compare(program, widths=(8, 32), runs=200, samples=2**10, outputs=["y"])), "y")
    for axes in figure.axes[:2]:
        assert labelled(axes, "limit") and labelled(axes, "Gaussian of the same mean and variance")


def test_a_number_shows_its_draws_about_the_limit_and_first_of_all_its_mean(comparison):
    figure = part(figure_of(comparison), "m")
    first = figure.axes[0]
    assert first.get_xlabel() == "m[1]"
    (line,) = labelled(first, "limit")
    assert line.get_xdata()[0] == pytest.approx(1 / np.sqrt(2 * np.pi))
    assert all(labelled(first, f"n = {width}") for width in WIDTHS)
    assert [statistic for _, (statistic, _) in statistics(figure)] == ["mean", "variance"]


def at(width, difference, detectable=1e-2):
    return AtWidth(width, 1 + difference, difference, 1e-3, difference / 1e-3, 0.5, None, None, detectable)


def statistic(differences, fit=None):
    decision = Decision("extrapolation", 1.0, 0.0, 1e-3, 0.0, 0.5, 1e-2)
    return StatisticResult(
        "y", "variance", "y[1]", 1.0, 0.0, tuple(at(w, d) for w, d in zip(WIDTHS, differences)), decision, "agrees", fit, (1.02, 0.03))


def fit(bias, errors, p_value=0.5):
    return Fit(WIDTHS, (), 1, 1.0, 1, p_value, -8 * bias[0], 8 * errors[0], bias, errors)


def test_the_bias_is_that_of_the_fit_without_its_value_at_infinite_width():
    _, [[axes]] = new_figure(1, 1)
    draw_statistic(axes, statistic((-0.4, -0.1, -0.02), fit((-0.4, -0.1, -0.025), (0.01, 0.0025, 0.000625))))
    (line,) = labelled(axes, "fitted bias b/n")
    np.testing.assert_array_equal(line.get_ydata(), [0.4, 0.1, 0.025])
    assert "n^{-1.02\\pm0.03}" in axes.get_title()


def test_the_judge_s_fit_has_the_bias_of_its_slope(comparison):
    fits = [r.fit for r in comparison.results if r.fit is not None and r.fit.bias]
    assert fits and all(own.terms == 1 for own in fits)
    for own in fits:
        np.testing.assert_allclose(own.bias, own.slope / np.array(own.widths), rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(own.bias_stderr, own.slope_stderr / np.array(own.widths), rtol=1e-9)


@pytest.mark.parametrize("own", [
    None, fit((0.02, 0.005, 0.00125), (0.01, 0.0025, 0.000625)), fit((0.4, 0.1, 0.025), (0.01, 0.0025, 0.000625), p_value=1e-5)],
    ids=["one width", "within its error", "not of the form"])
def test_a_bias_that_is_not_known_is_not_drawn(own):
    assert drawn_bias(own) is None


def test_a_difference_far_below_what_can_be_detected_is_marked_at_the_bottom():
    _, [[axes]] = new_figure(1, 1)
    draw_statistic(axes, statistic((0.4, 0.1, 1e-9)))
    (marks,) = labelled(axes, "difference below the picture")
    assert list(marks.get_xdata()) == [128] and axes.get_ylim()[0] > 1e-5


def test_where_there_is_nothing_but_rounding_the_picture_says_so():
    figure = figure_of(compare(netsor.parse("width n\ninput x ~ N(0, 1)\nv = x - x\noutput v\n"), widths=(4, 8), runs=100))
    said = [text.get_text() for axes in part(figure, "v").axes for text in axes.texts]
    assert said == ["no difference beyond rounding"] * 3


def test_runs_that_are_not_finite_are_left_out_of_the_picture():
    text = (
        "width n, m = n/4\ninput x ~ N(0, 1)\nmatrix W : (m, n) ~ N(0, 1/n)\nh = W @ x\n"
        "y = h / sqrt(avg(h*h) - avg(h)*avg(h))\noutput y\n")
    figure = part(figure_of(compare(netsor.parse(text), widths=(4, 16), runs=100)), "y")  # m = 1 at n = 4: 0/0
    assert labelled(figure.axes[0], "n = 16") and not labelled(figure.axes[0], "n = 4")
    for axes, (name, _) in statistics(figure):
        x = axes.containers[0].lines[0].get_xdata()[np.isfinite(axes.containers[0].lines[0].get_ydata())]
        assert name == "distribution" or list(x) == [16]


def overlapping(figure):
    """What of the titles, legends and panels of a figure is cut off or lies on something else."""
    from itertools import combinations

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, whole = canvas.get_renderer(), figure.bbox.padded(1)
    parts = [figure, *figure.subfigs]
    boxes = [(each.get_title() or each.get_label(), each.get_tightbbox(renderer)) for each in figure.axes if each.axison]
    boxes += [("legend", legend.get_window_extent(renderer)) for each in parts for legend in each.legends]
    boxes += [(each.get_suptitle(), each._suptitle.get_window_extent(renderer)) for each in parts if each.get_suptitle()]
    cut = [name for name, box in boxes if not (whole.x0 <= box.x0 and whole.y0 <= box.y0 and box.x1 <= whole.x1 and box.y1 <= whole.y1)]
    on_each_other = [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.padded(-1).overlaps(b.padded(-1))]
    return cut + on_each_other


ONLY_NUMBERS = "width n\nparam a_parameter_of_a_long_name = 1\nparam another_one_of_them = 2\ninput x ~ N(0, 1)\nc = avg(x * x)\noutput c\n"


@pytest.mark.parametrize("text", [READOUT, ONLY_NUMBERS], ids=["a law and numbers", "only a number"])
def test_nothing_in_the_figure_of_a_comparison_is_cut_off_or_overlaps(text):
    assert overlapping(figure_of(compare(netsor.parse(text), widths=WIDTHS, runs=300))) == []


def test_nothing_in_other_figures_is_cut_off_or_overlaps(program, limit):
    draws = program.sample(16, 500, workers=1)
    assert overlapping(limit.plot(finite={16: draws})) == []
    assert overlapping(simulate(program, 16, 300).plot()) == []


def test_the_verdict_is_in_the_title(comparison):
    assert comparison.verdict in figure_of(comparison).get_suptitle()


def test_one_width_can_be_drawn():
    assert figure_of(compare(netsor.parse(READOUT), widths=(16,), runs=200)).axes


def test_so_many_draws_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr("netsor.compare.comparison.KEPT", 50)
    found = compare(netsor.parse(READOUT), widths=(8,), runs=200)
    assert {name: own.draws[8].shape for name, own in found.drawn.items()} == {"f": (50,), "m": (50,)}


def test_the_draws_that_are_kept_are_those_of_the_first_random_element():
    text = "width n\nindex b in 1..2\ninput x, v ~ N(0, 1)\nf[b] = (b - 1) * dot(v, x) / sqrt(n)\noutput f\n"
    found = compare(netsor.parse(text), widths=(8,), runs=200)
    assert found.drawn["f"].place == (1,) and np.std(found.drawn["f"].draws[8]) > 0.5


def test_a_simulation_shows_its_draws_and_their_covariance():
    simulation = simulate(netsor.parse(READOUT), 32, 400)
    linear, logarithmic, matrix, *_ = [axes for axes in figure_of(simulation).axes if axes.get_label() != "<colorbar>"]
    for axes in (linear, logarithmic):
        heights, edges, _ = axes.patches[0].get_data()
        np.testing.assert_allclose(heights, np.histogram(simulation["f"].draws[:, 0], edges)[0] / (400 * np.diff(edges)), rtol=1e-12)
    np.testing.assert_array_equal(matrix.get_images()[0].get_array(), simulation["f"].cov.value)


def test_results_draw_themselves_and_write_it(comparison, tmp_path):
    for result in (comparison, simulate(netsor.parse(READOUT), 8, 50)):
        path = tmp_path / "figure.svg"
        assert result.plot(path, outputs=["m"]).axes
        assert path.read_bytes().startswith(b"<?xml")
        with pytest.raises(ValueError, match="does not end in"):
            result.plot(tmp_path / "figure.gif")
        with pytest.raises(KeyError, match="no output"):
            result.plot(outputs=["z"])


def test_a_simulation_says_what_it_is():
    assert repr(simulate(netsor.parse(READOUT), 8, 50)) == "<simulation of program at width 8, 50 runs: f, m>"


def test_what_is_no_result_has_no_figure():
    with pytest.raises(TypeError, match="no figure of a str"):
        figure_of("y")
