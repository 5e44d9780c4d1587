"""Values and errors of means and kurtoses, against formulas for known laws."""

import numpy as np
import pytest

from netsor.compare.measured import excess_kurtosis_of, mean_of, with_average


def test_mean_error_and_third_cumulant_of_a_sample():
    values = np.array([[0.0], [0.0], [3.0]])
    found = mean_of(values)
    assert found.value[0] == pytest.approx(1.0)
    assert found.stderr[0] == pytest.approx(np.sqrt(3.0) / np.sqrt(3))
    assert found.third[0] == pytest.approx((-1 - 1 + 8) / 3 / 9)


@pytest.mark.parametrize("coordinates", [1, 4])
def test_kurtosis_is_that_of_all_numbers_and_its_error_is_the_spread_over_samples(coordinates):
    """Var of the estimate is 24/(runs coordinates) for independent Gaussian coordinates.

    600 repetitions: the standard deviation is known to 3 %; 4 of these allow 12 % (false alarms below 1e-4)."""
    rng = np.random.default_rng(1)
    runs, repetitions = 400, 600
    draws = rng.standard_normal((runs, repetitions, coordinates))
    found = excess_kurtosis_of(draws)
    flat = draws[:, 0].ravel()
    assert found.value[0] == pytest.approx(np.mean(flat**4) / np.mean(flat**2) ** 2 - 3)
    assert np.std(found.value) == pytest.approx(np.sqrt(24 / runs / coordinates), rel=0.15)
    assert np.sqrt(np.mean(found.stderr**2)) == pytest.approx(np.sqrt(24 / runs / coordinates), rel=0.15)


def test_dependent_coordinates_do_not_count_as_runs():
    """A coordinate written down ten times tells nothing new."""
    draws = np.random.default_rng(2).standard_normal((1000, 1, 1))
    once, often = excess_kurtosis_of(draws), excess_kurtosis_of(np.repeat(draws, 10, axis=2))
    assert often.stderr == pytest.approx(once.stderr) and often.value == pytest.approx(once.value)


def test_the_average_is_one_more_column_with_the_error_of_the_average():
    values = np.random.default_rng(3).standard_normal((500, 3))
    found = mean_of(with_average(values))
    assert found.value[3] == pytest.approx(found.value[:3].mean())
    assert found.stderr[3] == pytest.approx(np.std(values.mean(axis=1), ddof=1) / np.sqrt(500))
    kurtosis = excess_kurtosis_of(values[:, :, None], average=True)
    assert kurtosis.value[3] == pytest.approx(kurtosis.value[:3].mean())
    assert with_average(values[:, :1]).shape == (500, 1)


@pytest.mark.parametrize("unit", [2.0**500, 2.0**-500, 2.0**1000, 2.0**-1020])
def test_kurtosis_of_very_large_and_small_numbers(unit):
    """Fourth powers of these are no floats; units that are powers of two change no digit."""
    draws = np.random.default_rng(2).standard_normal((300, 2, 1))
    found, scaled = excess_kurtosis_of(draws), excess_kurtosis_of(draws * unit)
    assert scaled.value == pytest.approx(found.value, rel=1e-13) and scaled.stderr == pytest.approx(found.stderr, rel=1e-13)
