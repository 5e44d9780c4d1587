"""Oddness and evenness in a source of randomness.

Flipping the sign of everything that one matrix (or input) contributes leaves the joint law as it was.  What is odd under such
a flip has expectation zero; this is what makes a score's factor *fresh* and most cross covariances vanish.
"""

from __future__ import annotations

from functools import reduce
from collections.abc import Callable
from typing import TYPE_CHECKING

from netsor.ir.expressions import (
    Add, Call, Compare, Coord, Expr, Indicator, Leaf, Logic, Mul, Num, Pow, Reduce, Softmax, Where,
)
from netsor.ir.facts import bottom_up, vectors_of
from netsor.ir.polynomials import coords
from netsor.ir.program import Family, Nonlin
from netsor.ir.rewrite import children, walk
from netsor.limit.functions import parity_of_call
from netsor.limit.terms import Atom
from netsor.rules import Source, rule_of

if TYPE_CHECKING:
    from netsor.limit.forms import Forms

Sign = Callable[[Expr], int]  # of a Coord or Leaf: +1 kept, -1 flipped, 0 neither


class Sources:
    """The sources of every family, and parities under flipping one of them."""

    def __init__(self, forms: "Forms"):
        self.forms = forms
        self._sources: dict[Family, frozenset[Source]] = {}
        self._parity: dict[Source, dict[Family, int]] = {}
        self._singular: dict[Family, bool] = {}

    def of(self, family: Family) -> frozenset[Source]:
        """The sources whose atoms Z is a function of (a MatMul result is an atom itself, whatever it multiplies)."""
        return bottom_up(family, self._sources, vectors_of, self._find)

    def _find(self, family: Family) -> frozenset[Source]:
        if isinstance(self.forms.form(family), Atom):
            return frozenset((rule_of(family).source(family.generic),))
        return frozenset().union(*map(self._at, coords(family.definition.body)))

    def at(self, reference: Coord) -> frozenset[Source]:
        """The sources of one element: those of its own matrix where the subscripts say which one that is."""
        self.of(reference.family)
        return self._at(reference)

    def _at(self, reference: Coord) -> frozenset[Source]:
        if isinstance(self.forms.form(reference.family), Atom):
            return frozenset((rule_of(reference.family).source(reference),))
        return self._sources[reference.family]

    def meet(self, left: Family, right: Family) -> bool:
        """Whether two families may share an atom."""
        return any(a.meets(b) for a in self.of(left) for b in self.of(right))

    def share(self, left: Expr, right: Expr) -> bool:
        """Whether two expressions may share an atom."""
        one, other = ([source for part in coords(expr) for source in self.at(part)] for expr in (left, right))
        return any(a.meets(b) for a in one for b in other)

    def parity(self, reference: Coord, source: Source) -> int:
        """+1, -1 or 0 under flipping every atom of ``source``, other atoms and scalars held."""
        if isinstance(self.forms.form(reference.family), Atom):
            return self._atom_parity(reference, source)
        known = self._parity.setdefault(source, {})
        return bottom_up(reference.family, known, vectors_of, lambda family: self._family_parity(family, source, known))

    def _family_parity(self, family: Family, source: Source, known: dict[Family, int]) -> int:
        if isinstance(self.forms.form(family), Atom):
            return self._atom_parity(family.generic, source)

        def sign(coordinate: Coord) -> int:
            if isinstance(self.forms.form(coordinate.family), Atom):
                return self._atom_parity(coordinate, source)
            return known[coordinate.family]

        return parity(family.definition.body, sign)

    @staticmethod
    def _atom_parity(reference: Coord, source: Source) -> int:
        rule = rule_of(reference.family)
        own = rule.source(reference)
        if not source.meets(own):
            return 1
        return -1 if source.covers(own) and rule.symmetric(reference) else 0

    def vanishes(self, references) -> bool:
        """Whether the expectation of the product is zero because it is odd in some source.

        Not where a definition is singular: an integral that does not exist is not zero by symmetry."""
        references = list(references)
        if any(self.is_singular(reference.family) for reference in references):
            return False
        candidates = set().union(*map(self.at, references))
        return any(self.product_parity(references, source) == -1 for source in widened(candidates))

    def is_singular(self, family: Family) -> bool:
        """Whether the definition divides by something that depends on vectors, or is otherwise not locally bounded."""
        if family not in self._singular:
            definition = family.definition
            self._singular[family] = isinstance(definition, Nonlin) and singular(definition.body)
        return self._singular[family]

    def product_parity(self, references, source: Source) -> int:
        return reduce(lambda product, reference: product * self.parity(reference, source), references, 1)


