"""Whether an ``expect`` line holds.

With |difference| = |found - expected|, one standard error e of what was found, and the line's tolerance t, for
each value of the line's indices:

- *failed*: |difference| > t + 4 e.  Errors come from 16 independent randomisations, so that a true statement
  fails by chance with probability at most 0.0012 (Student's t, 15 degrees of freedom, beyond 4) for each value.
- *passed*: not failed, and 4 e <= t: what was found is known well enough for the tolerance.
- *consistent*: not failed, but 4 e > t.  The line is not contradicted; a deviation of the size of the tolerance
  could not be seen.

The verdict of a line is the worst of its values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netsor.expectation import Estimate
from netsor.ir.evaluate import Evaluator
from netsor.ir.program import Expectation, Program
from netsor.limit.functions import function

ERRORS = 4
VERDICTS = ("passed", "consistent", "failed", "skipped")
PASSED, CONSISTENT, FAILED, SKIPPED = VERDICTS


@dataclass(frozen=True)
class Verdict:
    """An ``expect`` line judged.  ``worst`` is the place (over the line's indices) that decided; arrays are None
    where skipped."""

    expectation: Expectation
    verdict: str
    found: Estimate | None = None
    expected: np.ndarray | None = None
    tolerance: np.ndarray | None = None
    worst: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The line without the word ``expect``."""
        return " ".join(self.expectation.span.text.split()).removeprefix("expect ")

    @property
    def needed_error(self) -> float:
        """The standard error with which the line would be decided."""
        return float(self.tolerance[self.worst]) / ERRORS


def skip(expectation: Expectation) -> Verdict:
    return Verdict(expectation, SKIPPED)


def judge(expectation: Expectation, found: Estimate, program: Program) -> Verdict:
    """The verdict on a line whose left side was found to be ``found`` (shape: the line's indices)."""
    evaluator = Evaluator(function, {name: np.inf for name in program.infinite})
    expected, tolerance = (evaluator.array(e, expectation.indices) for e in (expectation.value, expectation.tolerance))
    error = ERRORS * found.error
    excess = np.abs(found.value - expected) - (tolerance + error)
    failed = ~(excess <= 0)  # also where something is not a number
    unresolved = ~(error <= tolerance)
    verdict = FAILED if failed.any() else CONSISTENT if unresolved.any() else PASSED
    rank = np.where(np.isnan(excess), np.inf, excess)
    if verdict == CONSISTENT:
        rank = error - tolerance
    worst = tuple(int(k) for k in np.unravel_index(np.argmax(rank), rank.shape))
    return Verdict(expectation, verdict, found, np.asarray(expected), np.asarray(tolerance), worst)
