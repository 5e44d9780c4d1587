"""Why a moment is what it is: the rule that the recursion applied."""

from __future__ import annotations

from netsor.ir.program import Family
from netsor.limit.recursion import Recursion, generic
from netsor.limit.terms import Atom, Sum
from netsor.rules import rule_of


def reason(kind: str, families: list[Family], recursion: Recursion) -> str:
    """The rule by which the recursion found E[x], E[x y] or Cov(x, y): see :mod:`netsor.limit.recursion`, which goes by the same cases."""
    forms = recursion.forms
    latest = max(families, key=lambda family: (family.order, family.name))
    form = forms.form(latest)
    gaussian = all(forms.is_gaussian(family) for family in families)
    if kind != "mean" and not gaussian and recursion.sources.vanishes([generic(f, side) for f, side in zip(families, "xy")]):
        return "odd in a source of randomness"
    if isinstance(form, Atom):
        return rule_of(latest).name
    if isinstance(form, Sum):
        return "LinComb" if gaussian else "linearity"
    return "Nonlin"
