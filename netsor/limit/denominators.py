"""Division by what vanishes in the limit: normalising a vector that is zero.

A formula would hide it (0 times infinity is dropped where the 0 is known), so denominators are looked at before anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from netsor.ir.expressions import Call, Expr, Num, Pow, Reduce, ScalarRef, Softmax, Where
from netsor.ir.facts import parts, with_all_they_use
from netsor.ir.polynomials import coords
from netsor.ir.program import Family
from netsor.ir.rewrite import children, free_indices, walk
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.limit.levels import Level
from netsor.limit.numbers import Numbers


def prepare_checked(numbers: Numbers, families: Iterable[Family], expressions: Iterable[Expr]) -> None:
    """Evaluate what the expressions rest on; NetsorError N407 if a scalar that the given families divide by (or take the logarithm of)
    is zero, whatever the scores."""
    divisors = {
        family: list({base: None for expr in parts(family) for base in _denominators(expr) if numbers.levels.of(base) < Level.SAMPLE})
        for family in with_all_they_use(families)
    }
    try:
        numbers.prepare(*[base for bases in divisors.values() for base in bases], *expressions)
    except Exception:  # of whatever kind: it may come from a division by zero, which says more
        _refuse_zeros(divisors, numbers)
        raise
    _refuse_zeros(divisors, numbers)


def _refuse_zeros(divisors: dict[Family, list[Expr]], numbers: Numbers) -> None:
    found = []
    for family, bases in divisors.items():
        for base in bases:
            numbers.prepare(base)
            values = numbers.evaluate(base)
            if (values.data == 0).any():
                found.append(_diagnostic(family, base, values, numbers))
                break
    if found:
        raise NetsorError(found)


def _denominators(expr: Expr) -> Iterator[Expr]:
    """Scalars under a negative power or in a logarithm, where no condition guards them."""
    if isinstance(expr, Where) or (isinstance(expr, Reduce | Softmax) and expr.guard is not None):
        return
    base = None
    if isinstance(expr, Pow) and isinstance(expr.exponent, Num) and expr.exponent.value < 0:
        base = expr.base
    elif isinstance(expr, Call) and expr.function == "log":
        base = expr.arguments[0]
    if base is not None and not coords(base) and any(isinstance(part, ScalarRef) for part in walk(base)):
        if all(index.tag == "" for index in free_indices(base)):
            yield base
    for child in children(expr):
        yield from _denominators(child)


def _diagnostic(family: Family, base: Expr, values, numbers: Numbers) -> Diagnostic:
    place = np.argwhere(values.data == 0)[0]
    where = ", ".join(f"{label.name} = {numbers.values(label)[k]}" for label, k in zip(values.labels, place))
    return Diagnostic(
        "N407", f"a denominator of `{family.label}` is 0 in the limit{f' for {where}' if where else ''}", family.span,
        hint="a small number keeps a normalisation away from zero, as in sqrt(avg(x^2) + 1e-6)",
    )
