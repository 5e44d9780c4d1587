"""Bounds on the work of finding a limit's equations: a formula that grows beyond all measure is given up, and says so."""

from __future__ import annotations


class TooMuchWork(Exception):
    """A computation would take unreasonably long.  ``hint`` says what would take less."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.hint = hint


class Steps:
    """Counts the steps of working out moments.

    Products of sums and of many Gaussian factors have exponentially many terms; everything that stays polynomial is far below
    IN_ONE.  IN_ALL bounds programs of thousands of families that are all correlated with each other."""

    IN_ONE = 200_000
    IN_ALL = 1_000_000

    def __init__(self) -> None:
        self.taken = self.all = 0

    def start(self) -> None:
        """A new moment begins."""
        self.taken = 0
        self.take()

    def take(self) -> None:
        self.taken += 1
        self.all += 1
        if self.taken > self.IN_ONE:
            raise TooMuchWork(
                f"a moment of this program has more than {self.IN_ONE:,} terms when it is worked out",
                "a product of many sums or of many different Gaussian vectors has exponentially many terms: name its factors, or use fewer")
        if self.all > self.IN_ALL:
            raise TooMuchWork(
                f"the moments of this program have more than {self.IN_ALL:,} terms when they are worked out",
                "ask for fewer outputs, or write sums over an index instead of term by term")
