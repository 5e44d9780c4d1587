"""The kind of every value of a program."""

from __future__ import annotations

from collections.abc import Iterator

from netsor.cli.text.table import table
from netsor.ir.program import Custom, Family, Given, Iid, MatMul, Moment, Nonlin, Program, RandomScalar, ScalarFunction, Score

MEANING = {
    "A": "matrix of iid Gaussian entries",
    "G": "vector, Gaussian given the random scalars",
    "H": "vector, not Gaussian",
    "C": "scalar with a deterministic limit",
    "S": "scalar with a random limit",
}
RULES = {
    Given: "input",
    Iid: "input",
    MatMul: "MatMul",
    Nonlin: "Nonlin",
    Moment: "Moment",
    Score: "Score",
    RandomScalar: "input",
    ScalarFunction: "function of scalars",
}


def describe_kinds(program: Program) -> Iterator[str]:
    """A table: name (with its width where there are several), kind, rule, meaning."""
    several = bool(program.further_widths)
    rows = [
        [_name(matrix) + (f" : ({matrix.rows}, {matrix.columns})" if several else ""), "A", "matrix", MEANING["A"]]
        for matrix in program.matrices
    ]
    rows += [
        [_value(family, several), family.kind, _rule(family), MEANING.get(family.kind, "")]
        for family in program.families
        if not family.hidden
    ]
    yield from table(["value", "kind", "rule", ""], rows)


def _name(matrix) -> str:
    names = [*map(str, matrix.constants), *(axis.name for axis in matrix.axes)]
    return f"{matrix.name}[{','.join(names)}]" if names else matrix.name


def _value(family: Family, several: bool) -> str:
    return f"{family.label} : {family.width}" if several and family.width else family.label


def _rule(family: Family) -> str:
    if isinstance(family.definition, Custom):
        return family.definition.rule.name
    return RULES[type(family.definition)]
