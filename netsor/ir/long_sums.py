"""Long explicit sums, ``0.1*h[1] + 0.7*h[2] + …`` over thousands of terms, as sums over an index with an array of coefficients.

Whatever follows takes a sum over an index in one step, and terms one by one.
"""

from __future__ import annotations

import numpy as np

from netsor.ir.expressions import Add, Array, Coord, Expr, Index, Mul, Num, Range, ScalarRef, add, fresh, lift, mul, total
from netsor.ir.program import ArrayDeclaration
from netsor.ir.rewrite import rebuild, substitute

LONG = 64  # terms from which on it matters


def with_long_sums(expr: Expr) -> Expr:
    """The expression with its long sums written over an index, where terms differ in one constant subscript (and a number) only."""
    if isinstance(expr, Add) and len(expr.terms) >= LONG:
        return _collected(expr)
    if isinstance(expr, (Coord, ScalarRef, Num, Index)):
        return expr
    return rebuild(expr, with_long_sums)


def _collected(expr: Add) -> Expr:
    groups: dict[tuple, dict[int, object]] = {}  # (shape of the term, what its subscripts are apart from a shift) -> coefficients
    rest = []
    for term in expr.terms:
        coefficient, body = _split(term)
        places: list[int] = []
        shape = _shape(body, places)
        if not places:
            rest.append(with_long_sums(term))
            continue
        for moving in _moving(places):
            key = (shape, moving)
            shift = next(value for value, moves in zip(places, moving[0]) if moves)
            own = groups.setdefault(key, {})
            own[shift] = own.get(shift, 0) + coefficient
    taken: set[tuple] = set()
    found = []
    for (shape, moving), own in sorted(groups.items(), key=lambda item: -len(item[1])):
        left = {shift: c for shift, c in own.items() if (shape, _at(moving, shift)) not in taken}
        taken |= {(shape, _at(moving, shift)) for shift in left}
        found += _over_runs(shape, moving, left)
    return add(*found, *rest)


def _split(term: Expr) -> tuple[object, Expr]:
    """The numeric coefficient and the rest."""
    if isinstance(term, Mul):
        numbers = [factor.value for factor in term.factors if isinstance(factor, Num)]
        if len(numbers) == 1:
            return numbers[0], mul(*[factor for factor in term.factors if not isinstance(factor, Num)])
    return 1, term


def _shape(expr: Expr, places: list[int]) -> Expr:
    """The term with its constant subscripts replaced by numbered marks; their values go to ``places``."""
    if isinstance(expr, (Coord, ScalarRef)):
        marked = []
        for subscript in expr.subscripts:
            if isinstance(subscript, Num):
                places.append(int(subscript.value))
                subscript = _mark(len(places))
            marked.append(subscript)
        return type(expr)(expr.family, tuple(marked))
    if isinstance(expr, (Num, Index)):
        return expr
    return rebuild(expr, lambda child: _shape(child, places))


def _mark(position: int) -> Index:
    return Index("place", Range(1, 1), ("mark", position))


def _moving(places: list[int]) -> list[tuple]:
    """The ways in which one number moves some subscripts and leaves the others: (which move, their offsets or values)."""
    single = [tuple(j == k for j in range(len(places))) for k in range(len(places))]
    together = [tuple(True for _ in places)] if len(places) > 1 else []
    return [(moves, _offsets(places, moves)) for moves in together + single]


def _offsets(places: list[int], moves: tuple[bool, ...]) -> tuple[int, ...]:
    first = next(value for value, move in zip(places, moves) if move)
    return tuple(value - first if move else value for value, move in zip(places, moves))


def _at(moving: tuple, shift: int) -> tuple[int, ...]:
    """The subscripts of one term."""
    return tuple(value + shift if move else value for move, value in zip(*moving))


def _over_runs(shape: Expr, moving: tuple, coefficients: dict[int, object]) -> list[Expr]:
    """Sums over the runs of consecutive numbers; short runs term by term."""
    found, run = [], []
    for shift in [*sorted(coefficients), None]:
        if run and shift != run[-1] + 1:
            found += _over_run(shape, moving, run, [coefficients[k] for k in run])
            run = []
        run.append(shift)
    return found


def _over_run(shape: Expr, moving: tuple, run: list[int], coefficients: list) -> list[Expr]:
    if len(run) < LONG:
        terms = [_element(shape, _at(moving, shift)) for shift in run]
        return [mul(lift(c), term) for c, term in zip(coefficients, terms)]
    range_ = Range(run[0], run[-1])
    index = fresh(Index("term", range_))
    body = _element(shape, [add(index, value) if move else value for move, value in zip(*moving)])
    if len(set(coefficients)) == 1:
        return [mul(lift(coefficients[0]), total(body, (index,)))]
    values = ArrayDeclaration("coefficients", (range_,), np.array([float(c) for c in coefficients]))
    return [total(mul(Array(values, (index,)), body), (index,))]


def _element(shape: Expr, subscripts) -> Expr:
    return substitute(shape, {_mark(k): lift(value) for k, value in enumerate(subscripts, 1)})
