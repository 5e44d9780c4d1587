"""Hidden families: subexpressions that need a family of their own, each computed once.

Two subexpressions that differ only in the names of their indices are one hidden family.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from netsor.ir.expressions import Call, Coord, Expr, Index, ScalarRef, fresh, mul
from netsor.ir.program import Custom, Definition, MatMul, Moment, Nonlin, Score
from netsor.ir.rewrite import free_indices, rename_bound, substitute, walk
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Average, CustomCall, Dot, Level, Product, Value


def axes_of(expr: Expr) -> tuple[Index, ...]:
    """The free indices in the order in which they occur."""
    free = free_indices(expr)
    return tuple(dict.fromkeys(part for part in walk(expr) if isinstance(part, Index) and part in free))


def canonical(expr: Expr) -> tuple[Expr, tuple[Index, ...]]:
    """The expression with its indices named by position, and those indices: equal for what differs in names only."""
    axes = axes_of(expr)
    names = {index: Index("", index.range, ("axis", k)) for k, index in enumerate(axes)}
    return rename_bound(substitute(expr, names)), axes


def vector(expr: Expr, frame: Frame, span: Span) -> Coord:
    """A plain reference to a vector: the expression itself, or a hidden family that is defined as it."""
    if isinstance(expr, Coord):
        return expr
    return _hidden("Nonlin", expr, lambda body: Nonlin(body), frame, span)


def _hidden(rule: str, expr: Expr, define: Callable[[Expr], Definition], frame: Frame, span: Span):
    key, axes = canonical(expr)
    family = frame.state.hidden.get((rule, key))
    if family is None:
        family = _new(frame, axes, define(expr), span)
        frame.state.hidden[rule, key] = family
    return family[axes]


def _new(frame: Frame, pattern: tuple[Index, ...], definition: Definition, span: Span):
    counts = frame.state.hidden_counts
    counts[frame.owner] = counts.get(frame.owner, 0) + 1
    return frame.state.new_family(f"{frame.owner}.{counts[frame.owner]}", pattern, definition, span, hidden=True)


def product(pending: Product, frame: Frame, span: Span) -> Coord:
    """`matrix @ argument` over all axes of both, at the subscripts that are asked for.

    Generic, so that what stands under a guard is never computed out of range, and equal products are one family. Where
    both have the same index for a subscript, as in `W[a] @ x[a,i]`, they share that axis.
    """
    family = pending.argument.family
    places = [*zip(pending.matrix.axes, pending.subscripts), *zip(family.axes, pending.argument.subscripts)]
    terms: list[Expr] = []  # a number where one is asked for, else an axis
    shared: dict[Expr, Index] = {}
    pattern: list[Index] = []
    asked: list[Expr] = []
    for axis, term in places:
        if not free_indices(term):
            terms.append(term)
        elif term in shared and shared[term].range == axis.range:
            terms.append(shared[term])
        else:
            own = fresh(axis) if axis in pattern else axis
            if isinstance(term, Index) and term.range == axis.range:
                shared[term] = own
            pattern.append(own)
            asked.append(term)
            terms.append(own)
    slots = tuple(pattern.index(term) if isinstance(term, Index) else term for term in terms)
    key = ("MatMul", pending.matrix, family, slots)
    known = frame.state.hidden.get(key)
    if known is None:
        split = len(pending.matrix.axes)
        rule = MatMul(pending.matrix, tuple(terms[:split]), Coord(family, tuple(terms[split:])))
        known = _new(frame, tuple(pattern), rule, span)
        frame.state.hidden[key] = known
    return Coord(known, tuple(asked))


def moment(body: Expr, frame: Frame, span: Span) -> ScalarRef:
    return _hidden("Moment", body, lambda body: Moment(body), frame, span)


def score(dot: Dot, frame: Frame, span: Span) -> ScalarRef:
    left, right = vector(dot.left, frame, span), vector(dot.right, frame, span)
    both = Call("dot", (left, right))
    return _hidden("Score", both, lambda both: Score(*both.arguments), frame, span)


def scale_of(value: Value, frame: Frame) -> type[Moment] | type[Score]:
    """The rule that a dot with these powers of the width is; an error for any other power."""
    power = value.widths.get(frame.state.width, Fraction(0))
    if power == -1:
        return Moment
    if power == Fraction(-1, 2):
        return Score
    width = frame.state.width
    grows = "grows without bound" if power > -1 else "vanishes"
    written = f"{width}^({power})" if power else "no power of the width"
    fail("N311", f"this dot has {written} as its scale, so that it {grows} with {width}", value.span, "",
         hint=f"dot(u, v)/{width} is a Moment, dot(u, v)/sqrt({width}) is a Score; "
              f"the scale stands in the same product as the dot")


def finish(value: Value, frame: Frame) -> Value:
    """The value without anything pending: rules become hidden families."""
    span = value.span
    match value.pending:
        case Dot() as dot:
            if scale_of(value, frame) is Moment:
                reference: Expr = moment(mul(dot.left, dot.right), frame, span)
            else:
                reference = score(dot, frame, span)
            return Value(max(value.level, Level.SCALAR), mul(value.expr, reference), span)
        case Product() as pending:
            return Value(Level.VECTOR, product(pending, frame, span), span)
        case Average(body=body):
            return Value(Level.SCALAR, moment(body, frame, span), span)
        case CustomCall() as call:
            axes = axes_of(Call("custom", (*call.arguments, *call.constants)))
            family = _new(frame, axes, Custom(call.rule, call.arguments, call.constants), span)
            return Value(Level.VECTOR, family[axes], span)
    if any(value.widths.values()):
        fail("N310", "a width has no place in this expression", span,
             "widths stand in the variance of a matrix and in the scale of a dot")
    return value
