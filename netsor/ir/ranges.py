"""The values of an index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """The values ``lo..hi`` of an index, both included.  ``hi`` is ``math.inf`` for an infinite axis; ``symbol`` then names the
    parameter that is infinite.  In a derivation a range may have free parameters in its ``bounds`` (two expressions); ``lo`` and
    ``hi`` are then what they are at the parameters' trial values."""

    lo: Any
    hi: Any
    symbol: str | None = None
    bounds: tuple[Any, Any] | None = None

    @property
    def infinite(self) -> bool:
        return isinstance(self.hi, float) and math.isinf(self.hi)

    @property
    def size(self) -> int:
        """Number of values (finite ranges with numeric bounds only)."""
        return max(self.hi - self.lo + 1, 0)
