"""The forms in which the recursion sees a vector family: an atom, a sum of products, or a function."""

from __future__ import annotations

from dataclasses import dataclass

from netsor.ir.expressions import ONE, Expr, Index, both, fresh, mul
from netsor.ir.rewrite import substitute


@dataclass(frozen=True)
class Term:
    """``coefficient * product(factors)``, summed over ``indices`` where ``guard`` holds.  No factor: the constant vector 1."""

    coefficient: Expr = ONE
    factors: tuple = ()
    indices: tuple[Index, ...] = ()
    guard: Expr | None = None

    def substitute(self, mapping: dict[Index, Expr]) -> "Term":
        """The term with free indices replaced and its own indices renamed apart."""
        mapping = {**mapping, **{index: fresh(index) for index in self.indices}}
        guard = None if self.guard is None else substitute(self.guard, mapping)
        factors = tuple(substitute(factor, mapping) for factor in self.factors)
        return Term(substitute(self.coefficient, mapping), factors, tuple(mapping[i] for i in self.indices), guard)

    def times(self, other: "Term") -> "Term":
        other = other.substitute({})
        return Term(
            mul(self.coefficient, other.coefficient), self.factors + other.factors, self.indices + other.indices,
            both(self.guard, other.guard),
        )


@dataclass(frozen=True)
class Atom:
    """Drawn by a rule: an input, a MatMul, a plug-in's Gaussian vector.  Gaussian, except for inputs with another law."""


@dataclass(frozen=True)
class Sum:
    """A sum of products of families."""

    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Function:
    """A coordinatewise expression in coordinates of Gaussian families and of inputs that are not Gaussian."""

    body: Expr


Form = Atom | Sum | Function
ATOM = Atom()
