"""Checks for those who extend the language: call them in your own tests."""

from netsor.nonlinearities.check import check_nonlinearity

__all__ = ["check_nonlinearity"]
