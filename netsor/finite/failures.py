"""What can stop draws at finite width, as diagnostics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Integral

from netsor.ir.amounts import written
from netsor.ir.labelled import TooLarge
from netsor.ir.program import Program
from netsor.language.diagnostics import Diagnostic, NetsorError

LARGEST = 10**15
"""Larger widths are not drawn: their coordinates cannot be counted in floating-point numbers."""


class NoReading(NetsorError, ValueError):
    """A program has no reading at this width."""


@contextmanager
def as_diagnostics() -> Iterator[None]:
    """A context in which what stops draws becomes a NetsorError, and what overflows on the way warns of nothing."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):
            yield
    except (TooLarge, MemoryError) as error:
        needed = f": {error}" if str(error) else ""
        raise NetsorError(Diagnostic(
            "N521", f"draws at this width take more memory than there is{needed}",
            hint="ask for a smaller width, or for fewer runs, coordinates or outputs")) from error
    except RecursionError as error:
        raise NetsorError(Diagnostic(
            "N113", "a formula of this program is nested too deeply", hint="name a part of it in a definition of its own")) from error


def check_arguments(program: Program, width: int, runs: int, coordinates: int | None) -> None:
    """ValueError for what makes no sense whatever the program, or at this width of it."""
    if not all(isinstance(each, Integral) and each >= 1 for each in (width, runs)):
        raise ValueError("width and runs are positive integers")
    require_finite(program)
    widest = max(sizes_of_widths(program, width).values())
    if coordinates is not None and not (isinstance(coordinates, Integral) and 1 <= coordinates <= widest):
        raise ValueError(f"between 1 and {widest} coordinates can be recorded at width {width}, not {coordinates}")


def require_finite(program: Program) -> None:
    """NoReading if an infinite parameter leaves the program without a finite reading."""
    if program.infinite:
        names = sorted(program.infinite)
        raise NoReading(Diagnostic(
            "N504", f"at finite width {', '.join(names)} must be finite", hint=f"choose finite numbers: {' '.join(f'--set {name}=64' for name in names)}, and the limit is taken with them too"))


def sizes_of_widths(program: Program, n: int) -> dict[str, int]:
    """The size of every width where the first is n: its ratio to n, times n, rounded.

    :raises NoReading: if one of them would be zero, or too large to count."""
    sizes = {}
    for name, ratio in program.widths.items():
        sizes[name] = _rounded(ratio, n)
        if sizes[name] is None or sizes[name] < 1:
            raise NoReading(_no_width(program, name, n, sizes[name]))
    return sizes


def _rounded(ratio, n: int) -> int | None:
    """None for what is too large."""
    try:
        size = round(ratio * n)
    except OverflowError:
        return None
    return size if size <= LARGEST else None


def _no_width(program: Program, name: str, n: int, size: int | None) -> Diagnostic:
    if name == program.width:
        return Diagnostic("N521", f"vectors of width {written(n)} fit into no memory", hint="ask for a smaller width")
    where = f"at {program.width} = {written(n)} the width {name} = {program.further_widths[name]} would be"
    span = program.width_spans.get(name)
    if size is None:
        return Diagnostic("N521", f"{where} {written(LARGEST + 1)}", span, hint="ask for a smaller width")
    least = math.floor(1 / (2 * Fraction(min(program.widths.values())))) + 1  # 1/2 is rounded to 0
    hint = f"ask for a width of {least:,} at least" if least < LARGEST else "make it a larger share"
    return Diagnostic("N523", f"{where} 0", span, label="no vector is that short", hint=hint)
