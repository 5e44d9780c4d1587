"""The smallest program that fails as a given one does."""

from __future__ import annotations

import re

from generator.compare import STAGES, Outcome, outcome


def smallest(statements: list[str], failure: Outcome) -> tuple[list[str], Outcome]:
    """Statements removed one at a time, last first, as long as the program fails in the same way at the smallest widths."""
    shrunk = True
    while shrunk:
        shrunk = False
        for k in reversed(range(1, len(statements))):
            fewer = statements[:k] + statements[k + 1:]
            found = outcome(fewer, STAGES[:1])
            if found.kind == failure.kind and _codes(found) == _codes(failure):
                statements, failure, shrunk = fewer, found, True
    return statements, failure


def _codes(failure: Outcome) -> set[str]:
    return set(re.findall(r"error\[(N\d+)\]", failure.detail))
