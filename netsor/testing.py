"""Checks for those who extend the language: call them in your own tests."""

from netsor.nonlinearities import Nonlinearity
from netsor.nonlinearities.check import check_nonlinearity as check_declarations
from netsor.rules.check import check_rule
from netsor.rules.slope import check_slope_of_expressions

__all__ = ["check_nonlinearity", "check_rule"]


def check_nonlinearity(nonlinearity: Nonlinearity, *params: float) -> None:
    """Whether what a nonlinearity declares is true of it, for these parameters (its defaults if none are given).

    :raises AssertionError: naming the declaration that is wrong, with both numbers.
    :raises PluginError: if its slope can be had for numbers only."""
    check_declarations(nonlinearity, *params)
    check_slope_of_expressions(nonlinearity, *params)
