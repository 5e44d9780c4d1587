"""Correlations that formulas name, each with its equation."""

from __future__ import annotations

import sympy

from netsor.derive.names import Letters, LoopNumber, Names, indexed
from netsor.derive.statement import Statement


class Correlations:
    """Correlations that formulas name: rho[i,i'] = K[i,i']/sqrt(K[i,i] K[i',i']), stated once for each kernel."""

    def __init__(self, names: Names, statements: list[Statement]):
        self.names, self.statements = names, statements
        self.stated: dict[tuple, tuple] = {}  # by kernel and pass of a loop: which subscripts of the variances are which of the kernel

    def __call__(self, k11, k12, k22, letters: Letters) -> sympy.Expr | None:
        """The name of a correlation, if its variances and covariance are entries of one kernel."""
        parts = [part.as_coeff_Mul() for part in (k11, k12, k22)]
        (scale, own), (scale_12, cross), (scale_22, other) = parts
        if not (scale == scale_12 == scale_22 and all(isinstance(each, sympy.Indexed) for each in (own, cross, other))):
            return None
        if not own.base == cross.base == other.base or own == other:
            return None
        shape = _same_subscripts(own, cross), _same_subscripts(other, cross)
        subscripts = [each for each in cross.indices if not isinstance(each, LoopNumber)]
        if None in shape or len(set(subscripts)) < len(subscripts):
            return None
        base = self.names.new(f"rho_{str(cross.base.label).removeprefix('K_')}")
        key = (cross.base, tuple(each for each in cross.indices if isinstance(each, LoopNumber)))
        if key not in self.stated:
            self.stated[key] = shape
            places = _generic(cross.indices, self.names.reserved)
            one, two = (sympy.Indexed(cross.base, *[places[place] for place in found]) for found in shape)
            self.statements.append(Statement(
                "kernels", indexed(base, places), sympy.Indexed(cross.base, *places) / sympy.sqrt(one * two), "correlation",
                invented=True))
        return indexed(base, cross.indices) if self.stated[key] == shape else None


def _same_subscripts(variance: sympy.Indexed, cross: sympy.Indexed) -> tuple[int, ...] | None:
    """For each subscript of a variance its place in those of the covariance; None if they are not among them."""
    if not set(variance.indices) <= set(cross.indices):
        return None
    return tuple(
        place if cross.indices[place] == each else cross.indices.index(each) for place, each in enumerate(variance.indices))


def _generic(subscripts, reserved: frozenset[str]) -> list[sympy.Expr]:
    """Letters in the place of subscripts that are no letters: what holds for all their values.  No letter is a ``reserved`` name."""
    used = {str(each) for each in subscripts if each.is_Symbol}
    found: list[sympy.Expr] = []
    for each in subscripts:
        if not each.is_Symbol:
            name = min({str(symbol).rstrip("'") for symbol in each.free_symbols} - reserved, default="i")
            while name in used | reserved:
                name += "'"
            used.add(name)
            each = sympy.Symbol(name, integer=True)
        found.append(each)
    return found
