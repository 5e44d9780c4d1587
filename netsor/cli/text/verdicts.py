"""Verdicts on ``expect`` lines for a reader."""

from __future__ import annotations

import click
import numpy as np

from netsor.cli.text.numbers import number
from netsor.cli.verdicts import CONSISTENT, ERRORS, FAILED, PASSED, SKIPPED, Verdict

COLOURS = {PASSED: "green", CONSISTENT: "yellow", FAILED: "red", SKIPPED: "cyan"}
WIDTH = max(map(len, COLOURS))


def describe_verdict(verdict: Verdict, samples: int) -> list[str]:
    """The line as written, what was found, and why that is the verdict.

    :param samples: how many samples of the scores stand behind it; with 0, more of them would not help.
    """
    word = click.style(verdict.verdict.ljust(WIDTH), fg=COLOURS[verdict.verdict], bold=True)
    lines = [f"{word}  {verdict.text}"]
    if verdict.verdict != SKIPPED:
        lines.append(" " * WIDTH + f"  {_reason(verdict, samples)}")
    return lines


def _reason(verdict: Verdict, samples: int) -> str:
    at = verdict.worst
    value, error = float(verdict.found.value[at]), float(verdict.found.error[at])
    expected, tolerance = float(verdict.expected[at]), float(verdict.tolerance[at])
    where = ", ".join(f"{i.name}={i.range.lo + k}" for i, k in zip(verdict.expectation.indices, at))
    said = f"found {number(value, error)}" + (f" at {where}" if where else "")
    if verdict.verdict == PASSED:
        return said
    if verdict.verdict == FAILED:
        allowed = f"{tolerance:.2g} + {ERRORS} x {error:.2g}" if error > 1e-3 * tolerance else f"{tolerance:.2g}"
        return f"{said}, expected {expected:.10g}: off by {abs(value - expected):.2g}, more than {allowed}"
    more = f", about {_round(error / verdict.needed_error)} times the samples" if samples and np.isfinite(error) else ""
    needed = f"{verdict.needed_error:.2g} is needed{more}"
    return f"{said}: agrees, but its error {error:.2g} is too large for the tolerance: {needed}"


def _round(ratio: float) -> str:
    """The factor of samples for errors smaller by ``ratio``, one digit."""
    factor = ratio**2
    return f"{factor:.0g}" if factor >= 1e6 else f"{float(f'{factor:.1g}'):,.0f}"
