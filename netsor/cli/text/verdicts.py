"""Verdicts on ``expect`` lines for a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from netsor.cli.text.numbers import number
from netsor.cli.verdicts import CONSISTENT, ERRORS, FAILED, PASSED, SKIPPED, Verdict

if TYPE_CHECKING:
    from netsor.compare.expectations import ExpectationResult

AT_FINITE_WIDTH = {"agrees": PASSED, "disagrees": FAILED, "unresolved": "unresolved"}
"""The verdicts on a line at finite width, in the words of the limit's."""

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


def describe_at_finite_width(result: ExpectationResult) -> str:
    """The verdict on the line from draws at finite widths, and what it is worth."""
    place, decision = result.decisive, result.decisive.decision
    word = AT_FINITE_WIDTH[result.verdict]
    said = f"{' ' * WIDTH}  at finite width: {click.style(word, fg=COLOURS.get(word, 'yellow'), bold=True)}, "
    where = f" at {place.element}" if place.element else ""
    if result.verdict == "unresolved" and not np.isfinite([decision.finite, place.limit]).all():
        return f"{said}what is found or expected{where} is not finite"
    if result.verdict == "unresolved":
        widths = ", ".join(f"{at.width:,}" for at in place.widths)
        return f"{said}no bias in 1/n explains the values at widths {widths}{where}: larger ones are needed"
    said += f"{number(decision.finite, decision.stderr)}{where}"
    if result.verdict == "disagrees":
        allowed = f"{result.tolerance:.2g} and noise, {decision.stderr:.2g}"
        said += f", expected {place.limit:.10g}: off by {abs(decision.difference):.2g}, more than {allowed}"
    return f"{said}; off by {result.smallest_detectable:.2g} would be seen (90 % power)"


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
