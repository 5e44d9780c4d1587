"""Kinds: what each family is (language.md, Kinds), and whether it is what the program says it is."""

from __future__ import annotations

from collections.abc import Iterable

from netsor.ir.facts import Randomness
from netsor.ir.polynomials import coords, degree
from netsor.ir.program import Custom, Family, Given, MatMul, Moment, Nonlin, ScalarFunction, Score
from netsor.language.diagnostics import Diagnostic, Label

KINDS = {
    "A": "a matrix", "G": "a Gaussian vector", "H": "a vector", "C": "a scalar with a deterministic limit",
    "S": "a scalar with a random limit",
}
WITHIN = {("G", "H"), ("C", "S")}


def kind_of(family: Family, randomness: Randomness) -> str:
    """The kind of a family, those it mentions having theirs."""
    match family.definition:
        case Given() | MatMul():
            return "G"
        case Nonlin(body=body):
            gaussian = degree(body) in (0, 1) and all(part.family.kind == "G" for part in coords(body))
            return "G" if gaussian else "H"
        case Custom():
            return "H"
        case Score():
            return "S"
        case Moment() | ScalarFunction():
            return "S" if randomness.scores(family) else "C"
    raise TypeError(type(family.definition).__name__)


def is_a(kind: str, wanted: str) -> bool:
    return kind == wanted or (kind, wanted) in WITHIN


def mixed_kinds(parts: Iterable[Family]) -> Diagnostic | None:
    """A family is of one kind: vectors and scalars do not share a name."""
    first, *rest = parts
    for part in rest:
        if part.is_vector != first.is_vector:
            return Diagnostic(
                "N315", f"`{part.label}` is {KINDS[part.kind]}, but `{first.label}` is {KINDS[first.kind]}", part.span,
                "", (Label(first.span, f"{KINDS[first.kind]} here"),),
                hint="to start a recurrence of vectors from a constant: input zero ~ Const(0)"
                if not (part.is_vector and first.is_vector) else "")
    return None
