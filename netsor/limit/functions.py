"""The functions that a program may call, by name."""

from __future__ import annotations

from collections.abc import Callable

from netsor import nonlinearities
from netsor.ir.elementary import ELEMENTARY
from netsor.ir.expressions import Expr, Num


def function(name: str) -> Callable:
    """The vectorised function behind a ``Call``."""
    return ELEMENTARY.get(name) or nonlinearities.get(name)


def parity_of_call(name: str, parameters: tuple[Expr, ...]) -> int:
    """The parity of a catalogue function with these parameters; 0 where they are no numbers."""
    if name in ELEMENTARY or not all(isinstance(parameter, Num) for parameter in parameters):
        return 0
    return nonlinearities.get(name).parity(*(float(parameter.value) for parameter in parameters))
