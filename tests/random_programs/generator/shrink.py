"""The smallest program that fails as a given one does."""

from __future__ import annotations

from collections.abc import Callable

from generator.compare import Outcome, outcome


def smallest(statements: list[str], failure: Outcome, of: Callable[[list[str]], Outcome] = outcome) -> tuple[list[str], Outcome]:
    """Statements removed one at a time, last first, as long as the program fails in the same way."""
    shrunk = True
    while shrunk:
        shrunk = False
        for k in reversed(range(1, len(statements))):
            fewer = statements[:k] + statements[k + 1:]
            found = of(fewer)
            if found.kind == failure.kind:
                statements, failure, shrunk = fewer, found, True
    return statements, failure
