"""Functions of numbers that are no nonlinearities: several arguments, or integer arithmetic."""

from __future__ import annotations

import operator
from functools import reduce

import numpy as np


def normal_quantile(probability):
    """Where the standard normal distribution function takes the value."""
    from scipy.special import ndtri

    return ndtri(probability)


COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
"""What the signs of a :class:`netsor.ir.expressions.Compare` mean, for numbers and for arrays."""

ELEMENTARY = {
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "floor": np.floor,
    "ceil": np.ceil,
    "mod": np.mod,
    "normal_quantile": normal_quantile,
}
