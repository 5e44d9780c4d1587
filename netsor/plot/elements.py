"""Names of the elements of an output, as the program counts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netsor.ir.expressions import Index


def element_name(name: str, axes: Sequence[Index], place: Sequence[int]) -> str:
    """``y[1,2]``, or ``y`` for an output without indices."""
    values = ",".join(str(axis.range.lo + int(k)) for axis, k in zip(axes, place))
    if not values:
        return name
    return f"{name} at {values}" if name.endswith("]") else f"{name}[{values}]"


def subscripts(axes: Sequence[Index]) -> list[str]:
    """The index values of all elements, the last index fastest."""
    shape = [axis.range.size for axis in axes]
    return [",".join(str(axis.range.lo + k) for axis, k in zip(axes, place)) for place in np.ndindex(*shape)]


def index_names(axes: Sequence[Index]) -> str:
    """``i, j``: what the subscripts stand for; "element" where the program has no names for them."""
    return ", ".join(axis.name for axis in axes if "." not in axis.name) or "element"


def first_random(variances: np.ndarray) -> tuple[int, ...]:
    """The place of the first element with a positive variance; of the first element if there is none."""
    places = np.argwhere(variances > 0)
    return tuple(map(int, places[0])) if len(places) else (0,) * variances.ndim
