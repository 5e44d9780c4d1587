"""The master theorem worked through recursively: moments of pairs of families, as equations.

A second moment E[Z^x Z^y] is found by replacing whichever of x and y was defined later by its definition; it is found once for
generic indices and used for all.  Nothing here knows a number: the result is a list of let-bound equations.

Demands are met on an explicit stack (a demand that is not yet known raises :class:`Missing` and is tried again once it is), so
that depth is limited by memory and not by Python's own stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from netsor.ir.expressions import ONE, Coord, Expr, Index, Mul
from netsor.ir.kernel import Kernel, has_infinite, limit_of, sum_kernels
from netsor.ir.program import Family, Moment, ScalarFunction
from netsor.ir.rewrite import substitute
from netsor.limit.equations import Binding, Equations
from netsor.limit.expectations import expectation
from netsor.limit.forms import Forms
from netsor.limit.limits import Steps
from netsor.limit.terms import Atom, Function, Sum, Term
from netsor.rules import rule_of


class Missing(Exception):
    """Moments that are not known yet."""

    def __init__(self, *keys: tuple):
        self.keys = keys


def copy(index: Index, side: str) -> Index:
    """The copy ("x" or "y") of an axis in a generic kernel."""
    return Index(index.name, index.range, side if index.tag == "" else (side, index.tag))


def generic(family: Family, side: str) -> Coord:
    """The element of a family at the copies of its axes."""
    return Coord(family, tuple(copy(axis, side) for axis in family.axes))


class Recursion:
    """Moments of a program's vectors given the random scalars.  All results are :class:`Kernel` over the indices of the references."""

    def __init__(self, whole_kernels: bool = False) -> None:
        self.forms = Forms()
        self.sources = self.forms.sources
        self.equations = Equations(whole_kernels)
        self._known: dict[tuple, Kernel] = {}
        self._products: dict[frozenset, Kernel] = {}  # moments of three factors or more, by their factors
        self._scalars: dict[Family, Binding] = {}
        self._steps = Steps()
        self._compute: dict[str, Callable[..., Kernel]] = {
            "mean": self._find_mean, "second": self._find_second, "covariance": self._find_covariance,
        }

    # --- public: complete results ------------------------------------------------------------------------------------

    def moment(self, *references: Coord) -> Kernel:
        """E of the product of coordinates."""
        return self._complete(lambda: self._moment(*references))

    def covariance(self, left: Coord, right: Coord) -> Kernel:
        """The central covariance; for Gaussian families computed directly, never as a difference."""
        if self.forms.is_gaussian(left.family) and self.forms.is_gaussian(right.family):
            return self._complete(lambda: self._covariance(left, right))
        means = self.moment(left) * self.moment(right)
        return self.moment(left, right) + means * -1

    def power(self, reference: Coord, exponent: int) -> Kernel:
        """E of a power of one coordinate.  From the third on, one expectation of the whole: expanding a sum would take its number of
        terms to that power."""
        if exponent <= 2:
            return self.moment(*[reference] * exponent)
        body = self.gaussian_body(reference)
        factors = list(body.factors) if isinstance(body, Mul) else [body]  # independent ones have expectations of their own
        return self._complete(lambda: expectation(factors * exponent, self._covariance, self._moment))

    def gaussian_body(self, reference: Coord) -> Expr:
        """The coordinate as an expression in coordinates of Gaussian families and inputs that are not Gaussian; what vanishes with the
        size of an infinite axis is left out."""
        family = reference.family
        if self.forms.is_gaussian(family):
            return reference
        body = self.forms.gaussian_body(family)
        return substitute(limit_of(body) if has_infinite(body) else body, dict(zip(family.axes, reference.subscripts)))

    def scalar(self, family: Family) -> Binding:
        """The equation of a Moment or a function of scalars."""
        if family not in self._scalars:
            self._scalars[family] = Binding(family.label, family.axes, self._scalar_expression(family), (family,))
            self.equations.bindings.append(self._scalars[family])
        return self._scalars[family]

    def _scalar_expression(self, family: Family) -> Expr:
        match family.definition:
            case Moment(body=body):
                return self.moment(self.forms.named(body, family)).expression()
            case ScalarFunction(body=body):
                return limit_of(body)
        raise TypeError(f"{family} has no equation")

    def known(self) -> dict[tuple, Kernel]:
        """The moments found so far, earliest first: ("mean", x), ("second", x, y) or ("covariance", x, y) -> kernel over the "x" and
        "y" copies of the families' axes, its coefficients let-bound where they are worth a name."""
        return self._known

    def scalars(self) -> dict[Family, Binding]:
        """The equations of Moments and functions of scalars that were asked for."""
        return self._scalars

    # --- demands -----------------------------------------------------------------------------------------------------

    def _complete(self, thunk: Callable[[], Kernel]) -> Kernel:
        while True:
            self._steps.start()
            try:
                return thunk()
            except Missing as missing:
                self._meet(missing.keys)

    def _meet(self, keys: Iterable[tuple]) -> None:
        stack = list(keys)
        while stack:
            kind, *families = stack[-1]
            if stack[-1] not in self._known:
                self._steps.start()
                try:
                    found = self._compute[kind](*families)
                except Missing as missing:
                    stack.extend(missing.keys)
                    continue
                name = {"mean": "E", "second": "K", "covariance": "C"}[kind]
                label = f"{name}[{','.join(family.label for family in families)}]"
                self._known[stack[-1]] = self.equations.bind(found, tuple(families), label)
            stack.pop()

    def _demand(self, kind: str, *references: Coord) -> Kernel:
        if len(references) == 2 and _rank(references[0]) < _rank(references[1]):
            references = references[::-1]
        key = (kind, *(reference.family for reference in references))
        if key not in self._known:
            raise Missing(key)
        names: dict[Index, Expr] = {}
        for side, reference in zip("xy", references):
            names |= {copy(axis, side): term for axis, term in zip(reference.family.axes, reference.subscripts)}
        return self._known[key].substitute(names)

    # --- moments in terms of earlier ones ----------------------------------------------------------------------------

    def _moment(self, *references: Coord) -> Kernel:
        if not references:
            return Kernel.of(ONE)
        if len(references) == 1:
            return self._demand("mean", *references)
        if len(references) == 2:
            return self._demand("second", *references)
        key = frozenset(Counter(references).items())
        if key not in self._products:
            self._products[key] = self._product(list(references))
        return self._products[key]

    def _covariance(self, left: Coord, right: Coord) -> Kernel:
        if not self.sources.meet(left.family, right.family):
            return Kernel()
        return self._demand("covariance", left, right)

    def _find_mean(self, family: Family) -> Kernel:
        reference = generic(family, "x")
        form = self.forms.form(family)
        if isinstance(form, Atom):
            return Kernel.of(rule_of(family).mean(reference))
        linear = isinstance(form, Sum) and all(len(term.factors) <= 1 for term in form.terms)
        if not linear and self.sources.vanishes((reference,)):  # a linear form's terms are looked at one by one
            return Kernel()
        if isinstance(form, Sum):
            return self._over_terms(reference, form, lambda term: self._moment(*term.factors))
        return self._expectation([reference])

    def _find_second(self, left: Family, right: Family) -> Kernel:
        x, y = generic(left, "x"), generic(right, "y")
        if self.forms.is_gaussian(left) and self.forms.is_gaussian(right):
            return self._covariance(x, y) + self._moment(x) * self._moment(y)
        return self._product([x, y])

    def _find_covariance(self, left: Family, right: Family) -> Kernel:
        """Cov of two Gaussian families; ``left`` was defined later."""
        x, y = generic(left, "x"), generic(right, "y")
        for one, other in ((x, y), (y, x)):
            form = self.forms.form(one.family)
            if isinstance(form, Sum):
                meet = self.sources.meet
                random = Sum(tuple(t for t in form.terms if t.factors and meet(t.factors[0].family, other.family)))
                return self._over_terms(one, random, lambda term, other=other: self._covariance(term.factors[0], other))
        rule = rule_of(left)
        if not rule.source(x).meets(rule_of(right).source(y)):
            return Kernel()
        return rule.covariance(x, y, self._moment)

    def _over_terms(self, reference: Coord, form: Sum, value: Callable[[Term], Kernel]) -> Kernel:
        """Sum over the terms of a form, at the element ``reference``."""
        names = dict(zip(reference.family.axes, reference.subscripts))
        kernels, missing = [], []
        for term in form.terms:
            self._steps.take()
            term = term.substitute(names)
            try:
                kernels.append((value(term) * term.coefficient).sum(term.indices, term.guard))
            except Missing as error:  # all that are missing at once: trying again for each would take terms squared
                missing += error.keys
        if missing:
            raise Missing(*dict.fromkeys(missing))
        return sum_kernels(kernels)

    def _product(self, references: list[Coord]) -> Kernel:
        """E of a product: expand sums, split into independent groups, then Isserlis or an expectation for each."""
        if self.sources.vanishes(references):
            return Kernel()
        sums = [r for r in references if isinstance(self.forms.form(r.family), Sum) and not self._is_gaussian(r)]
        if sums:
            latest = max(sums, key=_rank)
            rest = list(references)
            rest.remove(latest)
            form = self.forms.form(latest.family)
            found = self._over_terms(latest, form, lambda term: self._moment(*rest, *term.factors))
            return self._named(found, references) if len(form.terms) > 1 else found
        result = Kernel.of(ONE)
        for group in self._independent_groups(references):
            if len(group) == 1 or (len(group) == 2 and len(references) > 2):
                result = result * self._moment(*group)
            elif all(map(self._is_gaussian, group)):
                result = result * self._isserlis(tuple(group))
            else:
                result = result * self._expectation(group)
        return result

    def _isserlis(self, references: tuple[Coord, ...], known: dict[tuple[Coord, ...], Kernel] | None = None) -> Kernel:
        """E of a product of jointly Gaussian variables, means included (Isserlis 1918); ``known`` are products found already."""
        if not references:
            return Kernel.of(ONE)
        known = {} if known is None else known
        if references not in known:
            head, tail = references[0], references[1:]
            mean = self._moment(head)
            result = Kernel() if mean.is_zero else mean * self._isserlis(tail, known)
            for position, other in enumerate(tail):
                self._steps.take()
                covariance = self._covariance(head, other)
                if not covariance.is_zero:
                    result = result + covariance * self._isserlis(tail[:position] + tail[position + 1:], known)
            known[references] = result
        return known[references]

    def _independent_groups(self, references: list[Coord]) -> list[list[Coord]]:
        groups: list[list[Coord]] = []
        for reference in references:
            linked = [g for g in groups if any(self.sources.meet(reference.family, member.family) for member in g)]
            groups = [g for g in groups if g not in linked]
            groups.append([member for g in linked for member in g] + [reference])
        return groups

    def _is_gaussian(self, reference: Coord) -> bool:
        return self.forms.is_gaussian(reference.family)

    def _expectation(self, references: list[Coord]) -> Kernel:
        factors = []
        for reference in references:
            form = self.forms.form(reference.family)
            names = dict(zip(reference.family.axes, reference.subscripts))
            factors.append(substitute(form.body, names) if isinstance(form, Function) else reference)
        mirror = ()
        if len(references) == 2 and references[0].family is references[1].family:
            mirror = tuple(zip(references[0].subscripts, references[1].subscripts))
        found = expectation(factors, self._covariance, lambda reference: self._moment(reference), mirror)
        return self._named(found, references)

    def _named(self, kernel: Kernel, references: list[Coord]) -> Kernel:
        """The kernel with its coefficients bound: products of sums repeat each other, and each part is to be computed once."""
        families = tuple(dict.fromkeys(reference.family for reference in references))
        return self.equations.bind(kernel, families, f"E[{' '.join(family.label for family in families)}]")


def _rank(reference: Coord) -> tuple:
    family = reference.family
    return family.order, family.name


