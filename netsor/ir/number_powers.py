"""Powers of numbers, exact where that is possible."""

from __future__ import annotations

import math
from fractions import Fraction

Number = int | Fraction | float


def number_power(base: Number, exponent: Number) -> Number | None:
    """base ** exponent where that is a number worth folding, else None (kept as a symbolic power)."""
    try:
        if isinstance(exponent, float) or isinstance(base, float):
            value = float(base) ** float(exponent)
            return value if isinstance(value, float) and math.isfinite(value) else None
        exponent = Fraction(exponent)
        if exponent.denominator == 1 and abs(exponent) <= 4096 and (base != 0 or exponent > 0):
            value = Fraction(base) ** int(exponent)
            return int(value) if value.denominator == 1 else value
        if exponent.denominator == 2 and base > 0 and abs(exponent) <= 64:  # exact square roots
            base = Fraction(base)
            roots = math.isqrt(base.numerator), math.isqrt(base.denominator)
            if roots[0] ** 2 == base.numerator and roots[1] ** 2 == base.denominator:
                value = Fraction(*roots) ** exponent.numerator
                return int(value) if value.denominator == 1 else value
    except (OverflowError, ZeroDivisionError):
        pass
    return None
