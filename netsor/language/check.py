"""Kinds: what each family is (language.md, Kinds), and whether it is what the program says it is."""

from __future__ import annotations

from netsor.ir.facts import Randomness
from netsor.ir.program import Family
from netsor.language.diagnostics import Diagnostic, Label
from netsor.rules import rule_of
from netsor.rules.transpose import two_way_products

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


def settle_kinds(families: list[Family]) -> None:
    """Products with a matrix whose transpose is in use too are of kind H, and so is what they make so."""
    two_way = two_way_products(families)
    if not two_way:
        return
    randomness = Randomness()
    for family in families:
        family.kind = "H" if family in two_way else kind_of(family, randomness)


def mixed_kinds(first: Family, part: Family) -> Diagnostic | None:
    """A family is of one kind: vectors and scalars do not share a name."""
    if part.is_vector == first.is_vector:
        return None
    return Diagnostic(
        "N315", f"`{part.label}` is {KINDS[part.kind]}, but `{first.label}` is {KINDS[first.kind]}", part.span, "",
        (Label(first.span, f"{KINDS[first.kind]} here"),),
        hint="to start a recurrence of vectors from a constant: input zero ~ Const(0)" if part.is_vector else "")
