"""What is given to the formulas of a derivation, checked: nothing is ignored, and nothing is made up."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from netsor.ir.expressions import Sym
from netsor.ir.program import ArrayDeclaration, Program
from netsor.language.diagnostics import Diagnostic, NetsorError


def check_given(program: Program, params: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Check values of parameters and data arrays against the program of a derivation.

    :raises NetsorError: N205, N209 for names that are none; N504 for values that a parameter cannot have here; N506 for arrays of another
        size; N503 for what has no value."""
    for name, value in params.items():
        if name not in program.parameters:
            raise NetsorError(Diagnostic("N205", f"`{name}` is given a value, but it is not a parameter of this program"))
        _check_value(name, value, program.parameters[name])
    arrays = {array.name: array for array in program.arrays if array.definition is None}
    for name, values in data.items():
        if name not in arrays:
            raise NetsorError(Diagnostic("N209", f"there are data for `{name}`, but no such `data` statement"))
        _check_array(arrays[name], values, params)
    if missing := sorted(program.undetermined - set(params) - set(data)):
        raise NetsorError(Diagnostic("N503", f"{', '.join(f'`{name}`' for name in missing)}: there is no value"))


def _check_value(name: str, value: Any, settled: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)) and value != settled:
        raise NetsorError(Diagnostic("N504", f"{value!r} is no value for the parameter `{name}`"))
    if settled is not None and float(settled) != float(value):
        raise NetsorError(Diagnostic(
            "N504", f"`{name}` is the number {settled} in these formulas, not {value}", hint="derive them anew with that value"))


def _check_array(array: ArrayDeclaration, values: Any, params: Mapping[str, Any]) -> None:
    shape = np.shape(values)
    wanted = []
    for range_ in array.ranges:
        size = range_.bounds[1] if range_.bounds is not None else None
        wanted.append(params.get(size.name, range_.size) if isinstance(size, Sym) else range_.size)
    if shape != tuple(wanted):
        sizes, found = (" x ".join(map(str, each)) or "a number" for each in (wanted, shape))
        raise NetsorError(Diagnostic("N506", f"the data for `{array.name}` are {found} where the sizes say {sizes}"))
