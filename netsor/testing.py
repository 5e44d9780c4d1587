"""Checks for those who extend the language: call them in your own tests."""

from netsor.nonlinearities.check import check_nonlinearity
from netsor.rules.check import check_rule

__all__ = ["check_nonlinearity", "check_rule"]
