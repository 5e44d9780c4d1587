"""Hidden families: subexpressions that need a family of their own, each computed once.

Two subexpressions that differ only in the names of their indices are one hidden family.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from netsor.ir.expressions import Call, Coord, Expr, Index, ScalarRef, fresh, mul
from netsor.ir.long_sums import with_long_sums
from netsor.ir.program import Custom, Definition, MatMul, Moment, Nonlin, Score
from netsor.ir.rewrite import free_indices, rename_bound, substitute, walk
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Average, CustomCall, Dot, Level, Product, Value
from netsor.language.widths import order, relative, written


def axes_of(expr: Expr) -> tuple[Index, ...]:
    """The free indices in the order in which they occur."""
    free = free_indices(expr)
    return tuple(dict.fromkeys(part for part in walk(expr) if isinstance(part, Index) and part in free))


def canonical(expr: Expr) -> tuple[Expr, tuple[Index, ...]]:
    """The expression with its indices named by position, and those indices: equal for what differs in names only."""
    axes = axes_of(expr)
    names = {index: Index("", index.range, ("axis", k)) for k, index in enumerate(axes)}
    return rename_bound(substitute(expr, names)), axes


def vector(expr: Expr, width: str, frame: Frame, span: Span) -> Coord:
    """A plain reference to a vector: the expression itself, or a hidden family that is defined as it."""
    if isinstance(expr, Coord):
        return expr
    return _hidden("Nonlin", expr, lambda body: Nonlin(with_long_sums(body)), frame, span, width)


def _hidden(rule: str, expr: Expr, define: Callable[[Expr], Definition], frame: Frame, span: Span, width: str = ""):
    key, axes = canonical(expr)
    family = frame.state.hidden.get((rule, key, width))
    if family is None:
        family = _new(frame, axes, define(expr), span, width)
        frame.state.hidden[rule, key, width] = family
    return family[axes]


def _new(frame: Frame, pattern: tuple[Index, ...], definition: Definition, span: Span, width: str = ""):
    counts = frame.state.hidden_counts
    counts[frame.path] = counts.get(frame.path, 0) + 1
    return frame.state.new_family(f"{frame.path}.{counts[frame.path]}", pattern, definition, span, width, hidden=True)


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
    key = ("MatMul", pending.matrix, pending.transposed, family, slots)
    known = frame.state.hidden.get(key)
    if known is None:
        split = len(pending.matrix.axes)
        rule = MatMul(pending.matrix, tuple(terms[:split]), Coord(family, tuple(terms[split:])), pending.transposed)
        known = _new(frame, tuple(pattern), rule, span, rule.to_width)
        frame.state.hidden[key] = known
    return Coord(known, tuple(asked))


def moment(body: Expr, frame: Frame, span: Span) -> ScalarRef:
    return _hidden("Moment", body, lambda body: Moment(body), frame, span)


def score(dot: Dot, ratio: Expr, frame: Frame, span: Span) -> ScalarRef:
    """The Score of a dot times a ratio of widths."""
    left, right = vector(mul(ratio, dot.left), dot.width, frame, span), vector(dot.right, dot.width, frame, span)
    both = Call("dot", (left, right))
    return _hidden("Score", both, lambda both: Score(*both.arguments), frame, span)


def custom(call: CustomCall, frame: Frame, span: Span, width: str) -> Coord:
    """The results of one draw for these arguments."""
    key, axes = canonical(Call("custom", call.arguments))
    known = frame.state.hidden.get(("Custom", call.draw, key))
    if known is None:
        known = _new(frame, axes, Custom(call.rule, call.arguments, call.constants, call.draw), span, width)
        frame.state.hidden["Custom", call.draw, key] = known
    return known[axes]


def scale_of(value: Value, dot: Dot, frame: Frame) -> tuple[type[Moment] | type[Score], Expr]:
    """The rule that a dot with these powers of widths is, and the ratio of widths that is left; an error for any other power."""
    power = order(value.widths)
    own = frame.state.widths[dot.width]
    for rule, exponent in ((Moment, Fraction(-1)), (Score, Fraction(-1, 2))):
        if power == exponent:
            return rule, relative(value.widths, own, exponent)
    grows = "grows without bound" if power > -1 else "vanishes"
    scale = written(value.widths) or "no power of the width"
    width, first = frame.scope.width_word(dot.width), frame.scope.width_word(frame.state.width)
    fail("N311", f"this dot has {scale} as its scale, so that it {grows} with {first}", value.span, "",
         hint=f"dot(u, v)/{width} is a Moment, dot(u, v)/sqrt({width}) is a Score; "
              f"the scale stands in the same product as the dot")


def finish(value: Value, frame: Frame) -> Value:
    """The value without anything pending: rules become hidden families."""
    span = value.span
    match value.pending:
        case Dot() as dot:
            rule, ratio = scale_of(value, dot, frame)
            if rule is Moment:
                reference: Expr = moment(mul(ratio, dot.left, dot.right), frame, span)
            else:
                reference = score(dot, ratio, frame, span)
            return Value(max(value.level, Level.SCALAR), mul(value.expr, reference), span, width=value.width)
        case Product() as pending:
            return Value(Level.VECTOR, product(pending, frame, span), span, width=value.width)
        case Average(body=body):
            return Value(Level.SCALAR, moment(body, frame, span), span)
        case CustomCall() as call:
            return Value(Level.VECTOR, custom(call, frame, span, value.width), span, width=value.width)
    if any(value.widths.values()):
        fail("N310", "a width has no place in this expression", span,
             "widths stand in the variance of a matrix and in the scale of a dot")
    return value
