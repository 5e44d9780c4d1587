"""The program with an independent matrix for every use of a matrix: what a limit that forgets about sharing would compute."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

from netsor.ir.expressions import Coord, Expr, ScalarRef
from netsor.ir.program import Custom, Family, MatMul, Program
from netsor.ir.rewrite import rebuild


def unshared(program: Program) -> Program | None:
    """A copy in which no two families multiply by the same matrix; None if none do."""
    uses = Counter(f.definition.matrix for f in program.families if isinstance(f.definition, MatMul))
    if all(count < 2 for count in uses.values()):
        return None
    copies: dict[Family, Family] = {}
    matrices = [matrix for matrix in program.matrices if uses[matrix] < 2]

    def renewed(value):
        """Expressions, and tuples of them, with references to the copies of families."""
        if isinstance(value, (Coord, ScalarRef)):
            return type(value)(copies[value.family], tuple(map(renewed, value.subscripts)))
        if isinstance(value, Expr):
            return rebuild(value, renewed)
        return tuple(map(renewed, value)) if isinstance(value, tuple) else value

    for family in program.families:
        definition = family.definition
        changed = {own.name: renewed(getattr(definition, own.name)) for own in fields(definition)}
        if isinstance(definition, MatMul) and uses[definition.matrix] > 1:
            changed["matrix"] = replace(definition.matrix)
            matrices.append(changed["matrix"])
        if isinstance(definition, Custom):
            changed["rule"] = definition.rule
        own = {part.name: getattr(family, part.name) for part in fields(family) if part.init}
        copies[family] = Family(**own | {"definition": type(definition)(**changed)})
    outputs = [
        replace(output, parts=tuple(replace(part, reference=renewed(part.reference)) for part in output.parts))
        for output in program.outputs
    ]
    return replace(program, families=list(copies.values()), matrices=matrices, outputs=outputs, expectations=[])
