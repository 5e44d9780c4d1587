"""What is drawn of a limit are the numbers of its laws."""

import matplotlib
import numpy as np
import pytest

import netsor

START = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


def line(axes, label):
    """The data of the line that the legend calls ``label``."""
    return next(each for each in axes.get_lines() if each.get_label() == label).get_xydata().T


def panels(figure):
    """Axes by output, row by row: two panels of the law, and the matrix."""
    own = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    return [own[k : k + 3] for k in range(0, len(own), 3)]


@pytest.mark.parametrize("ending", START)
def test_the_file_is_of_the_type_that_its_name_says_and_the_same_each_time(limit, tmp_path, ending):
    first, second = (tmp_path / f"{name}.{ending}" for name in "ab")
    for path in (first, second):
        limit.plot(path, outputs=["p"])
    assert first.read_bytes().startswith(START[ending])
    assert first.read_bytes() == second.read_bytes()


def test_another_ending_is_refused_before_anything_is_drawn(limit, tmp_path):
    with pytest.raises(ValueError, match="does not end in .png, .svg or .pdf"):
        limit.plot(tmp_path / "limit.gif")
    assert list(tmp_path.iterdir()) == []


def test_the_density_of_a_mixture_is_the_law_s_beside_the_gaussian_of_its_moments(limit):
    (panel,) = panels(limit.plot(outputs=["y"]))
    law = limit["y"][0]
    for axes, scale in zip(panel, ("linear", "log")):
        assert axes.get_yscale() == scale
        x, density = line(axes, "limit")
        np.testing.assert_array_equal(density, law.pdf(x).value)
        x, gaussian = line(axes, "Gaussian of the same variance")
        step = x[1] - x[0]
        assert np.sum(gaussian) * step == pytest.approx(1, abs=1e-5)
        assert np.sum(x**2 * gaussian) * step == pytest.approx(float(law.var().value), rel=1e-3)
        assert "y[1]" in axes.get_xlabel()


def test_a_gaussian_is_not_drawn_beside_itself(limit):
    (panel,) = panels(limit.plot(outputs=["p"]))
    assert [each.get_label() for each in panel[0].get_lines()] == ["limit"]


def test_laws_known_through_samples_show_their_distribution_function(limit):
    (panel,) = panels(limit.plot(outputs=["A"]))
    x, below = line(panel[0], "limit")
    np.testing.assert_array_equal(below, limit["A"][0, 0].cdf(x).value)
    x, above = line(panel[1], "P(X > x)")
    np.testing.assert_array_equal(np.nan_to_num(above), limit["A"][0, 0].sf(x).value)


def test_atoms_show_a_distribution_function_with_a_step():
    limit = netsor.parse("width n\ninput x ~ N(0, 1)\ny = relu(x)\noutput y\n").limit()
    (panel,) = panels(limit.plot())
    x, below = line(panel[0], "limit")
    assert below[x < 0].max() == 0 and below[x == 0] == pytest.approx(0.5)


def test_histograms_integrate_to_the_share_of_draws_in_the_picture(program, limit):
    draws = program.sample(16, 3000, workers=1)
    (panel,) = panels(limit.plot(outputs=["y"], finite={16: draws}))
    (stairs,) = [each for each in panel[0].patches if each.get_label() == "n = 16"]
    heights, edges, _ = stairs.get_data()
    inside = np.mean((draws["y"][:, 0] >= edges[0]) & (draws["y"][:, 0] <= edges[-1]))
    assert np.nansum(heights * np.diff(edges)) == pytest.approx(inside, abs=1e-12)
    assert np.nanmax(heights) < panel[0].get_ylim()[1]


def test_the_heat_map_is_the_covariance_with_the_names_of_its_rows(limit):
    (panel,) = panels(limit.plot(outputs=["y"]))
    (image,) = panel[2].get_images()
    np.testing.assert_array_equal(image.get_array(), limit["y"].cov.value)
    assert [each.get_text() for each in panel[2].get_xticklabels()] == ["1", "2", "3"]
    assert [each.get_text() for each in panel[2].texts][:2] == [f"{limit['y'].cov.value[0, k]:.3g}" for k in (0, 1)]


def test_numbers_are_drawn_as_the_matrix_that_they_are(limit):
    (panel,) = panels(limit.plot(outputs=["m"]))
    (image,) = panel[2].get_images()
    np.testing.assert_array_equal(image.get_array(), np.eye(3))
    assert panel[2].get_xlabel() == "j" and panel[2].get_ylabel() == "i"


def test_a_name_that_is_no_output_is_a_key_error(limit):
    with pytest.raises(KeyError, match="no output"):
        limit.plot(outputs=["z"])


def test_an_output_without_indices_and_large_ones():
    limit = netsor.parse("width n\nindex b in 1..300\ninput x ~ N(0, 1)\ninput h[b] ~ N(0, 1)\noutput x, h\n").limit()
    first, second = panels(limit.plot())
    assert first[0].get_xlabel() == "one coordinate of x"
    assert "300 elements" in second[2].texts[0].get_text()


def test_drawing_leaves_the_settings_of_matplotlib_alone(limit):
    before = dict(matplotlib.rcParams)
    limit.plot(outputs=["y"])
    assert dict(matplotlib.rcParams) == before
