"""A derivation as plain data."""

from __future__ import annotations

from typing import Any

from netsor.derive.names import without_loops
from netsor.derive.printing.latex import latex
from netsor.derive.printing.latex import left_side as latex_left
from netsor.derive.printing.text import left_side, text


def document(derivation) -> dict[str, Any]:
    """What the derivation says, every formula as text, LaTeX and SymPy's ``srepr``."""
    theorem = derivation.theorem
    return {
        "program": derivation.program.name,
        "width": derivation.program.width,
        "theorem": {"name": theorem.name, "proved": theorem.proved, "reason": theorem.reason},
        "hypotheses": derivation.hypotheses, "inputs": [each.text() for each in derivation.inputs],
        "parameters": {name: value if value is None else str(value) for name, value in derivation.program.parameters.items()},
        "equations": [equation(statement) for statement in derivation.lines],
    }


def equation(statement) -> dict[str, Any]:
    """One statement as plain data."""
    import sympy

    found = {
        "section": statement.section, "left": left_side(statement), "right": text(statement.right),
        "latex": f"{latex_left(statement)} = {latex(statement.right)}", "sympy": sympy.srepr(without_loops(statement.right)),
        "rule": statement.rule, "citation": statement.citation, "for": statement.condition, "given": list(statement.given), "law": "" if statement.law is None else statement.law.text(),
        "over": list(statement.over), "indices": {str(name): [text(low), text(high)] for name, low, high in statement.axes},
    }
    if statement.name is not None:
        found["name"] = text(statement.name)
    if statement.where:
        found["where"] = [equation(part) for part in statement.where]
    return found
