"""Functions applied to arguments: the catalogue, dot and avg, max and min, arithmetic of whole numbers, and `def`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from netsor.ir.expressions import ONE, Call, Expr, Num, power
from netsor.ir.rewrite import children
from netsor.language import syntax
from netsor.language.arguments import given_arguments
from netsor.language.callees import no_function, not_a_whole_side
from netsor.language.conditions import choice, condition
from netsor.language.constants import closed_value, evaluator, tidy
from netsor.language.diagnostics import Diagnostic, Label
from netsor.language.draws import draw_of
from netsor.language.expressions import Meaning, evaluate, evaluates, quantity, to_the_power, value, vector_value, wrong_kind
from netsor.language.hidden import vector
from netsor.language.reductions import REDUCTIONS
from netsor.language.scope import BlockEntity, FunctionArgument, FunctionEntity, ParameterEntity, Pieces, is_nonlinearity
from netsor.language.source import Span
from netsor.language.state import Frame, TooMuchWork, fail
from netsor.language.values import Average, CustomCall, Dot, FunctionValue, Level, Value
from netsor.language.widths import common_width

INLINING_LIMIT = 60
EXPRESSION_LIMIT = 1_000_000
CALL_LIMIT = 50_000
MONOMIALS = {"square": 2, "cube": 3}


@evaluates(syntax.Call)
def call(node: syntax.Call, frame: Frame) -> Meaning:
    word = node.function.dotted
    local = frame.names.get(word)
    entity = None if local is not None or word in frame.indices else frame.entity(word)
    given = entity.value if isinstance(entity, FunctionArgument) else local
    if isinstance(given, FunctionValue):
        word = given.name
        entity = given.entity
    if isinstance(entity, BlockEntity):
        not_a_whole_side(node, entity)
    if isinstance(given, FunctionValue):
        node = node if entity is not None else replace(node, function=_named(node.function, word))
    elif local is not None or word in frame.indices or (entity is not None and not isinstance(entity, FunctionEntity)):
        _not_a_function(node, word, entity, len(frame.terms), frame.scope.is_block)
    if entity is not None:
        return inline(entity, node, frame)
    if word in frame.state.rules:
        return custom(frame.state.rules[word], node, frame)
    if word in BUILT_IN:
        return BUILT_IN[word](node, frame)
    if word in REDUCTIONS or word == "softmax":
        return over_the_width(word, node, frame)
    if is_nonlinearity(word):
        return nonlinearity(word, node, frame)
    scope = frame.scope
    if scope.knows(word):
        frame.find(word, node.function.span)
    if word in ("cov", "kurtosis"):
        fail("N208", f"`{word}` is a statistic of the limit; it stands in `expect` only", node.function.span)
    no_function(node, frame)


def _named(function: syntax.Name, word: str) -> syntax.Name:
    """A function by its own name, where the program has another one for it."""
    return replace(function, path=(syntax.Identifier(function.span, word),))


def _not_a_function(node: syntax.Call, word: str, entity, rank: int, in_block: bool) -> None:
    passed = isinstance(entity, ParameterEntity) or (isinstance(entity, Pieces) and entity.what == "an argument")
    hint = "subscripts are written in square brackets" if isinstance(entity, Pieces) and entity.rank > rank else (
        "pass a function for it" if in_block and passed else "")
    secondary = (Label(entity.span, "defined here"),) if entity is not None else ()
    fail("N208", f"`{word}` is not a function", node.function.span, "", secondary, hint)


def positional(node: syntax.Call, frame: Frame, least: int, most: int | None = None) -> tuple[syntax.Node, ...]:
    """The arguments of a function that takes no named ones."""
    word = node.function.dotted
    if node.keywords:
        fail("N316", f"`{word}` has no argument called `{node.keywords[0].name.name}`", node.keywords[0].span)
    given = len(node.arguments)
    if given < least or (most is not None and given > most):
        wanted = str(least) if most == least else f"at least {least}" if most is None else f"{least} to {most}"
        fail("N316", f"`{word}` takes {wanted} argument{'' if wanted == '1' else 's'}, and {given or 'none'} "
             f"{'is' if given == 1 else 'are'} given", node.span)
    return node.arguments


# --- rules


def dot(node: syntax.Call, frame: Frame) -> Value:
    left, right = (vector_value(each, frame, "dot") for each in positional(node, frame, 2, 2))
    return Value(Level.SCALAR, ONE, node.span, pending=Dot(left.expr, right.expr, common_width((left, right))))


def avg(node: syntax.Call, frame: Frame) -> Value:
    (argument,) = positional(node, frame, 1, 1)
    body = vector_value(argument, frame, "avg")
    return Value(Level.SCALAR, ONE, node.span, pending=Average(body.expr, body.width))


def custom(rule, node: syntax.Call, frame: Frame) -> Value:
    """A rule of a plug-in: one vector, then the constants that the rule names."""
    word = node.function.dotted
    if len(node.arguments) > 1 + len(rule.constants) or not node.arguments:
        positional(syntax.Call(node.span, node.function, node.arguments, ()), frame, 1, 1 + len(rule.constants))
    argument = vector_value(node.arguments[0], frame, f"`{word}`")
    given = named_arguments(word, rule.constants, node)
    for name in rule.constants:
        if name not in given:
            fail("N316", f"`{word}` needs a value for `{name}`", node.span)
    constants = []
    for name in rule.constants:
        expr = _parameter(word, name, given[name], frame)
        if closed_value(expr) is None:
            fail("N320", f"`{name}` must be one number for all elements", given[name].span)
        constants.append(expr)
    reference = vector(argument.expr, argument.width, frame, node.arguments[0].span)
    draw, drawn_with = draw_of(node, argument.width, tuple(constants), frame)
    for name, constant, other in zip(rule.constants, constants, drawn_with):
        if constant != other:
            fail("N320", f"`{name}` must be one number for all elements", given[name].span)
    pending = CustomCall(rule, (reference,), tuple(constants), draw)
    return Value(Level.VECTOR, ONE, node.span, pending=pending, width=argument.width)


def named_arguments(word: str, names: Sequence[str], node: syntax.Call) -> dict[str, syntax.Node]:
    """What follows the first argument, by name."""
    given = dict(zip(names, node.arguments[1:]))
    for keyword in node.keywords:
        if keyword.name.name not in names:
            known = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            fail("N316", f"`{word}` has no argument called `{keyword.name.name}`", keyword.name.span, known)
        if keyword.name.name in given:
            fail("N316", f"`{keyword.name.name}` is given twice", keyword.span)
        given[keyword.name.name] = keyword.value
    return given


def over_the_width(word: str, node: syntax.Call, frame: Frame) -> Value:
    """`sum(x)` without an index: the user means the width."""
    arguments = positional(node, frame, 1)
    meaning = value(arguments[0], frame)
    if meaning.level != Level.VECTOR or len(arguments) > 1:
        example = "j" if word == "softmax" else "i"
        fail("N316", f"`{word}` runs over an index", node.span, "", (), f"write {word}(… for {example})")
    width = frame.scope.width_word(meaning.width or frame.state.width)
    hints = dict.fromkeys(("sum", "mean"), f"the average over the width is avg(x), a dot product dot(x, y)/{width}")
    hint = (hints | {"softmax": "scores are normalised over an index: softmax(p[j] for j)"}).get(word, "")
    fail("N403", f"{word} over the coordinates of a vector has no limit in this theory" if word not in ("sum", "mean")
         else f"{word} does not run over the coordinates of a vector", node.span, "", (), hint)


# --- coordinatewise functions


def nonlinearity(word: str, node: syntax.Call, frame: Frame) -> Value:
    """A function of the catalogue: its argument, then its parameters by place or by name."""
    from netsor import nonlinearities

    parameters = nonlinearities.get(word).parameters
    names = [name for name, _ in parameters]
    most = 1 + len(names)
    if not node.arguments or len(node.arguments) > most:
        plain = syntax.Call(node.span, node.function, node.arguments, ())
        positional(plain, frame, 1, most)
    argument = value(node.arguments[0], frame)
    given = named_arguments(word, names, node)
    values = []
    for name, default in parameters:
        if name not in given and default is None:
            fail("N316", f"`{word}` needs a value for `{name}`", node.span)
        values.append(_parameter(word, name, given[name], frame) if name in given else Num(_exact(default)))
    try:
        nonlinearities.get(word).check(*[evaluator().evaluate(each).data for each in values])
    except ValueError as error:
        fail("N502", str(error), node.span)
    return Value(argument.level, _applied(word, argument, values, node, frame), node.span, width=argument.width)


def _parameter(word: str, name: str, node: syntax.Node, frame: Frame) -> Expr:
    meaning = value(node, frame)
    if meaning.level != Level.NUMBER:
        fail("N320", f"the parameter `{name}` of `{word}` must be a constant, and this is {meaning.level.word}",
             node.span)
    return meaning.expr


def _exact(number: float) -> int | Fraction | float:
    """A default as it was written: 0.01 is 1/100."""
    if not math.isfinite(number):
        return number
    exact = Fraction(repr(number))
    return exact.numerator if exact.denominator == 1 else exact


def _applied(word: str, argument: Value, parameters: Sequence[Expr], node: syntax.Call, frame: Frame) -> Expr:
    if word == "identity":
        return argument.expr
    if word == "sqrt":
        return _square_root(argument, node.span, frame).expr
    if word in MONOMIALS:
        return power(argument.expr, MONOMIALS[word])
    closed = closed_value(argument.expr) if argument.level == Level.NUMBER else None
    if closed is not None and word in ("abs", "sign", "relu", "step") and not isinstance(closed, float):
        return Num({"abs": abs(closed), "sign": (closed > 0) - (closed < 0), "relu": max(closed, 0),
                    "step": int(closed > 0)}[word])
    return Call(word, (argument.expr, *parameters))


def square_root(node: syntax.Call, frame: Frame) -> Value:
    """sqrt is a power, so that it scales widths: sqrt(n)."""
    (argument,) = positional(node, frame, 1, 1)
    return _square_root(quantity(argument, frame), node.span, frame)


def _square_root(argument: Value, span: Span, frame: Frame) -> Value:
    number = closed_value(argument.expr) if argument.pending is None and argument.level == Level.NUMBER else None
    if number is not None and number < 0:
        fail("N502", "a negative number has no square root", span)
    half = Value(Level.NUMBER, Num(Fraction(1, 2)), span)
    return to_the_power(argument, half, span, frame)


def extremum(node: syntax.Call, frame: Frame) -> Value:
    """`max(a, b, …)`"""
    word = node.function.dotted
    if len(node.arguments) == 1:
        return over_the_width(word, node, frame)
    parts = [value(argument, frame) for argument in positional(node, frame, 2)]
    numbers = [closed_value(part.expr) if part.level == Level.NUMBER else None for part in parts]
    if None not in numbers:
        return Value(Level.NUMBER, Num((max if word == "max" else min)(numbers)), node.span)
    applied = Call(word, tuple(part.expr for part in parts))
    return Value(max(part.level for part in parts), applied, node.span, width=common_width(parts))


def where(node: syntax.Call, frame: Frame) -> Value:
    test, then, otherwise = positional(node, frame, 3, 3)
    return choice(condition(test, frame, vectors=True), then, otherwise, node.span, frame)


# --- whole numbers


def rounding(node: syntax.Call, frame: Frame) -> Value:
    """floor, ceil and mod act on constants."""
    word = node.function.dotted
    arity = 2 if word == "mod" else 1
    parts = []
    for argument in positional(node, frame, arity, arity):
        meaning = value(argument, frame)
        if meaning.level != Level.NUMBER:
            fail("N320", f"`{word}` acts on constants, and this is {meaning.level.word}", argument.span)
        parts.append(meaning.expr)
    numbers = [closed_value(part) for part in parts]
    if None in numbers:
        return Value(Level.NUMBER, Call(word, tuple(parts)), node.span)
    if any(math.isinf(number) for number in numbers):
        fail("N502", "inf cannot be calculated with", node.span)
    if word == "mod":
        if numbers[1] == 0:
            fail("N513", "division by zero", node.span)
        return Value(Level.NUMBER, tidy(numbers[0] % numbers[1], node.span), node.span)
    return Value(Level.NUMBER, Num((math.floor if word == "floor" else math.ceil)(numbers[0])), node.span)


def wrapped(node: syntax.Call, frame: Frame) -> Value:
    fail("N328", "wrap stands for a whole subscript and nowhere else", node.span,
         "it is circular in the range of the subscript at its place, as in x[wrap(i + o)]")


# --- functions of the program


def inline(entity: FunctionEntity, node: syntax.Call, frame: Frame) -> Meaning:
    """The body of a `def` with its arguments in place; nothing of the surroundings is captured."""
    definition, scope = entity.definition, entity.scope
    if len(frame.calls) >= INLINING_LIMIT:
        fail("N113", f"functions are nested more than {INLINING_LIMIT} deep", node.span)
    frame.state.inlined += 1
    if frame.state.inlined > CALL_LIMIT:
        raise TooMuchWork(Diagnostic(
            "N512", f"this program calls its functions more than {CALL_LIMIT:,} times", node.span))
    given = given_arguments(definition, node)
    body_frame = frame.inside_function(scope, scope.positions[definition.name.name], node)
    names: dict[str, Meaning] = {}
    for formal in definition.formals:
        name = formal.element.name.name
        names[name] = evaluate(given[name], frame) if name in given else evaluate(formal.default, body_frame)
        if isinstance(names[name], FunctionValue) and isinstance(names[name].entity, BlockEntity):
            wrong_kind(names[name], "a number, scalar, vector or function")
    result = evaluate(definition.body, body_frame.with_names(**names))
    if isinstance(result, Value):
        if size(result.expr) > EXPRESSION_LIMIT:
            fail("N512", f"with its functions written out this expression has more than {EXPRESSION_LIMIT:,} parts",
                 node.span)
        return replace(result, span=node.span)
    return result


def size(expr: Expr) -> int:
    """The number of nodes of an expression, each counted as often as it occurs."""
    cached = expr.__dict__.get("_size")
    if cached is None:
        cached = 1 + sum(map(size, children(expr)))
        object.__setattr__(expr, "_size", cached)
    return cached


BUILT_IN = {
    "dot": dot, "avg": avg, "where": where, "max": extremum, "min": extremum, "sqrt": square_root, "floor": rounding,
    "ceil": rounding, "mod": rounding, "wrap": wrapped,
}
