"""Laws of inputs that are not Gaussian: Rademacher(), Bernoulli(probability), Uniform(low, high)."""

from __future__ import annotations

import math

import numpy as np

from netsor.ir.expressions import Expr
from netsor.ir.labelled import Labelled, align
from netsor.ir.laws import LAWS, Law
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.constants import evaluator
from netsor.language.declarations import ARRAY_LIMIT
from netsor.language.expressions import constant
from netsor.language.scope import count
from netsor.language.source import Span
from netsor.language.state import Frame, fail

PARAMETERS = {"Rademacher": (), "Bernoulli": ("the probability of 1",), "Uniform": ("the lowest value", "the highest value")}


def arguments(law: syntax.Law, names: tuple[str, ...]) -> tuple[syntax.Node, ...]:
    """The arguments of a law, one for each name."""
    if len(law.arguments) != len(names):
        needs = f"{count(len(names), 'number')}, {' and '.join(names)}" if names else "no numbers"
        fail("N316", f"`{law.name.name}` takes {needs}, and "
             f"{len(law.arguments) or 'none'} {'is' if len(law.arguments) == 1 else 'are'} given", law.span)
    return law.arguments


def read_law(node: syntax.Law, frame: Frame) -> Law:
    """The law, its parameters checked for all values of the subscripts."""
    name = node.name.name
    nodes = arguments(node, PARAMETERS[name])
    parameters = tuple(constant(each, frame, f"a parameter of {name}") for each in nodes)
    values = [_numbers(expr, each.span) for expr, each in zip(parameters, nodes)]
    if name == "Bernoulli":
        _check(values[0], (values[0].data < 0) | (values[0].data > 1), nodes[0].span, "a probability is between 0 and 1, and this is {}")
    if name == "Uniform":
        (low, high), labels = align(values)
        _check(Labelled(high - low, labels), ~(low < high), node.span,
               "the highest value of a uniform law is above the lowest, and here their difference is {}",
               "a constant vector is Const(value)")
    return LAWS[name](parameters)


def _numbers(expr: Expr, span: Span) -> Labelled:
    entries = math.prod(index.range.size for index in free_indices(expr))
    if entries > ARRAY_LIMIT:
        fail("N512", f"this parameter has {entries:,} values; {ARRAY_LIMIT:,} are possible", span)
    values = evaluator().evaluate(expr)
    if not np.isfinite(values.data).all():
        fail("N502", "a parameter of a law is not a finite number", span)
    return values


def _check(values: Labelled, wrong: np.ndarray, span: Span, message: str, hint: str = "") -> None:
    """Raise N319 with the first wrong value and where it stands."""
    if not np.any(wrong):
        return
    place = np.argwhere(wrong)[0]
    where = ", ".join(f"{label.name} = {label.range.lo + int(k)}" for label, k in zip(values.labels, place))
    fail("N319", message.format(f"{float(values.data[tuple(place)]):.6g}") + (f" for {where}" if where else ""), span, hint=hint)
