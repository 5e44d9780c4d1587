"""Tabulated distribution functions against exact ones; atoms; laws that have none."""

import numpy as np
import pytest
from scipy.special import ndtr

import netsor
from netsor.compare.distribution import NotContinuous, tabulate
from netsor.limit.laws import Constant, Empirical, GaussianMixture


def test_a_gaussian_is_within_the_stated_error():
    table = tabulate(GaussianMixture(1.0, 4.0), 1e-5)
    off = np.max(np.abs(table.values - ndtr((table.edges - 1) / 2)))
    assert off <= table.error and table.error < 1e-4 and table.gap < 5e-4


def test_a_heavy_tailed_mixture_is_within_the_stated_error():
    variance = np.random.default_rng(1).exponential(size=(16, 64)) ** 2
    law = GaussianMixture(0.0, variance)
    table = tabulate(law, 1e-5)
    at = table.edges[::97]
    assert np.max(np.abs(table.values[::97] - law.cdf(at).value)) <= table.error


def test_the_continuous_part_of_a_law_with_an_atom():
    law = netsor.parse("width n\ninput h ~ N(0.3, 1)\nx = relu(h)\noutput x").limit()["x"][()]
    table = tabulate(law, 1e-5)
    assert table.atoms.tolist() == [0.0]
    exact = (ndtr(table.edges - 0.3) - ndtr(-0.3)) / ndtr(0.3)
    assert np.max(np.abs(table.values - exact)) <= table.error
    draws = np.maximum(np.random.default_rng(2).normal(0.3, 1, 5000), 0)
    shares, count = table.below(draws)
    assert count == (draws > 0).sum() and np.max(np.abs(shares - exact)) < 2.5 / np.sqrt(count)


def test_an_empirical_law_counts_as_a_second_sample():
    values = np.random.default_rng(3).standard_normal((16, 512))
    table = tabulate(Empirical(values), 1e-5)
    assert table.samples == values.size and table.values[-1] <= 1
    assert table.values == pytest.approx([np.mean(values <= edge) for edge in table.edges])


@pytest.mark.parametrize("law", [Constant(2.0), Empirical(np.round(np.random.default_rng(4).standard_normal((16, 256))))])
def test_laws_without_a_continuous_part_say_so(law):
    with pytest.raises(NotContinuous):
        tabulate(law, 1e-4)


def test_a_law_of_atoms_only_says_so():
    law = netsor.parse("width n\ninput h ~ N(0, 1)\nx = sign(h)\noutput x").limit()["x"][()]
    with pytest.raises(NotContinuous, match="atoms"):
        tabulate(law, 1e-4)
