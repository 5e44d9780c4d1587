"""The kind of every value of a program."""

from __future__ import annotations

from collections.abc import Iterator

from netsor.cli.text.table import table
from netsor.ir.program import Custom, Family, Given, MatMul, Moment, Nonlin, Program, ScalarFunction, Score

MEANING = {
    "A": "matrix of iid Gaussian entries",
    "G": "vector, Gaussian given the random scalars",
    "H": "vector, not Gaussian",
    "C": "scalar with a deterministic limit",
    "S": "scalar with a random limit",
}
RULES = {
    Given: "input",
    MatMul: "MatMul",
    Nonlin: "Nonlin",
    Moment: "Moment",
    Score: "Score",
    ScalarFunction: "function of scalars",
}


def describe_kinds(program: Program) -> Iterator[str]:
    """A table: name, kind, rule, meaning."""
    rows = [[_name(matrix), "A", "matrix", MEANING["A"]] for matrix in program.matrices]
    rows += [
        [family.label, family.kind, _rule(family), MEANING.get(family.kind, "")]
        for family in program.families
        if not family.hidden
    ]
    yield from table(["value", "kind", "rule", ""], rows)


def _name(matrix) -> str:
    names = [*map(str, matrix.constants), *(axis.name for axis in matrix.axes)]
    return f"{matrix.name}[{','.join(names)}]" if names else matrix.name


def _rule(family: Family) -> str:
    if isinstance(family.definition, Custom):
        return family.definition.rule.name
    return RULES[type(family.definition)]
