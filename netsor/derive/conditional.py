"""Scores that are correlated with earlier ones, given these: mean and covariance as formulas where those of the earlier scores form a
diagonal matrix.

With C11 = diag(d) the usual C21 C11^-1 p1 and C22 - C21 C11^-1 C12 are sums over the earlier scores: sum C21[x,z] p1[z]/d[z] and
C22[x,y] - sum C21[x,z] C21[y,z]/d[z], from which Kronecker deltas take most indices.
"""

from __future__ import annotations

import sympy

from netsor.derive import laws
from netsor.derive.convert import summation
from netsor.derive.names import Letters, limits
from netsor.derive.statement import Covariance, Expected, Statement
from netsor.ir.expressions import Expr, add
from netsor.ir.kernel import Kernel
from netsor.ir.program import Family
from netsor.ir.rewrite import substitute
from netsor.limit.recursion import copy
from netsor.rules import rule_of

RULE, CITATION = "Gaussian conditioning", "conditional law of jointly Gaussian variables"


class ConditionalLaw:
    """The law of ``family`` given the scores ``earlier`` of its group."""

    def __init__(self, family: Family, earlier: tuple[Family, ...], moment):
        self.family, self.earlier, self.moment = family, earlier, moment

    @property
    def order(self) -> int:
        """Its place in the program."""
        return self.family.order

    @property
    def is_explicit(self) -> bool:
        """Whether the earlier scores are uncorrelated."""
        if any(self._kernel(one, "z", other, "w").terms for one in self.earlier for other in self.earlier if one is not other):
            return False
        return all(self._variance(each) is not None for each in self.earlier)

    @property
    def expression(self) -> Expr:
        """What the formulas mention."""
        kernels = [self._kernel(self.family, "x", self.family, "y"), *(self._kernel(self.family, "x", each, "z") for each in self.earlier)]
        return add(*[kernel.expression() for kernel in kernels], *map(self._variance, self.earlier))

    def state(self, collector) -> None:
        letters = Letters()
        convert, names = collector.convert, collector.names
        own, other = (
            names.element(self.family, [convert(copy(axis, side), letters) for axis in self.family.axes]) for side in "xy")
        axes = letters.axes(lambda e: convert(e, letters))
        mean, covariance = sympy.S.Zero, self._formula(self._kernel(self.family, "x", self.family, "y"), collector, letters)
        past = []
        for each in self.earlier:
            places = [copy(axis, "z") for axis in each.axes]
            before = names.element(each, [convert(place, letters) for place in places])
            past.append(_without_primes(before))
            bounds = [(letters.of(place), *limits(place, lambda e: convert(e, letters))) for place in places]
            variance = convert(self._variance(each), letters)
            first, second = (self._formula(self._kernel(self.family, side, each, "z"), collector, letters) for side in "xy")
            mean += _contracted(first * before / variance, bounds)
            covariance -= _contracted(first * second / variance, bounds)
        given = tuple(dict.fromkeys(_label(each, names) for each in self.earlier))
        collector.statements += [
            Statement("scores", Expected(own), mean, RULE, CITATION, given=given, axes=tuple(a for a in axes if a[0] in own.free_symbols),
                      law=laws.conditioned("scores", own, past, True)),
            Statement("scores", Covariance(own, other), covariance, RULE, CITATION, given=given, axes=axes),
        ]

    def _kernel(self, one: Family, side: str, other: Family, second: str) -> Kernel:
        left, right = (family[tuple(copy(axis, s) for axis in family.axes)] for family, s in ((one, side), (other, second)))
        return rule_of(one).covariance(left, right, self.moment).limit()

    def _variance(self, family: Family) -> Expr | None:
        """The variance at "z" if different elements are uncorrelated, else None."""
        kernel = self._kernel(family, "z", family, "w")
        same = {copy(axis, "w"): copy(axis, "z") for axis in family.axes}
        wanted = {frozenset(pair) for pair in same.items()}
        if not kernel.terms or any(not wanted <= equalities for equalities, _ in kernel.terms):
            return None
        return add(*[substitute(coefficient, same) for coefficient in kernel.terms.values()])

    @staticmethod
    def _formula(kernel: Kernel, collector, letters: Letters) -> sympy.Expr:
        return sympy.Add(*[
            collector.delta(equalities, letters) * collector.convert(coefficient, letters)
            for (equalities, _), coefficient in kernel.terms.items()])


def _contracted(expr: sympy.Expr, bounds: list[tuple]) -> sympy.Expr:
    """The sum over indices of which Kronecker deltas fix some to others."""
    total = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand(expr)):
        left = []
        for bound in bounds:
            term, fixed = _fixed(term, bound[0])
            left += [] if fixed else [bound]
        total += summation(term, left)
    return total


def _fixed(term: sympy.Expr, symbol: sympy.Symbol) -> tuple[sympy.Expr, bool]:
    """The term with an index replaced by the one that a Kronecker delta makes it equal to, if there is one."""
    factors = list(sympy.Mul.make_args(term))
    for position, factor in enumerate(factors):
        if isinstance(factor, sympy.KroneckerDelta) and symbol in factor.args:
            other = factor.args[0] if factor.args[1] == symbol else factor.args[1]
            rest = factors[:position] + factors[position + 1:]
            return sympy.Mul(*[each.xreplace({symbol: other}) for each in rest]), True
    return term, False


def _label(family: Family, names) -> str:
    """``p[1]``: the name of a family with its loop's numbers."""
    numbers = [str(part) for part in family.pattern if isinstance(part, int)]
    return names.family(family) + (f"[{','.join(numbers)}]" if numbers else "")


def _without_primes(element: sympy.Expr) -> sympy.Expr:
    return element.xreplace({each: sympy.Symbol(each.name.rstrip("'"), integer=True) for each in element.free_symbols if each.name.endswith("'")})
