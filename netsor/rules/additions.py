"""Families that a rewriting adds to a program: named subexpressions, averages and functions of scalars, each once."""

from __future__ import annotations

from netsor.ir.expressions import Coord, Expr, Index, Num, ScalarRef
from netsor.ir.facts import Randomness
from netsor.ir.polynomials import coords
from netsor.ir.program import Definition, Family, Moment, Nonlin, ScalarFunction
from netsor.ir.rewrite import free_indices, rename_bound, substitute, walk
from netsor.rules import rule_of

class Additions:
    """The families of a program that is being written, in order; ``owner`` is the family for which the next ones are added."""

    def __init__(self) -> None:
        self.families: list[Family] = []
        self.owner: Family | None = None
        self._randomness = Randomness()
        self._known: dict[tuple, Family] = {}
        self._counts: dict[str, int] = {}

    def append(self, family: Family) -> Family:
        """Add a family at the end: it is of the kind that its rule says."""
        family.order = len(self.families)
        family.kind = rule_of(family).kind(family, self._randomness)
        self.families.append(family)
        return family

    def vector(self, expr: Expr) -> Coord:
        """A reference to a vector with this value."""
        width = next(part.family.width for part in sorted(coords(expr), key=repr))
        return expr if isinstance(expr, Coord) else self._reference("slope", expr, Nonlin, width)

    def moment(self, expr: Expr) -> Expr:
        """E of a coordinatewise expression, a scalar."""
        return expr if isinstance(expr, Num) else self._reference("response", expr, Moment)

    def scalar(self, expr: Expr) -> Expr:
        """A reference to a scalar with this value."""
        return expr if isinstance(expr, Num | ScalarRef) else self._reference("factor", expr, ScalarFunction)

    def _reference(self, word: str, expr: Expr, definition: type[Definition], width: str = "") -> Coord | ScalarRef:
        free = free_indices(expr)
        axes = tuple(dict.fromkeys(part for part in walk(expr) if isinstance(part, Index) and part in free))
        anonymous = {index: Index("", index.range, ("axis", place)) for place, index in enumerate(axes)}
        key = definition, rename_bound(substitute(expr, anonymous))
        if key not in self._known:
            own = {index: Index(index.name, index.range, ("axis", place)) for place, index in enumerate(axes)}
            name = f"{self.owner.name}.{word}" if self.owner is not None else word
            self._counts[name] = self._counts.get(name, 0) + 1
            name += str(self._counts[name]) if self._counts[name] > 1 else ""
            self._known[key] = self.append(Family(
                name, tuple(own.values()), definition(substitute(expr, own)), 0, width=width, hidden=True,
                span=None if self.owner is None else self.owner.span))
        return self._known[key][axes]