def singular(expr: Expr) -> bool:
    """Whether a negative power or a logarithm of something with coordinates (or leaves) occurs."""
    random = lambda part: any(isinstance(inner, (Coord, Leaf)) for inner in walk(part))  # noqa: E731
    for part in walk(expr):
        match part:
            case Pow(base=base, exponent=Num(value=exponent)) if exponent < 0 and random(base) and not positive(base):
                return True
            case Call(function="log", arguments=arguments) if random(arguments[0]) and not positive(arguments[0]):
                return True
    return False


_POSITIVE = {"exp", "sigmoid", "softplus", "gaussian", "rbf"}


def positive(expr: Expr) -> bool:
    """Whether an expression is seen to be bounded away from what division cannot bear: a positive number plus squares, exp, …"""
    match expr:
        case Num(value=value):
            return value > 0
        case Call(function=name):
            return name in _POSITIVE
        case Add(terms=terms):
            return all(positive(term) or nonnegative(term) for term in terms) and any(map(positive, terms))
        case Mul(factors=factors):
            return all(map(positive, factors))
        case Pow(base=base, exponent=Num()):
            return positive(base)
    return False


def nonnegative(expr: Expr) -> bool:
    """Whether an expression is seen to be at least zero."""
    match expr:
        case Call(function="abs" | "relu" | "relu2" | "square"):
            return True
        case Pow(exponent=Num(value=value)) if value == int(value) and int(value) % 2 == 0:
            return True
        case Pow(base=base):
            return nonnegative(base)
        case Mul(factors=factors):
            return all(positive(factor) or nonnegative(factor) for factor in factors)
        case Add(terms=terms):
            return all(positive(term) or nonnegative(term) for term in terms)
        case Reduce(op="sum", body=body):
            return positive(body) or nonnegative(body)
    return positive(expr)


def widened(sources) -> list[Source]:
    """The sources and the whole families that they are elements of, in a reproducible order."""
    whole = {Source(source.owner, (None,) * len(source.subscripts)) for source in sources}
    return sorted(whole | set(sources), key=lambda source: (str(source.owner), str(source.subscripts)))


def parity(expr: Expr, sign: Sign) -> int:
    """The parity of an expression, given that of its coordinates (or leaves)."""
    if isinstance(expr, (Coord, Leaf)):
        return sign(expr)
    if not any(isinstance(part, (Coord, Leaf)) for part in walk(expr)):
        return 1
    of = lambda part: parity(part, sign)  # noqa: E731
    match expr:
        case Add():
            return _common(map(of, expr.terms))
        case Mul():
            return reduce(lambda product, factor: product * of(factor), expr.factors, 1)
        case Pow(exponent=Num(value=exponent)) if exponent == int(exponent):
            return of(expr.base) ** int(abs(exponent))
        case Call():
            inner = [of(argument) for argument in expr.arguments]
            if all(value == 1 for value in inner):
                return 1
            if inner[0] == -1 and all(value == 1 for value in inner[1:]):
                return parity_of_call(expr.function, expr.arguments[1:])
            return 0
        case Where():
            return _common((of(expr.then), of(expr.otherwise))) if of(expr.test) == 1 else 0
        case Indicator() | Compare() | Logic() | Softmax():
            return 1 if all(of(child) == 1 for child in children(expr)) else 0
        case Reduce(op="sum"):
            return of(expr.body) if expr.guard is None or of(expr.guard) == 1 else 0
        case Reduce():
            return 1 if all(of(child) == 1 for child in children(expr)) else 0
    return 1 if all(of(child) == 1 for child in children(expr)) else 0


def _common(parities) -> int:
    values = set(parities)
    return values.pop() if len(values) == 1 else 0
