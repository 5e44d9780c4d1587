"""The elements of an array of results by name: which index values stand where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netsor.ir.expressions import Index
from netsor.limit.outputs.base import Variable


def label(variable: Variable, place: Sequence[int]) -> str:
    """ "a=1, i=2" """
    return ", ".join(
        f"{axis_name(axis)}={axis.range.lo + k}" if axis_name(axis) else str(axis.range.lo + k)
        for axis, k in zip(variable.indices, place)
    )


def axis_name(axis: Index) -> str:
    """The index that the program calls an axis by, or nothing where it has none (``f[1]``, ``f[2]`` put together)."""
    return "" if "." in axis.name else axis.name


def subscripts(variable: Variable, place: Sequence[int]) -> list[str]:
    """The values of the indices at a place."""
    return [str(axis.range.lo + k) for axis, k in zip(variable.indices, place)]


def ranges(variable: Variable) -> str:
    """ "a = 1..2, i = 1..4" """
    return ", ".join(f"{axis.name} = {axis.range.lo}..{axis.range.hi}" for axis in variable.indices if axis_name(axis))


def title(variable: Variable) -> str:
    """ "y[i]", or "x" for a scalar"""
    names = ",".join(axis_name(axis) or f"{axis.range.lo}..{axis.range.hi}" for axis in variable.indices)
    return f"{variable.name}[{names}]" if names and not variable.name.endswith("]") else variable.name


def places(variable: Variable) -> list[tuple[int, ...]]:
    """All places, the last index fastest."""
    return list(np.ndindex(variable.shape))
