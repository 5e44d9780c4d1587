"""Amounts of memory and time in words, whatever their size."""

from __future__ import annotations

SAID = 10**15
"""Larger numbers are not written out."""


def written(count: int) -> str:
    """A number with separators."""
    return f"{count:,}" if count < SAID else f"over {SAID:,}"


def memory(count: float) -> str:
    """Bytes: "12 GiB"."""
    count, units = round(count), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    while count >= 1024 and len(units) > 1:
        count, units = (count + 512) // 1024, units[1:]
    return f"{written(count)} {units[0]}"


def duration(seconds: float) -> str:
    """Seconds: "3 days"."""
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{written(round(seconds / length))} {unit}"
    return f"{max(seconds, 1):.0f} seconds"
