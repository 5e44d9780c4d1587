"""Expectations over variables that are not Gaussian, around the expectation given them.

E f(m, z) with m independent of z is E_m[E_z f(m, z)]: a sum over the values of a discrete m, with their probabilities; for a uniform
m the closed form of its moments where f is a polynomial in m, and otherwise an :class:`Integral` over the unit interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import product

import numpy as np

from netsor.ir.elementary import COMPARISONS
from netsor.ir.expressions import (
    ONE, ZERO, Add, Array, Call, Compare, Expr, Index, Indicator, Integral, Leaf, Logic, Mul, Num, Pow, Range, Where, add,
    fresh, mul, total,
)
from netsor.ir.laws import Law
from netsor.ir.polynomials import as_power, times
from netsor.ir.program import ArrayDeclaration
from netsor.ir.rewrite import free_indices, rebuild, walk
from netsor.limit.cells import has_leaf
from netsor.limit.functions import function

MOST_CASES = 256  # combinations of values that are written out
FEW_CASES = 16  # beyond this an array of all combinations is tried first
MOST_IN_ARRAY = 2**12
MOST_CELLS = 2**24  # combinations times the sizes of all indices
MOST_INTEGRALS = 2  # uniform variables that are integrated over one inside the other
MOST_POWERS = 16  # degree of polynomials, and products of coefficients
NODES = Range(1, 60)  # quadrature nodes that an integral takes, about

Factors = list[Expr]


class TooManyCases(Exception):
    """There are more values to sum over than is sensible."""


@dataclass(frozen=True)
class Variable:
    """A leaf without subscripts and its law."""

    leaf: Leaf
    law: Law


def condition(factors: Factors, variables: list[Variable], given: Callable[[Factors], Expr]) -> Expr:
    """E of the product of ``factors`` over independent ``variables``; ``given`` is the expectation when those have values.

    :raises TooManyCases: where sums and integrals would be too many."""
    discrete = [variable for variable in variables if variable.law.atoms() is not None]
    if math.prod(len(variable.law.atoms()) for variable in discrete) > MOST_CASES:
        raise TooManyCases
    smooth = [variable for variable in variables if variable.law.atoms() is None]
    return _condition(factors, [*discrete, *smooth], given, 0)


def _condition(factors: Factors, variables: list[Variable], given: Callable[[Factors], Expr], integrals: int) -> Expr:
    if ZERO in factors:
        return ZERO
    while variables and not any(variables[0].leaf in walk(factor) for factor in factors):
        variables = variables[1:]
    if not variables:
        return given(factors)
    (leaf, law), rest = (variables[0].leaf, variables[0].law), variables[1:]
    inner = lambda factors, more=0: _condition(factors, rest, given, integrals + more)  # noqa: E731
    if law.atoms() is not None:
        return add(*[mul(weight, inner(_with_value(factors, leaf, value))) for value, weight in law.atoms()])
    expanded = _expanded(factors, leaf)
    if expanded is not None:
        return add(*[mul(law.moment(power), inner(coefficients)) for power, coefficients in expanded])
    if integrals == MOST_INTEGRALS:
        raise TooManyCases
    variable = fresh(Index("u", NODES))
    return Integral(inner(_with_value(factors, leaf, law.at(variable)), 1), variable)


def condition_in_array(factors: Factors, variables: list[Variable], given: Callable[[Factors], Expr]) -> Expr:
    """As :func:`condition`, with the combinations of values of two-valued variables along an index of their own instead of written out.

    :raises TooManyCases: where there are few, which are better written out, or too many."""
    discrete = [variable for variable in variables if variable.law.atoms() is not None]
    smooth = [variable for variable in variables if variable.law.atoms() is None]
    count = 2 ** len(discrete)
    sizes = math.prod(index.range.size for index in _free(factors) if not index.range.infinite)
    if not FEW_CASES < count <= MOST_IN_ARRAY or count * sizes > MOST_CELLS:
        raise TooManyCases
    case = fresh(Index("case", Range(1, count)))
    values, weights = {}, []
    for position, variable in enumerate(discrete, 1):
        second = Array(_bits(len(discrete)), (case, Num(position)))
        (low, at_low), (high, at_high) = variable.law.atoms()
        values[variable.leaf] = add(low, mul(add(high, mul(-1, low)), second))
        weights.append(add(at_low, mul(add(at_high, mul(-1, at_low)), second)))
    held = [replaced(factor, values) for factor in factors]
    return total(mul(*weights, _condition(held, smooth, given, 0)), (case,))


@cache
def _bits(count: int) -> ArrayDeclaration:
    """All combinations of ``count`` zeros and ones, one in each row."""
    rows = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    return ArrayDeclaration("bits", (Range(1, 2**count), Range(1, count)), rows.astype(float))


# --- values in the place of variables --------------------------------------------------------------------------------


def replaced(expr: Expr, values: Mapping[Leaf, Expr]) -> Expr:
    """``expr`` with other expressions in the place of leaves."""
    if isinstance(expr, Leaf):
        return values.get(expr, expr)
    return rebuild(expr, lambda child: replaced(child, values))


def _with_value(factors: Factors, leaf: Leaf, value: Expr) -> Factors:
    return [decided(replaced(factor, {leaf: value})) for factor in factors]


def decided(expr: Expr) -> Expr:
    """The same expression with conditions between numbers, and functions of numbers, worked out."""
    expr = rebuild(expr, decided)
    match expr:
        case Where(test=test) if (truth := _truth(test)) is not None:
            return expr.then if truth else expr.otherwise
        case Indicator(test=test) if (truth := _truth(test)) is not None:
            return ONE if truth else ZERO
        case Call(arguments=arguments) if all(isinstance(argument, Num) for argument in arguments):
            value = float(function(expr.function)(*(float(argument.value) for argument in arguments)))
            if math.isfinite(value):
                return Num(int(value)) if value.is_integer() and abs(value) < 2**53 else Num(value)
    return expr


def choice_without_leaves(factors: Factors) -> tuple[Expr, Factors, Factors] | None:
    """A condition in the factors that is the same for all values of the leaves, and the factors where it holds and where not."""
    for part in (part for factor in factors for part in walk(factor)):
        if isinstance(part, Where) and has_leaf(part) and not has_leaf(part.test) and free_indices(part.test) <= _free(factors):
            return part.test, *[[_chosen(factor, part, side) for factor in factors] for side in (True, False)]
    return None


def _free(factors: Factors) -> frozenset[Index]:
    return frozenset().union(*map(free_indices, factors))


def _chosen(expr: Expr, choice: Where, side: bool) -> Expr:
    if expr == choice:
        return _chosen(choice.then if side else choice.otherwise, choice, side)
    return rebuild(expr, lambda child: _chosen(child, choice, side)) if has_leaf(expr) else expr


def _truth(test: Expr) -> bool | None:
    """Whether a condition holds, if that is known."""
    match test:
        case Compare(op=op, left=Num(value=left), right=Num(value=right)):
            return COMPARISONS[op](left, right)
        case Logic(op="not", arguments=(inner,)):
            truth = _truth(inner)
            return None if truth is None else not truth
        case Logic(op=op, arguments=arguments):
            known = [_truth(argument) for argument in arguments]
            if (op == "or") in known:
                return op == "or"
            return None if None in known else op == "and"
    return None


# --- polynomials in one variable -------------------------------------------------------------------------------------


def _expanded(factors: Factors, leaf: Leaf) -> list[tuple[int, Factors]] | None:
    """The product as a sum of (power of the leaf, factors without it); None if it is no polynomial of moderate size."""
    found = [coefficients_in(factor, leaf) for factor in factors]
    if None in found:
        return None
    terms = [[(power, part) for power, part in enumerate(own) if part != ZERO] for own in found]
    if math.prod(map(len, terms)) > MOST_POWERS:
        return None
    return [
        (sum(power for power, _ in chosen), [part for _, part in chosen if part != ONE]) for chosen in product(*terms)
    ]


def coefficients_in(expr: Expr, leaf: Leaf) -> list[Expr] | None:
    """Coefficients of a polynomial in ``leaf``, lowest first (expressions without it); None if it is none."""
    if leaf not in walk(expr):
        return [expr]
    expr = as_power(expr)
    match expr:
        case Leaf():
            return [ZERO, ONE]
        case Add(terms=terms):
            return _combined([coefficients_in(term, leaf) for term in terms], lambda *parts: add(*parts))
        case Mul(factors=factors):
            return reduce(_times, [coefficients_in(factor, leaf) for factor in factors])
        case Pow(base=base, exponent=Num(value=int(exponent))) if 0 < exponent <= MOST_POWERS:
            return reduce(_times, [coefficients_in(base, leaf)] * exponent)
        case Where(test=test, then=then, otherwise=otherwise) if leaf not in walk(test):
            choose = lambda a, b: ZERO if a == b == ZERO else Where(test, a, b)  # noqa: E731
            return _combined([coefficients_in(then, leaf), coefficients_in(otherwise, leaf)], choose)
    return None


def _combined(parts: list, combine: Callable[..., Expr]) -> list[Expr] | None:
    if None in parts:
        return None
    degree = max(map(len, parts))
    padded = [own + [ZERO] * (degree - len(own)) for own in parts]
    return [combine(*coefficients) for coefficients in zip(*padded)]


def _times(left: list[Expr] | None, right: list[Expr] | None) -> list[Expr] | None:
    if left is None or right is None or len(left) + len(right) > MOST_POWERS + 2:
        return None
    return times(left, right)
