"""What is drawn of a limit are the numbers of its laws."""

import matplotlib
import numpy as np
import pytest
from scipy.special import ndtr

import netsor
from netsor.plot.density import draw_law
from netsor.plot.histogram import joined_bins
from netsor.plot.kernel import draw_kernel
from netsor.plot.style import new_figure

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
        x, gaussian = line(axes, "Gaussian of the same mean and variance")
        step = x[1] - x[0]
        assert np.sum(gaussian) * step == pytest.approx(1, abs=1e-5)
        assert np.sum(x**2 * gaussian) * step == pytest.approx(float(law.var().value), rel=1e-3)
        assert "y[1]" in axes.get_xlabel()


def test_a_gaussian_is_not_drawn_beside_itself(limit):
    (panel,) = panels(limit.plot(outputs=["p"]))
    assert [each.get_label() for each in panel[0].get_lines()] == ["limit"]


def test_laws_known_through_samples_show_the_histogram_of_their_samples(limit):
    (panel,) = panels(limit.plot(outputs=["A"]))
    law = limit["A"][0, 0]
    samples = law.values.ravel()
    for axes, scale in zip(panel, ("linear", "log")):
        assert axes.get_yscale() == scale
        (stairs,) = [each for each in axes.patches if each.get_label() == f"limit ({samples.size:,} samples)"]
        heights, edges, _ = stairs.get_data()
        np.testing.assert_allclose(heights, np.histogram(samples, edges)[0] / (samples.size * np.diff(edges)), rtol=1e-12)
        x, gaussian = line(axes, "Gaussian of the same mean and variance")
        assert x[np.argmax(gaussian)] == pytest.approx(float(law.mean().value), abs=x[1] - x[0])
        assert np.max(gaussian) == pytest.approx(1 / np.sqrt(2 * np.pi * float(law.var().value)), rel=1e-3)


def test_the_limit_lies_above_the_histograms_of_finite_width(program, limit):
    draws = program.sample(16, 500, workers=1)
    for name in ("y", "A"):
        (panel,) = panels(limit.plot(outputs=[name], finite={16: draws}))
        for axes in panel[:2]:
            artists = [*axes.get_lines(), *axes.patches]
            (own,) = [each for each in artists if each.get_label().startswith("limit")]
            (finite,) = [each for each in artists if each.get_label() == "n = 16"]
            assert own.get_zorder() > finite.get_zorder()


def relu_limit():
    return netsor.parse("width n\ninput x ~ N(0, 1)\ny = relu(x)\noutput y\n")


def test_atoms_show_a_distribution_function_that_jumps_there_and_nowhere_else():
    (panel,) = panels(relu_limit().limit().plot())
    x, below = line(panel[0], "limit")
    (jump,) = np.flatnonzero(np.diff(x) == 0)
    assert x[jump] == 0 and below[jump] == pytest.approx(0) and below[jump + 1] == pytest.approx(0.5)
    assert np.max(np.delete(np.diff(below), jump)) < 0.03
    x, gaussian = line(panel[0], "Gaussian of the same mean and variance")
    assert np.interp(1 / np.sqrt(2 * np.pi), x, gaussian) == pytest.approx(0.5, abs=1e-3)


def test_atoms_show_both_tails_at_finite_width_too():
    program = relu_limit()
    (panel,) = panels(program.limit().plot(finite={16: program.sample(16, 400, workers=1)}))
    x, tail = line(panel[1], "limit")
    known = np.isfinite(tail)
    np.testing.assert_allclose(tail[known & (x > 0.01)], ndtr(-x[known & (x > 0.01)]), rtol=1e-6)
    x, tail = line(panel[1], "n = 16")
    assert np.nanmax(tail) <= 0.5 and np.nanmin(tail) >= 1 / 400 - 1e-12


def test_a_law_whose_samples_repeat_a_value_jumps_there():
    from netsor.limit.laws import Empirical

    generator = np.random.default_rng(0)
    law = Empirical(np.where(generator.random((16, 500)) < 0.75, 0.0, generator.random((16, 500))))
    _, [[left, right]] = new_figure(1, 2)
    draw_law(left, right, law, "w")
    x, below = line(left, "limit (8,000 samples)")
    (jump,) = np.flatnonzero(np.diff(x) == 0)
    assert x[jump] == 0 and below[jump + 1] - below[jump] == np.mean(law.values == 0)


def test_bins_of_a_histogram_are_joined_until_they_have_five_draws():
    draws = np.concatenate([np.random.default_rng(1).normal(size=2000), [4.5, np.nan]])
    edges, counts = joined_bins(draws, -5, 5)
    assert counts.sum() == 2001 and counts.min() >= 5
    np.testing.assert_array_equal(np.histogram(draws[:-1], edges)[0], counts)
    assert [len(each) for each in joined_bins(np.full(3, 9.0), -5, 5)] == [0, 0]
    edges, counts = joined_bins(np.zeros(3), -5, 5)  # fewer than five in all
    assert list(counts) == [3]


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


def test_a_matrix_has_the_same_colours_with_noise_around_its_zeros_and_without():
    kernel = np.eye(3)
    images = []
    for values in (kernel, kernel + 0.01 * (np.ones((3, 3)) - 2 * kernel[::-1])):
        _, [[axes]] = new_figure(1, 1)
        draw_kernel(axes, values, "abc", "K", "i")
        images.append(axes.get_images()[0])
    assert images[0].get_cmap().name == images[1].get_cmap().name
    assert all(image.norm.vmin == -image.norm.vmax for image in images)
    assert images[0].norm(0.0) == images[1].norm(0.0) == 0.5


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
