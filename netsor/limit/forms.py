"""How the recursion sees a vector family: an atom, a sum of products, or a function of Gaussian families.

A program writes one coordinatewise expression for a family.  Linear combinations, products and polynomials are recognised
here as patterns of it; what is left (nonlinearities, gates, maxima, conditions) becomes a *function* of Gaussian families.
Arguments that are affine in Gaussian families are Gaussian themselves and are given a hidden family of their own, so that
``relu(W@x + b)`` is a function of one Gaussian variable.
"""

from __future__ import annotations

import itertools

from netsor.ir.expressions import (
    Add, Call, Compare, Coord, Expr, Index, Indicator, Logic, Mul, Num, ONE, Pow, Reduce, Where, add, both, mul,
)
from netsor.ir.facts import Randomness, bottom_up, vectors_of
from netsor.ir.polynomials import as_power, coords, degree, with_parts
from netsor.ir.program import Custom, Family, Given, Iid, MatMul, Nonlin
from netsor.ir.rewrite import children, free_indices, rebuild, rename_bound, substitute, walk
from netsor.limit.limits import TooMuchWork
from netsor.limit.parity import Sources
from netsor.limit.shared_factors import Facts, gathered
from netsor.limit.terms import ATOM, Atom, Form, Function, Sum, Term
from netsor.rules.base import is_affine

MAX_DEGREE = 4  # polynomials up to this degree are expanded into products
MAX_TERMS = 256
MAX_PARTS = 50_000
MAX_FACTOR = 64  # parts of a sum that is kept whole as a factor


