"""Gaussian expectations as formulas: closed forms where they are known, an object that evaluates numerically where not.

The product of the factors is expanded into terms.  A term c u^j phi(u) v^k psi(v) is taken apart by independence and looked up in
:mod:`netsor.derive.closed_forms`; whatever has no closed form stays E[...] with its covariance.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import sympy

from netsor.derive.closed_forms import (
    Activation, Product, citation, is_shorter_in_rho, mean, pair_moment, polynomial_moment, second_moment,
)
from netsor.derive.closed_forms.characteristic import CITATION as CHARACTERISTIC
from netsor.derive.closed_forms.characteristic import as_factor, wave_expectation
from netsor.derive.closed_forms.isserlis import TooLong
from netsor.derive.softmax import softmax_moment
from netsor.derive.names import Letters, limits
from netsor.derive.objects import GaussianExpectation, with_quantiles_undone
from netsor.ir.expressions import Add, Call, Compare, Expect, Expr, Indicator, Leaf, Mul, Num, Pow, Where, first, mul, second
from netsor.ir.polynomials import as_power
from netsor.ir.rewrite import walk
from netsor.limit.expectations import renumber

if TYPE_CHECKING:
    from netsor.derive.convert import Converter

LARGEST_EXPANSION = 64


class NoForm(Exception):
    """An expectation has no closed form that we know."""


def gaussian_expectation(expect: Expect, convert: "Converter", letters: Letters) -> sympy.Expr:
    """The expectation in closed form, or as a :class:`GaussianExpectation`."""
    expect = without_copies(expect)
    if not any(expect.inner):
        law = Law(expect, convert, letters)
        try:
            return with_quantiles_undone(law.expectation(expect.factors))
        except NoForm:
            pass
    whole = standing(expect, convert, letters)
    found = softmax_moment(whole, convert.ranges(letters)) if isinstance(whole, GaussianExpectation) else None
    return whole if found is None else found


def without_copies(expect: Expect) -> Expect:
    """The expectation with variables that are equal almost surely (Var u = Cov(u, v) = Var v) made one."""
    place: dict[int, int] = {}
    kept: list[int] = []
    for slot in range(len(expect.inner)):
        own = expect.covariance[slot][slot]
        same = next((
            other for other in kept
            if expect.inner[slot] == expect.inner[other] and expect.mean[slot] == expect.mean[other]
            and expect.covariance[other][other] == own == expect.covariance[other][slot]), None)
        if same is None:
            kept.append(slot)
        place[slot] = kept.index(slot if same is None else same)
    if len(kept) == len(expect.inner):
        return expect
    return Expect(
        (mul(*[renumber(factor, place) for factor in expect.factors]),), tuple(expect.inner[k] for k in kept),
        tuple(expect.mean[k] for k in kept), tuple(tuple(expect.covariance[k][m] for m in kept) for k in kept))


# --- closed forms ----------------------------------------------------------------------------------------------------


class Law:
    """The joint law of the variables of an expectation, as formulas."""

    def __init__(self, expect: Expect, convert: "Converter", letters: Letters):
        self.convert, self.letters = convert, letters
        self.means = [convert(each, letters) for each in expect.mean]
        self.covariance = [[convert(entry, letters) for entry in row] for row in expect.covariance]

    def expectation(self, factors: tuple[Expr, ...]) -> sympy.Expr:
        """E of the product of the factors.

        :raises NoForm: if one of its terms has none."""
        terms = [Term(sympy.S.One)]
        for factor in factors:
            terms = multiplied(terms, self.terms(factor))
        return sympy.Add(*[term.coefficient * self.of_term(term) for term in terms])

    def terms(self, expr: Expr) -> list["Term"]:
        """The expression as a sum of products of powers and functions of single variables."""
        if not any(isinstance(part, Leaf) for part in walk(expr)):
            return [Term(self.convert(expr, self.letters))]
        expr = as_power(expr)
        match expr:
            case Leaf(slot=slot):
                return [Term(sympy.S.One, ((slot, 1),))]
            case Add(terms=parts):
                return [term for part in parts for term in self.terms(part)]
            case Mul(factors=factors):
                result = [Term(sympy.S.One)]
                for factor in factors:
                    result = multiplied(result, self.terms(factor))
                return result
            case Pow(base=base, exponent=Num(value=int(exponent))) if 0 < exponent <= 16:
                if isinstance(base, Call) and len(terms := self.terms(base)) == 1:
                    return [terms[0].to_the(exponent)]
                result = [Term(sympy.S.One)]
                for _ in range(exponent):
                    result = multiplied(result, self.terms(base))
                return result
            case Call(function="max" | "min" as name, arguments=(one, other)):
                variable, bound = (one, other) if isinstance(one, Leaf) else (other, one)
                ends = (bound, Num(math.inf)) if name == "max" else (Num(-math.inf), bound)
                return self.terms(Call("clip", (variable, *ends)))
            case Call(function=name, arguments=(Leaf(slot=slot), *parameters)):
                if any(isinstance(part, Leaf) for parameter in parameters for part in walk(parameter)):
                    raise NoForm
                values = tuple(self.convert(parameter, self.letters) for parameter in parameters)
                return [Term(sympy.S.One, (), ((slot, Activation(name, values), 1),))]
            case Indicator(test=Compare(op="<" | "<=" | ">" | ">=" as op, left=left, right=right)):
                return self.of_condition(op, left, right)
            case Where(test=test, then=then, otherwise=otherwise):
                holds = self.terms(Indicator(test))
                fails = [Term(sympy.S.One), *[term.scaled(-1) for term in holds]]
                return multiplied(holds, self.terms(then)) + multiplied(fails, self.terms(otherwise))
            case Call(function="exp" | "sin" | "cos" as name, arguments=(argument,)):
                return self.of_linear(name, self.terms(argument))
        raise NoForm

    def of_condition(self, op: str, left: Expr, right: Expr) -> list["Term"]:
        """1[u > at], or 1 - 1[u > at] (equal almost everywhere), for a condition on one variable."""
        if isinstance(right, Leaf):
            left, right, op = right, left, op.translate(str.maketrans("<>", "><"))
        if not isinstance(left, Leaf) or any(isinstance(part, Leaf) for part in walk(right)):
            raise NoForm
        above = Term(sympy.S.One, (), ((left.slot, Activation("above", (self.convert(right, self.letters),)), 1),))
        return [above] if op[0] == ">" else [Term(sympy.S.One), above.scaled(-1)]

    def of_linear(self, name: str, terms: list["Term"]) -> list["Term"]:
        """exp, sin or cos of a linear combination, as a sum of products of functions of its variables."""
        rates: dict[int, sympy.Expr] = {}
        constant = sympy.S.Zero
        for term in terms:
            match term.powers, term.functions:
                case (), ():
                    constant += term.coefficient
                case ((slot, 1),), ():
                    rates[slot] = rates.get(slot, sympy.S.Zero) + term.coefficient
                case _:
                    raise NoForm
        single = lambda kind, slot, rate: Term(sympy.S.One, (), ((slot, Activation(kind, (rate,)), 1),))  # noqa: E731
        if name == "exp":
            result = [Term(sympy.exp(constant))]
            for slot, rate in rates.items():
                result = [term.times(single("exponential", slot, rate)) for term in result]
            return result
        sine, cosine = [Term(sympy.sin(constant))], [Term(sympy.cos(constant))]
        for slot, rate in rates.items():
            sin, cos = single("sine", slot, rate), single("cosine", slot, rate)
            sine, cosine = (
                [t.times(cos) for t in sine] + [t.times(sin) for t in cosine],
                [t.times(cos) for t in cosine] + [t.times(sin).scaled(-1) for t in sine])
            if len(sine) > LARGEST_EXPANSION:
                raise NoForm
        return [term for term in (sine if name == "sin" else cosine) if term.coefficient != 0]

    def of_term(self, term: "Term") -> sympy.Expr:
        """E of a product, by independent groups of variables."""
        result = sympy.S.One
        for group in self.groups(term.slots):
            result *= self.of_group(term.part(group))
        return result

    def groups(self, slots: list[int]) -> list[set[int]]:
        groups: list[set[int]] = []
        for slot in slots:
            linked = [group for group in groups if any(self.covariance[slot][other] != 0 for other in group)]
            groups = [group for group in groups if group not in linked]
            groups.append({slot}.union(*linked))
        return groups

    def of_group(self, term: "Term") -> sympy.Expr:
        slots = term.slots
        if not term.functions:
            matrix = sympy.Matrix([[self.covariance[a][b] for b in slots] for a in slots])
            try:
                return polynomial_moment([term.power(slot) for slot in slots], matrix, [self.means[slot] for slot in slots])
            except TooLong:
                raise NoForm from None
        try:
            if len(slots) == 1:
                return self.of_one(slots[0], term)
            if len(slots) == 2:
                return self.of_pair(*slots, term)
        except NoForm:
            pass
        return self.of_waves(slots, term)

    def of_waves(self, slots: list[int], term: "Term") -> sympy.Expr:
        """E of exponentials, sines and cosines of any number of variables, times powers."""
        factors = [
            as_factor(activation.name, activation.parameters, slots.index(slot))
            for slot, activation, power in term.functions for _ in range(power)]
        if None in factors:
            raise NoForm
        self.convert.citations.append(CHARACTERISTIC)
        covariance = sympy.Matrix([[self.covariance[a][b] for b in slots] for a in slots])
        try:
            return known(wave_expectation(factors, [term.power(slot) for slot in slots], [self.means[slot] for slot in slots], covariance))
        except TooLong:
            raise NoForm from None

    def of_one(self, slot: int, term: "Term") -> sympy.Expr:
        """E u^k phi(u) psi(u) ..."""
        activations = term.activations(slot)
        self.convert.citations.append(citation(*activations))
        variance, centre = self.covariance[slot][slot], self.means[slot]
        if len(activations) == 1:
            return known(mean(activations[0], centre, variance))
        for place, last in enumerate(activations):  # a product that is a sum of terms, times one function more
            others = _one_function(activations[:place] + activations[place + 1:])
            if (found := second_moment(others, last, variance, mean=centre)) is not None:
                return found
        raise NoForm

    def of_pair(self, one: int, other: int, term: "Term") -> sympy.Expr:
        """E phi(u) psi(v), each a product of functions of one variable."""
        left, right = term.activations(one), term.activations(other)
        if not left or not right:
            raise NoForm
        self.convert.citations.append(citation(*left, *right))
        left, right = _one_function(left), _one_function(right)
        k11, k12, k22 = self.covariance[one][one], self.covariance[one][other], self.covariance[other][other]
        options = {}
        if self.means[one] != 0 or self.means[other] != 0:
            options = {"mean_left": self.means[one], "mean_right": self.means[other]}
        elif self.convert.correlation is not None and is_shorter_in_rho(left, right):
            rho = self.convert.correlation(k11, k12, k22, self.letters)
            if rho is not None:
                options = {"rho": rho}
        return known(pair_moment(left, right, k11, k22, k12, **options))


def _one_function(activations: list[Activation]) -> Activation | Product:
    return activations[0] if len(activations) == 1 else Product(tuple(activations))


def known(form: sympy.Expr | None) -> sympy.Expr:
    if form is None:
        raise NoForm
    return form


def simplified(functions: tuple) -> list:
    """Powers of steps and signs, and steps beside rectifiers, as one would write them (equal almost everywhere)."""
    rectified = {slot for slot, activation, _ in functions if activation.name in ("relu", "relu2")}
    found = []
    for slot, activation, power in functions:
        match activation.name:
            case "step" if slot in rectified:
                continue
            case "step" | "above":
                power = 1
            case "sign":
                power %= 2
        if power:
            found.append((slot, activation, power))
    return found


def multiplied(left: list["Term"], right: list["Term"]) -> list["Term"]:
    """The product of two sums, like terms added up.

    :raises NoForm: if it has more than LARGEST_EXPANSION."""
    found: dict[Term, sympy.Expr] = {}
    for one in left:
        for two in right:
            product = one.times(two)
            key = product.without_coefficient()
            found[key] = found.get(key, sympy.S.Zero) + product.coefficient
        if len(found) > LARGEST_EXPANSION:
            raise NoForm
    return [term.scaled(weight) for term, weight in found.items() if weight != 0]


class Term:
    """coefficient * prod u_slot^k * prod phi(u_slot)^m."""

    def __init__(self, coefficient, powers: tuple = (), functions: tuple = ()):
        self.coefficient = coefficient
        self.powers = tuple(sorted(powers))
        self.functions = tuple(sorted(simplified(functions), key=str))

    def __eq__(self, other) -> bool:
        return (self.coefficient, self.powers, self.functions) == (other.coefficient, other.powers, other.functions)

    def __hash__(self) -> int:
        return hash((self.coefficient, self.powers, self.functions))

    def times(self, other: "Term") -> "Term":
        powers = dict(self.powers)
        for slot, power in other.powers:
            powers[slot] = powers.get(slot, 0) + power
        functions = {(slot, activation): power for slot, activation, power in self.functions}
        for slot, activation, power in other.functions:
            functions[slot, activation] = functions.get((slot, activation), 0) + power
        return Term(self.coefficient * other.coefficient, tuple(powers.items()),
                    tuple((*key, power) for key, power in functions.items()))

    def to_the(self, exponent: int) -> "Term":
        return Term(self.coefficient**exponent, tuple((slot, power * exponent) for slot, power in self.powers),
                    tuple((slot, activation, power * exponent) for slot, activation, power in self.functions))

    def scaled(self, number) -> "Term":
        return Term(number * self.coefficient, self.powers, self.functions)

    def without_coefficient(self) -> "Term":
        return Term(sympy.S.One, self.powers, self.functions)

    @property
    def slots(self) -> list[int]:
        return sorted({slot for slot, *_ in self.powers + self.functions})

    def part(self, slots: set[int]) -> "Term":
        return Term(sympy.S.One, tuple(each for each in self.powers if each[0] in slots),
                    tuple(each for each in self.functions if each[0] in slots))

    def power(self, slot: int) -> int:
        return dict(self.powers).get(slot, 0)

    def activations(self, slot: int) -> list[Activation]:
        """The functions of one variable, each as often as it occurs; its power is a monomial."""
        found = [activation for own, activation, power in self.functions if own == slot for _ in range(power)]
        power = self.power(slot)
        return found + ([Activation("monomial", (sympy.Integer(power),))] if power else [])


# --- what stays an expectation ---------------------------------------------------------------------------------------

VARIABLES = ("u", "v", "w", "z")


def _variables(count: int, taken: set[str]) -> list[str]:
    """Names for the variables of an expectation that mean nothing else in the formula."""
    short = [name for name in VARIABLES if name not in taken]
    if count <= len(short):
        return short[:count]
    numbered = (f"{VARIABLES[0]}{k}" for k in itertools.count(1))
    return list(itertools.islice((name for name in numbered if name not in taken), count))


def standing(expect: Expect, convert: "Converter", letters: Letters) -> sympy.Expr:
    """E[integrand] with its law, a :class:`GaussianExpectation`; the integrand alone where it turns out to be certain."""
    inside = letters.scoped()
    names = _variables(len(expect.inner), inside.used | convert.names.reserved | {str(head) for head in convert.heads})
    inner = []
    for block in expect.inner:
        entries = []
        for index in block:
            one, other = inside.of(first(index)), inside.of(second(index))
            entries.append(sympy.Tuple(one, other, *limits(index, lambda e: convert(e, inside))))
        inner.append(sympy.Tuple(*entries))
    heads = [sympy.Symbol(name, real=True) for name in names]
    variables = [
        sympy.Indexed(sympy.IndexedBase(head), *[entry[0] for entry in entries]) if entries else head
        for head, entries in zip(heads, inner)
    ]
    body = convert.with_variables(heads)
    integrand = sympy.Mul(*[body(factor, inside) for factor in expect.factors])
    if not any(integrand.has(head) for head in heads):  # (-1 if u < 0 else 1)^2
        return integrand
    means = [convert(each, inside) for each in expect.mean]
    covariance = [[convert(entry, inside) for entry in row] for row in expect.covariance]
    return GaussianExpectation(
        integrand, sympy.Tuple(*variables), sympy.Tuple(*means), sympy.ImmutableMatrix(covariance), sympy.Tuple(*inner))
