r"""Widths of LaTeX's symbols in points, Computer Modern at 10 points, with the spaces that TeX puts around them."""

from __future__ import annotations

SCRIPT = 0.75  # the size of subscripts and exponents
BINARY, RELATION, COMMA = 12.2, 13.4, 4.5
CLOSE = (4.0, 5.8, 7.6)  # a delimiter, by the height of what it encloses
SIGN = ("+", "-")
RELATIONS = ("=", "<", ">", r"\leq", r"\geq", r"\le", r"\ge", r"\neq", r"\sim", r"\to", r"\in", r"\mid", r"\approx")
BIG = {r"\sum": 16.2, r"\prod": 14.5, r"\int": 10.0}
SPACES = {r"\,": 1.7, r"\:": 2.3, r"\;": 2.8, r"\!": -1.7, r"\quad": 10.0, r"\qquad": 20.0, r"\ ": 3.4}
WITH_ARGUMENT = {r"\operatorname": 5.3, r"\text": 5.3, r"\mathrm": 5.3, r"\mathbb": 6.7, r"\mathbf": 6.0, r"\mathcal": 8.5,
                 r"\overline": 5.7, r"\operatorname*": 5.3}
FUNCTIONS = (
    r"\operatorname", r"\mathbb", r"\mathbf", r"\mathcal", r"\exp", r"\log", r"\sin", r"\cos", r"\tan", r"\tanh", r"\sinh", r"\cosh", r"\arccos",
    r"\arcsin", r"\arctan", r"\max", r"\min", *BIG)
_NARROW, _WIDE = "iljtfrI()[]|!'.:/", "mwMW"


def character(letter: str) -> float:
    """The width of a letter, digit or mark."""
    if letter in _NARROW:
        return 4.2
    if letter in _WIDE:
        return 9.5
    return 7.5 if letter.isupper() else 5.3


def command(name: str) -> float:
    """The width of a command without argument that is one symbol: a Greek letter, an arrow."""
    return 8.0 if name[1:2].isupper() else 6.2
