"""Outputs that are numbers in the limit: their values, as a matrix where the program writes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsor.plot.elements import subscripts
from netsor.plot.kernel import MOST_NAMES, draw_kernel
from netsor.plot.style import LIMIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netsor.limit.outputs.base import Variable


def draw_constant(values: Axes, matrix: Axes, variable: Variable) -> None:
    """Values over elements, and a heat map of those that have two indices of one length."""
    numbers = variable.mean.value.ravel()
    values.plot(np.arange(len(numbers)), numbers, "o", color=LIMIT, markersize=4)
    names = subscripts(variable.indices)
    step = -(-len(names) // MOST_NAMES)
    values.set_xticks(range(0, len(names), step), names[::step], rotation=90 if sum(map(len, names[::step])) > 24 else 0)
    values.set_xlim(-0.5, len(numbers) - 0.5)
    values.set_title("the same in every run")
    values.set_xlabel(", ".join(axis.name for axis in variable.indices if "." not in axis.name) or variable.name)
    values.set_ylabel(f"value of {variable.name}")
    if len(variable.shape) == 2 and variable.shape[0] == variable.shape[1] > 1:
        rows, columns = variable.indices
        draw_kernel(matrix, variable.mean.value, subscripts([rows]), f"values of {variable.name}", rows.name)
        matrix.set_xlabel(columns.name)
    else:
        matrix.set_axis_off()
