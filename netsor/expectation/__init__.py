"""Gaussian expectations: each an ordered tuple of strategies that return value, error and method, or pass."""

from netsor.expectation.estimate import Estimate, ExpectationUndefined
from netsor.expectation.functions import CellFunction, UnaryFunction
from netsor.expectation.grid import grid_expectation
from netsor.expectation.kernel import expect_kernel
from netsor.expectation.linear_algebra import psd_root, solve_root
from netsor.expectation.pair import expect_pair
from netsor.expectation.several import expect_several
from netsor.expectation.unary import expect_unary

__all__ = [
    "CellFunction", "Estimate", "ExpectationUndefined", "UnaryFunction", "expect_kernel", "expect_pair", "expect_several",
    "expect_unary", "grid_expectation", "psd_root", "solve_root",
]
