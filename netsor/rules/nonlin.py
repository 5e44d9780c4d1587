"""``x = phi(h1, h2, …; scalars)``: coordinatewise functions, linear combinations among them."""

from __future__ import annotations

from netsor.ir.facts import Randomness
from netsor.ir.labelled import Labelled
from netsor.ir.program import Family, Nonlin
from netsor.rules.base import Rule, is_affine


class NonlinRule(Rule):
    """Z^x = phi(Z^{h1}, Z^{h2}, …; scalars).  Affine combinations of Gaussian vectors are Gaussian (LinComb)."""

    name = "Nonlin"
    definition = Nonlin
    statement = "Z^x = phi(Z^{h1}, …; scalars)"
    citation = "Yang 2019, arXiv:1910.12478 (Tensor Programs I), Theorem 5.4; LinComb: Definition 4.1"

    def kind(self, family: Family, randomness: Randomness) -> str:
        return "G" if is_affine(family.definition.body, lambda used: used.kind == "G") else "H"

    def finite(self, family: Family, sampler) -> Labelled:
        return sampler.evaluate(family.definition.body)
