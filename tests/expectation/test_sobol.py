"""Scrambled Sobol points are those of scipy, whatever the windows they are asked for in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, qmc

from netsor.expectation.sobol import MOST_DIMENSIONS, Sobol


@pytest.mark.parametrize("dimension", [1, 2, 37, MOST_DIMENSIONS])
def test_points_are_those_of_scipy_shifted_to_the_middle_of_their_cells(dimension):
    """Bit for bit: direction numbers, matrix scrambling, shift and Gray code's order."""
    expected = qmc.Sobol(dimension, rng=np.random.default_rng([5, dimension])).random(256)
    found = Sobol(dimension, np.random.default_rng([5, dimension])).uniform(0, 256)
    assert np.array_equal(found, expected + 2.0**-31)


def test_a_window_holds_the_points_at_its_positions():
    whole = Sobol(6, np.random.default_rng(0)).uniform(0, 3000)
    sobol = Sobol(6, np.random.default_rng(0))
    for start, stop in [(1000, 1001), (0, 1), (511, 1537), (2999, 3000), (7, 7)]:
        assert np.array_equal(sobol.uniform(start, stop), whole[start:stop])


def test_far_positions():
    """The last points there are; scipy walks to position 2^20."""
    engine = qmc.Sobol(3, rng=np.random.default_rng(1)).fast_forward(2**20)
    sobol = Sobol(3, np.random.default_rng(1))
    assert np.array_equal(sobol.uniform(2**20, 2**20 + 64), engine.random(64) + 2.0**-31)
    assert sobol.uniform(2**30 - 2, 2**30).shape == (2, 3)
    with pytest.raises(ValueError, match=r"2\^30"):
        sobol.uniform(2**30 - 2, 2**30 + 1)


def test_normal_points_are_quantiles():
    sobol = Sobol(4, np.random.default_rng(2))
    assert np.allclose(sobol.normal(16, 80), norm.ppf(sobol.uniform(16, 80)), rtol=1e-14)


@pytest.mark.parametrize("dimension", [0, MOST_DIMENSIONS + 1])
def test_other_dimensions_are_refused(dimension):
    with pytest.raises(ValueError, match="dimensions"):
        Sobol(dimension, np.random.default_rng(0))
