"""A program as readable text: what `netsor check --show ir` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netsor.ir.expressions import Index, Range
from netsor.ir.program import (
    ArrayDeclaration, Custom, Definition, Expectation, Family, Given, Iid, MatMul, Matrix, Moment, Nonlin, Output, Program,
    RandomScalar, ScalarFunction, Score,
)
from netsor.ir.rewrite import free_indices, walk
from netsor.ir.text import text


def program_text(program: Program) -> str:
    """One line for each parameter, index, array, matrix, family, output and expectation."""
    return "\n".join(_lines(program))


def _lines(program: Program) -> Iterator[str]:
    further = program.further_widths
    yield f"program {program.name}, width {', '.join([program.width, *(f'{m} = {size}' for m, size in further.items())])}"
    yield from (f"param {name} = {_number(value)}" for name, value in program.parameters.items())
    yield from (f"index {name} in {_range(range_)}" for name, range_ in _indices(program))
    yield from map(_array, program.arrays)
    yield from (_matrix(matrix, bool(further)) for matrix in program.matrices)
    labels = [f"{family.label} : {family.width}" if further and family.width else family.label for family in program.families]
    widest = min(max(map(len, labels), default=0), 24)
    for family, label in zip(program.families, labels):
        mark = "." if family.hidden else " "  # hidden: a subexpression that the program does not name
        yield f"{family.kind} {mark} {label:<{widest}}  {_definition(family, family.definition, bool(further))}"
    yield from map(_output, program.outputs)
    yield from map(_expectation, program.expectations)


def _number(value) -> str:
    return "inf" if isinstance(value, float) and math.isinf(value) else str(value)


def _range(range_: Range) -> str:
    if range_.bounds is not None:
        return "..".join(map(text, range_.bounds))
    return f"{range_.lo}..{range_.symbol or range_.hi}"


def _indices(program: Program) -> list[tuple[str, Range]]:
    """The axes that occur, each once by name and range."""
    axes = [axis for owner in (*program.matrices, *program.families) for axis in owner.axes]
    return list(dict.fromkeys((axis.name, axis.range) for axis in axes))


def _array(array: ArrayDeclaration) -> str:
    sizes = ", ".join(map(_range, array.ranges))
    return f"array {array.name}[{sizes}]"


def _matrix(matrix: Matrix, several: bool) -> str:
    variance = text(matrix.variance)
    variance = variance if variance.replace(".", "").isalnum() else f"({variance})"
    shape, fan_in = (f" : ({matrix.rows}, {matrix.columns})", matrix.columns) if several else ("", "width")
    return f"A   {_element(matrix, [axis.name for axis in matrix.axes])}{shape} ~ N(0, {variance}/{fan_in})"


def _element(matrix: Matrix, subscripts: list[str]) -> str:
    shown = [*map(str, matrix.constants), *subscripts]
    return f"{matrix.name}[{','.join(shown)}]" if shown else matrix.name


def _definition(family: Family, definition: Definition, several: bool) -> str:
    match definition:
        case Given() | RandomScalar() as given:
            copies = [f"{text(axis)}, {text(other)}" for axis, other in zip(family.axes, given.second) if other is not None]
            over = f" over {'; '.join(copies)}" if copies else ""
            return f"Input   N({text(given.mean)}, {text(given.covariance)}{over})"
        case Iid(law=law):
            return f"Input   {law.name}({', '.join(map(text, law.parameters))})"
        case MatMul(matrix=matrix, matrix_subscripts=subscripts, argument=argument, transposed=transposed):
            return f"MatMul  {_element(matrix, list(map(text, subscripts)))}{'.T' * transposed} @ {text(argument)}"
        case Nonlin(body=body):
            return f"Nonlin  {text(body)}"
        case Moment(body=body):
            return f"Moment  avg({text(body)})"
        case Score(left=left, right=right):
            return f"Score   dot({text(left)}, {text(right)})/sqrt({left.family.width if several else 'width'})"
        case ScalarFunction(body=body):
            return f"Scalar  {text(body)}"
        case Custom(rule=rule, arguments=arguments, constants=constants):
            return f"Custom  {rule.name}({', '.join(map(text, (*arguments, *constants)))})"
    raise TypeError(type(definition).__name__)


def _output(output: Output) -> str:
    axes = f"[{','.join(axis.name for axis in output.axes)}]" if output.axes else ""
    parts = ", ".join(text(part.reference) for part in output.parts[:4])
    return f"output {output.name}{axes} from {parts}" + (", …" if len(output.parts) > 4 else "")


def _expectation(expectation: Expectation) -> str:
    arguments = ", ".join(map(text, expectation.arguments))
    free = sorted({part.name for e in (*expectation.arguments, expectation.value) for part in walk(e)
                   if isinstance(part, Index) and part in free_indices(e)})
    every = f" for every {', '.join(free)}" if free else ""
    stated = f"{text(expectation.value)} within {text(expectation.tolerance)}"
    return f"expect {expectation.function}({arguments}) = {stated}{every}"
