"""Bounds on the work of finding a limit's equations: a formula that grows beyond all measure is given up, and says so."""

from __future__ import annotations


class TooMuchWork(Exception):
    """A computation would take unreasonably long.  ``hint`` says what would take less."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.hint = hint


class Steps:
    """Counts the steps of working out one moment.

    Products of sums and of many Gaussian factors have exponentially many terms; everything that stays polynomial is far below MOST."""

    MOST = 200_000

    def __init__(self) -> None:
        self.taken = 0

    def start(self) -> None:
        """A new moment begins."""
        self.taken = 0

    def take(self) -> None:
        self.taken += 1
        if self.taken > self.MOST:
            raise TooMuchWork(
                f"a moment of this program has more than {self.MOST:,} terms when it is worked out",
                "a product of many sums or of many different Gaussian vectors has exponentially many terms: name its factors, or use fewer")