class Forms:
    """The forms of a program's families, found once each; hidden families are made as needed."""

    def __init__(self) -> None:
        self._forms: dict[Family, Form] = {}
        self._gaussian: dict[Family, bool] = {}
        self._hidden: dict[Expr, Family] = {}
        self._sizes: dict[Family, float] = {}
        self._count = itertools.count()
        self._owner: Family | None = None  # whose definition hidden families are made for
        self.sources = Sources(self)
        self._facts = Facts(
            self._is_joint, self.sources.share, lambda factor: self.form(factor.family) if isinstance(factor, Coord) else None,
            lambda whole: self._parts(whole) <= MAX_PARTS, Randomness())

    def form(self, family: Family) -> Form:
        """The form of a vector family."""
        if family not in self._forms:
            outer, self._owner = self._owner, family
            self._forms[family] = self._find(family)
            self._owner = outer
        return self._forms[family]

    def is_gaussian(self, family: Family) -> bool:
        """Whether Z is Gaussian given the random scalars: atoms and affine combinations of such."""
        return bottom_up(family, self._gaussian, vectors_of, self._gaussian_by_definition)

    def _gaussian_by_definition(self, family: Family) -> bool:
        definition = family.definition
        if isinstance(definition, Nonlin):
            return is_affine(definition.body, self._gaussian.__getitem__)
        return not isinstance(definition, Iid)

    def constituents(self, family: Family) -> tuple[Family, ...]:
        """The vector families that the form of ``family`` mentions (none for an atom)."""
        match self.form(family):
            case Sum(terms=terms):
                return tuple(dict.fromkeys(factor.family for term in terms for factor in term.factors))
            case Function(body=body):
                return tuple(dict.fromkeys(part.family for part in sorted(coords(body), key=repr)))
        return ()

    def _find(self, family: Family) -> Form:
        definition = family.definition
        if isinstance(definition, (Given, Iid, MatMul, Custom)):
            return ATOM
        terms = gathered(self._expand(definition.body), self._facts)
        if len(terms) == 1 and len(terms[0].factors) == 1 and terms[0] == Term(ONE, terms[0].factors):
            if not isinstance(terms[0].factors[0], Coord):
                return Function(self._gaussian_form(definition.body))
        return Sum(tuple(Term(t.coefficient, tuple(map(self._factor, t.factors)), t.indices, t.guard) for t in terms))

    def _factor(self, factor: Expr) -> Coord:
        """A factor that stays whole, as a family."""
        if isinstance(factor, Coord):
            return factor
        found = self._intern(self._gaussian_form(factor))
        if not self.is_gaussian(found.family):
            self._forms.setdefault(found.family, Function(found.family.definition.body))
        return found

    def gaussian_body(self, family: Family) -> Expr:
        """The definition of a family that is not Gaussian, in coordinates of Gaussian families and inputs."""
        form = self.form(family)
        if isinstance(form, Atom):
            return family.generic
        return form.body if isinstance(form, Function) else self._gaussian_form(family.definition.body)

    def named(self, body: Expr, owner: Family) -> Coord:
        """A reference to a (hidden) family whose value is ``body``, part of the definition of ``owner``."""
        self._owner = owner
        return body if isinstance(body, Coord) else self._intern(body)

    # --- expressions to sums of products -----------------------------------------------------------------------------

    def _expand(self, expr: Expr) -> list[Term]:
        """Terms whose factors are Coord or expressions that stay whole."""
        if not coords(expr):
            return [Term(expr)]
        expr = as_power(expr)
        match expr:
            case Coord():
                return [Term(ONE, (expr,))]
            case Add():
                return [term for part in expr.terms for term in self._expand(part)]
            case Mul():
                return self._expand_product(expr)
            case Pow() if (degree(expr) or 99) <= MAX_DEGREE:
                terms = [Term()]
                for _ in range(int(expr.exponent.value)):
                    terms = _product(terms, self._expand(expr.base))
                return terms if len(terms) <= MAX_TERMS else [Term(ONE, (expr,))]
            case Pow(exponent=Num(value=2 | 3 | 4)) if degree(expr) is None and len(terms := self._apart(expr.base)) > 1:
                expanded = [Term()]
                for _ in range(int(expr.exponent.value)):
                    expanded = _product(expanded, terms)
                return expanded
            case Call(function="max" | "min", arguments=(one, other)) if self._is_gaussian_gap(gap := add(one, mul(-1, other)), one, other):
                hinge = Call("relu", (gap,))
                return self._expand(add(other, hinge) if expr.function == "max" else add(one, mul(-1, hinge)))
            case Reduce(op="sum") if expr.guard is None or not coords(expr.guard):
                return [
                    Term(t.coefficient, t.factors, expr.indices + t.indices, both(expr.guard, t.guard))
                    for t in gathered(self._expand(expr.body), self._facts)
                ]
            case Where(then=then, otherwise=otherwise) if coords(expr.test) and None not in (degree(then), degree(otherwise)) \
                    and self._is_joint(expr) and (kept := self._indicator(expr.test)) is not None:
                return self._expand(add(mul(kept, add(then, mul(-1, otherwise))), otherwise))
            case Where() if not coords(expr.test):
                kept = [t.times(Term(Indicator(expr.test))) for t in self._expand(expr.then)]
                opposite = Logic("not", (expr.test,))
                return kept + [t.times(Term(Indicator(opposite))) for t in self._expand(expr.otherwise)]
        return [Term(ONE, (expr,))]

    def _is_gaussian_gap(self, gap: Expr, *sides: Expr) -> bool:
        """Whether the difference of two vectors is a Gaussian variable: their maximum is then one of them and a ReLU of that."""
        return all(map(coords, sides)) and degree(gap) == 1 and all(self.is_gaussian(part.family) for part in coords(gap))

    def _indicator(self, test: Expr) -> Expr | None:
        """A condition on Gaussian variables as steps (0 at 0) of affine combinations of them; None if it is another."""
        match test:
            case Compare(op=">" | ">=" | "<" | "<=" as op, left=left, right=right):
                gap = add(left, mul(-1, right)) if op in (">", "<=") else add(right, mul(-1, left))
                if degree(gap) != 1 or not all(self.is_gaussian(part.family) for part in coords(gap)):
                    return None
                step = Call("step", (gap,))
                return step if op in (">", "<") else add(ONE, mul(-1, step))
            case Logic(op="and", arguments=arguments):
                found = [self._indicator(argument) for argument in arguments]
                return None if None in found else mul(*found)
        return None

    def _apart(self, base: Expr) -> list[Term]:
        """The terms of a sum that is a function of several variables, if each is a product of functions of one; else nothing."""
        terms = self._expand(base) if isinstance(base, (Add, Call)) and self._is_joint(base) else []
        return [] if any(map(self._is_joint, (factor for term in terms for factor in term.factors))) or len(terms) > MAX_DEGREE else terms

    def _expand_product(self, expr: Mul) -> list[Term]:
        scalars = [factor for factor in expr.factors if not coords(factor)]
        vectors = [factor for factor in expr.factors if coords(factor)]
        terms = [Term(mul(*scalars))]
        for group in _sharing(vectors):
            product = mul(*group)
            if len(group) > 1 and degree(product) is None and len(coords(product)) == 1:
                terms = _product(terms, [Term(ONE, (product,))])  # a function of one variable, such as z*sigmoid(z)
                continue
            for factor in group:
                whole = self._function_of_one(factor) if len(vectors) > 1 else None
                terms = _product(terms, self._expand(factor) if whole is None else [Term(ONE, (whole,))])
        if len(terms) > MAX_TERMS:
            return [Term(mul(*scalars), (mul(*vectors),))]
        return terms

    def _function_of_one(self, factor: Expr) -> Expr | None:
        """A sum, such as the 1 - z of a gate, as a function of one Gaussian variable, if it is one and no polynomial: expanded, a
        product over t steps would have 2^t terms."""
        is_sum = isinstance(factor, Add) or (isinstance(factor, Coord) and isinstance(self.form(factor.family), Sum))
        if not is_sum or self._parts(factor) > MAX_FACTOR:
            return None
        form = self._gaussian_form(factor)
        return form if len(coords(form)) == 1 and degree(form) is None else None

    # --- functions of Gaussian families ------------------------------------------------------------------------------

    def _gaussian_form(self, expr: Expr) -> Expr:
        """``expr`` in coordinates of Gaussian families, as few different ones as can be seen.

        :raises TooMuchWork: where definitions that use others twice would be written out exponentially often."""
        parts = self._parts(expr)
        if parts > MAX_PARTS:
            raise TooMuchWork(
                f"a formula of this limit has {parts:.2g} parts with its coordinatewise definitions written out",
                "each definition uses earlier ones several times; a matrix between them ends the formula")
        expr = self._inline(expr)
        return with_parts(expr, {part: self._intern(part) for part in self._variables(expr) if not isinstance(part, Coord)})

    def _variables(self, expr: Expr) -> list[Expr]:
        """The variables of an expression with everything written out: affine parts, where they are as few, or Gaussian coordinates."""
        affine = list(dict.fromkeys(self._affine_parts(expr)))
        variables = [variable for variable in coords(expr) if self.is_gaussian(variable.family)]
        return affine if len(affine) == 1 or (len(variables) > 1 and len(affine) <= len(variables)) else variables

    def _is_joint(self, factor: Expr) -> bool:
        """Whether a factor of a term is a function of several variables, and no sum of products."""
        if isinstance(factor, Coord) and (self.is_gaussian(factor.family) or not isinstance(self.form(factor.family), Function)):
            return False
        if self._parts(factor) > MAX_PARTS:
            return False
        whole = self._inline(factor)
        others = [variable for variable in coords(whole) if not self.is_gaussian(variable.family)]
        variables = self._variables(whole) + others
        return len(variables) > 1 or any(free_indices(variable) - free_indices(factor) for variable in variables)

    def _parts(self, expr: Expr) -> float:
        """Parts of an expression with all coordinates that are not Gaussian written out."""
        inner = {part.family for part in coords(expr)}
        for family in inner:
            bottom_up(family, self._sizes, vectors_of, self._size)
        return sum(self._sizes[part.family] if isinstance(part, Coord) else 1 for part in walk(expr))

    def _size(self, family: Family) -> float:
        if self._stands_alone(family):
            return 1
        return sum(self._sizes[part.family] if isinstance(part, Coord) else 1 for part in walk(family.definition.body))

    def _inline(self, expr: Expr) -> Expr:
        """Coordinates of families that are not Gaussian replaced by their definitions."""
        if not coords(expr):
            return expr
        if isinstance(expr, Coord):
            family = expr.family
            if self._stands_alone(family):
                return expr
            return self._inline(substitute(family.definition.body, dict(zip(family.axes, expr.subscripts))))
        return rebuild(expr, self._inline)

    def _stands_alone(self, family: Family) -> bool:
        """Whether a coordinate is a variable of its own in functions: Gaussian, or an input."""
        return self.is_gaussian(family) or isinstance(family.definition, Iid)

    def _affine_parts(self, expr: Expr) -> list[Expr]:
        """The largest subexpressions that are affine in Gaussian coordinates."""
        if not coords(expr):
            return []
        if degree(expr) == 1 and all(self.is_gaussian(variable.family) for variable in coords(expr)):
            return [expr]
        if isinstance(expr, Coord):
            return []
        return [part for child in children(expr) for part in self._affine_parts(child)]

    def _intern(self, expr: Expr) -> Coord:
        """A reference to the hidden family whose definition is ``expr``, up to the names of its free indices."""
        order = list(dict.fromkeys(part for part in walk(expr) if isinstance(part, Index) and part in free_indices(expr)))
        canonical = {index: Index(index.name, index.range, ("axis", position)) for position, index in enumerate(order)}
        # names are kept for display; equality of keys must not depend on them
        anonymous = {index: Index("", index.range, ("axis", position)) for position, index in enumerate(order)}
        key = rename_bound(substitute(expr, anonymous))
        if key not in self._hidden:
            latest = max((part.family.order for part in coords(expr)), default=-1)
            axes = tuple(canonical[index] for index in order)
            family = Family(
                f"z.{next(self._count) + 1}", axes, Nonlin(substitute(expr, canonical)), latest + 0.25, hidden=True,
                span=None if self._owner is None else self._owner.span,
                width=next((part.family.width for part in coords(expr)), ""),
            )
            self._hidden[key] = family
        return Coord(self._hidden[key], tuple(order))


def _product(left: list[Term], right: list[Term]) -> list[Term]:
    return [a.times(b) for a in left for b in right]


def _sharing(factors: list[Expr]) -> list[list[Expr]]:
    """Factors in groups that share coordinates."""
    groups: list[list[Expr]] = []
    for factor in factors:
        linked = [group for group in groups if any(coords(factor) & coords(member) for member in group)]
        groups = [group for group in groups if group not in linked]
        groups.append([member for group in linked for member in group] + [factor])
    return groups


