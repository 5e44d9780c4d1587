"""E g(Z) for every component of a mixture."""

from __future__ import annotations

import numpy as np

from netsor.expectation import ExpectationUndefined, UnaryFunction, expect_unary
from netsor.limit.laws.base import LawError


def component_means(g: UnaryFunction, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """E g(Z), Z ~ N(mean, variance) for arrays of one shape: values, errors and the method.

    Raises LawError when an expectation does not exist.
    """
    try:
        with np.errstate(all="ignore"):  # a divergent integral overflows before it is refused
            estimate = expect_unary(g, mean, variance)
    except ExpectationUndefined as error:
        raise LawError(str(error)) from error
    return estimate.value, estimate.error, estimate.method
