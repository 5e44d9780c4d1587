"""Functions of numbers that are no nonlinearities: several arguments, or integer arithmetic."""

from __future__ import annotations

from functools import reduce

import numpy as np

ELEMENTARY = {
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "floor": np.floor,
    "ceil": np.ceil,
    "mod": np.mod,
}
