"""Kinds: what each family is (language.md, Kinds), and whether it is what the program says it is."""

from __future__ import annotations

from netsor.ir.facts import Randomness
from netsor.ir.program import Family
from netsor.language.diagnostics import Diagnostic, Label
from netsor.rules import rule_of

KINDS = {
    "A": "a matrix", "G": "a Gaussian vector", "H": "a vector", "C": "a scalar with a deterministic limit",
    "S": "a scalar with a random limit",
}
WITHIN = {("G", "H"), ("C", "S")}


def kind_of(family: Family, randomness: Randomness) -> str:
    """The kind of a family, those it mentions having theirs."""
    return rule_of(family).kind(family, randomness)


def is_a(kind: str, wanted: str) -> bool:
    return kind == wanted or (kind, wanted) in WITHIN


def mixed_kinds(first: Family, part: Family) -> Diagnostic | None:
    """A family is of one kind: vectors and scalars do not share a name."""
    if part.is_vector == first.is_vector:
        return None
    return Diagnostic(
        "N315", f"`{part.label}` is {KINDS[part.kind]}, but `{first.label}` is {KINDS[first.kind]}", part.span, "",
        (Label(first.span, f"{KINDS[first.kind]} here"),),
        hint="to start a recurrence of vectors from a constant: input zero ~ Const(0)" if part.is_vector else "")
