"""Figures of draws and of comparisons show the numbers of their results."""

import numpy as np
import pytest

import netsor
from netsor.compare import compare, simulate
from netsor.plot import figure_of

READOUT = "width n\nindex b in 1..2\ninput x[b], v ~ N(0, 1)\nf[b] = dot(v, relu(x[b])) / sqrt(n)\nm[b] = avg(relu(x[b]))\noutput f, m\n"


@pytest.fixture(scope="module")
def comparison():
    return compare(netsor.parse(READOUT), widths=(8, 32, 128), runs=500)


def test_every_panel_shows_differences_errors_and_what_would_have_been_detected(comparison):
    figure = figure_of(comparison)
    titles = [axes.get_title().split("\n") for axes in figure.axes if axes.get_title()]
    assert len(titles) >= 5
    for axes in figure.axes:
        if not axes.get_title():
            continue
        statistic, element = axes.get_title().split("\n")
        (result,) = [r for r in comparison.results if r.element == element and r.statistic == statistic.split(",")[0]]
        x, y = axes.containers[0].lines[0].get_data()
        assert tuple(x) == comparison.widths
        np.testing.assert_array_equal(y, [abs(at.difference) for at in result.widths])
        dotted = next(each for each in axes.get_lines() if each.get_label().startswith("smallest"))
        np.testing.assert_array_equal(dotted.get_ydata(), [at.smallest_detectable for at in result.widths])
        assert axes.get_xscale() == axes.get_yscale() == "log"


def test_the_verdict_is_in_the_title(comparison):
    assert comparison.verdict in figure_of(comparison).get_suptitle()


def test_one_width_can_be_drawn():
    assert figure_of(compare(netsor.parse(READOUT), widths=(16,), runs=200)).axes


def test_a_simulation_shows_its_draws_and_their_covariance():
    simulation = simulate(netsor.parse(READOUT), 32, 400)
    linear, logarithmic, matrix, *_ = [axes for axes in figure_of(simulation).axes if axes.get_label() != "<colorbar>"]
    heights, edges, _ = linear.patches[0].get_data()
    found = np.histogram(simulation["f"].draws[:, 0], edges)[0] / (400 * np.diff(edges))
    np.testing.assert_array_equal(np.nan_to_num(heights), found)
    np.testing.assert_array_equal(matrix.get_images()[0].get_array(), simulation["f"].cov.value)


def test_what_is_no_result_has_no_figure():
    with pytest.raises(TypeError, match="no figure of a str"):
        figure_of("y")
