"""Derivatives of coordinatewise expressions with respect to Gaussian vectors, symbolically.

x = phi(u, v), u = psi(z, …), …: the chain rule is followed along the definitions until it meets *atoms*, the vectors with respect to
which one differentiates.  Families stay whole: a derivative is a list of the places where an atom occurs, each with its factor.
Scalars are held fixed.  Functions with kinks are differentiated almost everywhere; at a jump this would lose what happens there,
and :class:`NoSlope` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from netsor import nonlinearities
from netsor.ir.elementary import ELEMENTARY
from netsor.ir.expressions import (
    ONE, ZERO, Add, Call, Compare, Coord, Expr, Index, Indicator, Logic, Mul, Num, Pow, Reduce, ScalarRef, Sym, Where,
    add, both, fresh, mul, power,
)
from netsor.ir.facts import bottom_up, vectors_of
from netsor.ir.kernel import has_infinite
from netsor.ir.polynomials import as_power, coords, with_parts
from netsor.ir.program import Family, Nonlin
from netsor.ir.rewrite import substitute
from netsor.rules.slope import slope_of


class NoSlope(Exception):
    """A function has a jump, or no known derivative.  ``function`` says which."""

    def __init__(self, function: str):
        self.function = function
        super().__init__(f"{function} has no derivative")


@dataclass(frozen=True)
class Partial:
    """The derivative with respect to one occurrence of an atom: ``coefficient * slope``, the first without coordinates, the second a
    function of coordinates, summed over ``indices`` (which the element of the atom may depend on) where ``guard`` holds."""

    atom: Coord
    coefficient: Expr = ONE
    slope: Expr = ONE
    indices: tuple[Index, ...] = ()
    guard: Expr | None = None

    def scaled(self, factor: Expr) -> "Partial":
        """Times an expression."""
        factors = factor.factors if isinstance(factor, Mul) else (factor,)
        scalars, vectors = ([f for f in factors if bool(coords(f)) is with_coords] for with_coords in (False, True))
        return replace(self, coefficient=mul(self.coefficient, *scalars), slope=mul(self.slope, *vectors))

    def where(self, test: Expr) -> "Partial":
        """Only where a condition holds; what it excludes is not evaluated."""
        if coords(test):
            return replace(self, slope=Where(test, self.slope, ZERO))
        return replace(self, guard=both(self.guard, test))

    def within(self, indices: Iterable[Index], guard: Expr | None) -> "Partial":
        """Summed over further indices."""
        names = {index: fresh(index) for index in indices}
        inner = replace(self, guard=both(guard, self.guard)).at(names)
        return replace(inner, indices=(*names.values(), *inner.indices))

    def at(self, names: dict[Index, Expr]) -> "Partial":
        """With free indices replaced, its own renamed apart."""
        names = {**names, **{index: fresh(index) for index in self.indices}}
        guard = None if self.guard is None else substitute(self.guard, names)
        parts = (substitute(part, names) for part in (self.atom, self.coefficient, self.slope))
        return Partial(*parts, tuple(names[index] for index in self.indices), guard)


class Jacobian:
    """Derivatives with respect to the families that ``is_atom`` accepts.

    ``name_vector`` and ``name_scalar`` give a composite expression a family of its own, so that what many definitions share is
    written once."""

    def __init__(self, is_atom: Callable[[Family], bool], name_vector: Callable[[Expr], Expr], name_scalar: Callable[[Expr], Expr]):
        self.is_atom, self._name_vector, self._name_scalar = is_atom, name_vector, name_scalar
        self._depends: dict[Family, bool] = {}
        self._known: dict[Family, list[Partial] | NoSlope] = {}

    def depends(self, expr: Expr) -> bool:
        """Whether an atom occurs in an expression or in what it is made of."""
        return any(bottom_up(coord.family, self._depends, vectors_of, self._find_depends) for coord in coords(expr))

    def _find_depends(self, family: Family) -> bool:
        return self.is_atom(family) or any(self._depends[used] for used in vectors_of(family))

    def of(self, family: Family) -> list[Partial]:
        """The derivative of a family, over its own axes.

        :raises NoSlope: where it has none."""
        found = bottom_up(family, self._known, vectors_of, self._find)
        if isinstance(found, NoSlope):
            raise found
        return found

    def _find(self, family: Family) -> list[Partial] | NoSlope:
        if self.is_atom(family):
            return [Partial(family.generic)]
        if not isinstance(family.definition, Nonlin):
            return []
        try:
            return [self._named(partial) for partial in _gathered(self.partials(family.definition.body))]
        except NoSlope as error:
            return error

    def _named(self, partial: Partial) -> Partial:
        slope, coefficient = partial.slope, partial.coefficient
        if not isinstance(slope, Coord | Num):
            slope = self._name_vector(slope)
        if not _is_short(coefficient) and not has_infinite(coefficient):
            coefficient = self._name_scalar(coefficient)
        return replace(partial, slope=slope, coefficient=coefficient)

    # --- the rules of differentiation --------------------------------------------------------------------------------

    def partials(self, expr: Expr) -> list[Partial]:
        """The derivative of an expression.

        :raises NoSlope: where it has none."""
        if not self.depends(expr):
            return []
        expr = as_power(expr)
        match expr:
            case Coord():
                names = dict(zip(expr.family.axes, expr.subscripts))
                return [partial.at(names) for partial in self.of(expr.family)]
            case Add():
                return [partial for term in expr.terms for partial in self.partials(term)]
            case Mul(factors=factors):
                return [
                    partial.scaled(mul(*factors[:k], *factors[k + 1:]))
                    for k, factor in enumerate(factors) for partial in self.partials(factor)
                ]
            case Pow(base=base, exponent=exponent):
                slope, response = mul(exponent, power(base, add(exponent, -1))), mul(Call("log", (base,)), expr)
                return [p.scaled(slope) for p in self.partials(base)] + [p.scaled(response) for p in self.partials(exponent)]
            case Call(function="max" | "min"):
                return self._extremum(expr)
            case Call():
                return [p.scaled(_slope(expr)) for p in self.partials(expr.arguments[0])]
            case Where():
                return self._choice(expr)
            case Reduce(guard=guard) if guard is None or not coords(guard):
                return self._reduction(expr)
        raise NoSlope(type(expr).__name__.lower())

    def _extremum(self, expr: Call) -> list[Partial]:
        """max(a, b, …) and min: the slope of the argument that is chosen, the first of several that are equal."""
        sign, found = 1 if expr.function == "max" else -1, []
        beats = lambda one, other: Call("step", (mul(sign, add(one, mul(-1, other))),))  # noqa: E731
        for k, own in enumerate(expr.arguments):
            before = [beats(own, other) for other in expr.arguments[:k]]
            after = [add(1, mul(-1, beats(other, own))) for other in expr.arguments[k + 1:]]
            found += [partial.scaled(mul(*before, *after)) for partial in self.partials(own)]
        return found

    def _choice(self, expr: Where) -> list[Partial]:
        if self.depends(expr.test) and not _is_continuous(expr):
            raise NoSlope("where")
        opposite = Logic("not", (expr.test,))
        then = [partial.where(expr.test) for partial in self.partials(expr.then)]
        return then + [partial.where(opposite) for partial in self.partials(expr.otherwise)]

    def _reduction(self, expr: Reduce) -> list[Partial]:
        inner = self.partials(expr.body)
        if expr.op != "sum":
            others = {index: fresh(index) for index in expr.indices}
            body = substitute(expr.body, others)
            guard = None if expr.guard is None else substitute(expr.guard, others)
            if expr.op == "prod":
                same = [Compare("==", index, other) for index, other in others.items()]
                guard = both(guard, Logic("not", (same[0] if len(same) == 1 else Logic("and", tuple(same)),)))
                factor = Reduce("prod", body, tuple(others.values()), guard)
            else:
                chosen = ">=" if expr.op == "max" else "<="
                whole = Reduce(expr.op, body, tuple(others.values()), guard)
                equal = Reduce("sum", Indicator(Compare(chosen, body, whole)), tuple(others.values()), guard)
                factor = mul(Indicator(Compare(chosen, expr.body, whole)), power(equal, -1))  # equal ones share it
            inner = [partial.scaled(factor) for partial in inner]
        return [partial.within(expr.indices, expr.guard) for partial in inner]


def _slope(expr: Call) -> Expr:
    """phi'(z) as a formula."""
    if expr.function in ELEMENTARY:
        raise NoSlope(expr.function)
    slope = slope_of(nonlinearities.get(expr.function), *expr.arguments)
    if slope is None:
        raise NoSlope(expr.function)
    return slope


