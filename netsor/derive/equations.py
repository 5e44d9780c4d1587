"""The let-bound equations of a derivation, looked up by the elements that formulas mention."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sympy

from netsor.derive.mentions import with_bound_apart
from netsor.derive.names import LoopNumber
from netsor.derive.statement import Statement


def head(symbol: sympy.Expr) -> tuple[str, tuple]:
    """The name and the subscripts of a named quantity."""
    if isinstance(symbol, sympy.Indexed):
        return str(symbol.base.label), tuple(symbol.indices)
    return str(symbol), ()


def same_number(own: sympy.Basic, given) -> bool:
    """Whether a subscript of an equation admits this one: a loop's number its own only, a letter all."""
    if not isinstance(own, LoopNumber):
        return True
    return own.value == getattr(given, "value", given)


class Equations:
    """The equations that give named quantities, by name; a name may have several, for different numbers of a loop."""

    def __init__(self, statements: Iterable[Statement]):
        self.table: dict[str, list[Statement]] = {}
        for statement in (part for each in statements for part in (each, *each.where)):
            if statement.defines:
                self.table.setdefault(head(statement.symbol)[0], []).append(statement)

    def of(self, element: sympy.Expr) -> Statement | None:
        """The equation of an element."""
        return self.find(*head(element))

    def find(self, name: str, subscripts: tuple) -> Statement | None:
        """The equation of the element with this name and these subscripts, numbers or expressions."""
        for statement in self.table.get(name, ()):
            pattern = head(statement.symbol)[1]
            if len(pattern) == len(subscripts) and all(map(same_number, pattern, subscripts)):
                return statement
        return None

    def mentioned(self, expr: sympy.Expr) -> dict[sympy.Expr, Statement]:
        """The elements in a formula that have equations."""
        elements = expr.atoms(sympy.Indexed)
        labels = {element.base.label for element in elements}
        found = {element: self.of(element) for element in elements | (expr.atoms(sympy.Symbol) - labels)}
        return {element: statement for element, statement in found.items() if statement is not None}

    def unfolded(self, expr: sympy.Expr, only: Collection[str] | None = None, _known: dict | None = None) -> sympy.Expr:
        """The formula with the right sides of equations (of those ``only``) in the place of what it mentions, down to parameters,
        data and scores."""
        known = {} if _known is None else _known
        places = {}
        for element, statement in self.mentioned(expr).items():
            if only is not None and head(element)[0] not in only:
                continue
            if element not in known:
                known[element] = self.unfolded(self.right(statement, element), only, known)
            places[element] = with_bound_apart(known[element], expr.atoms(sympy.Symbol))
        return expr.xreplace(places) if places else expr

    @staticmethod
    def right(statement: Statement, element: sympy.Expr) -> sympy.Expr:
        """The right side of an equation for this element."""
        pattern, subscripts = head(statement.symbol)[1], head(element)[1]
        letters = {own: given for own, given in zip(pattern, subscripts) if own != given and not isinstance(own, LoopNumber)}
        used = set().union(*(given.free_symbols for given in letters.values()))
        return with_bound_apart(statement.right, used).xreplace(letters) if letters else statement.right
