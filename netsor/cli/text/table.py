"""Columns of text, numbers aligned at the decimal point."""

from __future__ import annotations

import re
from collections.abc import Sequence

GAP = "   "
_NUMBER = re.compile(r"[-+]?\d+")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; its columns start at the left and are as wide as they must be."""
    columns = [_aligned(header[k], [row[k] for row in rows]) for k in range(len(header))]
    return [GAP.join(cells).rstrip() for cells in zip(*columns)]


def _aligned(title: str, cells: list[str]) -> list[str]:
    before = [_before_point(cell) for cell in cells] if all(map(_NUMBER.match, cells)) else [0] * len(cells)
    left = max(before, default=0)
    padded = [" " * (left - own) + cell for own, cell in zip(before, cells)]
    width = max(map(len, [title, *padded]))
    return [cell.ljust(width) for cell in [title, *padded]]


def _before_point(cell: str) -> int:
    """How many characters stand before the decimal point, or before where it would be."""
    return _NUMBER.match(cell).end()
