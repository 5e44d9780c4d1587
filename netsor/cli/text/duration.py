"""How long something took."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """0.25 s, 3.1 s, 100 s."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:,.0f} s"
