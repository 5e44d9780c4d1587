"""In how many variables an expectation has to be integrated."""

from __future__ import annotations

from netsor.ir.expressions import Expect, Expr, Leaf, Let, ScalarRef
from netsor.ir.rewrite import free_indices, walk


def is_several(expect: Expect) -> bool:
    """Whether an expectation needs quasi-random points: not a function of one variable, nor a product f(u) g(v) of two functions
    without parameters."""
    if any(expect.inner):
        return True
    if len(expect.inner) == 1:
        return False
    return len(expect.inner) > 2 or any(len(slots(f)) > 1 or not is_static(f) for f in expect.factors)


def is_static(body: Expr) -> bool:
    """Whether nothing but numbers and leaves occurs."""
    return not free_indices(body) and not any(isinstance(part, (Let, ScalarRef)) for part in walk(body))


def slots(expr: Expr) -> frozenset[int]:
    """The leaves that occur."""
    return frozenset(part.slot for part in walk(expr) if isinstance(part, Leaf))
