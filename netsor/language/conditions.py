"""Conditions: comparisons, `and`, `or`, `not`, and the choices that they make."""

from __future__ import annotations

from collections.abc import Sequence

from netsor.ir.elementary import COMPARISONS
from netsor.ir.expressions import Compare, Coord, Expr, Logic, ScalarRef, Where
from netsor.ir.rewrite import walk
from netsor.language import syntax
from netsor.language.constants import closed_value
from netsor.language.expressions import evaluate, evaluates, quantity, value
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Condition, Level, Value
from netsor.language.widths import common_width

def condition(node: syntax.Node, frame: Frame, vectors: bool = False) -> Condition:
    """The condition that a node is; one about vectors only where `vectors` allows it."""
    meaning = evaluate(node, frame)
    if not isinstance(meaning, Condition):
        fail("N309", "a condition is needed here, such as i <= j", node.span,
             "this is " + (meaning.level.word if isinstance(meaning, Value) else "none"))
    if meaning.level == Level.VECTOR and not vectors:
        fail("N309", "vectors are compared only inside where(condition, a, b)", node.span)
    return meaning


def negated(expr: Expr) -> Expr:
    return expr.arguments[0] if isinstance(expr, Logic) and expr.op == "not" else Logic("not", (expr,))


def guard_of(test: Condition) -> Expr | None:
    """What is known beforehand where the condition holds: the parts of it that are not about scalars or vectors."""
    if test.static is not None:
        return None
    if test.level == Level.NUMBER:
        return test.expr
    if isinstance(test.expr, Logic) and test.expr.op == "and":
        parts = [part for part in test.expr.arguments if _is_known(part)]
        return _joined("and", parts) if parts else None
    return None


def guard_against(test: Condition) -> Expr | None:
    """What is known beforehand where the condition does not hold."""
    if test.static is not None:
        return None
    if test.level == Level.NUMBER:
        return negated(test.expr)
    if isinstance(test.expr, Logic) and test.expr.op == "or":
        parts = [negated(part) for part in test.expr.arguments if _is_known(part)]
        return _joined("and", parts) if parts else None
    return None


def _is_known(expr: Expr) -> bool:
    return not any(isinstance(each, (Coord, ScalarRef)) for each in walk(expr))


def _joined(op: str, parts: Sequence[Expr]) -> Expr:
    flat: list[Expr] = []
    for part in parts:
        flat += part.arguments if isinstance(part, Logic) and part.op == op else (part,)
    return flat[0] if len(flat) == 1 else Logic(op, tuple(flat))


def combined(op: str, tests: Sequence[Condition], span: Span) -> Condition:
    """`and` or `or` of conditions, with what is known already left out."""
    decisive = op == "or"
    if any(test.static is decisive for test in tests):
        return Condition(Level.NUMBER, None, span, decisive)
    open_tests = [test for test in tests if test.static is None]
    if not open_tests:
        return Condition(Level.NUMBER, None, span, not decisive)
    level = max(test.level for test in open_tests)
    return Condition(level, _joined(op, [test.expr for test in open_tests]), span, width=common_width(open_tests))


@evaluates(syntax.Compare)
def comparison(node: syntax.Compare, frame: Frame) -> Condition:
    parts = [value(operand, frame) for operand in node.operands]
    tests = [_compared(op, left, right, node.span) for op, left, right in zip(node.operators, parts, parts[1:])]
    return combined("and", tests, node.span)


def _compared(op: str, left: Value, right: Value, span: Span) -> Condition:
    level = max(left.level, right.level)
    if level == Level.NUMBER:
        a, b = closed_value(left.expr), closed_value(right.expr)
        if a is not None and b is not None:
            return Condition(level, None, span, COMPARISONS[op](a, b))
    return Condition(level, Compare(op, left.expr, right.expr), span, width=common_width((left, right)))


@evaluates(syntax.Both)
def both(node: syntax.Both, frame: Frame) -> Condition:
    """What follows a condition counts only where that holds: `1 <= i-1 and x[i-1] > 0`."""
    tests: list[Condition] = []
    for operand in node.operands:
        tests.append(condition(operand, frame, vectors=True))
        if tests[-1].static is False:
            break
        frame = frame.with_guard(guard_of(tests[-1]))
    return combined("and", tests, node.span)


@evaluates(syntax.Either)
def either(node: syntax.Either, frame: Frame) -> Condition:
    tests: list[Condition] = []
    for operand in node.operands:
        tests.append(condition(operand, frame, vectors=True))
        if tests[-1].static is True:
            break
        frame = frame.with_guard(guard_against(tests[-1]))
    return combined("or", tests, node.span)


@evaluates(syntax.Negation)
def negation(node: syntax.Negation, frame: Frame) -> Condition:
    test = condition(node.operand, frame, vectors=True)
    if test.static is not None:
        return Condition(test.level, None, node.span, not test.static)
    return Condition(test.level, negated(test.expr), node.span, width=test.width)


@evaluates(syntax.Conditional)
def conditional(node: syntax.Conditional, frame: Frame):
    test = condition(node.condition, frame)
    return choice(test, node.value, node.otherwise, node.span, frame)


def choice(test: Condition, then: syntax.Node, otherwise: syntax.Node, span: Span, frame: Frame) -> Value:
    """`then if test else otherwise`; the branch that is known to be excluded is not looked at."""
    if test.static is not None:
        return quantity(then if test.static else otherwise, frame)
    first = value(then, frame.with_guard(guard_of(test)))
    second = value(otherwise, frame.with_guard(guard_against(test)))
    level = max(test.level, first.level, second.level)
    if first.expr == second.expr:
        return Value(max(first.level, second.level), first.expr, span, width=common_width((test, first, second)))
    return Value(level, Where(test.expr, first.expr, second.expr), span, width=common_width((test, first, second)))
