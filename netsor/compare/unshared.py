"""Programs in which matrices are independent that are not: what a limit that forgets about sharing or transposes would compute."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from netsor.ir.copies import Copies, like
from netsor.ir.program import MatMul, Program
from netsor.rules.transpose import two_way_products, without_transposes


def unshared(program: Program) -> Program | None:
    """A copy in which no two families multiply by the same matrix; None if none do."""
    uses = Counter(f.definition.matrix for f in program.families if isinstance(f.definition, MatMul))
    if all(count < 2 for count in uses.values()):
        return None
    copies, families = Copies(), []
    matrices = [matrix for matrix in program.matrices if uses[matrix] < 2]
    for family in program.families:
        definition = copies.definition(family.definition)
        if isinstance(definition, MatMul) and uses[definition.matrix] > 1:
            definition = replace(definition, matrix=replace(definition.matrix))
            matrices.append(definition.matrix)
        families.append(like(family, definition))
        copies[family] = families[-1]
    return replace(copies.program(program, families, matrices), expectations=[])


def uncorrected(program: Program) -> Program | None:
    """A copy in which every W.T is a matrix of its own, as if products had no correction Ż; None if no matrix is used both ways."""
    if not two_way_products(program.families):
        return None
    return without_transposes(replace(program, expectations=[]), corrected=False)[0]
