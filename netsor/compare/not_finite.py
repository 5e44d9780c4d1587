"""Draws that are no finite numbers: an overflow, 0/0, the logarithm of a negative number.  They are counted and said, never averaged."""

from __future__ import annotations

import numpy as np

from netsor.ir.amounts import written


def count(draws: np.ndarray) -> int:
    """How many runs of the draws (runs, …) are not finite."""
    return len(draws) - int(np.count_nonzero(np.isfinite(draws).all(axis=tuple(range(1, draws.ndim)))))


def note(name: str, off: int, runs: int, width: int) -> str:
    """What to say of an output of which so many runs are not finite; "" for none."""
    if not off:
        return ""
    return (f"{name}: {off:,} of {runs:,} runs at width {written(width)} are not finite (a number overflows, or a function is "
            "undefined there, 0/0 say): moments at this width are undefined; other widths, or smaller variances, may have them")
