"""What a derivation starts from, one line each: the laws of inputs and matrices, data arrays, parameters that are numbers."""

from __future__ import annotations

import sympy

from netsor.derive.layers import with_loops
from netsor.derive.names import Letters, LoopNumber, indexed
from netsor.derive.phrases import Equation, Phrase, condition, listed
from netsor.derive.statement import Covariance, Statement
from netsor.ir.expressions import Array, Coord, Expr
from netsor.ir.facts import parts, with_all_they_use
from netsor.ir.kernel import ends
from netsor.ir.program import ArrayDeclaration, Family, Given, Iid, MatMul, Matrix
from netsor.ir.rewrite import walk
from netsor.limit.recursion import generic
from netsor.rules import rule_of


def inputs(collector, families: list[Family]) -> list[Phrase]:
    """What the families rest on that the program does not define by equations."""
    used = with_all_they_use(families)
    vectors = [_vector(collector, family) for family in used if isinstance(family.definition, (Given, Iid))]
    products = [family.definition for family in used if isinstance(family.definition, MatMul)]
    matrices = list(dict.fromkeys(product.matrix for product in products))
    arrays = _data([part for family in used for part in parts(family)] + [matrix.variance for matrix in matrices])
    return [
        *(_with_condition(each.law, each) for each in with_loops(vectors)), *_matrices(collector, matrices),
        *(_array(collector, each) for each in arrays), *_numbers(collector.program.parameters)]


def _with_condition(phrase: Phrase, statement: Statement) -> Phrase:
    return Phrase((*phrase.parts, ", ", condition(statement.condition))) if statement.condition else phrase


def _vector(collector, family: Family) -> Statement:
    """An input with its law."""
    letters = Letters()
    one, other = (generic(family, side) for side in "xy")
    left, right = (collector.names.element(family, [collector.convert(s, letters) for s in each.subscripts]) for each in (one, other))
    if isinstance(family.definition, Iid):
        law = rule_of(family).law(one)
        values = [collector.convert(each, letters) for each in law.parameters]
        shown = [law.name, *(["(", *listed(values), ")"] if values else [])]
        return Statement("given", left, sympy.Tuple(*values), "input", law=Phrase.of(left, ": input with iid coordinates, ", *shown))
    mean = collector.convert(rule_of(family).mean(one), letters)
    kernel = rule_of(family).covariance(one, other, None)
    covariance = sympy.Add(*[
        collector.delta(equalities, letters) * collector.convert(coefficient, letters)
        for (equalities, _), coefficient in kernel.terms.items()])
    spread = ["variance ", covariance] if not family.axes else [Equation(Covariance(left, right), covariance)]
    return Statement("given", left, sympy.Tuple(mean, covariance), "input", law=Phrase.of(
        left, ": input with iid coordinates, Gaussian with mean ", mean, " and ", *spread))


def _matrices(collector, matrices: list[Matrix]) -> list[Phrase]:
    """Matrices, those of one law on one line."""
    statements = []
    for matrix in matrices:
        letters = Letters()
        constants = [LoopNumber(value, place, len(matrix.constants)) for place, value in enumerate(matrix.constants)]
        left = indexed(matrix.name, [*constants, *(letters.of(axis) for axis in matrix.axes)])
        variance = collector.convert(matrix.variance, letters) / sympy.Symbol(matrix.columns)
        shape = tuple(map(sympy.Symbol, (matrix.rows, matrix.columns)))
        statements.append(Statement("given", left, sympy.Tuple(variance, *shape), "matrix"))
    groups: dict[tuple, list[Statement]] = {}
    for each in with_loops(statements):
        groups.setdefault((each.right, each.condition), []).append(each)
    return [
        _with_condition(Phrase.of(
            *listed(each.left for each in members), ": ", "matrices" if len(members) > 1 or isinstance(members[0].left, sympy.Indexed) else "matrix",
            " of size ", rows, " by ", columns, " with iid Gaussian entries of variance ", variance), members[0])
        for ((variance, rows, columns), _), members in groups.items()]


def _data(expressions: list[Expr]) -> list[ArrayDeclaration]:
    """The arrays of data that expressions mention, also in the definitions of constants."""
    found: dict[ArrayDeclaration, None] = {}
    stack = list(expressions)
    while stack:
        for part in walk(stack.pop()):
            if isinstance(part, Array) and part.declaration not in found:
                found[part.declaration] = None
                stack += [] if part.declaration.definition is None else [part.declaration.definition]
            elif isinstance(part, Coord):
                continue
    return [each for each in found if each.definition is None]


def _array(collector, array: ArrayDeclaration) -> Phrase:
    sizes = []
    for range_ in array.ranges:
        low, high = (collector.convert(end, Letters()) for end in ends(range_))
        sizes += [" by ", high - low + 1]
    kind = [": array of ", *sizes[1:], " numbers (data)"] if sizes else [": a number (data)"]
    return Phrase.of(sympy.Symbol(array.name), *kind)


def _numbers(parameters: dict) -> list[Phrase]:
    """Parameters that are no symbols."""
    settled = {name: value for name, value in parameters.items() if value is not None}
    if not settled:
        return []
    values = {name: sympy.oo if value == float("inf") else sympy.sympify(value) for name, value in settled.items()}
    flat = listed(Equation(sympy.Symbol(name), value) for name, value in values.items())
    return [Phrase.of(*flat, ": numbers here and no symbols" if len(settled) > 1 else ": a number here and no symbol",
                      ", being set or deciding which equations there are")]
