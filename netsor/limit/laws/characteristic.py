"""Estimates of complex numbers: values of a characteristic function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from netsor.expectation.estimate import Estimate, with_error


@dataclass(frozen=True, repr=False)
class ComplexEstimate(Estimate):
    """``value`` is complex128; ``error`` is that of its modulus, the root of the squared errors of both parts."""

    def __post_init__(self) -> None:
        value = np.asarray(self.value, dtype=complex)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "error", np.broadcast_to(np.asarray(self.error, dtype=float), value.shape))

    def __getitem__(self, index: Any) -> ComplexEstimate:
        return ComplexEstimate(self.value[index], self.error[index], self.method)

    def __float__(self) -> float:
        raise TypeError("the value of a characteristic function is complex: use .value.real")

    def __complex__(self) -> complex:
        return complex(self.value)

    def __repr__(self) -> str:
        if self.value.size != 1:
            return f"ComplexEstimate(shape {self.shape}, error <= {self.error.max(initial=0.0):.1e}, {self.method})"
        value, error = self.value.item(), float(self.error.item())
        return f"{with_error(value.real, error)} + {with_error(value.imag, error)}i [{self.method}]"
