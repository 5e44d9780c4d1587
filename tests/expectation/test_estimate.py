"""How estimates print and index."""

import numpy as np
import pytest

from netsor.expectation import Estimate
from netsor.expectation.estimate import with_error


@pytest.mark.parametrize(
    "value, error, text",
    [(0.391971443, 2e-5, "0.39197(2)"), (0.391971443, 1.4e-5, "0.39197(2)"), (12.0, 3.0, "12(3)"), (0.5, 0.0, "0.5"),
     (1234.5, 40.0, "1234(40)"), (0.25, 9.7e-4, "0.250(1)"), (1.234e-7, 2e-10, "1.234(2)e-7"),
     (7.88e142, 7.88e142, "8(8)e142"), (1.234567e18, 1e15, "1.235(1)e18"), (3.0, 1e17, "0(1)e17")],
)
def test_one_digit_of_error_in_brackets(value, error, text):
    assert with_error(value, error) == text


def test_estimates_index_and_convert():
    estimate = Estimate(np.array([1.0, 2.0]), 0.1, "exact")
    assert estimate.shape == (2,) and estimate.error.shape == (2,) and len(estimate) == 2
    assert float(estimate[1]) == 2.0 and estimate[1].method == "exact"
    assert "1.0(1)" in repr(estimate) and "exact" in repr(estimate)
