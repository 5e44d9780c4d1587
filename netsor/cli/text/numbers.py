"""Numbers as text: as many digits as are known."""

from __future__ import annotations

import math

from netsor.expectation.estimate import with_error

DIGITS = 10  # shown of a number that is known better than that
LEGEND = "0.39198(2) is 0.39198 ± 0.00002 (standard error); without brackets: exact to the digits shown"


def number(value: float, error: float, scale: float = 0.0) -> str:
    """``value`` with its error in brackets, or without if it is known to DIGITS digits.

    :param scale: the largest value beside it; what is rounding in comparison is shown as 0.
    """
    if math.isnan(value):
        return "undefined"
    if not math.isfinite(value) or error == 0:
        return _plain(value)
    if not math.isfinite(error):
        return f"{value:.6g}(?)"
    scale = max(scale, abs(value))
    if error <= 10.0**-DIGITS * scale:
        return _plain(round(value, DIGITS - 1 - math.floor(math.log10(scale))))
    return with_error(value, error)


def _plain(value: float) -> str:
    return f"{value + 0.0:.{DIGITS}g}"  # + 0.0: no -0


def count(many: int, singular: str, plural: str = "") -> str:
    """ "1 score", "32 scores" """
    return f"{many:,} {singular if many == 1 else plural or singular + 's'}"
