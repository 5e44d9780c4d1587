"""Programs with some definitions changed: the other families are copied, with references to the copies."""

from __future__ import annotations

from dataclasses import fields, replace

from netsor.ir.expressions import Coord, Expr, ScalarRef
from netsor.ir.program import Custom, Definition, Family, Matrix, Program
from netsor.ir.rewrite import rebuild


class Copies:
    """The copies of families made so far: ``copies[family]``, to be filled in program order."""

    def __init__(self) -> None:
        self._copies: dict[Family, Family] = {}

    def __setitem__(self, family: Family, copy: Family) -> None:
        self._copies[family] = copy

    def renewed(self, value):
        """An expression, or tuple of them, with references to the copies."""
        if isinstance(value, Coord | ScalarRef):
            return type(value)(self._copies[value.family], tuple(map(self.renewed, value.subscripts)))
        if isinstance(value, Expr):
            return rebuild(value, self.renewed)
        return tuple(map(self.renewed, value)) if type(value) is tuple else value

    def definition(self, definition: Definition) -> Definition:
        """A definition with references to the copies."""
        changed = {own.name: self.renewed(getattr(definition, own.name)) for own in fields(definition)}
        if isinstance(definition, Custom):
            changed["rule"] = definition.rule
        return type(definition)(**changed)

    def program(self, program: Program, families: list[Family], matrices: list[Matrix]) -> Program:
        """The program of ``families``, with outputs and expectations of the copies."""
        outputs = [
            replace(output, parts=tuple(replace(part, reference=self.renewed(part.reference)) for part in output.parts))
            for output in program.outputs
        ]
        expectations = [
            replace(expectation, arguments=self.renewed(expectation.arguments)) for expectation in program.expectations
        ]
        return replace(program, families=families, matrices=matrices, outputs=outputs, expectations=expectations)


def like(family: Family, definition: Definition, **changed) -> Family:
    """A family that looks like another, with its own definition."""
    own = {part.name: getattr(family, part.name) for part in fields(family) if part.init}
    return Family(**own | {"definition": definition} | changed)