def _is_continuous(expr: Where) -> bool:
    """Whether both sides are seen to agree where the two sides of the comparison do."""
    test = expr.test
    if not isinstance(test, Compare):
        return False
    for one, other in ((test.left, test.right), (test.right, test.left)):
        if isinstance(one, Coord) and one not in coords(other):
            then, otherwise = (with_parts(side, {one: other}) for side in (expr.then, expr.otherwise))
            return then == otherwise
    return False


def _gathered(partials: list[Partial]) -> list[Partial]:
    """Occurrences of the same element joined."""
    groups: dict[tuple, list[Partial]] = {}
    for partial in partials:
        key = (partial.atom, partial.guard) if not partial.indices else (partial,)
        groups.setdefault(key, []).append(partial)
    found = []
    for own in groups.values():
        if len({p.slope for p in own}) == 1:
            own = [replace(own[0], coefficient=add(*[p.coefficient for p in own]))]
        elif not any(has_infinite(p.coefficient) for p in own):
            own = [replace(own[0], coefficient=ONE, slope=add(*[mul(p.coefficient, p.slope) for p in own]))]
        found += [partial for partial in own if ZERO not in (partial.coefficient, partial.slope)]
    return found


def _is_short(expr: Expr) -> bool:
    if isinstance(expr, Mul) and len(expr.factors) == 2:
        return all(map(_is_short, expr.factors))
    return isinstance(expr, Num | Sym | ScalarRef)
