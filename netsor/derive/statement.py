"""One line of a derivation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sympy

from netsor.derive.names import LoopNumber
from netsor.derive.tidy import tidy

@dataclass
class Statement:
    """``left = right`` and why.

    ``left`` is the quantity as a reader would write it ; ``name`` the symbol under
    which other formulas mention it (``left`` itself where that is None).  ``condition`` says for which values it holds, ``given``
    on which scores it is conditional, ``over`` which it is an expectation over, ``law`` in words what is distributed how, ``axes`` the
    ranges (letter, low, high) of the indices of ``left``."""

    section: str
    left: sympy.Expr
    right: sympy.Expr
    rule: str
    citation: str = ""
    name: sympy.Expr | None = None
    condition: str = ""
    given: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    axes: tuple[tuple, ...] = ()
    law: str = ""
    where: list["Statement"] = field(default_factory=list)

    def tidied(self) -> "Statement":
        """The statement with its formulas simplified as a person would."""
        return replace(self, right=tidy(self.right), where=[part.tidied() for part in self.where])

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


def without_idle_correlations(statements: list[Statement]) -> list[Statement]:
    """The statements without correlations that no formula mentions: they are named before it is known whether there is a closed form."""
    mentioned = {
        _name_and_numbers(found)
        for each in statements for part in (each, *each.where) for found in part.right.atoms(sympy.Indexed)
    }
    return [each for each in statements if each.rule != "correlation" or _name_and_numbers(each.left) in mentioned]


def _name_and_numbers(element: sympy.Expr) -> tuple:
    """What tells the equation of an element apart from others: its name and the numbers of loops in its subscripts."""
    if not isinstance(element, sympy.Indexed):
        return element, ()
    return element.base, tuple(each for each in element.indices if isinstance(each, LoopNumber))
