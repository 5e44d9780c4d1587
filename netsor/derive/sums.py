"""Sums as a person would write them: what does not depend on the index in front, deltas used up, constants counted."""

from __future__ import annotations

from types import MappingProxyType

import sympy

from netsor.derive.counting import Ranges, count
from netsor.derive.objects import GaussianExpectation, Indicator


def summation(body: sympy.Expr, bounds: list[tuple], ranges: Ranges = MappingProxyType({})) -> sympy.Expr:
    """A sum with what does not depend on an index taken out, nested sums merged, and indices on which nothing depends counted.

    ``ranges`` are those of letters that are not summed over, where known: 1[j <= i] is counted where i is in the range of j."""
    bounds = [tuple(bound) for bound in bounds]
    if not bounds:
        return body
    symbols = {bound[0] for bound in bounds}
    if isinstance(body, sympy.Add):
        return sympy.Add(*[summation(term, bounds, ranges) for term in body.args])
    outside, inside = [], []
    for factor in map(_plain_delta, sympy.Mul.make_args(body)):
        (inside if factor.free_symbols & symbols else outside).append(factor)
    inside = [factor for factor in where_equal(inside, outside) if not _always(factor, bounds)]
    for position, factor in enumerate(inside):
        rest = inside[:position] + inside[position + 1:]
        if isinstance(factor, sympy.Add) and all(_is_in_indicators(part, symbols) for part in inside):
            return sympy.Mul(*outside) * summation(distributed(sympy.Mul(factor, *rest)), bounds, ranges)
        if isinstance(factor, sympy.Add) and any(part.has(sympy.Sum) for part in factor.args):
            return sympy.Mul(*outside) * sympy.Add(*[summation(sympy.Mul(part, *rest), bounds, ranges) for part in factor.args])
        if isinstance(factor, sympy.Sum):
            function, more = _apart(factor, symbols.union(*(part.free_symbols for part in rest)))
            return sympy.Mul(*outside) * summation(sympy.Mul(function, *rest), bounds + more, ranges)
    inner = sympy.Mul(*inside)
    kept = [bound for bound in bounds if bound[0] in inner.free_symbols]
    outside += [high - low + 1 for symbol, low, high in bounds if symbol not in inner.free_symbols]
    for bound in kept:
        counted = _counted(inner, bound, {**ranges, **{symbol: ends for symbol, *ends in kept}})
        if counted is not None:
            rest = [other for other in kept if other is not bound]
            deltas = [factor for factor in outside if isinstance(factor, sympy.KroneckerDelta)]
            others = [factor for factor in outside if factor not in deltas]
            return sympy.Mul(*deltas, *where_equal([*others, summation(counted, rest, ranges)], deltas))
        found = _collapsed(inner, bound, kept, ranges)
        if found is not None:
            return sympy.Mul(*outside) * summation(found, [other for other in kept if other is not bound], ranges)
    return sympy.Mul(*outside) * (sympy.Sum(inner, *kept) if kept else inner)


def distributed(expr: sympy.Expr) -> sympy.Expr:
    """The products of sums multiplied out, denominators and arguments of functions left as they are."""
    kept = (sympy.Function, sympy.Sum, sympy.Integral, GaussianExpectation, sympy.Indexed)
    opaque = {part: sympy.Dummy() for part in expr.atoms(*kept) if not isinstance(part, (Indicator, sympy.KroneckerDelta))}
    opaque |= {part: sympy.Dummy() for part in expr.atoms(sympy.Pow) if isinstance(part.base, sympy.Add) and not part.exp.is_nonnegative}
    back = {name: part for part, name in opaque.items()}
    return sympy.expand(expr.xreplace(opaque)).xreplace(back)


def _plain_delta(factor: sympy.Expr) -> sympy.Expr:
    """A Kronecker delta of two indices, for one of sums of which all else cancels: delta of o and i - i' + o."""
    if not isinstance(factor, sympy.KroneckerDelta):
        return factor
    terms = sympy.Add.make_args(factor.args[0] - factor.args[1])
    positive = [term for term in terms if isinstance(term, sympy.Symbol)]
    negative = [-term for term in terms if isinstance(-term, sympy.Symbol)]
    plain = len(terms) == 2 and len(positive) == len(negative) == 1
    return sympy.KroneckerDelta(*positive, *negative) if plain else factor


def where_equal(inside: list, outside: list) -> list:
    """What stands beside deltas of two indices, with one in the place of the other."""
    for delta in outside:
        if isinstance(delta, sympy.KroneckerDelta) and all(isinstance(side, sympy.Symbol) for side in delta.args):
            one, other = delta.args
            inside = [factor.xreplace({other: one}) for factor in inside]
    return inside


def _always(factor: sympy.Expr, bounds: list[tuple]) -> bool:
    """Whether an indicator says no more than the range of an index."""
    return isinstance(factor, Indicator) and any(
        factor.args[0] in (sympy.Le(low, symbol), sympy.Le(symbol, high), sympy.Ge(symbol, low), sympy.Ge(high, symbol))
        for symbol, low, high in bounds)


def _is_in_indicators(expr: sympy.Expr, symbols: set) -> bool:
    """Whether indices occur in indicators and deltas alone."""
    if not expr.free_symbols & symbols or isinstance(expr, (Indicator, sympy.KroneckerDelta)):
        return True
    if isinstance(expr, sympy.Pow):
        return expr.exp.is_Integer and expr.exp > 0 and _is_in_indicators(expr.base, symbols)
    return isinstance(expr, (sympy.Add, sympy.Mul)) and all(_is_in_indicators(part, symbols) for part in expr.args)


def _counted(body: sympy.Expr, bound: tuple, ranges: Ranges) -> sympy.Expr | None:
    """The sum over one index that occurs in indicators alone, each of them a bound on it."""
    own = [factor for factor in sympy.Mul.make_args(body) if bound[0] in factor.free_symbols]
    if not all(isinstance(factor, Indicator) for factor in own):
        return None
    number_of_values = count([factor.args[0] for factor in own], bound, ranges)
    return number_of_values and number_of_values * sympy.Mul(*[f for f in sympy.Mul.make_args(body) if f not in own])


def _apart(inner: sympy.Sum, used: set) -> tuple[sympy.Expr, list[tuple]]:
    """Body and limits of a sum, its indices renamed where others have their names."""
    function, limits, names = inner.function, [], {str(symbol) for symbol in used}
    for symbol, low, high in inner.limits:
        name = str(symbol)
        while name in names:
            name += "'"
        names.add(name)
        renamed = sympy.Symbol(name, integer=True)
        function = function.xreplace({symbol: renamed})
        limits.append((renamed, low, high))
    return function, limits


def _collapsed(body: sympy.Expr, bound: tuple, bounds: list[tuple], ranges: Ranges) -> sympy.Expr | None:
    """The sum over one index of a product with a Kronecker delta that fixes it to another index with the same range."""
    symbol, low, high = bound
    same = {other for other, *ends in [*bounds, *((letter, *ends) for letter, ends in ranges.items())] if ends == [low, high]}
    for factor in sympy.Mul.make_args(body):
        if isinstance(factor, sympy.KroneckerDelta) and symbol in factor.args:
            other = factor.args[0] if factor.args[1] == symbol else factor.args[1]
            if other in same:
                rest = sympy.Mul(*[each for each in sympy.Mul.make_args(body) if each is not factor])
                return rest.xreplace({symbol: other})
    return None
