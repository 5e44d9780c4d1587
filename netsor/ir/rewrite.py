"""Walking and rewriting expressions: children, free indices, capture-free substitution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from netsor.ir.expressions import (
    Add, Array, Average, Call, Compare, Coord, Expect, Expr, Index, Indicator, Integral, Leaf, Let, Logic, Mul, Num, Pow,
    Reduce, ScalarRef, Softmax, Sym, Where, Width, add, first, fresh, mul, power, second,
)

REFERENCES = (Array, Coord, ScalarRef, Let, Leaf)


def children(expr: Expr) -> tuple:
    """The direct subexpressions (bound indices are not among them)."""
    match expr:
        case Num() | Sym() | Width() | Index():
            return ()
        case Array() | Coord() | ScalarRef() | Let() | Leaf():
            return expr.subscripts
        case Add():
            return expr.terms
        case Mul():
            return expr.factors
        case Pow():
            return (expr.base, expr.exponent)
        case Call() | Logic():
            return expr.arguments
        case Compare():
            return (expr.left, expr.right)
        case Where():
            return (expr.test, expr.then, expr.otherwise)
        case Indicator():
            return (expr.test,)
        case Reduce():
            return (expr.body,) if expr.guard is None else (expr.body, expr.guard)
        case Softmax():
            inside = (expr.body,) if expr.guard is None else (expr.body, expr.guard)
            return inside + (expr.at,)
        case Average() | Integral():
            return (expr.body,)
        case Expect():
            return expr.factors + expr.mean + tuple(entry for row in expr.covariance for entry in row)
    raise TypeError(type(expr).__name__)


def walk(expr: Expr) -> Iterator[Expr]:
    """Every node, outermost first; bindings behind Let are not entered."""
    stack = [expr]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


def bound(expr: Expr) -> frozenset:
    """Indices that ``expr`` binds in (some of) its children."""
    match expr:
        case Reduce():
            return frozenset(expr.indices)
        case Average():
            return frozenset((expr.index,))
        case Softmax():
            return frozenset((expr.index,))
        case Expect():
            return frozenset(copy(index) for block in expr.inner for index in block for copy in (first, second))
        case Integral():
            return frozenset((expr.variable,))
    return frozenset()


def free_indices(expr: Expr) -> frozenset:
    """The index variables that occur free."""
    if isinstance(expr, Index):
        return frozenset((expr,))
    cached = expr.__dict__.get("_free")
    if cached is None:
        if isinstance(expr, Softmax):
            inside = free_indices(expr.body) | (free_indices(expr.guard) if expr.guard is not None else frozenset())
            cached = (inside - {expr.index}) | free_indices(expr.at)
        else:
            cached = frozenset().union(*map(free_indices, children(expr))) - bound(expr)
        object.__setattr__(expr, "_free", cached)
    return cached


def substitute(expr: Expr, mapping: Mapping[Index, Expr]) -> Expr:
    """Replace free indices by expressions.  Bound indices are renamed where they could capture."""
    if isinstance(expr, Index):
        return mapping.get(expr, expr)
    mapping = {index: value for index, value in mapping.items() if index in free_indices(expr) and value != index}
    if not mapping:
        return expr
    inner = lambda part: substitute(part, mapping)  # noqa: E731
    match expr:
        case Reduce() | Average():
            indices = expr.indices if isinstance(expr, Reduce) else (expr.index,)
            names = {index: fresh(index) for index in indices}
            rename = lambda part: substitute(part, {**mapping, **names})  # noqa: E731
            if isinstance(expr, Average):
                return Average(rename(expr.body), names[expr.index])
            guard = None if expr.guard is None else rename(expr.guard)
            return Reduce(expr.op, rename(expr.body), tuple(names.values()), guard)
        case Softmax():
            name = fresh(expr.index)
            inside = {**{i: v for i, v in mapping.items() if i != expr.index}, expr.index: name}
            guard = None if expr.guard is None else substitute(expr.guard, inside)
            return Softmax(substitute(expr.body, inside), name, guard, inner(expr.at))
        case Integral():
            variable = fresh(expr.variable)
            return Integral(substitute(expr.body, {**mapping, expr.variable: variable}), variable)
        case Expect():  # values never mention the inner copies: those are bound here and nowhere else
            return Expect(
                tuple(map(inner, expr.factors)),
                expr.inner,
                tuple(map(inner, expr.mean)),
                tuple(tuple(map(inner, row)) for row in expr.covariance),
                _mirror(expr.mirror, mapping),
            )
    return rebuild(expr, inner)


def _mirror(pairs: tuple, mapping: Mapping[Index, Expr]) -> tuple:
    """The pairs after a substitution: dropped where both became equal, all given up where one is no index any more."""
    renamed = [tuple(mapping.get(index, index) for index in pair) for pair in pairs]
    renamed = [pair for pair in renamed if pair[0] != pair[1]]
    ends = [index for pair in renamed for index in pair]
    return tuple(renamed) if all(isinstance(i, Index) for i in ends) and len(set(ends)) == len(ends) else ()


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same node with every child replaced by ``change(child)``; binders keep their indices."""
    match expr:
        case Num() | Sym() | Width() | Index():
            return expr
        case Array():
            return Array(expr.declaration, tuple(map(change, expr.subscripts)))
        case Coord():
            return Coord(expr.family, tuple(map(change, expr.subscripts)))
        case ScalarRef():
            return ScalarRef(expr.family, tuple(map(change, expr.subscripts)))
        case Let():
            return Let(expr.binding, tuple(map(change, expr.subscripts)))
        case Leaf():
            return Leaf(expr.slot, tuple(map(change, expr.subscripts)))
        case Add():
            return add(*map(change, expr.terms))
        case Mul():
            return mul(*map(change, expr.factors))
        case Pow():
            return power(change(expr.base), change(expr.exponent))
        case Call():
            return Call(expr.function, tuple(map(change, expr.arguments)))
        case Compare():
            return Compare(expr.op, change(expr.left), change(expr.right))
        case Logic():
            return Logic(expr.op, tuple(map(change, expr.arguments)))
        case Where():
            return Where(change(expr.test), change(expr.then), change(expr.otherwise))
        case Indicator():
            return Indicator(change(expr.test))
        case Reduce():
            guard = None if expr.guard is None else change(expr.guard)
            return Reduce(expr.op, change(expr.body), expr.indices, guard)
        case Softmax():
            guard = None if expr.guard is None else change(expr.guard)
            return Softmax(change(expr.body), expr.index, guard, change(expr.at))
        case Average():
            return Average(change(expr.body), expr.index)
        case Integral():
            return Integral(change(expr.body), expr.variable)
        case Expect():
            return Expect(
                tuple(map(change, expr.factors)),
                expr.inner,
                tuple(map(change, expr.mean)),
                tuple(tuple(map(change, row)) for row in expr.covariance),
                expr.mirror,
            )
    raise TypeError(type(expr).__name__)


def rename_bound(expr: Expr, depth: int = 0) -> Expr:
    """The same expression with bound indices named by their depth: equal up to bound names means equal after this."""
    if isinstance(expr, (Reduce, Softmax, Average)):
        indices = expr.indices if isinstance(expr, Reduce) else (expr.index,)
        names = {i: Index("", i.range, ("bound", depth + k)) for k, i in enumerate(indices)}
        inside = lambda part: rename_bound(substitute(part, names), depth + len(names))  # noqa: E731
        if isinstance(expr, Average):
            return Average(inside(expr.body), names[expr.index])
        guard = None if expr.guard is None else inside(expr.guard)
        if isinstance(expr, Softmax):
            return Softmax(inside(expr.body), names[expr.index], guard, rename_bound(expr.at, depth))
        return Reduce(expr.op, inside(expr.body), tuple(names.values()), guard)
    if isinstance(expr, Integral):
        name = Index("", expr.variable.range, ("bound", depth))
        return Integral(rename_bound(substitute(expr.body, {expr.variable: name}), depth + 1), name)
    return rebuild(expr, lambda child: rename_bound(child, depth))
