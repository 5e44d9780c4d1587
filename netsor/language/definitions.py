"""Statements that define: `x[i] = …` and loops."""

from __future__ import annotations

import math
from collections.abc import Callable

from netsor.ir.expressions import Expr, Num, ScalarRef, mul
from netsor.ir.long_sums import with_long_sums
from netsor.ir.program import Custom, Definition, Family, MatMul, Moment, Nonlin, ScalarFunction, Score
from netsor.ir.rewrite import walk
from netsor.language import hidden, syntax
from netsor.language.check import KINDS, is_a, mixed_kinds
from netsor.language.constants import numbers_of
from netsor.language.diagnostics import NetsorError
from netsor.language.binders import range_of
from netsor.language.blocks import enter
from netsor.language.callees import block_of
from netsor.language.expressions import Meaning, evaluate, wrong_kind
from netsor.language.lefthand import Left, each_value, read_left
from netsor.language.scope import IndexEntity, label
from netsor.language.state import Frame, fail
from netsor.language.values import Average, CustomCall, Dot, Level, Product, Value

LOOP_LIMIT = 100_000


def definition(node: syntax.Definition, frame: Frame, run: Callable[[syntax.Node, Frame], None]) -> None:
    """`x[i] = …`; if the right is the call of a block, `run(statement, frame)` elaborates one of its lines."""
    if node.kind is not None and node.kind.name not in KINDS:
        fail("N314", f"`{node.kind.name}` is not a kind", node.kind.span, "kinds are A, G, H, C and S")
    left = read_left(node.element, frame)
    called = block_of(node.value, frame)
    if called is None:
        each_value(left, frame, lambda left, inside: _one(node, evaluate(node.value, inside), left, inside))
        return
    call = enter(called, node.value, left, frame)
    call.run(run)
    each_value(left, frame, lambda left, inside: _one(node, call.result(inside), left, inside))
    call.keep_names(frame.scope.entities.get(node.element.name.name))


def _one(node: syntax.Definition, meaning: Meaning, left: Left, frame: Frame) -> None:
    state = frame.state
    if not isinstance(meaning, Value):
        wrong_kind(meaning, "a number, scalar or vector")
    rule = rule_of(meaning, frame)
    name = node.element.name.name
    family = state.new_family(frame.scope.path + name, left.pattern, rule, node.element.span, meaning.width)
    try:
        left.define(node.element, "a family", family, frame.scope)
        if problem := mixed_kinds(frame.scope.entities[name].first, family):
            raise NetsorError(problem)
    except NetsorError:
        state.families.pop()
        raise
    if node.kind is not None:
        check_annotation(family, node.kind)
        state.annotations.append((family, node.kind))


def check_annotation(family: Family, kind: syntax.Identifier, why: str = "") -> None:
    """N314 where a family is not of the kind that the program says."""
    if not is_a(family.kind, kind.name):
        fail("N314", f"`{label(family.name, family.pattern)}` is of kind {family.kind} ({KINDS[family.kind]}), not {kind.name}",
             kind.span._replace(call=family.span.call), why)


def rule_of(meaning: Value, frame: Frame) -> Definition:
    """The rule by which the value of a whole right-hand side comes about."""
    match meaning.pending:
        case Product() as product:
            return MatMul(product.matrix, product.subscripts, product.argument, product.transposed)
        case Average(body=body):
            return Moment(body)
        case CustomCall() as call:
            return Custom(call.rule, call.arguments, call.constants, call.draw)
        case Dot() as dot if meaning.level != Level.VECTOR:
            rule = _scaled_dot(meaning, dot, frame)
            if rule is not None:
                return rule
    finished = hidden.finish(meaning, frame)
    if isinstance(finished.expr, Num) and not math.isfinite(finished.expr.value):
        fail("N502", f"{finished.expr.value} is not a value", finished.span)
    return Nonlin(with_long_sums(finished.expr)) if finished.level == Level.VECTOR else ScalarFunction(finished.expr)


def _scaled_dot(meaning: Value, dot: Dot, frame: Frame) -> Definition | None:
    """A dot with its scale and a coefficient that is not random: the Moment or Score itself; else None."""
    scale, ratio = hidden.scale_of(meaning, dot, frame)
    if not _deterministic(meaning.expr):
        return None
    if scale is Moment:
        return Moment(mul(meaning.expr, ratio, dot.left, dot.right))
    left, right = (hidden.vector(side, dot.width, frame, meaning.span) for side in (mul(meaning.expr, ratio, dot.left), dot.right))
    return Score(left, right, meaning.span._replace(call=frame.state.call))


def _deterministic(expr: Expr) -> bool:
    return all(part.family.kind == "C" for part in walk(expr) if isinstance(part, ScalarRef))


def loop(node: syntax.Loop, frame: Frame, run) -> None:
    """Repeat the statements with the loop variable a number; `run(statement, frame)` elaborates one."""
    word = node.name.name
    entity = frame.scope.entities.get(word)
    if word in frame.names or (entity is not None and not isinstance(entity, IndexEntity)):
        frame.scope.check_free(node.name)
        fail("N202", f"`{word}` is the variable of the loop around this one", node.name.span)
    if entity is None:
        frame.scope.check_free(node.name)
    range_ = range_of(node.range, frame)
    if range_.infinite:
        fail("N317", "a loop cannot run over an infinite range", node.range.span)
    if range_.size > LOOP_LIMIT:
        fail("N512", f"this loop would be repeated {range_.size:,} times; {LOOP_LIMIT:,} are possible", node.range.span)
    for number in numbers_of(range_):
        inside = frame.with_names(**{word: Value(Level.NUMBER, Num(number), node.name.span)})
        for statement in node.statements:
            run(statement, inside)
