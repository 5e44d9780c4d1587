"""The catalogue of coordinatewise functions: each a declaration, one family a file."""

from netsor.nonlinearities.base import GROWTHS, Nonlinearity, pair_closed_form
from netsor.nonlinearities.registry import get, known, names, register, suggest

__all__ = ["GROWTHS", "Nonlinearity", "get", "known", "names", "pair_closed_form", "register", "suggest"]
