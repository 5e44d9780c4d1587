"""A number that knows how far it may be off and how it was computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class ExpectationUndefined(ValueError):
    """The expectation does not exist or left the floating-point range; the message says which function and where."""


class NotResolved(ArithmeticError):
    """A function varies faster than quadrature can follow."""


@dataclass(frozen=True)
class Estimate:
    """``value`` and ``error``, arrays of one shape (a scalar error is broadcast), and the method's name."""

    value: np.ndarray
    error: np.ndarray
    method: str

    def __post_init__(self) -> None:
        value = np.asarray(self.value, dtype=float)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "error", np.broadcast_to(np.asarray(self.error, dtype=float), value.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def worst(self) -> float:
        """The largest error (0 of none); an error that is broadcast is looked at once."""
        own = tuple(slice(None) if stride else slice(1) for stride in self.error.strides)
        return float(np.max(self.error[own], initial=0.0))

    def __getitem__(self, index: Any) -> Estimate:
        return Estimate(self.value[index], self.error[index], self.method)

    def __len__(self) -> int:
        return len(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        if self.value.size > 6:
            return f"Estimate(shape {self.shape}, error <= {self.error.max():.1e}, {self.method})"
        text = np.array2string(
            np.array([with_error(v, e) for v, e in zip(self.value.flat, self.error.flat)]).reshape(self.shape),
            formatter={"all": str},
        )
        return f"{text} [{self.method}]"


LONG = 1e15
"""Numbers from here on are shown with an exponent."""


def with_error(value: float, error: float) -> str:
    """``value`` with one digit of ``error`` in brackets: 0.39197(2) means 0.39197 +- 0.00002."""
    if not np.isfinite(value) or not np.isfinite(error):
        return f"{value:.6g}"
    if error <= 1e-15 * abs(value) or error == 0:
        return f"{value:.15g}"
    if max(abs(value), error) >= LONG:
        exponent = int(np.floor(np.log10(max(abs(value), error))))
        return f"{with_error(value / 10.0**exponent, error / 10.0**exponent)}e{exponent}"
    if error >= 10:
        return f"{value:.0f}({error:.0f})"
    digits = int(-np.floor(np.log10(error)))
    in_last_place = int(np.ceil(error * 10.0**digits - 1e-9))
    if in_last_place == 10:
        digits, in_last_place = digits - 1, 1
    if digits <= 0:
        return f"{value:.0f}({in_last_place})"
    exponent = int(np.floor(np.log10(abs(value)))) if value != 0 else 0
    if exponent < -4 and digits + exponent >= 0:  # otherwise the error is larger than the value's first digit
        return f"{value / 10.0**exponent:.{digits + exponent}f}({in_last_place})e{exponent}"
    return f"{value:.{digits}f}({in_last_place})"
