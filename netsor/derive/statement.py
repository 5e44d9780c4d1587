"""One line of a derivation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sympy

from netsor.derive.phrases import Phrase
from netsor.derive.tidy import tidy


@dataclass
class Statement:
    """``left = right`` and why.

    ``left`` is the quantity as a reader would write it ; ``name`` the symbol under
    which other formulas mention it (``left`` itself where that is None).  ``passes`` are the ranges (letter, low, high) of the numbers of
    loops for which it holds, ``given`` on which scores it is conditional, ``over`` which it is an expectation over, ``law`` what is
    distributed how, the sentence that the formula completes, ``axes`` the
    ranges (letter, low, high) of the indices of ``left``; ``invented`` whether its name is none of the program's."""

    section: str
    left: sympy.Expr
    right: sympy.Expr
    rule: str
    citation: str = ""
    name: sympy.Expr | None = None
    passes: tuple[tuple, ...] = ()
    given: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    axes: tuple[tuple, ...] = ()
    law: Phrase | None = None
    where: list["Statement"] = field(default_factory=list)
    invented: bool = False

    def tidied(self) -> "Statement":
        """The statement with its formulas simplified as a person would."""
        return replace(self, right=tidy(self.right), where=[part.tidied() for part in self.where])

    @property
    def condition(self) -> str:
        """For which numbers of loops it holds, as text."""
        from netsor.derive.printing.text import text

        return ", ".join(f"{letter} = {text(low)}..{text(high)}" for letter, low, high in reversed(self.passes))

    @property
    def defines(self) -> bool:
        """Whether other formulas mention its left side by name."""
        return self.section in ("given", "kernels", "scalars")

    @property
    def symbol(self) -> sympy.Expr:
        return self.left if self.name is None else self.name


class Expected(sympy.Expr):
    """E[a], E[a b] of coordinates of vectors: the left side of a kernel's equation."""

    is_commutative = True


class Covariance(sympy.Expr):
    """Cov(a, b)."""

    is_commutative = True


class Kurtosis(sympy.Expr):
    """The excess kurtosis of a."""

    is_commutative = True


class Rate(sympy.Expr):
    """d a / d b, the total derivative: (a, b)."""

    is_commutative = True


def outputs_last(statements: list[Statement]) -> list[Statement]:
    """The statements with the laws of outputs, which nothing rests on but their moments, after all others."""
    place = {"outputs": 1, "moments": 2}
    return sorted(statements, key=lambda each: place.get(each.section, 0))
