"""A derivation as a Python program that makes its formulas."""

from __future__ import annotations

import sympy

from netsor.derive.names import without_loops
from netsor.derive.objects import Named
from netsor.derive.printing.text import left_side, text


def document(derivation) -> str:
    """Python code: a dictionary ``equations`` of SymPy expressions by their left sides."""
    functions = sorted({
        (part.func.__name__, part.label) for statement in derivation.lines for each in (statement, *statement.where)
        for part in sympy.preorder_traversal(each.right) if isinstance(part, Named)})
    found = [
        f'"""The limit of {derivation.program.name} as SymPy formulas."""', "", "from sympy import *", "from sympy.functions.elementary.piecewise import ExprCondPair", "",
        "from netsor.derive.closed_forms.attention import SquaredWeights",
        "from netsor.derive.objects import (",
        "    Extremum, GaussianExpectation, Indicator, InfiniteAverage, ScoreExpectation, Softmax, function)", ""]
    found += [f"{name} = function({label!r})" for name, label in functions] + ([""] if functions else [])
    found.append("equations = {")
    for statement in derivation.lines:
        for each in (statement, *statement.where):
            condition = f"  # {each.condition}" if each.condition else ""
            found.append(f"    {(left_side(each) if each.name is None else text(each.name))!r}: {sympy.srepr(without_loops(each.right))},{condition}")
    return "\n".join([*found, "}", ""])
