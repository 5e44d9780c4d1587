"""Which vectors behind scores are bounded: the theorem on scores is stated for bounded coordinatewise functions."""

from __future__ import annotations

from netsor.ir.expressions import Add, Array, Call, Compare, Coord, Expr, Index, Indicator, Logic, Mul, Num, Pow, Sym, Where, Width
from netsor.ir.facts import bottom_up, uses, with_all_they_use
from netsor.ir.laws import Law
from netsor.ir.program import Family, Given, Iid, MatMul, Nonlin, Score
from netsor.ir.rewrite import walk
from netsor.nonlinearities import registry

BOUNDED_CALLS = ("tanh", "sin", "cos", "erf", "sign")


def unbounded(scores: list[Family]) -> list[Family]:
    """The vectors that matrices are applied to on the way to the scores, or that are multiplied in them, and are not bounded by what
    the program says of them; products with matrices and their linear combinations are left out, as they are Gaussian by construction."""
    known: dict[Family, bool] = {}
    found: dict[Family, None] = {}
    for family in with_all_they_use(scores):
        match family.definition:
            case MatMul(argument=argument):
                sides = [argument]
            case Score(left=left, right=right):
                sides = [side for side in (left, right) if not isinstance(side.family.definition, Given)]  # a Gaussian vector by itself
            case _:
                continue
        for side in sides:
            if not bottom_up(side.family, known, uses, lambda f: _is_covered(f, known)):
                found[side.family] = None
    return list(found)


def _is_covered(family: Family, known: dict[Family, bool]) -> bool:
    """Whether a vector is bounded, or a product with a matrix or a linear combination of such products."""
    match family.definition:
        case MatMul():
            return True
        case Nonlin(body=body) if family.kind == "G":
            return all(known[part.family] for part in walk(body) if isinstance(part, Coord))
        case Nonlin(body=body):
            return _bounded(body, known)
        case Iid(law=law):
            return _has_bounded_law(law)
    return not isinstance(family.definition, Given)


def _has_bounded_law(law: Law) -> bool:
    return law.atoms() is not None or law.name == "Uniform"


def _bounded(expr: Expr, known: dict[Family, bool]) -> bool:
    """Whether an expression of vectors stays bounded whatever their coordinates are."""
    match expr:
        case Num() | Sym() | Width() | Index() | Array() | Compare() | Logic() | Indicator():
            return True
        case Coord():
            return known[expr.family] and expr.family.kind != "G"
        case Add(terms=terms):
            return all(_bounded(term, known) for term in terms)
        case Mul(factors=factors):
            return all(_bounded(factor, known) for factor in factors)
        case Pow(base=base, exponent=Num(value=value)):
            return value > 0 and _bounded(base, known)
        case Where(then=then, otherwise=otherwise):
            return _bounded(then, known) and _bounded(otherwise, known)
        case Call(function=function, arguments=arguments):
            if function in BOUNDED_CALLS or registry.known(function) and registry.get(function).growth == "bounded":
                return True
            return registry.known(function) and registry.get(function).growth != "too fast" and _bounded(arguments[0], known)
    return False
