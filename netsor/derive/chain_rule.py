"""Total derivatives: the chain rule along the let-bound equations, one new equation for each old one.

With e an infinitesimal, every named quantity K moves to K + e dK and the parameter to itself + e; the derivative of an equation's right
side by e at 0 is the right side of the equation for dK.  This is forward differentiation: as many equations as there were, loops again
the same in every pass.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from netsor.derive.equations import Equations, head
from netsor.derive.names import indexed
from netsor.derive.objects import Indicator, WithoutNumber
from netsor.derive.statement import Rate, Statement

EPSILON = sympy.Dummy("e", real=True)


class NoDerivative(ValueError):
    """A formula has no derivative that could be written down."""


class ChainRule:
    """Derivatives of the equations of a derivation by a parameter; names in ``taken`` are given to nothing else."""

    def __init__(self, equations: Equations, by: sympy.Symbol, taken: frozenset[str]):
        self.equations, self.by, self.taken = equations, by, taken
        self.found: list[Statement] = []
        self._rates: dict[sympy.Expr, bool] = {}  # whether the quantity of an equation depends on ``by``, by its symbol

    def differentiated(self, statement: Statement) -> Statement:
        """The derivative of a statement; the equations that it mentions are in ``found``, each after those that it mentions."""
        right = self._derivative(statement)
        return replace(
            statement, left=Rate(statement.left, self.by), right=right, name=None, where=[], law=None, rule="chain rule", citation="")

    def _derivative(self, statement: Statement) -> sympy.Expr:
        moved = {}
        for element, equation in self.equations.mentioned(statement.right).items():
            rate = self._rate(element, equation)
            if rate != 0:
                moved[element] = element + EPSILON * rate
        if self.by in statement.right.free_symbols:
            moved[self.by] = self.by + EPSILON
        if not moved:
            return sympy.S.Zero
        perturbed = statement.right.xreplace(moved)
        if _conditions(perturbed):
            raise NoDerivative(f"a condition in the formula depends on {self.by}")
        found = sympy.diff(perturbed, EPSILON)
        if found.has(sympy.Derivative, sympy.Subs, sympy.DiracDelta) or perturbed.has(WithoutNumber):
            raise NoDerivative("the formula contains a jump, a maximum or an expectation over scores, which has no derivative here")
        found = found.xreplace({EPSILON: sympy.S.Zero})
        return _apart(statement) * found if statement.rule == "correlation" else found

    def _rate(self, element: sympy.Expr, equation: Statement) -> sympy.Expr:
        """The derivative of an element: the name of one that has an equation, or 0."""
        name, subscripts = head(element)
        symbol = equation.symbol
        if symbol not in self._rates:
            self._rates[symbol] = False
            right = self._derivative(equation)
            if right != 0:
                self._rates[symbol] = True
                own, pattern = head(symbol)
                self.found.append(replace(
                    equation, left=indexed(self._name(own), pattern), right=right, name=None, where=[], rule="chain rule", citation=""))
        return indexed(self._name(name), subscripts) if self._rates[symbol] else sympy.S.Zero

    def _name(self, name: str) -> str:
        found = f"d{name}"
        while found in self.taken:
            found += "_"
        return found


def _apart(correlation: Statement) -> sympy.Expr:
    """1 but where a correlation is that of a variable with itself, which is 1 whatever the parameter: beside an arcsine, whose derivative
    is infinite there, that must be seen."""
    first, second = (each.indices for each in correlation.right.atoms(sympy.Indexed) if each != _cross(correlation))
    return Indicator(sympy.Or(*[sympy.Ne(*pair) for pair in zip(first, second)]))


def _cross(correlation: Statement) -> sympy.Indexed:
    """The covariance in K12/sqrt(K11 K22)."""
    return next(factor for factor in sympy.Mul.make_args(correlation.right) if isinstance(factor, sympy.Indexed))


def _conditions(expr: sympy.Expr) -> bool:
    """Whether a condition moves."""
    return any(part.has(EPSILON) for part in expr.atoms(sympy.core.relational.Relational))
