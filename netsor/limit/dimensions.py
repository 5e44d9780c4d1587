"""In how many variables an expectation has to be integrated."""

from __future__ import annotations

import numpy as np

from netsor import nonlinearities
from netsor.expectation.grid import MOST_VARIABLES
from netsor.ir.elementary import ELEMENTARY
from netsor.ir.expressions import Add, Call, Expect, Expr, Leaf, Let, Mul, Num, Pow, ScalarRef
from netsor.ir.rewrite import free_indices, walk
from netsor.limit.parity import positive


def is_several(expect: Expect) -> bool:
    """Whether an expectation needs quasi-random points: neither a function of one variable, nor a product f(u) g(v) of two functions
    without parameters, nor an analytic function of a few variables."""
    if any(expect.inner):
        return True
    if len(expect.inner) == 1:
        return False
    return not is_pair(expect) and not on_a_grid(expect)


def is_pair(expect: Expect) -> bool:
    """Whether it is E f(u) g(v) with functions without parameters."""
    return len(expect.inner) == 2 and not any(expect.inner) and all(len(slots(f)) == 1 and is_static(f) for f in expect.factors)


def on_a_grid(expect: Expect) -> bool:
    """Whether a product rule integrates it: an analytic function of a few variables without parameters."""
    few = 2 <= len(expect.inner) <= MOST_VARIABLES and not any(expect.inner)
    return few and not is_pair(expect) and all(is_static(factor) and is_analytic(factor) for factor in expect.factors)


def is_analytic(body: Expr) -> bool:
    """Whether an expression is seen to be an analytic function of its leaves, on all of the real line."""
    return all(_is_analytic(part) for part in walk(body))


def _is_analytic(part: Expr) -> bool:
    """The same for the outermost function of an expression."""
    match part:
        case Num() | Leaf() | Add() | Mul():
            return True
        case Pow(base=base, exponent=Num(value=value)):
            return value == int(value) and (value >= 0 or positive(base))
        case Call(function=name, arguments=(_, *parameters)) if name not in ELEMENTARY:
            if not all(isinstance(parameter, Num) for parameter in parameters):
                return False
            nonlinearity = nonlinearities.get(name)
            return nonlinearity.domain == (-np.inf, np.inf) and not nonlinearity.kinks(*(float(p.value) for p in parameters))
    return False


def is_static(body: Expr) -> bool:
    """Whether nothing but numbers and leaves occurs."""
    return not free_indices(body) and not any(isinstance(part, (Let, ScalarRef)) for part in walk(body))


def slots(expr: Expr) -> frozenset[int]:
    """The leaves that occur."""
    return frozenset(part.slot for part in walk(expr) if isinstance(part, Leaf))
