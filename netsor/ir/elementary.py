"""Functions of numbers that are no nonlinearities: several arguments, or integer arithmetic."""

from __future__ import annotations

from functools import reduce

import numpy as np

def normal_quantile(probability):
    """Where the standard normal distribution function takes the value."""
    from scipy.special import ndtri

    return ndtri(probability)


ELEMENTARY = {
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "floor": np.floor,
    "ceil": np.ceil,
    "mod": np.mod,
    "normal_quantile": normal_quantile,
}
